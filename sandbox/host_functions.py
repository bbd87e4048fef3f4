"""Answers the calls that the bridge puts into programs (`__dd_open`, `__dd_exit`, ...).

Owns their meaning, each as the Python function that it replaces. Thread: the runner's.
"""

from __future__ import annotations

import datetime as dt
import errno
import os
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePath, PurePosixPath
from typing import cast
from urllib.parse import quote

from pydantic_monty import MontyClassProxy, MontyFileHandle

from sandbox.effects import Effect
from sandbox.host_answer import Answer
from sandbox.host_files import HostFiles, HostPaths, stat_result
from sandbox.host_streams import HostStreams
from sandbox.host_updates import HostUpdates
from sandbox.names import shown
from sandbox.textcodec import TextOptions, decode, encode

# Larger files are streams: what a program has open is in the interpreter's memory.
_WHOLE_BYTES = 1024 * 1024


class HostFunctions:
    """The bridge's host functions, by name. `exit_code`: what the program gave to `sys.exit`."""

    def __init__(
        self, paths: HostPaths, files: HostFiles, streams: HostStreams, updates: HostUpdates
    ) -> None:
        self._paths = paths
        self._updates = updates
        self._files = files
        self._streams = streams
        self._stage = paths.stage
        self.exit_code: object = None
        self.exited = False
        self._calls: dict[str, Callable[..., Answer]] = {
            "__dd_at": lambda: Answer(do=lambda: None),
            "__dd_cwd": self._cwd,
            "__dd_open": self._open,
            "__dd_load": self._load,
            "__dd_append": self._append,
            "__dd_save": self._save,
            "__dd_read_text": self._read_text,
            "__dd_write_text": self._write_text,
            "__dd_touch": self._touch,
            "__dd_chmod": self._chmod,
            "__dd_utime": self._utime,
            "__dd_truncate": self._truncate,
            "__dd_removedirs": self._removedirs,
            "__dd_renames": self._renames,
            "__dd_access": self._access,
            "__dd_lstat": self._lstat,
            "__dd_samefile": self._samefile,
            "__dd_lexists": self._lexists,
            "__dd_exit": self._exit,
            "__dd_getlogin": lambda: Answer(do=lambda: "user"),
            "__dd_getpid": lambda: Answer(do=lambda: 1),
            "__dd_home": lambda: Answer(do=lambda: PurePosixPath(Path.home().as_posix())),
            "__dd_fromtimestamp": self._fromtimestamp,
            "__dd_utcfromtimestamp": self._utcfromtimestamp,
            "__dd_datefromtimestamp": self._datefromtimestamp,
            "__dd_fromordinal": _pure(dt.datetime.fromordinal),
            "__dd_datefromordinal": _pure(dt.date.fromordinal),
            "__dd_fromisocalendar": _pure(dt.date.fromisocalendar),
            "__dd_toordinal": _pure(_toordinal),
            "__dd_iso": _pure(_iso),
            "__dd_vars": _pure(_vars),
            "__dd_asdict": _pure(_asdict),
            "__dd_astuple": _pure(_astuple),
            "__dd_path_match": _pure(_path_match),
            "__dd_as_uri": _pure(_as_uri),
            "__dd_uuid_text": _pure(lambda: str(uuid.uuid4())),
            "__dd_bytes_of": _pure(_bytes_of),
        }

    def answer(
        self, name: str, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> Answer | None:
        """What call `name` would do, or None for an unknown call; raises what Python raises."""
        call = self._calls.get(name)
        return None if call is None else call(*args, **kwargs)

    def _cwd(self, path: str) -> Answer:
        self._paths.cwd = self._paths.path(path)
        return Answer(do=lambda: None)

    def _open(
        self,
        file: object,
        mode: str = "r",
        buffering: int = -1,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
        closefd: bool = True,
        opener: None = None,
    ) -> Answer:
        del buffering, closefd, opener
        if "b" in mode and (encoding or errors or newline):
            raise ValueError("binary mode doesn't take an encoding, errors or newline argument")
        path = self._paths.path(file)
        options = TextOptions(encoding=encoding, errors=errors, newline=newline).checked()
        if "r" not in mode or "+" in mode:
            return replace(self._paths.open_file(path, mode, options), place=path)
        MontyFileHandle("", mode)  # raises what `open` raises for a wrong mode
        stat = self._stage.stat(path)
        if stat.is_dir:
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        name = str(file) if isinstance(file, str | PurePath) else shown(path)
        if stat.size_bytes > _WHOLE_BYTES:
            return self._open_stream(name, path, mode, options, stat.size_bytes)
        effect, read = self._paths.read(path, stat.size_bytes)

        def do() -> tuple[str, str, str | bytes, int | None]:
            data = read()
            if "b" in mode:
                return (name, mode, data, None)
            try:
                return (name, mode, decode(data, options), None)
            except UnicodeDecodeError:  # is raised by reading, not by opening
                return (name, mode, "", self._streams.open(path, mode, options))

        return Answer(effects=(effect,), do=do)

    def _open_stream(
        self, name: str, path: str, mode: str, options: TextOptions, size_bytes: int
    ) -> Answer:
        effect = self._paths.effect("read", path, size_bytes=size_bytes)
        empty: str | bytes = b"" if "b" in mode else ""

        def do() -> tuple[str, str, str | bytes, int | None]:
            self._paths.remember_header(path)
            return (name, mode, empty, self._streams.open(path, mode, options))

        return Answer(effects=(effect,), do=do)

    def _append(self, handle: MontyFileHandle, data: str | bytes) -> Answer:
        """What a writer collected."""
        path = self._paths.path(handle)
        answer = self._files.append(path, data)
        return replace(answer, place=path)

    def _load(self, file: object, mode: str, options: Sequence[str | None]) -> Answer:
        """The content for a handle that reads and writes; `mode` may create or empty the file."""
        path = self._paths.path(file)
        kind = mode.replace("b", "").replace("t", "").replace("+", "")
        text = _options(options)
        empty: str | bytes = b"" if "b" in mode else ""
        if kind == "r" or (kind == "a" and self._stage.exists(path)):
            size_bytes = self._stage.stat(path).size_bytes
            effect, read = self._paths.read(path, size_bytes)
            do: Callable[[], object] = read if "b" in mode else lambda: decode(read(), text)
            if size_bytes > _WHOLE_BYTES:
                do = lambda: (self._updates.open(path, mode, text),)  # noqa: E731
            return Answer(effects=(effect,), do=do, place=path)
        opened = self._paths.open_file(path, kind, text)

        def create() -> str | bytes:
            opened.do()
            return empty

        return Answer(effects=opened.effects, do=create)

    def _save(self, file: object, content: str | bytes, options: Sequence[str | None]) -> Answer:
        data = content if isinstance(content, bytes) else encode(content, _options(options))
        return self._paths.write(self._paths.path(file), data, len(content))

    def _read_text(
        self,
        path: object,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
    ) -> Answer:
        options = TextOptions(encoding=encoding, errors=errors, newline=newline).checked()
        return self._paths.read_text(self._paths.path(path), options)

    def _write_text(
        self,
        path: object,
        data: str,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
    ) -> Answer:
        if not isinstance(data, str):  # pyright: ignore[reportUnnecessaryIsInstance] - of a program
            raise TypeError(f"data must be str, not {type(data).__name__}")
        options = TextOptions(encoding=encoding, errors=errors, newline=newline).checked()
        return self._paths.write(self._paths.path(path), encode(data, options), len(data))

    def _touch(self, path: object, mode: int = 0o666, exist_ok: bool = True) -> Answer:
        del mode
        text = self._paths.path(path)
        if self._stage.exists(text):
            if not exist_ok:
                raise FileExistsError(17, "File exists", text)
            return self._changed(text, lambda: self._stage.touch(text))
        effect = self._paths.effect("create", text, size_bytes=0)
        return Answer(effects=(effect,), do=lambda: self._stage.touch(text))

    def _chmod(self, path: object, mode: int, *, follow_symlinks: bool = True) -> Answer:
        del follow_symlinks
        text = self._paths.path(path)
        return self._changed(text, lambda: self._stage.chmod(text, mode))

    def _utime(
        self,
        path: object,
        times: tuple[float, float] | None = None,
        *,
        ns: tuple[int, int] | None = None,
    ) -> Answer:
        text = self._paths.path(path)
        if ns is not None:
            mtime_ns = ns[1]
        elif times is not None:
            mtime_ns = int(times[1] * 1_000_000_000)
        else:
            mtime_ns = self._paths.clock()
        return self._changed(text, lambda: self._stage.utime(text, mtime_ns))

    def _truncate(self, path: object, length: int) -> Answer:
        text = self._paths.path(path)
        if self._stage.stat(text).is_dir:
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), text)
        return self._changed(text, lambda: self._stage.truncate(text, length))

    def _changed(self, path: str, do: Callable[[], None]) -> Answer:
        """A change of a file's or folder's metadata; raises when there is none."""
        folder = self._stage.stat(path).is_dir
        return Answer(effects=(self._paths.effect("modify", path, folder=folder),), do=do)

    def _removedirs(self, name: object) -> Answer:
        path = self._paths.path(name)
        gone = [path]
        parent = PurePosixPath(path).parent.as_posix()
        child = PurePosixPath(path).name
        roots = {grant.path.as_posix() for grant in self._stage.grants}
        while parent not in roots and self._stage.listdir(parent) == [child]:
            gone.append(parent)
            child, parent = PurePosixPath(parent).name, PurePosixPath(parent).parent.as_posix()

        def do() -> None:
            for folder in gone:
                self._stage.rmdir(folder)

        effects: list[Effect] = [self._paths.effect("delete", p, folder=True) for p in gone]
        return Answer(effects=tuple(effects), do=do)

    def _renames(self, old: object, new: object) -> Answer:
        source, target = self._paths.path(old), self._paths.path(new)
        effect = self._paths.effect("move", source, target=target)
        return Answer(effects=(effect,), do=lambda: self._stage.rename(source, target))

    def _access(self, path: object, mode: int) -> Answer:
        text = self._paths.path(path)
        writable = {
            grant.path.as_posix() for grant in self._stage.grants if grant.rights == "write"
        }

        def do() -> bool:
            if not self._stage.exists(text):
                return False
            inside = any(text == root or text.startswith(f"{root}/") for root in writable)
            return inside if mode & os.W_OK else True

        return Answer(do=do)

    def _lstat(self, path: object) -> Answer:
        text = self._paths.path(path)
        return Answer(do=lambda: stat_result(self._stage.stat(text, follow=False)))

    def _samefile(self, first: object, second: object) -> Answer:
        one, two = self._paths.path(first), self._paths.path(second)
        self._stage.stat(one)
        self._stage.stat(two)
        return Answer(do=lambda: os.path.normpath(one) == os.path.normpath(two))

    def _lexists(self, path: object) -> Answer:
        text = self._paths.path(path)
        return Answer(do=lambda: self._stage.is_symlink(text) or self._stage.exists(text))

    def _exit(self, code: object = None) -> Answer:
        self.exited, self.exit_code = True, code

        def do() -> object:
            raise SystemExit("" if code is None else shown(str(code)))

        return Answer(do=do)

    def _fromtimestamp(self, timestamp: float, tz: dt.tzinfo | None = None) -> Answer:
        return Answer(do=lambda: dt.datetime.fromtimestamp(timestamp, tz))

    def _utcfromtimestamp(self, timestamp: float) -> Answer:
        moment = dt.datetime.fromtimestamp(timestamp, dt.UTC)
        return Answer(do=lambda: moment.replace(tzinfo=None))

    def _datefromtimestamp(self, timestamp: float) -> Answer:
        return Answer(do=lambda: dt.date.fromtimestamp(timestamp))  # noqa: DTZ012 - as Python's


