"""The ladder: what is tried, in which order, what is remembered, and what is never silent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox.workspace import ladder as room
from sandbox.workspace.errors import WorkspaceMissingError
from sandbox.workspace.ladder import Ladder, Probed


class _Rungs(Ladder):
    """A ladder on which nothing is really booted. `works`: the rungs that would."""

    def __init__(self, folder: Path, works: set[str]) -> None:
        super().__init__(folder, folder / "no image")
        self.works = works
        self.booted: list[str] = []

    def _missing(self, rung: Probed) -> None:
        return None

    def machine(self, rung: str, folder: Path, detail: str = "") -> object:
        self.booted.append(rung)
        if rung not in self.works:
            raise WorkspaceMissingError(f"{rung} does not boot.", hint=f"mend {rung}")
        return object()


@pytest.fixture
def rungs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., _Rungs]:
    monkeypatch.setattr(room, "_boot", lambda _: None)
    monkeypatch.setattr(room, "accelerators", lambda: ("kvm", "tcg"))
    return lambda *works: _Rungs(tmp_path / "ladder", set(works))


def test_the_highest_rung_that_boots_is_taken(rungs: Callable[..., _Rungs]) -> None:
    ladder = rungs("smol", "qemu", "bubblewrap")
    state = ladder.chosen("auto")
    assert state is not None
    assert state.rung == "smol"
    assert ladder.booted == ["smol"]


def test_a_rung_that_does_not_boot_is_passed_with_its_reason(
    rungs: Callable[..., _Rungs],
) -> None:
    ladder = rungs("qemu")
    state = ladder.chosen("auto")
    assert state is not None
    assert (state.rung, state.detail) == ("qemu", "kvm")
    smol = ladder.states()[0]
    assert (smol.works, smol.reason, smol.fix) == (False, "smol does not boot", "mend smol")


def test_bubblewrap_is_never_chosen_silently(rungs: Callable[..., _Rungs]) -> None:
    ladder = rungs("bubblewrap")
    assert ladder.chosen("auto") is None
    assert "bubblewrap" not in ladder.booted
    state = ladder.chosen("bubblewrap")
    assert state is not None
    assert "weaker" in state.reason


def test_off_is_off(rungs: Callable[..., _Rungs]) -> None:
    ladder = rungs("smol", "qemu", "bubblewrap")
    assert ladder.chosen("off") is None
    assert ladder.possible("off") is None
    assert ladder.booted == []


def test_a_probe_is_remembered_until_the_machine_changes(
    rungs: Callable[..., _Rungs], monkeypatch: pytest.MonkeyPatch
) -> None:
    rungs("qemu").chosen("auto")
    again = rungs("qemu")
    assert again.possible("auto") == "qemu"
    assert again.chosen("auto") is not None
    assert again.booted == []
    monkeypatch.setattr(room.platform, "release", lambda: "another kernel")
    assert again.states()[1].works is None
    assert again.chosen("auto") is not None
    assert again.booted == ["smol", "qemu"]


def test_what_was_remembered_and_is_damaged_is_probed_again(
    rungs: Callable[..., _Rungs], tmp_path: Path
) -> None:
    rungs("smol").chosen("auto")
    (tmp_path / "ladder" / "ladder.json").write_text('{"form": 1, "rungs": [{"rung": 3}]}')
    assert rungs("smol").states()[0].works is None


def test_every_rung_that_is_missing_says_what_would_help(tmp_path: Path) -> None:
    for state in Ladder(tmp_path, tmp_path / "no image").states():
        assert state.reason
        assert state.works is not False or state.fix or "does not run" in state.reason
