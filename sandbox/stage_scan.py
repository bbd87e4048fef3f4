"""Walking the stage: one listing per folder, no `stat` of what is only passed by.

Owns the order (parents first, names sorted) and how links are treated. Thread: that of the stage.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from typing import NamedTuple

from sandbox.stage_tree import Place, StageTree, failure, mode_of
from sandbox.tree import Entry


class StageEntry(NamedTuple):
    """One entry of a scan. `path`: relative to where the scan began, POSIX form, '' for itself.

    For a link, `is_dir` and `is_file` tell about what it leads to inside the folders; both are
    False when it leads nowhere or out. A tuple, since a walk makes one for every file.
    """

    path: str
    is_dir: bool
    is_file: bool
    is_symlink: bool


_Level = tuple[str, str, Iterator[tuple[str, Entry | os.DirEntry[str]]]]


def scan(
    tree: StageTree, place: Place, *, max_depth: int | None, follow_symlinks: bool
) -> Iterator[StageEntry]:
    """`place` and what is below it. FileNotFoundError when nothing is there."""
    if place.entry is None:
        raise failure(errno.ENOENT, place.path)
    top_mode = mode_of(place.entry)
    yield StageEntry("", stat.S_ISDIR(top_mode), stat.S_ISREG(top_mode), False)
    if not stat.S_ISDIR(top_mode) or max_depth == 0:
        return
    stack: list[_Level] = [("", place.path, iter(tree.children(place.entry)))]
    while stack:
        prefix, folder, listing = stack[-1]
        for name, child in listing:
            if isinstance(child, os.DirEntry) and child.is_file(follow_symlinks=False):
                yield StageEntry(prefix + name, False, True, False)
                continue
            path = f"{folder}/{name}"
            is_dir, is_file, is_link = _kinds(tree, path, child)
            yield StageEntry(prefix + name, is_dir, is_file, is_link)
            if not is_dir or len(stack) == max_depth or (is_link and not follow_symlinks):
                continue
            inner = _linked(tree, path, stack) if is_link else (path, child)
            if inner is not None:
                below = inner[1].path if isinstance(inner[1], os.DirEntry) else inner[1]
                stack.append((f"{prefix}{name}/", inner[0], iter(tree.children(below))))
                break
        else:
            stack.pop()


def _linked(tree: StageTree, path: str, stack: list[_Level]) -> tuple[str, Entry] | None:
    """The folder that a link leads to, unless the walk is inside it already."""
    inner = tree.locate(path)
    if inner.entry is None or any(inner.path == level[1] for level in stack):
        return None
    return inner.path, inner.entry


def _kinds(tree: StageTree, path: str, child: Entry | os.DirEntry[str]) -> tuple[bool, bool, bool]:
    """Whether it is a folder, a file, a link."""
    if isinstance(child, os.DirEntry):
        if not child.is_symlink():
            return child.is_dir(), child.is_file(), False
    elif not stat.S_ISLNK(mode := mode_of(child)):
        return stat.S_ISDIR(mode), stat.S_ISREG(mode), False
    try:
        target = tree.locate(path).entry
    except OSError:  # leads out, in circles, or through a file: it is a link and no more
        return False, False, True
    mode = mode_of(target) if target is not None else 0
    return stat.S_ISDIR(mode), stat.S_ISREG(mode), True
