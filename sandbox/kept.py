"""Where the contents of a decided turn are now: on the disk, or put aside in the undo folder.

Owns finding what a change was before and after from the journals. Reads the disk, changes nothing.
Thread: any.
"""

# ruff: noqa: PTH113
# Plain `os` calls: disk paths are strings with surrogates, as os gives them.

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from sandbox.changeset import Base, Change
from sandbox.reversal import Done, latest
from sandbox.transaction import Place
from sandbox.verify import difference


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptContent:
    """The files with a change's content before and after; None where there is none any more."""

    before: str | None = None
    after: str | None = None


class KeptContents:
    """The contents of the turn whose undo is in `undo_folder`; nothing when that was dropped."""

    def __init__(self, undo_folder: Path) -> None:
        self._done = latest(undo_folder)
        self._aside: dict[str, str] = {}
        if self._done is not None:
            for step in self._done.steps:
                if isinstance(step, Place):
                    self._note(self._done, step)

    def _note(self, done: Done, step: Place) -> None:
        """The last thing that a step of a change put aside and did not go on with."""
        places = (step.keep, step.saved, step.dst) if step.keep else (step.saved, step.dst)
        going_on = {other.src for other in done.steps if isinstance(other, Place)}
        for place in places:
            is_ours = place is not None and place not in going_on
            if place is not None and is_ours and _is_aside(place, done):
                self._aside[step.change] = place
                return

    def aside(self, change: Change) -> str | None:
        """Where what the latest step of `change` put aside lies; None when it does not any more."""
        place = self._aside.get(change.id)
        return place if place is not None and os.path.lexists(place) else None

    def of(self, change: Change) -> KeptContent:
        """Both contents of one change, as far as they are still there."""
        if self._done is None:
            return KeptContent()
        aside = self._aside.get(change.id)
        if aside is not None and not os.path.isfile(aside):
            aside = None
        if self._done.is_undo:
            return KeptContent(before=_file(change.path), after=aside)
        known = self._done.after["states"].get(change.id)
        is_same = known is not None and difference(change.final_path, Base(**known)) is None
        return KeptContent(before=aside, after=change.final_path if is_same else None)


def _is_aside(place: str, done: Done) -> bool:
    in_hold = any(place.startswith(f"{hold}/") for hold in done.holds)
    return in_hold or "/held/" in place or "/saved/" in place


def _file(path: str) -> str | None:
    return path if os.path.isfile(path) else None
