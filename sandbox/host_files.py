"""Answers the interpreter's own file calls (`open`, `Path.*`, `os.*`) from the stage.

Owns what each call does and which effects it has; `HostPaths` is shared with the other rooms of
host calls. It must not judge effects or run the program. Thread: the runner's.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePath, PurePosixPath

from pydantic_monty import MontyFileHandle, ScanEntry, StatResult

from sandbox.effects import Effect, EffectKind
from sandbox.errors import StoppedError
from sandbox.host_answer import Answer
from sandbox.limits import Limits
from sandbox.names import real, shown
from sandbox.stage import Stage, StageEntry, StageStat
from sandbox.textcodec import PLAIN, TextOptions, decode, encode

SCAN_ENTRIES = 500_000
_STOP_ENTRIES = 512
_PATTERN_CHECK_ENTRIES = 20_000
_HEADER_BYTES = 10_000
_TABLES = (".csv", ".tsv")


class HostPaths:
    """The stage with the program's working folder, its open texts and what it looked for.

    `unmatched`: glob patterns that matched nothing, in order; `csv_header`: name, separator and
    columns of the table that was read last; `separators`: of the tables read that have no commas;
    `asked`: the last path that a call named, for the runner, which sets it back; `clock`: what the
    stage takes for now, in nanoseconds; `first_number`: of what the program opens.
    """

    def __init__(
        self, stage: Stage, limits: Limits, stopped: Callable[[], bool] = lambda: False
    ) -> None:
        self.stage = stage
        self._stopped = stopped
        self.limits = limits
        self.cwd = stage.cwd
        self.clock: Callable[[], int] = time.time_ns
        self.asked: str | None = None
        self.texts: dict[str, TextOptions] = {}
        self.unmatched: dict[str, None] = {}
        self.separators: dict[str, str] = {}
        self.csv_header: tuple[str, str, list[str]] | None = None
        self.first_number = 1

    def path(self, value: object) -> str:
        """The absolute path that the program means; TypeError when it is none."""
        if isinstance(value, MontyFileHandle):
            text = value.path
        elif isinstance(value, PurePath):
            text = value.as_posix()
        elif isinstance(value, str):
            text = value
        else:
            kind = type(value).__name__
            raise TypeError(f"expected str or Path for a path, not {kind}")
        text = real(text)
        if not text:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), "")
        if not text.startswith("/") and text[1:2] != ":":
            text = f"{self.cwd}/{text}"
        self.asked = text
        return text

    def effect(
        self,
        kind: EffectKind,
        path: str,
        *,
        target: str | None = None,
        size_bytes: int | None = None,
        folder: bool = False,
    ) -> Effect:
        """An effect with paths as they are shown; the runner adds call and span."""
        return Effect(
            kind=kind,
            path=shown(path),
            target=None if target is None else shown(target),
            size_bytes=size_bytes,
            folder=folder,
        )

    def written(self, path: str, size_bytes: int) -> Effect:
        """The effect of writing a file: it is created or modified."""
        kind: EffectKind = "modify" if self.stage.exists(path) else "create"
        return self.effect(kind, path, size_bytes=size_bytes)

    def read(self, path: str, size_bytes: int | None = None) -> tuple[Effect, Callable[[], bytes]]:
        """The effect of reading a file whole, and the reading."""
        if size_bytes is None:
            size_bytes = self.stage.stat(path).size_bytes
        effect = self.effect("read", path, size_bytes=size_bytes)

        def read() -> bytes:
            data = self.stage.read_bytes(path, limit_bytes=self.limits.read_bytes)
            if path.casefold().endswith(_TABLES):
                self._remember_header(path, data)
            return data

        return effect, read

    def read_text(self, path: str, options: TextOptions) -> Answer:
        """A file as text."""
        effect, read = self.read(path)
        return Answer(effects=(effect,), do=lambda: decode(read(), options))

    def remember_header(self, path: str) -> None:
        """Keep the columns of a table that is read as a stream."""
        if path.casefold().endswith(_TABLES):
            with self.stage.open_reader(path) as stream:
                self._remember_header(path, stream.read(_HEADER_BYTES))

    def _remember_header(self, path: str, data: bytes) -> None:
        """Keep the columns of a table, for the hint after a wrong one."""
        first = data[:_HEADER_BYTES].partition(b"\n")[0].decode("utf-8-sig", "replace")
        mark = max(",;\t|", key=first.count)
        columns = [column.strip().strip('"') for column in first.split(mark)]
        name = shown(path.rpartition("/")[2])
        self.csv_header = (name, mark, columns)
        if mark in first and "," not in first:
            self.separators[name] = mark

    def write(self, path: str, data: bytes, result: int) -> Answer:
        """Create or replace a file; the program gets `result`."""

        def do() -> int:
            self.stage.write_bytes(path, data)
            return result

        return Answer(effects=(self.written(path, len(data)),), do=do)

    def open_file(self, path: str, mode: str, options: TextOptions) -> Answer:
        """Open a file; raises what `open` raises."""
        if "x" in mode:
            if self.stage.exists(path):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
            mode = mode.replace("x", "w")
        handle = MontyFileHandle(shown(path), mode)
        if self.stage.is_dir(path):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        self.texts.pop(path, None)
        if options != PLAIN:
            self.texts[path] = options
        if not handle.writable:
            self.stage.stat(path)
            return Answer(do=lambda: handle)
        if "a" in mode and self.stage.exists(path):
            return Answer(effects=(self.effect("modify", path, size_bytes=0),), do=lambda: handle)

        def do() -> MontyFileHandle:
            self.stage.create(path)
            return handle

        return Answer(effects=(self.written(path, 0),), do=do)

    def entries(
        self, path: str, *, max_depth: int | None = None, follow_symlinks: bool = False
    ) -> Iterator[StageEntry]:
        """What is below a folder; `StoppedError` when the run is stopped meanwhile."""
        scan = self.stage.scan(path, max_depth=max_depth, follow_symlinks=follow_symlinks)
        for number, entry in enumerate(scan):
            if number % _STOP_ENTRIES == 0 and self._stopped():
                raise StoppedError
            if number > SCAN_ENTRIES:
                raise OSError(errno.EFBIG, f"the folder has over {SCAN_ENTRIES:,} entries", path)
            yield entry

    def deletions(self, path: str) -> tuple[Effect, ...]:
        """The effects of deleting a folder with all that is in it."""
        effects: list[Effect] = []
        for entry in self.entries(path):
            inner = f"{path}/{entry.path}" if entry.path else path
            folder = entry.is_dir and not entry.is_symlink
            effects.append(self.effect("delete", inner, folder=folder))
        return tuple(reversed(effects))


class HostFiles:
    """The interpreter's own calls, by name."""

    def __init__(self, paths: HostPaths) -> None:
        self._paths = paths
        self._stage = paths.stage
        self._calls: dict[str, Callable[..., Answer]] = {
            "open": self._open,
            "Path.read_text": self._read_text,
            "Path.read_bytes": self._read_bytes,
            "Path.write_text": self._write_text,
            "Path.write_bytes": self._write_bytes,
            "Path.append_text": self._append_text,
            "Path.append_bytes": self._append_bytes,
            "Path.exists": self._looking(self._stage.exists),
            "Path.is_file": self._looking(self._stage.is_file),
            "Path.is_dir": self._looking(self._stage.is_dir),
            "Path.is_symlink": self._looking(self._stage.is_symlink),
            "Path.stat": self._stat,
            "Path.resolve": self._resolve,
            "Path.absolute": self._resolve,
            "Path.iterdir": self._iterdir,
            "Path.scan": self._scan,
            "Path.mkdir": self._mkdir,
            "Path.unlink": self._unlink,
            "Path.rmdir": self._rmdir,
            "Path.rename": self._rename,
            "os.getenv": self._getenv,
            "os.environ": lambda: Answer(do=environment),
        }

    def answer(
        self, name: str, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> Answer | None:
        """What call `name` would do, or None for an unknown call; raises what Python raises."""
        call = self._calls.get(name)
        return None if call is None else call(*args, **kwargs)

    def _looking(self, ask: Callable[[str], bool]) -> Callable[[object], Answer]:
        def look(path: object) -> Answer:
            text = self._paths.path(path)
            return Answer(do=lambda: ask(text))

        return look

    def _open(self, path: object, mode: str) -> Answer:
        return self._paths.open_file(self._paths.path(path), mode, PLAIN)

    def _read_text(self, path: object) -> Answer:
        text = self._paths.path(path)
        return self._paths.read_text(text, self._paths.texts.get(text, PLAIN))

    def _read_bytes(self, path: object) -> Answer:
        effect, read = self._paths.read(self._paths.path(path))
        return Answer(effects=(effect,), do=read)

    def _write_text(self, path: object, data: str) -> Answer:
        return self._paths.write(self._paths.path(path), encode(data), len(data))

    def _write_bytes(self, path: object, data: bytes) -> Answer:
        return self._paths.write(self._paths.path(path), data, len(data))

    def _append_text(self, path: object, data: str) -> Answer:
        return self.append(self._paths.path(path), data)

    def _append_bytes(self, path: object, data: bytes) -> Answer:
        return self.append(self._paths.path(path), data)

    def append(self, path: str, data: str | bytes) -> Answer:
        """Add to a file what was written to it, as the program opened it."""
        if isinstance(data, bytes):
            return self._append(path, data, len(data))
        options = self._paths.texts.get(path)
        if options is None:
            return self._append(path, data.encode(), len(data))
        at_start = not self._stage.exists(path) or self._stage.stat(path).size_bytes == 0
        return self._append(path, encode(data, options, at_start=at_start), len(data))

    def _append(self, path: str, data: bytes, result: int) -> Answer:
        def do() -> int:
            self._stage.append_bytes(path, data)
            return result

        return Answer(effects=(self._paths.effect("modify", path, size_bytes=len(data)),), do=do)

    def _stat(self, path: object) -> Answer:
        text = self._paths.path(path)
        return Answer(do=lambda: stat_result(self._stage.stat(text)))

    def _resolve(self, path: object) -> Answer:
        text = os.path.normpath(self._paths.path(path))
        return Answer(do=lambda: PurePosixPath(shown(PurePath(text).as_posix())))

    def _iterdir(self, path: object) -> Answer:
        text = self._paths.path(path)

        def do() -> list[PurePosixPath]:
            folder = PurePosixPath(shown(text))
            return [folder / shown(name) for name in self._stage.listdir(text)]

        return Answer(effects=(self._paths.effect("read", text, folder=True),), do=do)

    def _scan(
        self,
        path: object,
        *,
        max_depth: int | None,
        follow_symlinks: bool = False,
        pattern: list[str] | None = None,
        case_sensitive: bool | None = None,
        recurse_symlinks: bool = False,
    ) -> Answer:
        del case_sensitive, recurse_symlinks  # The interpreter filters the answer itself.
        text = self._paths.path(path)

        def do() -> list[ScanEntry]:
            entries = [
                ScanEntry(shown(entry.path), entry.is_dir, entry.is_file, entry.is_symlink)
                for entry in self._paths.entries(
                    text, max_depth=max_depth, follow_symlinks=follow_symlinks
                )
            ]
            if pattern:
                self._remember_pattern(pattern, entries)
            return entries

        return Answer(effects=(self._paths.effect("read", text, folder=True),), do=do)

    def _remember_pattern(self, pattern: list[str], entries: list[ScanEntry]) -> None:
        """Keep a pattern that matches no name, so that the model can be told."""
        last = pattern[-1]
        if len(entries) > _PATTERN_CHECK_ENTRIES or last == "**":
            return
        if not any(fnmatchcase(PurePosixPath(entry.path).name, last) for entry in entries[1:]):
            self._paths.unmatched["/".join(pattern)] = None

    def _mkdir(self, path: object, *, parents: bool = False, exist_ok: bool = False) -> Answer:
        text = self._paths.path(path)
        there = exist_ok and self._stage.is_dir(text)
        effects = () if there else (self._paths.effect("create", text, folder=True),)

        def do() -> None:
            self._stage.mkdir(text, parents=parents, exist_ok=exist_ok)

        return Answer(effects=effects, do=do, reveals=not exist_ok)

    def _unlink(self, path: object, missing_ok: bool = False) -> Answer:
        text = self._paths.path(path)
        link = self._stage.is_symlink(text)
        if missing_ok and not link and not self._stage.exists(text):
            return Answer(do=lambda: None)
        size_bytes = 0 if link else self._stage.stat(text).size_bytes
        effect = self._paths.effect("delete", text, size_bytes=size_bytes)
        return Answer(effects=(effect,), do=lambda: self._stage.unlink(text))

    def _rmdir(self, path: object) -> Answer:
        text = self._paths.path(path)
        effect = self._paths.effect("delete", text, folder=True)
        return Answer(effects=(effect,), do=lambda: self._stage.rmdir(text))

    def _rename(self, path: object, target: object) -> Answer:
        source, goal = self._paths.path(path), self._paths.path(target)
        return move(self._paths, source, goal)

    def _getenv(self, name: str, default: str | None = None) -> Answer:
        return Answer(do=lambda: environment().get(name, default))


def move(paths: HostPaths, source: str, target: str) -> Answer:
    """Rename or move `source` to `target`; a file that is replaced is a deletion as well."""
    stage = paths.stage
    folder = stage.is_dir(source) and not stage.is_symlink(source)
    effects = [paths.effect("move", source, target=target, folder=folder)]
    same = os.path.normpath(source) == os.path.normpath(target)
    if not same and stage.exists(target) and not stage.is_dir(target):
        size_bytes = stage.stat(target).size_bytes
        effects.append(paths.effect("delete", target, size_bytes=size_bytes))
    return Answer(effects=tuple(effects), do=lambda: stage.rename(source, target))


def environment() -> dict[str, str]:
    """The few environment variables that a program may see."""
    home = Path.home().as_posix()
    return {"HOME": home, "USERPROFILE": home, "LANG": "C.UTF-8", "PATH": "", "TZ": ""}


def stat_result(stat: StageStat) -> StatResult:
    """A stage's entry as Python's `os.stat_result`."""
    mtime = stat.mtime_ns / 1e9
    return StatResult(stat.mode, 0, 0, 1, 0, 0, stat.size_bytes, mtime, mtime, mtime)
