"""The image that microVM workspaces start from: where it is, whether it is whole, copies of it.

Owns the folder's form, which `packaging/workspace_image.py` writes. Thread: any.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import platform
import shutil
from dataclasses import dataclass
from pathlib import Path

from sandbox.workspace.errors import WorkspaceMissingError

VERSION = 1
_CHUNK_BYTES = 1024 * 1024
_BUILD = "python packaging/workspace_image.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """An image's files, and the hash that tells one image from another."""

    kernel: Path
    initrd: Path
    disk: Path
    agent: Path
    identity: str


def open_image(folder: Path) -> Image:
    """The image in `folder`. WorkspaceMissingError when there is none that fits this machine."""
    hint = f"Build it with: {_BUILD}"
    try:
        about = json.loads((folder / "image.json").read_text(encoding="utf-8"))
        version, architecture = about["version"], about["architecture"]
        digests = about["sha256"]
        identity = f"{digests['kernel']}{digests['initrd']}{digests['disk']}"
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WorkspaceMissingError("The workspace image is not here.", hint=hint) from error
    if version != VERSION or architecture != machine_architecture():
        raise WorkspaceMissingError("The workspace image is for another version.", hint=hint)
    files = {name: folder / name for name in ("kernel", "initrd", "disk", "agent")}
    if not all(path.is_file() for path in files.values()):
        raise WorkspaceMissingError("The workspace image is not whole.", hint=hint)
    return Image(**files, identity=identity)


def machine_architecture() -> str:
    """This machine's architecture, by Debian's name."""
    found = platform.machine().lower()
    return {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64"}.get(found, found)


def copy_sparse(source: Path, target: Path) -> None:
    """A copy in which holes stay holes; under its name only once it is whole."""
    partial = target.with_name(f"{target.name}.partial")
    size = source.stat().st_size
    try:
        with source.open("rb") as origin, partial.open("wb") as copy:
            copy.truncate(size)
            for start, end in _extents(origin.fileno(), size):
                origin.seek(start)
                copy.seek(start)
                while start < end:
                    data = origin.read(min(_CHUNK_BYTES, end - start))
                    if data.count(0) == len(data):
                        copy.seek(len(data), os.SEEK_CUR)
                    else:
                        copy.write(data)
                    start += len(data)
        partial.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise


def free_bytes(folder: Path) -> int:
    """What the disk below `folder` has left."""
    return shutil.disk_usage(folder).free


def _extents(handle: int, size: int) -> list[tuple[int, int]]:
    """Where a file has data; the whole file where the system cannot say."""
    if not hasattr(os, "SEEK_DATA"):
        return [(0, size)]
    found: list[tuple[int, int]] = []
    at = 0
    while at < size:
        try:
            start = os.lseek(handle, at, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:
                break
            return [(0, size)]
        at = os.lseek(handle, start, os.SEEK_HOLE)
        found.append((start, at))
    return found
