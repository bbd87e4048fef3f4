"""How long undo is kept: oldest first, never the latest, nothing half removed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sandbox.retention import Kept, Policy, drop, finish_drops, kept_in, overdue
from tests.sandbox.faults import FaultyFileSystem, Killed

DAY_S = 86_400.0


def kept(*sizes_and_days: tuple[int, float]) -> tuple[Kept, ...]:
    return tuple(
        Kept(name=str(number), folder=Path(str(number)), size_bytes=size, since_s=days * DAY_S)
        for number, (size, days) in enumerate(sizes_and_days)
    )


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (Policy(age_s=None, size_bytes=None), []),
        (Policy(age_s=30 * DAY_S, size_bytes=None), [("0", "age")]),
        (Policy(age_s=10 * DAY_S, size_bytes=None), [("0", "age"), ("1", "age")]),
        (Policy(age_s=None, size_bytes=40), [("0", "size")]),
        (Policy(age_s=None, size_bytes=1), [("0", "size"), ("1", "size")]),
        (Policy(age_s=30 * DAY_S, size_bytes=30), [("0", "age"), ("1", "size")]),
    ],
)
def test_the_oldest_go_first_and_the_latest_stays(
    policy: Policy, expected: list[tuple[str, str]]
) -> None:
    items = kept((10, 50), (20, 80), (20, 95))
    due = overdue(items, policy, now_s=95 * DAY_S)
    assert [(item.kept.name, item.reason) for item in due] == expected


def test_what_is_in_use_stays_and_the_next_goes() -> None:
    due = overdue(
        kept((10, 1), (10, 2), (10, 3)),
        Policy(age_s=None, size_bytes=25),
        now_s=9 * DAY_S,
        busy={"0"},
    )
    assert [item.kept.name for item in due] == ["1"]


def make(root: Path, name: str, time_s: float) -> Path:
    folder = root / name / "held" / "shut"
    folder.mkdir(parents=True)
    (folder / "file").write_bytes(b"x" * 10_000)
    folder.chmod(0o500)
    journal = root / name / "commit.jsonl"
    journal.write_text("{}")
    os.utime(journal, (time_s, time_s))
    return root / name


def test_what_is_kept_is_measured_oldest_first(tmp_path: Path) -> None:
    make(tmp_path, "b", 5)
    make(tmp_path, "a", 7)
    found = kept_in(tmp_path)
    assert [(item.name, item.since_s) for item in found] == [("b", 5), ("a", 7)]
    assert all(10_000 <= item.size_bytes < 30_000 for item in found)
    assert kept_in(tmp_path / "not there") == ()


def test_a_name_for_a_file_that_is_elsewhere_too_takes_no_space(tmp_path: Path) -> None:
    folder = make(tmp_path, "a", 5)
    before = kept_in(tmp_path)[0].size_bytes
    (tmp_path / "big").write_bytes(b"x" * 1_000_000)
    (folder / "held" / "1").hardlink_to(tmp_path / "big")
    assert kept_in(tmp_path)[0].size_bytes == before


def test_a_removal_that_dies_anywhere_leaves_all_or_nothing(tmp_path: Path) -> None:
    counting = FaultyFileSystem()
    drop(make(tmp_path / "count", "a", 5), fs=counting)
    assert kept_in(tmp_path / "count") == ()
    for at in range(len(counting.calls)):
        root = tmp_path / str(at)
        folder = make(root, "a", 5)
        with pytest.raises(Killed):
            drop(folder, fs=FaultyFileSystem(at=at, after=True))
        left = kept_in(root)
        assert left == () or (folder / "held/shut/file").exists()
        finish_drops(root)
        assert kept_in(root) == left
        assert [path.name for path in root.iterdir()] == [item.name for item in left]
