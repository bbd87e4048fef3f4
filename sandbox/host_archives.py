"""Answers `zipfile`, `tarfile` and `gzip` from the stage.

Owns open archives, the limits against archives that unpack to more than they should, and that no
member leads out of the folder it is unpacked to. Thread: the runner's.
"""

from __future__ import annotations

import gzip
import io
import os
import posixpath
import tarfile
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any, BinaryIO, cast

from sandbox.effects import Effect
from sandbox.host_answer import Answer
from sandbox.host_files import HostPaths

_SPOOL_BYTES = 8 * 1024 * 1024
_CHUNK_BYTES = 1024 * 1024
UNPACKED_BYTES = 4 * 1024 * 1024 * 1024
_RATIO = 200
_RATIO_FROM_BYTES = 64 * 1024 * 1024
_MEMBERS = 100_000
FAILED = "__dd_failed"
"""First of a pair: the archive is bad, and why. The prelude raises the module's own error."""
_BAD = (zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile, EOFError, zlib.error)


class _TooMuchError(OSError):
    """An archive unpacks to more than it should."""


@dataclass(slots=True, kw_only=True)
class _Open:
    """One open archive. `path`: where it is written to at its close, None for one in memory."""

    archive: Any
    path: str | None
    spool: IO[bytes] | None = None
    packed_bytes: int = 0
    unpacked_bytes: int = field(default=0)


