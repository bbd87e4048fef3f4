"""The stage as it was before a change set was applied, made of what undo has kept.

Owns the way back in the stage alone: the disk is not touched. Thread: a worker.
"""

from __future__ import annotations

import stat
from pathlib import Path

from sandbox.changeset import Base, Change, ChangeSet
from sandbox.errors import SandboxError
from sandbox.kept import KeptContents
from sandbox.stage import Stage


class RewindError(SandboxError):
    """What was there before cannot be made again."""


def rewind(stage: Stage, changes: ChangeSet, kept: KeptContents) -> None:
    """Take applied changes back in `stage`. Raises `RewindError` that names what is gone."""
    for change in reversed(changes.changes):
        try:
            _back(stage, change, kept)
        except OSError as error:
            raise RewindError(
                f"What was at {change.path} before cannot be made again: {error.strerror}."
            ) from error


def _back(stage: Stage, change: Change, kept: KeptContents) -> None:
    match change.kind:
        case "create":
            stage.unlink(change.path)
        case "mkdir":
            stage.rmdir(change.path)
        case "rmdir":
            stage.mkdir(change.path)
        case "delete" | "modify":
            _restore(stage, change, kept)
        case "move":
            if change.overwrites or change.replaces is not None:
                raise RewindError(f"What {change.final_path} replaced cannot be made again.")
            stage.rename(change.final_path, change.path)
            if change.modified:
                _restore(stage, change, kept)
        case "mode":
            _restore_look(stage, change.path, change.base)
    if change.kind != "create":
        _restore_look(stage, change.path, change.base)


def _restore(stage: Stage, change: Change, kept: KeptContents) -> None:
    base = change.base
    if base is None or base.kind != "file" or change.with_contents:
        raise RewindError(f"What was at {change.path} before cannot be made again.")
    before = kept.of(change).before
    if before is None:
        raise RewindError(
            f"What was in {change.path} before is not kept any more.",
            hint="Undo is kept for as long as the settings say.",
        )
    stage.write_bytes(change.path, Path(before).read_bytes())


def _restore_look(stage: Stage, path: str, base: Base | None) -> None:
    if base is not None and base.kind == "file":
        stage.chmod(path, stat.S_IMODE(base.mode))
        stage.utime(path, base.mtime_ns)
