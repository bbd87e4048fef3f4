"""Whether a model fits into this machine's memory, before it is fetched and before it is loaded.

Owns the estimate and its label. What counts: the weights, which are mapped; the part of them that
llama.cpp lays out anew for the processor; the key-value cache of the context; working memory.
Measured against the peak of the worker for three models: within 5 %. Thread: any; `fit_here`
reads a file's header.

| label              | when                                                                       |
| ------------------ | -------------------------------------------------------------------------- |
| fits               | with the context that is set                                               |
| less context       | with a smaller context, which is named                                     |
| does not fit       | not even with the smallest context                                         |
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from models.catalog import CatalogEntry
from models.errors import ModelError
from models.gguf import GgufHeader, read_gguf
from models.hardware import measure_hardware

Label = Literal["fits", "less context", "does not fit"]

SMALLEST_CONTEXT = 2048
_BATCH_TOKENS = 256
_MIB = 1 << 20
_PROCESS_BYTES = 54 * _MIB
"""The worker with llama.cpp and no model. Measured."""

_PER_VOCABULARY_BYTES = 550
"""The vocabulary, the logits and the sampler, for each token of it. Measured."""

_REPACKED = frozenset({2, 12, 20})
"""Q4_0, Q4_K and IQ4_NL: llama.cpp copies such matrices into another order (GGML_CPU_REPACK)."""

_SPARE_BYTES = 512 * _MIB
"""What stays free for everything else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """Bytes of memory. `per_token`: of the key-value cache; the rest is there in any context."""

    weights: int
    repacked: int
    per_token: int
    working: int

    def total(self, context_tokens: int) -> int:
        """With a context of so many tokens."""
        return self.weights + self.repacked + self.per_token * context_tokens + self.working


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """`context_tokens`: the one that fits, 0 where none does; bytes."""

    label: Label
    context_tokens: int
    needed_bytes: int
    free_bytes: int

    @property
    def advice(self) -> str:
        """The setting that makes it fit, as a sentence; empty where nothing has to be done."""
        match self.label:
            case "fits":
                return ""
            case "less context":
                return (
                    f"Set model.context_tokens to {self.context_tokens}, or close other programs."
                )
            case "does not fit":
                return (
                    f"It needs {self.needed_bytes / 1e9:.1f} GB and {self.free_bytes / 1e9:.1f} GB "
                    "are free: choose a smaller model or a smaller quantisation."
                )


def need_of_file(header: GgufHeader, *, cache_bytes: int = 2) -> Need:
    """What a file needs. `cache_bytes`: of one number in the cache; 2: f16, 1: about q8_0."""
    heads = max(1, header.number("attention.head_count", 1))
    kv_heads = header.number("attention.head_count_kv", heads) or heads
    width = header.number("embedding_length") // heads
    key = header.number("attention.key_length", width)
    value = header.number("attention.value_length", width)
    per_token = header.number("block_count") * kv_heads * (key + value) * cache_bytes
    vocabulary = header.list_counts.get("tokenizer.ggml.tokens", 0)
    activations = 3 * 4 * _BATCH_TOKENS * header.number("feed_forward_length")
    repacked = sum(
        tensor.size_bytes
        for tensor in header.tensors
        if tensor.kind in _REPACKED
        and len(tensor.shape) > 1
        and not tensor.name.startswith("token_embd")
    )
    return Need(
        weights=header.file_bytes,
        repacked=repacked,
        per_token=per_token,
        working=_PROCESS_BYTES + _PER_VOCABULARY_BYTES * vocabulary + activations,
    )


def need_of_entry(entry: CatalogEntry) -> Need:
    """About what a model needs that is not here yet, from its size and its parameters."""
    billions = entry.parameters / 1e9
    return Need(
        weights=entry.estimated_bytes,
        repacked=entry.estimated_bytes * 6 // 10,
        per_token=int(10_000 + 16_000 * billions),
        working=_PROCESS_BYTES + _PER_VOCABULARY_BYTES * 150_000 + int(30 * _MIB * billions**0.5),
    )


def fit_here(path: Path, entry: CatalogEntry, context_tokens: int) -> Fit:
    """How a model fits here now: by the header of its file at `path` if it is there, else about."""
    need = need_of_entry(entry)
    if path.is_file():
        with contextlib.suppress(ModelError):
            need = need_of_file(read_gguf(path))
    wanted = min(context_tokens, entry.context_tokens)
    return fit_of(need, wanted, measure_hardware().free_memory_bytes)


def fit_of(need: Need, context_tokens: int, free_bytes: int) -> Fit:
    """How it fits into `free_bytes`, of which some stay free."""
    usable = free_bytes - _SPARE_BYTES
    context = context_tokens
    label: Label = "fits"
    while need.total(context) > usable:
        label = "less context"
        context //= 2
        if context < SMALLEST_CONTEXT:
            return Fit(
                label="does not fit",
                context_tokens=0,
                needed_bytes=need.total(min(SMALLEST_CONTEXT, context_tokens)) + _SPARE_BYTES,
                free_bytes=free_bytes,
            )
    return Fit(
        label=label,
        context_tokens=context,
        needed_bytes=need.total(context),
        free_bytes=free_bytes,
    )
