"""A file system that fails, or dies, at a chosen call."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from dataclasses import dataclass, field

from sandbox.transaction import FileSystem


class Killed(BaseException):
    """The process is gone: nothing after this call runs, not even a clean-up."""


@dataclass
class FaultyFileSystem(FileSystem):
    """Fails at call number `at` (from 0) with `error`, or dies there when `error` is None.

    `after`: the call takes effect before the process dies. Once dead, every call dies.
    """

    at: int = -1
    error: int | None = None
    after: bool = False
    calls: list[str] = field(default_factory=list)

    def _call(self, name: str, real: Callable[[], object]) -> object:
        number = len(self.calls)
        self.calls.append(name)
        dead = self.error is None and 0 <= self.at <= number
        if dead and self.after and number == self.at:
            real()
        if dead:
            raise Killed
        if number == self.at and self.error is not None:
            raise OSError(self.error, os.strerror(self.error), name)
        return real()

    def rename(self, src: str, dst: str) -> None:
        real = super().rename
        self._call("rename", lambda: real(src, dst))

    def link(self, src: str, dst: str) -> None:
        self._call("link", lambda: os.link(src, dst, follow_symlinks=False))

    def unlink(self, path: str) -> None:
        real = super().unlink
        self._call("unlink", lambda: real(path))

    def rmdir(self, path: str) -> None:
        real = super().rmdir
        self._call("rmdir", lambda: real(path))

    def mkdir(self, path: str) -> None:
        real = super().mkdir
        self._call("mkdir", lambda: real(path))

    def chmod(self, path: str, mode: int) -> None:
        real = super().chmod
        self._call("chmod", lambda: real(path, mode))

    def utime(self, path: str, mtime_ns: int) -> None:
        real = super().utime
        self._call("utime", lambda: real(path, mtime_ns))

    def write(self, handle: int, data: bytes) -> int:
        half = data[: max(1, len(data) // 2)]  # short writes happen; a crash tears a line
        return int(str(self._call("write", lambda: os.write(handle, half))))

    def fsync(self, handle: int) -> None:
        self._call("fsync", lambda: os.fsync(handle))


class CrossDeviceFileSystem(FileSystem):
    """Renames out of or into `apart` fail, as between mounts of one device."""

    def __init__(self, apart: str) -> None:
        self._apart = apart + "/"

    def rename(self, src: str, dst: str) -> None:
        if src.startswith(self._apart) != dst.startswith(self._apart):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), src)
        super().rename(src, dst)

    def link(self, src: str, dst: str) -> None:
        if src.startswith(self._apart) != dst.startswith(self._apart):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), src)
        super().link(src, dst)


class NoHardLinksFileSystem(FileSystem):
    """As on FAT and exFAT."""

    def link(self, src: str, dst: str) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM), src, None, dst)
