"""Answers `shutil` and `glob` from the stage, as CPython does on a disk.

Owns copying, moving and deleting trees and finding by pattern. Thread: the runner's.
"""

from __future__ import annotations

import errno
import fnmatch
import glob as python_glob
import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath, PurePosixPath
from typing import cast

from sandbox.effects import Effect
from sandbox.host_answer import Answer
from sandbox.host_files import HostPaths, move
from sandbox.names import real, shown
from sandbox.stage_scan import StageEntry

_PATTERN_STEPS = 1_000_000


class HostShutil:
    """The file-touching functions of the host's modules, by dotted name."""

    def __init__(self, paths: HostPaths) -> None:
        self._paths = paths
        self._stage = paths.stage
        self._calls: dict[str, Callable[..., Answer]] = {
            "shutil.copy": self._copying(metadata=False, into=True),
            "shutil.copy2": self._copying(metadata=True, into=True),
            "shutil.copyfile": self._copying(metadata=False, into=False),
            "shutil.copymode": self._copymode,
            "shutil.copystat": self._copystat,
            "shutil.copytree": self._copytree,
            "shutil.move": self._move,
            "shutil.rmtree": self._rmtree,
            "__dd_disk_sizes": self._disk_sizes,
            "__dd_remove_tree": self._rmtree,
            "glob.glob": self._glob,
            "glob.iglob": self._glob,
            "glob.escape": self._escape,
        }

    def answer(
        self, name: str, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> Answer | None:
        """What call `name` would do, or None for an unknown call; raises what Python raises."""
        call = self._calls.get(name)
        return None if call is None else call(*args, **kwargs)

    def _copying(self, *, metadata: bool, into: bool) -> Callable[..., Answer]:
        def copy(src: object, dst: object, *, follow_symlinks: bool = True) -> Answer:
            del follow_symlinks
            return self._copy(src, dst, metadata=metadata, into=into)

        return copy

    def _disk_sizes(self, path: object) -> Answer:
        folder = real(self._paths.path(path))
        self._stage.stat(self._paths.path(path))
        return Answer(do=lambda: tuple(shutil.disk_usage(folder)))

    def _escape(self, pathname: str) -> Answer:
        return Answer(do=lambda: python_glob.escape(pathname))

    def _copy(self, src: object, dst: object, *, metadata: bool, into: bool) -> Answer:
        source, target = self._paths.path(src), self._paths.path(dst)
        result = dst
        if into and self._stage.is_dir(target):
            target = f"{target}/{_name(source)}"
            result = PurePosixPath(shown(target)) if isinstance(dst, PurePath) else shown(target)
        size_bytes = self._file_size(source)
        if _same(source, target):
            raise OSError(f"{shown(source)!r} and {shown(target)!r} are the same file")
        effects = (
            self._paths.effect("read", source, size_bytes=size_bytes),
            self._paths.written(target, size_bytes),
        )

        def do() -> object:
            self._stage.copy_file(source, target, metadata=metadata)
            if into and not metadata:
                self._stage.chmod(target, self._stage.stat(source).mode)
            return result

        return Answer(effects=effects, do=do)

    def _file_size(self, path: str) -> int:
        stat = self._stage.stat(path)
        if stat.is_dir:
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        return stat.size_bytes

    def _copymode(self, src: object, dst: object) -> Answer:
        source, target = self._paths.path(src), self._paths.path(dst)
        mode = self._stage.stat(source).mode
        effect = self._paths.effect("modify", target)
        return Answer(effects=(effect,), do=lambda: self._stage.chmod(target, mode))

    def _copystat(self, src: object, dst: object) -> Answer:
        source, target = self._paths.path(src), self._paths.path(dst)
        stat = self._stage.stat(source)

        def do() -> None:
            self._stage.chmod(target, stat.mode)
            self._stage.utime(target, stat.mtime_ns)

        return Answer(effects=(self._paths.effect("modify", target),), do=do)

    def _copytree(
        self,
        src: object,
        dst: object,
        symlinks: bool = False,
        ignore: object = None,
        copy_function: None = None,
        ignore_dangling_symlinks: bool = False,
        dirs_exist_ok: bool = False,
    ) -> Answer:
        del symlinks, ignore_dangling_symlinks
        patterns = _patterns(ignore)
        if patterns is None or copy_function is not None:
            raise TypeError(
                "copytree() takes no function here: use shutil.ignore_patterns(...), or copy file "
                "by file"
            )
        source, target = self._paths.path(src), self._paths.path(dst)
        if not self._stage.is_dir(source):
            self._stage.stat(source)
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), source)
        if self._stage.exists(target) and not dirs_exist_ok:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target)
        # The list is taken before anything is made: the target may lie inside the source.
        entries = [
            entry
            for entry in self._paths.entries(source)
            if not any(
                fnmatch.fnmatch(part, pattern)
                for part in PurePosixPath(entry.path).parts
                for pattern in patterns
            )
        ]
        effects = [e for entry in entries for e in self._copy_effects(entry, source, target)]

        def do() -> object:
            for entry in entries:
                new = _below(target, entry.path)
                if entry.is_dir:
                    self._stage.mkdir(new, parents=True, exist_ok=True)
                elif entry.is_file:
                    self._stage.copy_file(_below(source, entry.path), new, metadata=True)
            return dst

        return Answer(effects=tuple(effects), do=do)

    def _copy_effects(self, entry: StageEntry, source: str, target: str) -> list[Effect]:
        """The effects of copying one entry of a tree; links that lead nowhere have none."""
        old, new = _below(source, entry.path), _below(target, entry.path)
        if entry.is_dir:
            there = self._stage.exists(new)
            return [] if there else [self._paths.effect("create", new, folder=True)]
        if not entry.is_file:
            return []
        size_bytes = self._stage.stat(old).size_bytes
        read = self._paths.effect("read", old, size_bytes=size_bytes)
        return [read, self._paths.written(new, size_bytes)]

    def _move(self, src: object, dst: object, copy_function: None = None) -> Answer:
        del copy_function
        source, target = self._paths.path(src), self._paths.path(dst)
        result = dst
        if self._stage.is_dir(target) and not _same(source, target):
            target = f"{target}/{_name(source)}"
            result = shown(target)
            if self._stage.exists(target):
                raise OSError(f"Destination path {shown(target)!r} already exists")
        if not self._stage.is_symlink(source):
            self._stage.stat(source)
        moved = move(self._paths, source, target)

        def do() -> object:
            moved.do()
            return result

        return Answer(effects=moved.effects, do=do)

    def _rmtree(
        self,
        path: object,
        ignore_errors: bool = False,
        onerror: None = None,
        *,
        onexc: None = None,
    ) -> Answer:
        del onerror, onexc
        text = self._paths.path(path)
        if not self._stage.is_dir(text):
            if ignore_errors:
                return Answer(do=lambda: None)
            self._stage.stat(text)
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), text)
        effects = self._paths.deletions(text)
        return Answer(effects=effects, do=lambda: self._stage.rmtree(text))

    def _glob(
        self,
        pathname: object,
        *,
        root_dir: object = None,
        dir_fd: None = None,
        recursive: bool = False,
        include_hidden: bool = False,
    ) -> Answer:
        del dir_fd
        pattern = real(pathname.as_posix() if isinstance(pathname, PurePath) else str(pathname))
        root = self._paths.cwd if root_dir is None else self._paths.path(root_dir)
        finder = _Finder(self._paths, recursive=recursive, include_hidden=include_hidden)

        def do() -> list[str]:
            found = [shown(path) for path in finder.find(pattern, root)]
            if not found:
                self._paths.unmatched[shown(pattern)] = None
            return found

        start, _ = _split(pattern)
        folder = start if start.startswith("/") else os.path.normpath(f"{root}/{start}")
        return Answer(effects=(self._paths.effect("read", folder, folder=True),), do=do)


