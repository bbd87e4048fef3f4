"""Saved prefixes: given back whole, for the same model and tokens, or not at all."""

from __future__ import annotations

import os
import stat
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from models.prefix import PrefixStore, saved_states

TOKENS = [5, 6, 7, 8]
STATE = bytes(range(256)) * 40
PLENTY = 1 << 40


@pytest.fixture
def model(tmp_path) -> Path:
    path = tmp_path / "small.gguf"
    path.write_bytes(b"weights")
    return path


def store_of(model: Path, *, runtime: str = "1/8192", free_bytes: int = PLENTY) -> PrefixStore:
    return PrefixStore(
        model.parent / "prefix", model, runtime=runtime, free_bytes=lambda _folder: free_bytes
    )


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


@contextmanager
def files_limited_to(size_bytes: int):
    """Writing beyond the limit fails half way, as on a full disk."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_saved_state_is_given_back_to_another_process_of_the_same_model(model):
    assert store_of(model).save(TOKENS, STATE)
    assert store_of(model).load(TOKENS) == STATE


def test_nothing_is_given_for_tokens_that_were_not_saved(model):
    store_of(model).save(TOKENS, STATE)
    assert store_of(model).load([*TOKENS, 9]) is None
    assert store_of(model).load(TOKENS[:-1]) is None
    assert store_of(model).load(TOKENS) == STATE


def test_another_version_or_context_does_not_get_the_state(model):
    store_of(model).save(TOKENS, STATE)
    assert store_of(model, runtime="2/8192").load(TOKENS) is None


def test_a_model_file_that_was_replaced_does_not_get_the_state(model):
    store_of(model).save(TOKENS, STATE)
    model.write_bytes(b"other weights")
    assert store_of(model).load(TOKENS) is None


@pytest.mark.skipif(sys.platform == "win32", reason="modes are Unix's")
def test_only_this_person_can_read_a_saved_state(model):
    store_of(model).save(TOKENS, STATE)
    assert stat.S_IMODE(store_of(model).path(TOKENS).stat().st_mode) == 0o600


@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(place=st.integers(min_value=0), flipped=st.integers(min_value=1, max_value=255))
def test_a_file_with_any_byte_changed_is_ignored_and_removed(model, place, flipped):
    store_of(model).save(TOKENS, STATE)
    path = store_of(model).path(TOKENS)
    content = bytearray(path.read_bytes())
    content[place % len(content)] ^= flipped
    path.write_bytes(content)
    assert store_of(model).load(TOKENS) is None
    assert not path.exists()


@pytest.mark.parametrize("kept", [0, 1, 40, 92, 100, 108, 2000, -1])
def test_a_truncated_file_is_ignored_and_removed(model, kept):
    store_of(model).save(TOKENS, STATE)
    path = store_of(model).path(TOKENS)
    path.write_bytes(path.read_bytes()[:kept])
    assert store_of(model).load(TOKENS) is None
    assert not path.exists()


def test_a_file_with_more_at_its_end_is_ignored_and_removed(model):
    store_of(model).save(TOKENS, STATE)
    path = store_of(model).path(TOKENS)
    path.write_bytes(path.read_bytes() + b"more")
    assert store_of(model).load(TOKENS) is None
    assert not path.exists()


def test_another_models_state_under_this_ones_name_is_ignored_and_removed(model):
    other = model.with_name("other.gguf")
    other.write_bytes(b"others")
    store_of(other).save(TOKENS, STATE)
    path = store_of(model).path(TOKENS)
    store_of(other).path(TOKENS).rename(path)
    assert store_of(model).load(TOKENS) is None
    assert not path.exists()


def test_a_folder_under_the_states_name_is_survived(model):
    store_of(model).path(TOKENS).mkdir(parents=True)
    assert store_of(model).load(TOKENS) is None
    assert store_of(model).save(TOKENS, STATE) is False
    assert left_in(model.parent / "prefix") == [store_of(model).path(TOKENS).name]


def test_the_three_last_used_states_of_a_model_are_kept_and_other_models_left_alone(model):
    other = model.with_name("small.2.gguf")
    other.write_bytes(b"others")
    store_of(other).save(TOKENS, STATE)
    store = store_of(model)
    for number in range(3):
        store.save([number], STATE)
        os.utime(store.path([number]), (1000 + number, 1000 + number))
    assert store.load([0]) == STATE
    store.save([3], STATE)
    assert [number for number in range(4) if store.path([number]).exists()] == [0, 2, 3]
    assert store_of(other).load(TOKENS) == STATE
    assert len(saved_states(model.parent / "prefix", "small")) == 3


@pytest.mark.skipif(sys.platform == "win32", reason="the limit is Unix's")
def test_a_disk_that_fills_up_while_saving_leaves_nothing_behind(model):
    with files_limited_to(2048):
        assert store_of(model).save(TOKENS, STATE) is False
    assert left_in(model.parent / "prefix") == []
    assert store_of(model).save(TOKENS, STATE) is True


def test_the_last_of_the_disk_is_not_taken(model):
    assert store_of(model, free_bytes=len(STATE) + 1000).save(TOKENS, STATE) is False
    assert left_in(model.parent / "prefix") == []


def test_a_place_that_is_no_folder_is_survived(model):
    (model.parent / "prefix").write_bytes(b"a file")
    assert store_of(model).save(TOKENS, STATE) is False
    assert store_of(model).load(TOKENS) is None


def test_half_written_files_of_killed_workers_are_removed_when_they_are_old(model):
    folder = model.parent / "prefix"
    folder.mkdir()
    old, fresh = folder / "saving-a.part", folder / "saving-b.part"
    old.write_bytes(b"half")
    fresh.write_bytes(b"half")
    past = time.time() - 7200
    os.utime(old, (past, past))
    store_of(model).save(TOKENS, STATE)
    assert (old.exists(), fresh.exists()) == (False, True)
