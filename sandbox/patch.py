"""A change set as one unified patch, in the form that `git apply` and `patch -p1` take.

Owns the form: headers for moves, modes, new and deleted files; names quoted as git quotes them.
Bytes, since a patch has the bytes of its files. Reads the disk, changes nothing. Thread: any.
"""

from __future__ import annotations

import difflib
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from sandbox.blobs import BlobStore
from sandbox.changeset import Change, ChangeSet
from sandbox.diff import content_after, content_before
from sandbox.kept import KeptContents
from sandbox.stage_paths import is_within

_FILE_BYTES = 2 * 1024 * 1024
_PATCH_BYTES = 16 * 1024 * 1024
_CONTEXT = 3
_SNIFF_BYTES = 8192
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_NO_END = b"\\ No newline at end of file\n"


class _UnavailableError(Exception):
    """Why a change's content cannot be shown."""


def patch_of(
    change_set: ChangeSet,
    roots: Sequence[str],
    *,
    blobs: BlobStore | None = None,
    kept: KeptContents | None = None,
) -> bytes:
    """The patch of a change set that waits (`blobs`: its staged content) or was decided (`kept`).

    Names are relative to the only one of `roots`, the granted folders, or else begin with the
    name of theirs. What has no text, or is not there any more, is named in a line that begins with
    ``#``, which patch tools skip.
    """
    made = bytearray()
    for change in change_set.changes:
        if change.kind in ("mkdir", "rmdir"):
            continue
        if len(made) > _PATCH_BYTES:
            made += b"# The rest is left out: the patch is too large.\n"
            break
        made += b"".join(_of_one(change, roots, blobs, kept))
    return bytes(made)


def _of_one(
    change: Change, roots: Sequence[str], blobs: BlobStore | None, kept: KeptContents | None
) -> Iterator[bytes]:
    old, new = _name(change.path, roots), _name(change.final_path, roots)
    yield f"diff --git {_quoted(f'a/{old}')} {_quoted(f'b/{new}')}\n".encode()
    yield from (f"{line}\n".encode() for line in _headers(change, old, new))
    if change.kind == "mode" or (change.kind == "move" and not change.modified):
        return
    try:
        before, after = _contents(change, blobs, kept)
    except _UnavailableError as error:
        yield f"# {_quoted(new)}: {error}\n".encode()
        return
    except OSError as error:
        yield f"# {_quoted(new)}: cannot be read: {error.strerror}\n".encode()
        return
    if b"\0" in before[:_SNIFF_BYTES] or b"\0" in after[:_SNIFF_BYTES]:
        yield f"Binary files {_quoted(f'a/{old}')} and {_quoted(f'b/{new}')} differ\n".encode()
        return
    from_name = "/dev/null" if change.kind == "create" else _quoted(f"a/{old}")
    to_name = "/dev/null" if change.kind == "delete" else _quoted(f"b/{new}")
    yield from _hunks(before, after, from_name, to_name)


def _headers(change: Change, old: str, new: str) -> Iterator[str]:
    """What git says before the lines; a mode only where there is one to say."""
    base_mode = change.base.mode if change.base is not None else None
    match change.kind:
        case "create":
            yield f"new file mode {_mode(change.mode)}"
        case "delete":
            yield f"deleted file mode {_mode(base_mode)}"
        case _:
            if change.mode is not None and _mode(change.mode) != _mode(base_mode):
                yield f"old mode {_mode(base_mode)}"
                yield f"new mode {_mode(change.mode)}"
    if change.kind == "move":
        yield f"rename from {_quoted(old)}"
        yield f"rename to {_quoted(new)}"


def _contents(
    change: Change, blobs: BlobStore | None, kept: KeptContents | None
) -> tuple[bytes, bytes]:
    before = after = None
    if blobs is not None:
        before = content_before(change, limit_bytes=_FILE_BYTES + 1)
        after = content_after(change, blobs, limit_bytes=_FILE_BYTES + 1)
    elif kept is not None:
        found = kept.of(change)
        before, after = _read(found.before), _read(found.after)
    if (before is None and change.kind != "create") or (after is None and change.kind != "delete"):
        raise _UnavailableError("its content was not kept, or has changed since")
    before, after = before or b"", after or b""
    if max(len(before), len(after)) > _FILE_BYTES:
        raise _UnavailableError("too large to compare")
    return before, after


def _read(path: str | None) -> bytes | None:
    if path is None:
        return None
    with Path(path).open("rb") as stream:
        return stream.read(_FILE_BYTES + 1)


def _hunks(before: bytes, after: bytes, from_name: str, to_name: str) -> Iterator[bytes]:
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    old, new = _whole_lines(old), _whole_lines(new)
    # What both begin with is spared the comparison, which takes the square of its length.
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    lead = max(0, start - _CONTEXT)
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    trail = max(0, end - _CONTEXT)
    lines = difflib.diff_bytes(
        difflib.unified_diff,
        old[lead : len(old) - trail],
        new[lead : len(new) - trail],
        from_name.encode(),
        to_name.encode(),
        n=_CONTEXT,
    )
    for number, line in enumerate(lines):
        if line.startswith(b"@@") and lead:
            yield _shifted(line, lead)
        else:
            yield line
        if number > 1 and not line.endswith(b"\n"):
            yield b"\n" + _NO_END


def _whole_lines(lines: list[bytes]) -> list[bytes]:
    """Lines that end with LF alone: other ends belong to the line, as for `patch`."""
    joined: list[bytes] = []
    for line in lines:
        if joined and not joined[-1].endswith(b"\n"):
            joined[-1] += line
        else:
            joined.append(line)
    return joined


def _shifted(header: bytes, offset: int) -> bytes:
    _, old, new, _ = header.split(b" ", 3)
    return b"@@ -%s +%s @@\n" % (_moved(old[1:], offset), _moved(new[1:], offset))


def _moved(span: bytes, offset: int) -> bytes:
    first, comma, count = span.partition(b",")
    return b"%d%s%s" % (int(first) + offset, comma, count)


def _mode(mode: int | None) -> str:
    """As git has it: a file, one that can be started, or a link."""
    if mode is not None and stat.S_ISLNK(mode):
        return "120000"
    return "100755" if mode is not None and mode & 0o111 else "100644"


def _name(path: str, roots: Sequence[str]) -> str:
    root = max((root for root in roots if is_within(path, root)), key=len, default="")
    if not root:
        return path.lstrip("/")
    inside = os.path.relpath(path, root)
    return inside if len(roots) == 1 else f"{root[root.rfind('/') + 1 :]}/{inside}"


def _quoted(name: str) -> str:
    """A name as git writes it: in quotes and with escapes where it has anything unusual."""
    if name.isascii() and name.isprintable() and not any(c in name for c in '"\\'):
        return name
    parts: list[str] = []
    for byte in os.fsencode(name):
        char = chr(byte)
        if char in _ESCAPES:
            parts.append(_ESCAPES[char])
        else:
            parts.append(char if 32 <= byte < 127 else f"\\{byte:03o}")
    return f'"{"".join(parts)}"'
