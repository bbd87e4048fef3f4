"""Results out of the context: kept by content, read in parts, given out by signed handles alone."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from sandbox.artifacts import Artifacts, HandleError, excerpt, installation_key, is_long
from sandbox.errors import SandboxError


@pytest.fixture
def results(tmp_path: Path) -> Artifacts:
    return Artifacts(tmp_path / "artifacts")


def test_what_is_kept_is_known_by_its_content(results: Artifacts) -> None:
    first = results.keep(b"abc", media_type="text/plain", name="a.txt")
    again = results.keep(b"abc", media_type="text/plain", name="a.txt")
    other = results.keep(b"abc", media_type="text/plain", name="b.txt")
    assert first == again == results.get(first.artifact_id)
    assert other.artifact_id != first.artifact_id
    assert other.sha256 == first.sha256
    assert results.read(first.artifact_id) == b"abc"


@pytest.mark.parametrize("name", ["", "artifact-", "../x", "artifact-zzzzzzzzzzzzzzzz"])
def test_what_is_no_id_is_not_there(results: Artifacts, name: str) -> None:
    with pytest.raises(FileNotFoundError):
        results.get(name)


def test_content_that_was_changed_on_the_disk_is_not_given(
    results: Artifacts, tmp_path: Path
) -> None:
    kept = results.keep(b"abc", media_type="text/plain", name="a.txt")
    (tmp_path / "artifacts" / kept.sha256).write_bytes(b"abd")
    with pytest.raises(OSError, match="changed"):
        results.read(kept.artifact_id)


def test_a_handle_opens_what_it_was_made_for(results: Artifacts) -> None:
    kept = results.keep(b"abc", media_type="text/plain", name="a.txt")
    assert results.opened(results.handle(kept.artifact_id)) == (kept, b"abc")


def test_a_handle_that_was_changed_or_is_old_or_from_elsewhere_is_refused(
    results: Artifacts, tmp_path: Path
) -> None:
    kept = results.keep(b"abc", media_type="text/plain", name="a.txt")
    other = results.keep(b"xyz", media_type="text/plain", name="b.txt")
    handle = results.handle(kept.artifact_id)
    elsewhere = Artifacts(tmp_path / "elsewhere")
    elsewhere.keep(b"abc", media_type="text/plain", name="a.txt")
    body, _, signature = handle.rpartition(".")
    name, _, until = body.rpartition(".")
    wrong = [
        "",
        "..",
        handle + "x",
        f"{body}.",
        f"{name}.{int(until) + 1}.{signature}",
        f"{other.artifact_id}.{until}.{signature}",
        elsewhere.handle(kept.artifact_id),
    ]
    for each in wrong:
        with pytest.raises(HandleError):
            results.opened(each)


def test_a_handle_ends(results: Artifacts, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = results.keep(b"abc", media_type="text/plain", name="a.txt")
    handle = results.handle(kept.artifact_id, lifetime_s=60)
    now = int(handle.split(".")[1])
    monkeypatch.setattr("sandbox.artifacts.time.time", lambda: now + 1)
    with pytest.raises(HandleError):
        results.opened(handle)


def test_the_key_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "handles.key"
    key = installation_key(path)
    assert len(key) == 32
    assert installation_key(path) == key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_damaged_key_is_said_and_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "handles.key"
    path.write_bytes(b"short")
    with pytest.raises(SandboxError):
        installation_key(path)
    assert path.read_bytes() == b"short"


def test_an_excerpt_has_head_tail_size_and_the_way_to_more(results: Artifacts) -> None:
    text = "".join(f"line {n}\n" for n in range(5_000))
    assert is_long(text)
    kept = results.keep(text.encode(), media_type="text/plain", name="output.txt")
    shown = excerpt(text, kept)
    assert shown.startswith("line 0\n")
    assert shown.endswith("line 4999\n")
    assert f"{len(text):,} characters" in shown
    assert kept.artifact_id in shown
    assert len(shown) < 8_192
    assert results.text(kept.artifact_id, 3_000, 50) == text[3_000:3_050]


def test_eight_kilobytes_are_shown_whole() -> None:
    assert not is_long("x" * 8_192)
    assert is_long("x" * 8_193)
    assert is_long("ü" * 4_097)
