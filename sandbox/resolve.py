"""What a person can choose where the disk changed under the stage, and what the choice makes.

Owns which choices fit which conflict and the change that comes of each: keep theirs (the change is
left out), take ours (it is made on what is there now, which goes to the undo folder), both names
(ours goes beside it). Only what can be made exactly as it was reviewed is offered. Reads the disk,
changes nothing. Thread: one worker thread.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from sandbox.changeset import Base, Change, ChangeSet, select
from sandbox.stage_paths import divided, parent_of
from sandbox.tree import base_of
from sandbox.verify import Choice, Conflict, Layout, difference

_TRIES = 10_000
_Ours = Change | Literal["satisfied"] | None


def with_choices(change_set: ChangeSet, conflicts: Sequence[Conflict]) -> tuple[Conflict, ...]:
    """`conflicts`, each with what a person can choose."""
    by_id = {change.id: change for change in change_set.changes}
    layout = Layout(change_set.changes)
    return tuple(
        replace(problem, choices=_choices(by_id[problem.change_id], problem, layout))
        for problem in conflicts
    )


def resolved(
    change_set: ChangeSet, conflicts: Sequence[Conflict], choices: Mapping[str, Choice]
) -> ChangeSet:
    """The change set in which the chosen conflicts (by change id) are settled; ids stay.

    A choice that a conflict does not offer is not made: the conflict stays.
    """
    layout = Layout(change_set.changes)
    by_id = {change.id: change for change in change_set.changes}
    unwanted: set[str] = set()
    satisfied: set[str] = set()
    made: dict[str, Change] = {}
    elsewhere: dict[str, str] = {}
    taken = {change.final_path for change in change_set.changes}
    for problem in conflicts:
        change = by_id[problem.change_id]
        choice = choices.get(change.id)
        if choice is None or choice not in _choices(change, problem, layout):
            continue
        if choice == "theirs":
            unwanted.add(change.id)
            continue
        new = _ours(change, layout) if choice == "ours" else _both(change, problem, layout, taken)
        if new == "satisfied":
            satisfied.add(change.id)
        elif new is not None:
            made[change.id] = new
            taken.add(new.final_path)
            if new.final_path != change.final_path:
                elsewhere[change.final_path] = new.final_path
    wanted = select(change_set, by_id.keys() - unwanted)
    settled = (made.get(c.id, c) for c in wanted.changes if c.id not in satisfied)
    return ChangeSet(changes=tuple(_carried(change, elsewhere) for change in settled))


def _carried(change: Change, elsewhere: Mapping[str, str]) -> Change:
    """`change` with its place in a folder that now gets another name."""
    final = change.final_path
    folder = parent_of(final)
    while elsewhere and folder not in elsewhere and folder != parent_of(folder):
        folder = parent_of(folder)
    if folder not in elsewhere:
        return change
    place = elsewhere[folder] + final[len(folder) :]
    if change.kind in ("create", "mkdir"):
        return replace(change, path=place)
    return change if change.target is None else replace(change, target=place)


def _choices(change: Change, problem: Conflict, layout: Layout) -> tuple[Choice, ...]:
    choices: list[Choice] = ["theirs"]
    if problem.reason in ("changed", "gone", "occupied", "not-empty"):
        if _ours(change, layout) is not None:
            choices.append("ours")
        if _both(change, problem, layout, set()) is not None:
            choices.append("both")
    return tuple(choices)


def _ours(change: Change, layout: Layout) -> _Ours:
    """`change` as it fits the disk now; "satisfied": the disk is so already; None: it cannot."""
    if not _has_content(change):
        return None
    if change.kind == "rmdir":
        change = replace(change, with_contents=True)
    if change.base is not None:
        now = _present(change.path)
        if now is None:
            return _on_nothing(change, layout)
        if now.kind != change.base.kind:
            return None
        change = replace(change, base=now)
    if change.target_base is not None and change.replaces is not None:
        there = _present(change.replaces)
        if there is None:
            return None
        return replace(change, target_base=there)
    return _over_occupant(change, layout) if change.kind in ("create", "mkdir", "move") else change


def _on_nothing(change: Change, layout: Layout) -> _Ours:
    """What was to be changed is gone: new content is made anew, a removal has happened."""
    if change.kind in ("delete", "rmdir"):
        return "satisfied"
    if not change.has_new_content:
        return None
    return _made_anew(change, change.final_path, layout)


def _over_occupant(change: Change, layout: Layout) -> _Ours:
    """What is now at the place of something new or moved goes to the undo folder, whatever it is.

    A new folder where a folder is now: both are one.
    """
    place = layout.before(change.final_path)
    occupant = _present(place) if place is not None and place not in layout.leaving else None
    if occupant is None or place is None:
        return change
    if change.kind == "mkdir" and occupant.kind == "folder":
        return "satisfied"
    if change.kind != "create" or occupant.kind != "file":
        return replace(change, overwrites=True, replaces=place, target_base=occupant)
    return replace(
        change,
        kind="modify",
        path=place,
        target=change.final_path if change.final_path != place else None,
        size_before=occupant.size_bytes,
        mode=None,
        base=occupant,
    )


def _both(change: Change, problem: Conflict, layout: Layout, taken: set[str]) -> Change | None:
    """Ours under a free name beside theirs; None for removals and bare metadata."""
    if problem.reason in ("gone", "not-empty"):
        return None
    if change.kind == "mkdir":
        return replace(change, path=_free_name(change.path, layout, taken))
    base = change.base
    if change.kind == "move" and base is not None and difference(change.path, base) is None:
        free = _free_name(change.final_path, layout, taken)
        aside = replace(change, target=free, overwrites=False)
        return replace(aside, replaces=None, target_base=None)
    if not change.has_new_content or not _has_content(change):
        return None
    return _made_anew(change, _free_name(change.final_path, layout, taken), layout)


def _made_anew(change: Change, path: str, layout: Layout) -> Change | None:
    """The new content as a file of its own at `path`; None where its folder is gone."""
    place = layout.before(path)
    if place is not None and not os.path.isdir(parent_of(place)):  # noqa: PTH112 - surrogates
        return None
    before = stat.S_IMODE(change.base.mode) if change.base is not None else None
    return replace(
        change,
        kind="create",
        path=path,
        target=None,
        size_before=None,
        modified=False,
        overwrites=False,
        replaces=None,
        mode=change.mode if change.mode is not None else before,
        base=None,
        target_base=None,
    )


def _has_content(change: Change) -> bool:
    """Whether the new content, if any, can still be made: what it continues is as it was."""
    source, base = change.source, change.source_base
    return source is None or (base is not None and difference(source, base) is None)


def _free_name(path: str, layout: Layout, taken: set[str]) -> str:
    """`path` with a number before its ending, where nothing is and nothing will be."""
    folder, name = divided(path)
    stem, dot, ending = name.rpartition(".")
    if not stem:
        stem, dot, ending = name, "", ""
    for number in range(2, _TRIES):
        free = f"{folder}/{stem} ({number}){dot}{ending}"
        place = layout.before(free)
        if free not in taken and (place is None or not os.path.lexists(place)):
            return free
    return path


def _present(path: str) -> Base | None:
    try:
        return base_of(os.lstat(path))
    except OSError:
        return None
