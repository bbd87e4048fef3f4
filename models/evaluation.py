"""The native context: what of a prompt llama.cpp has evaluated, and evaluating more of it.

Owns the count of evaluated tokens, stopping in mid-evaluation, and the state that is saved. It
samples nothing (`decoding.py`). Runs in the worker process only. Thread: the worker's main thread.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from threading import Event
from typing import Any, cast

import llama_cpp

BATCH_TOKENS = 256
_SEQUENCE = llama_cpp.llama_seq_id(0)
"""llama.cpp's number of the one conversation that a context holds here."""


class StoppedError(Exception):
    """The prompt's evaluation was ended by the stop flag."""


class CountedLlama(llama_cpp.Llama):
    """A Llama whose prompt evaluation is counted, reported and ends when `stopping` is set."""

    evaluated_tokens = 0
    stopping: Event | None = None
    report: Callable[[int], None] | None = None

    def eval(self, tokens: Sequence[int]) -> None:
        """Evaluate in batches; raises `StoppedError` when told to stop."""
        for start in range(0, len(tokens), BATCH_TOKENS):
            if self.stopping is not None and self.stopping.is_set():
                raise StoppedError
            batch = tokens[start : start + BATCH_TOKENS]
            try:
                super().eval(batch)
            except RuntimeError as error:
                if self.stopping is not None and self.stopping.is_set():
                    raise StoppedError from error
                raise
            self.evaluated_tokens += len(batch)
            if self.report is not None:
                self.report(self.n_tokens)

    def eval_all(self, tokens: Sequence[int]) -> None:
        """Evaluate a few tokens and keep the outcome of each, for sampling at any of them."""
        try:
            self._batch.set_batch(tokens, n_past=self.n_tokens, logits_all=True)
            self._ctx.decode(self._batch)
        except RuntimeError as error:
            self.cut(self.n_tokens)
            if self.stopping is not None and self.stopping.is_set():
                raise StoppedError from error
            raise
        self.input_ids[self.n_tokens : self.n_tokens + len(tokens)] = tokens
        self.n_tokens += len(tokens)
        self.evaluated_tokens += len(tokens)

    def cut(self, count: int) -> bool:
        """Keep the first `count` tokens. False: the context is empty now, it cannot be cut back."""
        if not self._ctx.kv_cache_seq_rm(-1, count, -1):
            self.forget()
            return False
        self.n_tokens = count
        return True

    def shared_tokens(self, tokens: Sequence[int]) -> int:
        """How many of the first `tokens` the context holds already."""
        return common_tokens(self.input_ids[: self.n_tokens].tolist(), tokens)

    def eval_alone(self, tokens: Sequence[int]) -> None:
        """Bring the context to hold `tokens` and nothing else, and evaluate what is new."""
        shared = self.shared_tokens(tokens)
        # A running state cannot be cut back.
        self.eval(tokens[shared if self.cut(shared) else 0 :])

    def copy_state(self) -> bytearray:
        """What the context holds, of the used cells alone."""
        state = bytearray(llama_cpp.llama_state_seq_get_size(self._ctx.ctx, _SEQUENCE))
        buffer = (ctypes.c_uint8 * len(state)).from_buffer(state)
        written = llama_cpp.llama_state_seq_get_data(
            self._ctx.ctx, cast("Any", buffer), len(state), _SEQUENCE
        )
        del buffer
        return state[:written] if written < len(state) else state

    def put_state(self, tokens: Sequence[int], state: bytearray) -> bool:
        """Replace what the context holds by `state`, which is that of `tokens`."""
        self.forget()
        buffer = (ctypes.c_uint8 * len(state)).from_buffer(state)
        read = llama_cpp.llama_state_seq_set_data(
            self._ctx.ctx, cast("Any", buffer), len(state), _SEQUENCE
        )
        del buffer
        # What was read has to end where the tokens do; an empty state is "read" too.
        memory = llama_cpp.llama_get_memory(self._ctx.ctx)
        last = llama_cpp.llama_memory_seq_pos_max(memory, _SEQUENCE) if memory else -1
        if read != len(state) or last != len(tokens) - 1:
            self.forget()
            return False
        self.input_ids[: len(tokens)] = tokens
        self.n_tokens = len(tokens)
        return True

    def forget(self) -> None:
        """Empty the context."""
        self._ctx.kv_cache_clear()
        self.reset()


def common_tokens(first: Sequence[int], second: Sequence[int]) -> int:
    """How many leading tokens are the same."""
    for count, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return count
    return min(len(first), len(second))
