"""Whether a model fits: the estimate, its label, and what to do."""

from __future__ import annotations

from models.catalog import load_catalog
from models.fit import fit_of, need_of_entry, need_of_file
from models.gguf import GgufHeader, Tensor

GB = 1_000_000_000
SMALL = GgufHeader(
    version=3,
    metadata={
        "general.architecture": "llama",
        "llama.block_count": 30,
        "llama.embedding_length": 576,
        "llama.feed_forward_length": 1536,
        "llama.attention.head_count": 9,
        "llama.attention.head_count_kv": 3,
    },
    list_counts={"tokenizer.ggml.tokens": 49152},
    tensors=(Tensor(name="blk.0.ffn", shape=(576, 1536), kind=3, size_bytes=66_355_200),),
    file_bytes=98_362_432,
)


def test_the_estimate_is_what_was_measured() -> None:
    # SmolLM2 135M, measured peak of the worker: 219 MiB with 2,048 tokens, 354 MiB with 8,192.
    need = need_of_file(SMALL)
    for context, measured_mib in ((2048, 219), (8192, 354)):
        assert abs(need.total(context) / (1 << 20) / measured_mib - 1) < 0.1


def test_only_what_is_laid_out_anew_is_counted_twice() -> None:
    quantised = Tensor(name="blk.0.ffn", shape=(256, 256), kind=12, size_bytes=1000)
    table = Tensor(name="token_embd.weight", shape=(256, 256), kind=12, size_bytes=5000)
    header = GgufHeader(
        version=3, metadata={}, list_counts={}, tensors=(quantised, table), file_bytes=6000
    )
    assert need_of_file(header).repacked == 1000


def test_a_label_names_the_setting_that_makes_it_fit() -> None:
    need = need_of_file(SMALL)
    assert fit_of(need, 8192, 4 * GB).label == "fits"
    assert fit_of(need, 8192, 4 * GB).advice == ""
    less = fit_of(need, 8192, need.total(4096) + (513 << 20))
    assert (less.label, less.context_tokens) == ("less context", 4096)
    assert "model.context_tokens to 4096" in less.advice
    none = fit_of(need, 8192, 300_000_000)
    assert (none.label, none.context_tokens) == ("does not fit", 0)
    assert "smaller" in none.advice


def test_larger_models_need_more_and_all_have_a_label() -> None:
    entries = sorted(load_catalog().entries, key=lambda entry: entry.parameters)
    needs = [need_of_entry(entry).total(8192) for entry in entries]
    assert needs[0] < needs[-1]
    assert fit_of(need_of_entry(entries[-1]), 8192, 2 * GB).label == "does not fit"
    assert fit_of(need_of_entry(entries[0]), 8192, 2 * GB).label == "fits"
