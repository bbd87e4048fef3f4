"""What is on this machine."""

from __future__ import annotations

import pytest

from models.catalog import load_catalog
from models.errors import ModelError
from models.library import (
    Provenance,
    find_model,
    list_models,
    model_path,
    partial_bytes,
    prefix_folder,
    remember_provenance,
    remove_model,
    require_model,
)

ENTRY = load_catalog().get("smollm2-135m")


def test_a_file_under_the_models_name_is_found_with_its_size(tmp_path):
    model_path(tmp_path, ENTRY.id).write_bytes(b"12345")
    found = find_model(tmp_path, ENTRY)
    assert found is not None
    assert (found.size_bytes, found.provenance) == (5, None)
    assert [model.entry.id for model in list_models(tmp_path, load_catalog())] == [ENTRY.id]


def test_where_a_file_came_from_is_remembered(tmp_path):
    provenance = Provenance(sha256="a" * 64, size_bytes=5, source="x", checked_against="nothing")
    model_path(tmp_path, ENTRY.id).write_bytes(b"12345")
    remember_provenance(tmp_path, ENTRY.id, provenance)
    assert find_model(tmp_path, ENTRY).provenance == provenance


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
    model_path(tmp_path, ENTRY.id).write_bytes(b"1")
    model_path(tmp_path, "other").write_bytes(b"2")
    place = tmp_path / "partial" / ENTRY.id
    place.mkdir(parents=True)
    states = prefix_folder(tmp_path)
    states.mkdir()
    mine, others = states / f"{ENTRY.id}.0a1b.state", states / f"{ENTRY.id}-2.0a1b.state"
    mine.write_bytes(b"3")
    others.write_bytes(b"4")
    assert remove_model(tmp_path, f"local:{ENTRY.id}") is True
    assert remove_model(tmp_path, ENTRY.id) is False
    assert not place.exists()
    assert model_path(tmp_path, "other").exists()
    assert (mine.exists(), others.exists()) == (False, True)