class HostArchives:
    """The archives of one run, by number."""

    def __init__(self, paths: HostPaths) -> None:
        self._paths = paths
        self._stage = paths.stage
        self._open: dict[int, _Open] = {}
        self._next = paths.first_number
        self._calls: dict[str, Callable[..., Answer]] = {
            "__dd_archive_open": self._open_archive,
            "__dd_archive_members": self._members,
            "__dd_archive_read": self._read,
            "__dd_archive_extract": self._extract,
            "__dd_archive_add": self._add,
            "__dd_archive_put": self._put,
            "__dd_archive_test": self._test,
            "__dd_archive_close": self._close,
            "__dd_is_archive": self._is_archive,
            "__dd_gzip": self._gzip,
            "__dd_gunzip": self._gunzip,
        }

    def answer(
        self, name: str, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> Answer | None:
        """What call `name` would do, or None for an unknown call; raises what Python raises."""
        call = self._calls.get(name)
        if call is None:
            return None
        answer = call(*args, **kwargs)
        return Answer(do=_checked(answer.do), effects=answer.effects, place=answer.place)

    def close(self) -> None:
        """Forget what the program left open."""
        for held in self._open.values():
            if held.spool is not None:
                held.spool.close()
        self._open.clear()

    # Opening and closing

    def _open_archive(self, kind: str, file: object, mode: str) -> Answer:
        """`file`: a path, or the bytes of an archive in memory (None: a new one there)."""
        if file is None or isinstance(file, bytes):
            return Answer(do=lambda: self._held(kind, io.BytesIO(file or b""), mode, None, 0))
        path = self._paths.path(file)
        if mode[0] == "r":
            effect = self._paths.effect("read", path, size_bytes=self._stage.stat(path).size_bytes)
            return Answer(effects=(effect,), do=lambda: self._reading(kind, path, mode))
        if mode[0] == "x" and self._stage.exists(path):
            raise FileExistsError(17, "File exists", path)
        effect = self._paths.written(path, 0)
        return Answer(effects=(effect,), do=lambda: self._writing(kind, path, mode))

    def _reading(self, kind: str, path: str, mode: str) -> int:
        stream = self._stage.open_reader(path)
        return self._held(kind, stream, mode, None, self._stage.stat(path).size_bytes)

    def _writing(self, kind: str, path: str, mode: str) -> int:
        spool = tempfile.SpooledTemporaryFile(max_size=_SPOOL_BYTES)  # noqa: SIM115 - lives on
        if mode[0] == "a" and self._stage.exists(path):
            with self._stage.open_reader(path) as stream:
                while chunk := stream.read(_CHUNK_BYTES):
                    spool.write(chunk)
            spool.seek(0)
        else:
            self._stage.create(path)
        return self._held(kind, cast("BinaryIO", spool), mode, path, 0)

    def _held(
        self, kind: str, stream: BinaryIO, mode: str, path: str | None, packed_bytes: int
    ) -> int:
        archive: Any
        if kind == "zip":
            archive = zipfile.ZipFile(stream, cast("Any", mode[0]), zipfile.ZIP_DEFLATED)
            many = len(archive.infolist())
        else:
            archive = tarfile.open(fileobj=stream, mode=cast("Any", mode))  # noqa: SIM115 - lives on
            many = 0
        if many > _MEMBERS:
            raise _TooMuchError(27, f"the archive has more than {_MEMBERS:,} members", "")
        number, self._next = self._next, self._next + 1
        spool = None if mode[0] == "r" else stream
        self._open[number] = _Open(
            archive=archive, path=path, spool=spool, packed_bytes=packed_bytes
        )
        return number

    def _held_open(self, number: int) -> _Open:
        held = self._open.get(number)
        if held is None:
            raise ValueError("the archive is closed: open it again in this program")
        return held

    def _close(self, number: int) -> Answer:
        """Write the archive to where it belongs; one in memory is returned."""
        held = self._open.get(number)
        if held is None:
            return Answer(do=lambda: None)
        effects: tuple[Effect, ...] = ()
        if held.path is not None:
            effects = (self._paths.effect("modify", held.path),)

        def do() -> bytes | None:
            self._open.pop(number, None)
            held.archive.close()
            if held.spool is None:
                return None
            held.spool.seek(0)
            if held.path is None:
                return held.spool.read()
            self._stage.create(held.path)
            while chunk := held.spool.read(_CHUNK_BYTES):
                self._stage.append_bytes(held.path, chunk)
            held.spool.close()
            return None

        return Answer(effects=effects, do=do)

    # Looking

    def _is_archive(self, kind: str, file: object) -> Answer:
        def do() -> bool:
            try:
                if isinstance(file, bytes):
                    stream: BinaryIO = io.BytesIO(file)
                else:
                    stream = self._stage.open_reader(self._paths.path(file))
                with stream:
                    if kind == "zip":
                        return zipfile.is_zipfile(stream)
                    return tarfile.is_tarfile(stream)
            except OSError:
                if kind == "tar":
                    raise
                return False

        return Answer(do=do)

    def _members(self, number: int) -> Answer:
        """Of each: name, size, packed size, time, whether it is a folder, a file; CRC."""

        def do() -> list[tuple[object, ...]]:
            return [_described(info) for info in _infos(self._held_open(number).archive)]

        return Answer(do=do)

    def _read(self, number: int, name: str) -> Answer:
        return Answer(do=lambda: b"".join(self._pieces(self._held_open(number), name, keep=True)))

    def _test(self, number: int) -> Answer:
        return Answer(do=lambda: self._held_open(number).archive.testzip())

    def _pieces(self, held: _Open, name: str, *, keep: bool = False) -> Iterator[bytes]:
        """A member's content; raises when the archive unpacks to too much."""
        stream = (
            held.archive.open(name)
            if isinstance(held.archive, zipfile.ZipFile)
            else held.archive.extractfile(name)
        )
        if stream is None:
            return
        size_bytes = 0
        with stream:
            while chunk := stream.read(_CHUNK_BYTES):
                size_bytes += len(chunk)
                held.unpacked_bytes += len(chunk)
                if keep and size_bytes > self._paths.limits.read_bytes:
                    raise _TooMuchError(27, "the member is too large to read whole", name)
                _check_amount(held)
                yield chunk

    # Unpacking

    def _extract(self, number: int, names: Sequence[str] | None, folder: object) -> Answer:
        """Unpack members (None: all) below `folder`; the paths that were made."""
        held = self._held_open(number)
        base = self._paths.path(folder)
        infos = [i for i in _infos(held.archive) if names is None or _name(i) in names]
        if sum(_size(info) for info in infos) > UNPACKED_BYTES:
            raise _TooMuchError(27, "the archive unpacks to too much", "")
        targets = [(info, _inside(base, _name(info))) for info in infos]
        effects = tuple(
            self._paths.effect("create", target, folder=True)
            if _is_folder(info)
            else self._paths.written(target, _size(info))
            for info, target in targets
            if not (_is_folder(info) and self._stage.is_dir(target))
        )

        def do() -> list[str]:
            for info, target in targets:
                self._unpack(held, info, target)
            return [target for _, target in targets]

        return Answer(effects=effects, do=do)

    def _unpack(self, held: _Open, info: Any, target: str) -> None:
        if _is_folder(info):
            self._stage.mkdir(target, parents=True, exist_ok=True)
            return
        if isinstance(info, tarfile.TarInfo) and not info.isfile():
            raise PermissionError(1, "the archive has a link or a device in it", info.name)
        self._stage.create(target)
        for piece in self._pieces(held, _name(info)):
            self._stage.append_bytes(target, piece)
        if isinstance(info, tarfile.TarInfo):
            self._stage.chmod(target, info.mode & 0o777)
            self._stage.utime(target, int(info.mtime) * 1_000_000_000)

    # Packing

    def _add(
        self, number: int, file: object, name: str | None, recursive: bool, stored: bool | None
    ) -> Answer:
        """Put a file or a folder of the stage into an archive."""
        held = self._held_open(number)
        path = self._paths.path(file)
        stat = self._stage.stat(path)
        shown_name = name if name is not None else str(file)
        members = [(path, shown_name.lstrip("/"))]
        if stat.is_dir and recursive:
            members.extend(
                (f"{path}/{entry.path}", posixpath.join(members[0][1], entry.path))
                for entry in self._paths.entries(path)
                if entry.path
            )
        effects = tuple(
            self._paths.effect("read", inner, size_bytes=self._stage.stat(inner).size_bytes)
            for inner, _ in members
            if not self._stage.is_dir(inner)
        )

        def do() -> None:
            for inner, inner_name in members:
                self._pack(held, inner, posixpath.normpath(inner_name), stored=stored)

        return Answer(effects=effects, do=do)

    def _pack(self, held: _Open, path: str, name: str, *, stored: bool | None) -> None:
        stat = self._stage.stat(path)
        mtime = stat.mtime_ns / 1e9
        if isinstance(held.archive, zipfile.ZipFile):
            moment = cast("Any", time.localtime(mtime)[:6])
            info = zipfile.ZipInfo(name + "/" if stat.is_dir else name, moment)
            info.external_attr = (stat.mode & 0xFFFF) << 16
            info.compress_type = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
            if stat.is_dir:
                held.archive.writestr(info, b"")
                return
            with self._stage.open_reader(path) as source, held.archive.open(info, "w") as out:
                while chunk := source.read(_CHUNK_BYTES):
                    out.write(chunk)
            return
        member = tarfile.TarInfo(name)
        member.mtime, member.mode = int(mtime), stat.mode & 0o7777
        if stat.is_dir:
            member.type = tarfile.DIRTYPE
            held.archive.addfile(member)
            return
        member.size = stat.size_bytes
        with self._stage.open_reader(path) as source:
            held.archive.addfile(member, source)

    def _put(self, number: int, name: str, data: bytes, moment: object = None) -> Answer:
        """Put bytes into an archive under a name."""
        held = self._held_open(number)

        def do() -> None:
            if isinstance(held.archive, zipfile.ZipFile):
                date: Any = moment or time.localtime(self._paths.clock() / 1e9)[:6]
                info = zipfile.ZipInfo(name, date)
                info.compress_type = zipfile.ZIP_DEFLATED
                info.external_attr = 0o600 << 16
                held.archive.writestr(info, data)
                return
            member = tarfile.TarInfo(name)
            member.size = len(data)
            held.archive.addfile(member, io.BytesIO(data))

        return Answer(do=do)

    # gzip

    def _gzip(self, data: bytes, level: int = 9) -> Answer:
        return Answer(do=lambda: gzip.compress(data, level, mtime=self._paths.clock() // 10**9))

    def _gunzip(self, data: bytes) -> Answer:
        def do() -> bytes:
            limit = self._paths.limits.read_bytes
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
                found = stream.read(limit + 1)
            if len(found) > limit:
                raise _TooMuchError(27, "the file unpacks to too much", "")
            return found

        return Answer(do=do)


def _checked(do: Callable[[], object]) -> Callable[[], object]:
    """`do` with a bad archive as a result: the module's own error is raised by the prelude."""

    def checked() -> object:
        try:
            return do()
        except _BAD as error:
            return (FAILED, str(error))
        except RuntimeError as error:
            raise OSError(95, str(error), "") from error

    return checked


def _check_amount(held: _Open) -> None:
    allowed = max(_RATIO_FROM_BYTES, held.packed_bytes * _RATIO)
    if held.unpacked_bytes > min(allowed, UNPACKED_BYTES):
        raise _TooMuchError(27, "the archive unpacks to far more than its size", "")


def _infos(archive: Any) -> list[Any]:
    return (
        archive.infolist() if isinstance(archive, zipfile.ZipFile) else list(archive.getmembers())
    )


def _described(info: Any) -> tuple[object, ...]:
    if isinstance(info, zipfile.ZipInfo):
        return (
            info.filename,
            info.file_size,
            info.compress_size,
            info.date_time,
            info.is_dir(),
            not info.is_dir(),
            info.CRC,
        )
    return (
        info.name,
        info.size,
        info.size,
        int(info.mtime),
        info.isdir(),
        info.isfile(),
        info.mode,
    )


def _name(info: Any) -> str:
    return info.filename if isinstance(info, zipfile.ZipInfo) else info.name


def _size(info: Any) -> int:
    return info.file_size if isinstance(info, zipfile.ZipInfo) else info.size


def _is_folder(info: Any) -> bool:
    return info.is_dir() if isinstance(info, zipfile.ZipInfo) else info.isdir()


def _inside(base: str, name: str) -> str:
    """Where a member goes: below `base`, whatever its name says."""
    parts = [p for p in name.replace("\\", "/").split("/") if p not in ("", ".", "..")]
    return os.path.normpath(posixpath.join(base, *parts))
