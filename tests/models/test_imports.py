"""Model files of other programs, taken in by a link."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from models.catalog import Catalog, CatalogEntry, load_catalog
from models.errors import ModelError
from models.imports import OWNERS, find_models, forget_imported, import_model, with_imported
from models.library import find_model, remove_model
from tests.models.test_gguf import gguf

CATALOG = load_catalog()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "models"


def put(path: Path, data: bytes | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gguf() if data is None else data)
    return path


def test_each_program_s_files_are_found_where_it_keeps_them(tmp_path: Path) -> None:
    put(tmp_path / ".lmstudio/models/maker/m-GGUF/m-q4.gguf")
    put(tmp_path / ".lmstudio/models/maker/m-GGUF/mmproj-m.gguf")
    put(tmp_path / ".cache/llama.cpp/big-00001-of-00002.gguf")
    put(tmp_path / ".cache/llama.cpp/big-00002-of-00002.gguf")
    blob = put(tmp_path / ".cache/huggingface/hub/models--a--b/blobs/abc")
    link = tmp_path / ".cache/huggingface/hub/models--a--b/snapshots/1/h.gguf"
    link.parent.mkdir(parents=True)
    link.symlink_to(blob)
    digest = "ab" * 32
    put(tmp_path / f".ollama/models/blobs/sha256-{digest}")
    layers = [{"mediaType": "application/vnd.ollama.image.model", "digest": f"sha256:{digest}"}]
    put(
        tmp_path / ".ollama/models/manifests/registry/library/llama3/8b",
        json.dumps({"layers": layers}).encode(),
    )
    put(tmp_path / ".ollama/models/manifests/registry/library/llama3/odd", b"[1")
    names = {owner: [m.name for m in find_models(owner, tmp_path, {})] for owner in OWNERS}
    assert names == {
        "lm-studio": ["m-q4"],
        "ollama": ["llama3-8b"],
        "huggingface": ["h"],
        "llama.cpp": ["big-00001-of-00002"],
    }


def test_nothing_is_found_where_no_program_is(tmp_path: Path) -> None:
    assert [m for owner in OWNERS for m in find_models(owner, tmp_path, {})] == []


def test_an_imported_model_is_linked_listed_and_forgotten(tmp_path: Path, folder: Path) -> None:
    source = put(tmp_path / "Downloads" / "My Model Q4.gguf")
    entry = import_model(folder, CATALOG, source)
    assert entry.id == "my-model-q4"
    assert (folder / "my-model-q4.gguf").readlink() == source
    catalog = with_imported(CATALOG, folder)
    found = find_model(folder, catalog.get("local:my-model-q4"))
    assert found is not None
    assert found.provenance is not None
    assert remove_model(folder, entry.id) == 0
    forget_imported(folder, entry.id)
    assert with_imported(CATALOG, folder) == CATALOG
    assert source.is_file()


def test_the_same_content_is_not_imported_twice(tmp_path: Path, folder: Path) -> None:
    import_model(folder, CATALOG, put(tmp_path / "a.gguf"))
    with pytest.raises(ModelError, match="here already"):
        import_model(folder, CATALOG, put(tmp_path / "copy.gguf"))


def test_a_file_of_the_catalog_becomes_its_entry(tmp_path: Path, folder: Path) -> None:
    import hashlib

    source = put(tmp_path / "x.gguf")
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    entry = CatalogEntry(
        id="known",
        name="K",
        family="f",
        licence="MIT",
        parameters=1,
        context_tokens=1,
        sha256=digest,
    )
    assert import_model(folder, Catalog(entries=(entry,)), source) == entry
    assert find_model(folder, entry) is not None


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"no model", "no usable model"),
        (gguf(template=""), "base model"),
        (gguf(tail=3), "cut off"),
    ],
)
def test_what_cannot_be_used_is_refused(
    tmp_path: Path, folder: Path, data: bytes, reason: str
) -> None:
    with pytest.raises(ModelError, match=reason):
        import_model(folder, CATALOG, put(tmp_path / "x.gguf", data))
    assert not folder.exists()


def test_a_part_that_is_missing_is_named(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(ModelError, match="00002-of-00002"):
        import_model(folder, CATALOG, put(tmp_path / "b-00001-of-00002.gguf"))


def test_a_damaged_list_is_an_empty_one(folder: Path) -> None:
    put(folder / "imported.json", b'{"models": [{"id": "../x"}]}')
    assert with_imported(CATALOG, folder) == CATALOG
