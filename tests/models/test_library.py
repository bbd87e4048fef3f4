"""What is on this machine."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace

import pytest

from models import library
from models.catalog import load_catalog
from models.errors import ModelError
from models.library import (
    Provenance,
    find_model,
    list_models,
    model_path,
    partial_bytes,
    prefix_folder,
    read_provenance,
    remember_provenance,
    remove_model,
    require_model,
    standing,
)

CONTENT = b"GGUF and the rest"
ENTRY = replace(
    load_catalog().get("smollm2-135m"),
    size_bytes=len(CONTENT),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
)
UNKNOWN = replace(ENTRY, size_bytes=0, sha256="")


@pytest.fixture
def hashed(monkeypatch):
    """The names of the files that were hashed."""
    names = []
    real = hashlib.file_digest

    def counted(file, name):
        names.append(os.path.basename(file.name))  # noqa: PTH119 - a name, not a path of ours
        return real(file, name)

    monkeypatch.setattr(library.hashlib, "file_digest", counted)
    return names


def put(folder, content: bytes = CONTENT, *, age_s: int = 0):
    """A file under the model's name, written `age_s` seconds before a fixed moment."""
    path = model_path(folder, ENTRY.id)
    path.write_bytes(content)
    os.utime(path, (1_700_000_000 - age_s,) * 2)
    return path


def test_a_file_under_the_models_name_is_found_with_its_size(tmp_path):
    put(tmp_path)
    found = find_model(tmp_path, ENTRY)
    assert found is not None
    assert (found.size_bytes, found.provenance) == (len(CONTENT), None)
    catalog = replace(load_catalog(), entries=(ENTRY,))
    assert [model.entry.id for model in list_models(tmp_path, catalog)] == [ENTRY.id]


def test_where_a_file_came_from_is_remembered(tmp_path):
    provenance = Provenance(
        sha256=ENTRY.sha256,
        size_bytes=len(CONTENT),
        source="x",
        checked_against="catalog",
        mtime_ns=put(tmp_path).stat().st_mtime_ns,
    )
    remember_provenance(tmp_path, ENTRY.id, provenance)
    assert find_model(tmp_path, ENTRY).provenance == provenance


@pytest.mark.parametrize("content", [b"", CONTENT[:-1], CONTENT + b"x"])
def test_a_file_of_another_size_is_damaged_and_not_present(tmp_path, hashed, content):
    put(tmp_path, content)
    assert standing(tmp_path, ENTRY) == "damaged"
    assert find_model(tmp_path, ENTRY) is None
    with pytest.raises(ModelError, match="damaged") as caught:
        require_model(tmp_path, ENTRY)
    assert "again with `drydock models pull smollm2-135m`" in caught.value.hint
    assert hashed == []


def test_a_zeroed_file_of_the_right_size_is_found_out_when_it_is_needed_and_stays_so(
    tmp_path, hashed
):
    put(tmp_path, bytes(len(CONTENT)))
    assert standing(tmp_path, ENTRY) == "unverified"
    for _ in range(2):
        with pytest.raises(ModelError, match="damaged"):
            require_model(tmp_path, ENTRY)
    assert find_model(tmp_path, ENTRY) is None
    assert len(hashed) == 1


def test_a_file_put_there_by_hand_is_hashed_once_and_recorded(tmp_path, hashed):
    put(tmp_path)
    for _ in range(3):
        found = require_model(tmp_path, ENTRY)
    assert found.provenance.sha256 == ENTRY.sha256
    assert (found.provenance.source, found.provenance.checked_against) == (
        "put there by hand",
        "catalog",
    )
    assert len(hashed) == 1


def test_a_file_that_was_written_since_is_hashed_again(tmp_path, hashed):
    put(tmp_path)
    require_model(tmp_path, ENTRY)
    put(tmp_path, age_s=5)
    assert find_model(tmp_path, ENTRY).provenance is None
    assert require_model(tmp_path, ENTRY).provenance is not None
    put(tmp_path, bytes(len(CONTENT)), age_s=9)
    with pytest.raises(ModelError, match="damaged"):
        require_model(tmp_path, ENTRY)
    assert len(hashed) == 3


