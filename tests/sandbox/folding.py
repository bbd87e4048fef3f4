"""A file system whose names fold capitals and Unicode forms, as on macOS: a folder shown by FUSE.

Run: ``python -m tests.sandbox.folding BACKING MOUNT``; it stays in the foreground until unmounted.
"""

# ruff: noqa: PTH101, PTH102, PTH104, PTH106, PTH108, PTH112, PTH120, PTH208
# Plain `os` calls: one for each operation of the file system.

from __future__ import annotations

import os
import sys
import unicodedata
from typing import Any

import mfusepy

_STAT = ("st_mode", "st_nlink", "st_size", "st_uid", "st_gid", "st_ino")
_SPACE = ("f_bavail", "f_bfree", "f_blocks", "f_bsize", "f_files", "f_frsize", "f_namemax")


def key(name: str) -> str:
    """The same for all names that are one here."""
    return unicodedata.normalize("NFD", name).casefold()


class Folding(mfusepy.Operations):
    """Passes everything on to `root`, to the entry whose name is the same when folded."""

    use_ns = True

    def __init__(self, root: str) -> None:
        self._root = root

    def _real(self, path: str) -> str:
        at = self._root
        for part in filter(None, path.split("/")):
            names = os.listdir(at) if os.path.isdir(at) else []
            at = f"{at}/{next((n for n in names if key(n) == key(part)), part)}"
        return at

    def getattr(self, path: str, fh: Any = None) -> dict[str, Any]:
        st = os.lstat(self._real(path))
        times = {"st_atime": st.st_atime_ns, "st_mtime": st.st_mtime_ns, "st_ctime": st.st_ctime_ns}
        return {name: getattr(st, name) for name in _STAT} | times

    def readdir(self, path: str, fh: Any) -> list[Any]:
        return [(name, None, 0) for name in (".", "..", *os.listdir(self._real(path)))]

    def create(self, path: str, mode: int, fi: Any = None) -> int:
        return os.open(self._real(path), os.O_RDWR | os.O_CREAT, mode)

    def open(self, path: str, flags: int) -> int:
        return os.open(self._real(path), flags)

    def read(self, path: str, size: int, offset: int, fh: int) -> bytes:
        return os.pread(fh, size, offset)

    def write(self, path: str, data: bytes, offset: int, fh: int) -> int:
        return os.pwrite(fh, data, offset)

    def truncate(self, path: str, length: int, fh: Any = None) -> int:
        os.truncate(self._real(path), length)
        return 0

    def release(self, path: str, fh: int) -> int:
        os.close(fh)
        return 0

    def fsync(self, path: str, datasync: int, fh: int) -> int:
        os.fsync(fh)
        return 0

    def mkdir(self, path: str, mode: int) -> int:
        os.mkdir(self._real(path), mode)
        return 0

    def rmdir(self, path: str) -> int:
        os.rmdir(self._real(path))
        return 0

    def unlink(self, path: str) -> int:
        os.unlink(self._real(path))
        return 0

    def rename(self, old: str, new: str, flags: int = 0) -> int:
        source, target = self._real(old), self._real(new)
        os.rename(source, target)
        os.rename(target, f"{os.path.dirname(target)}/{new.rsplit('/', 1)[1]}")
        return 0

    def link(self, target: str, source: str) -> int:
        os.link(self._real(source), self._real(target))
        return 0

    def chmod(self, path: str, mode: int, fh: Any = None) -> int:
        os.chmod(self._real(path), mode)
        return 0

    def utimens(self, path: str, times: Any = None, fh: Any = None) -> int:
        os.utime(self._real(path), ns=times)
        return 0

    def statfs(self, path: str) -> dict[str, int]:
        found = os.statvfs(self._root)
        return {name: getattr(found, name) for name in _SPACE}


if __name__ == "__main__":
    mfusepy.FUSE(
        Folding(sys.argv[1]),
        sys.argv[2],
        foreground=True,
        nothreads=True,
        use_ino=True,
        entry_timeout=0,  # the kernel does not know which names are one
        attr_timeout=0,
        negative_timeout=0,
    )
