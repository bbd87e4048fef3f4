"""What about a change deserves a second look, as codes; the words are the window's.

Owns which files start programs when they are opened. Pure; any thread.
"""

from __future__ import annotations

import stat
from collections.abc import Sequence
from typing import Literal

from sandbox.changeset import Change
from sandbox.disk_names import is_cloud_stub
from sandbox.stage_paths import is_within

Mark = Literal["overwrites", "leaves-folder", "in-cloud", "program", "hidden", "hard-link"]

_ENDINGS = """
    .appimage .bat .bash .cmd .com .command .cpl .csh .desktop .dll .dylib .elf .exe .fish .hta .jar
    .js .jse .ksh .lnk .msi .pif .pl .ps1 .py .pyw .rb .reg .run .scpt .scr .sh .so .url .vbe .vbs
    .workflow .wsf .wsh .zsh
"""
_PROGRAM_ENDINGS = frozenset(_ENDINGS.split())
"""Endings that a double click or a shell runs, on Linux, macOS or Windows."""


def marks(change: Change, roots: Sequence[str]) -> tuple[Mark, ...]:
    """The marks of one change, most serious first; `roots`: the granted folders.

    "overwrites": another file is replaced; "leaves-folder": it goes from one granted folder to
    another; "in-cloud": what is moved, removed or replaced is not on this disk; "program": it can
    be started; "hidden"; "hard-link": the file has other names, which keep the old content.
    """
    found: list[Mark] = []
    if change.overwrites:
        found.append("overwrites")
    if change.kind == "move" and _root(change.path, roots) != _root(change.final_path, roots):
        found.append("leaves-folder")
    if _is_in_cloud(change):
        found.append("in-cloud")
    if _is_program(change):
        found.append("program")
    final = change.final_path
    if final[final.rfind("/") + 1 :].startswith("."):
        found.append("hidden")
    if change.has_new_content and change.base is not None and change.base.links > 1:
        found.append("hard-link")
    return tuple(found)


def _is_in_cloud(change: Change) -> bool:
    base, replaced = change.base, change.target_base
    if base is None:
        return False
    is_away = base.placeholder or (replaced is not None and replaced.placeholder)
    return is_away or (change.path.endswith(".icloud") and is_cloud_stub(change.path))


def _is_program(change: Change) -> bool:
    is_folder = change.base is not None and change.base.kind == "folder"
    if is_folder or change.kind in ("mkdir", "rmdir", "delete"):
        return False
    before = stat.S_IMODE(change.base.mode) if change.base is not None else 0
    mode = change.mode if change.mode is not None else before
    ending = change.final_path[change.final_path.rfind(".") :].lower()
    return bool(mode & 0o111) or ending in _PROGRAM_ENDINGS


def _root(path: str, roots: Sequence[str]) -> str:
    return max((root for root in roots if is_within(path, root)), key=len, default="")