def test_a_file_that_only_got_another_time_keeps_its_source(tmp_path):
    put(tmp_path)
    record = Provenance(
        sha256=ENTRY.sha256, size_bytes=len(CONTENT), source="the Hub", checked_against="source"
    )
    remember_provenance(tmp_path, ENTRY.id, record)
    provenance = require_model(tmp_path, UNKNOWN).provenance
    assert (provenance.source, provenance.checked_against) == ("the Hub", "source")
    assert provenance.mtime_ns


def test_a_model_without_a_known_hash_is_held_to_the_one_recorded_first(tmp_path):
    put(tmp_path)
    assert require_model(tmp_path, UNKNOWN).provenance.checked_against == "nothing"
    put(tmp_path, CONTENT[:-3], age_s=5)
    with pytest.raises(ModelError, match="damaged"):
        require_model(tmp_path, UNKNOWN)
    assert standing(tmp_path, UNKNOWN) == "damaged"
    put(tmp_path, age_s=9)
    assert require_model(tmp_path, UNKNOWN).provenance.sha256 == ENTRY.sha256


def test_what_does_not_begin_as_a_model_file_is_damaged_even_if_nothing_is_known(tmp_path):
    put(tmp_path, bytes(64))
    assert standing(tmp_path, UNKNOWN) == "damaged"
    put(tmp_path)
    assert standing(tmp_path, UNKNOWN) == "unverified"


def test_a_newer_catalog_with_another_hash_makes_the_file_damaged(tmp_path):
    put(tmp_path)
    require_model(tmp_path, ENTRY)
    assert standing(tmp_path, replace(ENTRY, sha256="0" * 64)) == "damaged"


def test_a_link_to_a_file_is_a_model_and_only_the_link_is_removed(tmp_path):
    folder, kept = tmp_path / "models", tmp_path / "elsewhere.bin"
    folder.mkdir()
    kept.write_bytes(CONTENT)
    model_path(folder, ENTRY.id).symlink_to(kept)
    assert require_model(folder, ENTRY).size_bytes == len(CONTENT)
    assert remove_model(folder, ENTRY.id) == 0
    assert kept.read_bytes() == CONTENT
    assert standing(folder, ENTRY) == "absent"


def test_a_folder_or_a_dangling_link_under_the_name_is_no_model(tmp_path):
    path = model_path(tmp_path, ENTRY.id)
    path.mkdir()
    assert standing(tmp_path, ENTRY) == "damaged"
    path.rmdir()
    path.symlink_to(tmp_path / "nowhere")
    assert standing(tmp_path, ENTRY) == "absent"
    assert remove_model(tmp_path, ENTRY.id) == 0
    assert not path.is_symlink()


def test_a_record_that_cannot_be_written_does_not_keep_a_sound_file_from_use(tmp_path, monkeypatch):
    put(tmp_path)

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(library, "remember_provenance", refuse)
    assert require_model(tmp_path, ENTRY).path == model_path(tmp_path, ENTRY.id)
    assert read_provenance(tmp_path, ENTRY.id) is None


def test_a_missing_model_names_the_command_that_fetches_it(tmp_path):
    with pytest.raises(ModelError) as caught:
        require_model(tmp_path, ENTRY)
    assert "drydock models pull smollm2-135m" in caught.value.hint


def test_an_unfinished_fetch_is_not_a_model(tmp_path):
    place = tmp_path / "partial" / ENTRY.id
    place.mkdir(parents=True)
    (place / "x.part").write_bytes(b"123")
    assert find_model(tmp_path, ENTRY) is None
    assert partial_bytes(tmp_path, ENTRY.id) == 3


def test_removing_takes_everything_of_that_model_and_nothing_else(tmp_path):
    put(tmp_path)
    model_path(tmp_path, "other").write_bytes(b"2")
    place = tmp_path / "partial" / ENTRY.id
    place.mkdir(parents=True)
    states = prefix_folder(tmp_path)
    states.mkdir()
    mine, others = states / f"{ENTRY.id}.0a1b.state", states / f"{ENTRY.id}-2.0a1b.state"
    mine.write_bytes(b"3")
    others.write_bytes(b"4")
    assert remove_model(tmp_path, f"local:{ENTRY.id}") == len(CONTENT)
    assert remove_model(tmp_path, ENTRY.id) is None
    assert not place.exists()
    assert model_path(tmp_path, "other").exists()
    assert (mine.exists(), others.exists()) == (False, True)