class _Finder:
    """Finds by pattern, part by part, with the results that the `glob` module gives."""

    def __init__(self, paths: HostPaths, *, recursive: bool, include_hidden: bool) -> None:
        self._paths = paths
        self._stage = paths.stage
        self._recursive = recursive
        self._hidden = include_hidden

    def find(self, pattern: str, root: str) -> list[str]:
        start, parts = _split(pattern)
        found = [start]
        for index, part in enumerate(parts):
            last = index == len(parts) - 1
            found = [new for base in found for new in self._next(base, part, root, last=last)]
            if len(found) > _PATTERN_STEPS:
                raise OSError(errno.E2BIG, "the pattern matches too much")
        return [path for path in found if path]

    def _absolute(self, base: str, root: str) -> str:
        if base.startswith("/"):
            return base
        return f"{root}/{base}" if base else root

    def _next(self, base: str, part: str, root: str, *, last: bool) -> list[str]:
        folder = self._absolute(base, root)
        prefix = base if not base or base.endswith("/") else f"{base}/"
        if part == "**" and self._recursive:
            return self._below(base, prefix, folder, last=last)
        if not python_glob.has_magic(part):
            if not part:
                return [prefix] if self._stage.is_dir(folder) else []
            path = f"{folder}/{part}"
            return [prefix + part] if self._stage.exists(path) else []
        if not self._stage.is_dir(folder):
            return []
        match = re.compile(fnmatch.translate(part)).match
        names = [
            name
            for name in self._stage.listdir(folder)
            if match(name) and (self._hidden or part.startswith(".") or not name.startswith("."))
        ]
        if not last:
            names = [name for name in names if self._stage.is_dir(f"{folder}/{name}")]
        return [prefix + name for name in names]

    def _below(self, base: str, prefix: str, folder: str, *, last: bool) -> list[str]:
        if not self._stage.is_dir(folder):
            return []
        found = [prefix if last else base]
        for entry in self._paths.entries(folder, follow_symlinks=True):
            hidden = any(part.startswith(".") for part in entry.path.split("/"))
            if not entry.path or (hidden and not self._hidden):
                continue
            if last or entry.is_dir:
                found.append(prefix + entry.path)
        return found


def _split(pattern: str) -> tuple[str, list[str]]:
    """The leading part without wildcards, and the parts that follow it."""
    start = "/" if pattern.startswith("/") else ""
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    if pattern.startswith("./"):
        start = "./"
    if pattern.endswith("/"):
        parts.append("")
    while len(parts) > 1 and not python_glob.has_magic(parts[0]):
        start = f"{start}{parts.pop(0)}/"
    return start, parts


def _below(folder: str, inner: str) -> str:
    return f"{folder}/{inner}" if inner else folder


def _name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def _same(first: str, second: str) -> bool:
    return os.path.normpath(first) == os.path.normpath(second)


def _patterns(ignore: object) -> list[str] | None:
    """What `shutil.ignore_patterns` was given; None for a function of the program."""
    if ignore is None:
        return []
    if isinstance(ignore, list):
        marked = [str(item) for item in cast("list[object]", ignore)]
        if marked[:1] == ["__dd_patterns"]:
            return marked[1:]
    return None