def _pure(function: Callable[..., object]) -> Callable[..., Answer]:
    """An answer that only computes."""

    def answer(*args: object, **kwargs: object) -> Answer:
        return Answer(do=lambda: function(*args, **kwargs))

    return answer


def _toordinal(day: dt.date) -> int:
    return day.toordinal()


def _iso(day: dt.date) -> tuple[int, int, int]:
    found = day.isocalendar()
    return (found.year, found.week, found.weekday)


def _path_match(path: PurePosixPath, pattern: object) -> bool:
    return path.match(str(pattern))


def _bytes_of(values: Sequence[int]) -> bytes:
    return bytes(values)


def _vars(value: object) -> dict[str, object]:
    """An object's own attributes."""
    if not isinstance(value, MontyClassProxy):
        raise TypeError("vars() argument must have __dict__ attribute")
    return {k: v for k, v in value.attributes.items() if not k.startswith("__dd_")}


def _asdict(value: object) -> dict[str, object]:
    """An object's attributes, those of objects in them as well."""
    if not isinstance(value, MontyClassProxy):
        raise TypeError("asdict() should be called on dataclass instances")
    return {name: _plain(inner) for name, inner in value.attributes.items()}


def _astuple(value: object) -> tuple[object, ...]:
    return tuple(_asdict(value).values())


def _as_uri(path: PurePosixPath) -> str:
    if not path.is_absolute():
        raise ValueError("relative path can't be expressed as a file URI")
    return f"file://{quote(path.as_posix())}"


def _plain(value: object) -> object:
    if isinstance(value, MontyClassProxy):
        return _asdict(value)
    if isinstance(value, list | tuple):
        items = [_plain(item) for item in cast("Sequence[object]", value)]
        return tuple(items) if isinstance(value, tuple) else items
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in cast("Mapping[object, object]", value).items()}
    return value


def _options(values: Sequence[str | None]) -> TextOptions:
    encoding, errors, newline = values
    return TextOptions(encoding=encoding, errors=errors, newline=newline).checked()
