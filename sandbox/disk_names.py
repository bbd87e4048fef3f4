"""Which names a disk takes, and which it takes for one and the same.

Owns what is known of file systems: whether they fold capitals or Unicode forms, the names that
Windows and its file systems refuse, and the lengths. A folder is asked without writing to it: by
its flags, its mount, and the names that are in it. Thread: any; looks at the disk.
"""

# ruff: noqa: PTH116, PTH208
# Plain `os` calls: disk paths are strings with surrogates, as os gives them.

from __future__ import annotations

import array
import contextlib
import os
import re
import stat
import sys
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

NameFault = Literal["reserved", "characters", "ending", "long"]

_LONGEST_NAME = 255  # Source: NAME_MAX of Linux, macOS and NTFS; bytes, on NTFS and APFS units
_LONGEST_PATH = 4095  # Source: PATH_MAX of Linux, without the closing zero
_LONGEST_PATH_WINDOWS = 259  # Source: MAX_PATH of Windows, without the closing zero
_FOLDING_MOUNTS = frozenset({"vfat", "msdos", "exfat", "cifs", "smb3", "hfsplus", "fuseblk"})
_WINDOWS_MOUNTS = frozenset({"vfat", "msdos", "exfat", "ntfs", "ntfs3", "cifs", "smb3"})
_WITHOUT_INODES = frozenset({"vfat", "msdos", "exfat"})
_GET_FLAGS = 0x80086601  # Source: FS_IOC_GETFLAGS, linux/fs.h, 64 bit
_CASEFOLD = 0x40000000  # Source: FS_CASEFOLD_FL, linux/fs.h
_CASE_SENSITIVE = 11  # Source: _PC_CASE_SENSITIVE, unistd.h of macOS
_PROBED_NAMES = 64
_REFUSED = re.compile('[\x00-\x1f<>:"|?*\\\\]')
# Source: "Naming Files, Paths, and Namespaces", Microsoft Learn
_RESERVED = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])\s*(\.|$)", re.I)


@dataclass(frozen=True, slots=True, kw_only=True)
class NameRules:
    """What one folder's file system does with names.

    `folds_case`, `folds_forms`: names that differ only in capitals, or only in Unicode form, are
    one; `windows`: the names that Windows refuses are refused.
    """

    folds_case: bool = False
    folds_forms: bool = False
    windows: bool = False

    def key(self, name: str) -> str:
        """The same for all names that are one here."""
        if self.folds_forms:
            name = unicodedata.normalize("NFD", name)
        if self.folds_case:
            name = name.casefold()
        return unicodedata.normalize("NFD", name) if self.folds_forms else name

    def fault(self, path: str) -> NameFault | None:
        """What is wrong with the last name of `path`, or its length."""
        name = path[path.rfind("/") + 1 :]
        if len(os.fsencode(name)) > _LONGEST_NAME or len(os.fsencode(path)) > _LONGEST_PATH:
            return "long"
        if not self.windows:
            return None
        if sys.platform == "win32" and len(path) > _LONGEST_PATH_WINDOWS:
            return "long"
        if _RESERVED.match(name):
            return "reserved"
        if _REFUSED.search(name):
            return "characters"
        return "ending" if name.endswith((" ", ".")) else None


_FOLDING = NameRules(folds_case=True, folds_forms=True)


def rules_of(folder: str) -> NameRules:
    """The rules in `folder`, which exists; where nothing is known, nothing is folded."""
    if sys.platform == "win32":
        return NameRules(folds_case=True, windows=True)
    if sys.platform == "darwin":
        with contextlib.suppress(OSError, ValueError):
            sensitive = os.pathconf(folder, _CASE_SENSITIVE) != 0
            return NameRules(folds_case=not sensitive, folds_forms=True)
        return NameRules(folds_case=True, folds_forms=True)
    kind = _mount_kind(folder)
    if _has_casefold_flag(folder):
        return NameRules(folds_case=True, folds_forms=True)
    if kind in _FOLDING_MOUNTS:
        forms = kind == "hfsplus"
        return NameRules(folds_case=True, folds_forms=forms, windows=kind in _WINDOWS_MOUNTS)
    # Of an unknown one that folds capitals nobody knows what else it folds.
    folds = _seen_to_fold(folder)
    return NameRules(folds_case=folds, folds_forms=folds, windows=kind in _WINDOWS_MOUNTS)


def _has_casefold_flag(folder: str) -> bool:
    """Of ext4 and f2fs, a folder's own."""
    if sys.platform == "win32":
        return False
    import fcntl

    flags = array.array("l", [0])
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return False
    try:
        fcntl.ioctl(handle, _GET_FLAGS, flags)
    except OSError:
        return False
    finally:
        os.close(handle)
    return bool(flags[0] & _CASEFOLD)


def _seen_to_fold(folder: str) -> bool:
    """Whether a name that is there is found in other capitals too: one file under both."""
    for name in _cased_names(folder):
        with contextlib.suppress(OSError):
            own, other = os.lstat(f"{folder}/{name}"), os.lstat(f"{folder}/{name.swapcase()}")
            return (own.st_dev, own.st_ino) == (other.st_dev, other.st_ino)
        return False
    return False


def _cased_names(folder: str) -> Iterator[str]:
    with contextlib.suppress(OSError), os.scandir(folder) as listing:
        for item, _ in zip(listing, range(_PROBED_NAMES), strict=False):
            if item.name.isascii() and item.name.swapcase() != item.name:
                yield item.name


def _mount_kind(folder: str) -> str:
    """The name of the file system of a folder as the kernel has it; empty if it is not known."""
    try:
        return _kind_of(os.stat(folder).st_dev)
    except OSError:
        return ""


@lru_cache(maxsize=64)
def keeps_inodes(device: int) -> bool:
    """Whether a file has the same inode number after its disk was taken out and put in again.

    FAT and exFAT have none of their own; the system makes them up each time.
    """
    return _kind_of(device) not in _WITHOUT_INODES


def _kind_of(device: int) -> str:
    try:
        text = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace")
    except (OSError, AttributeError):  # no such file, or no such numbers, on other systems
        return ""
    wanted = f"{os.major(device)}:{os.minor(device)}"
    for line in text.splitlines():
        fields, _, rest = line.partition(" - ")
        if fields.split(" ")[2:3] == [wanted]:
            return rest.split(" ")[0]
    return ""


def listed_path(path: str) -> str:
    """`path` with its last name as its folder lists it; unchanged where it is listed so."""
    folder, name = os.path.split(path)
    try:
        inode = os.lstat(path).st_ino
        names = os.listdir(folder)
        if name in names:
            return path
        found = (other for other in names if _FOLDING.key(other) == _FOLDING.key(name))
        return next((p for n in found if os.lstat(p := f"{folder}/{n}").st_ino == inode), path)
    except OSError:
        return path


class ListedNames:
    """The spelling in which folders of a disk that folds names list what is in them."""

    def __init__(self, rules: NameRules) -> None:
        self.rules = rules
        self._known: dict[str, tuple[int, dict[str, str]]] = {}

    def find(self, folder: str, name: str) -> str | None:
        """The listed name that is `name` for the disk; None when there is none."""
        try:
            mtime_ns = os.stat(folder).st_mtime_ns
            known = self._known.get(folder)
            if known is None or known[0] != mtime_ns:
                names = {self.rules.key(other): other for other in os.listdir(folder)}
                known = self._known[folder] = (mtime_ns, names)
        except OSError:
            return None
        return known[1].get(self.rules.key(name))


def is_respelled(path: str, inode: int) -> bool:
    """Whether what is at `path` is the entry with that inode under a name spelled otherwise.

    A disk that folds names finds it, but does not list it so; a hard link is listed.
    """
    folder, name = os.path.split(path)
    try:
        return os.lstat(path).st_ino == inode and name not in os.listdir(folder)
    except OSError:
        return False


def is_cloud_stub(path: str) -> bool:
    """Whether the name is that of a stand-in for a file of iCloud Drive: ``.NAME.icloud``."""
    name = path[path.rfind("/") + 1 :]
    return name.startswith(".") and name.endswith(".icloud") and len(name) > len(".icloud") + 1


def is_placeholder(st: os.stat_result) -> bool:
    """Whether a file's content is still in the cloud: reading it would fetch it.

    Source: FILE_ATTRIBUTE_OFFLINE and FILE_ATTRIBUTE_RECALL_ON_DATA_ACCESS (winnt.h); SF_DATALESS
    (sys/stat.h of macOS).
    """
    attributes = getattr(st, "st_file_attributes", 0)
    flags = getattr(st, "st_flags", 0)
    is_recalled = attributes & (0x1000 | 0x400000) != 0
    return stat.S_ISREG(st.st_mode) and (is_recalled or flags & 0x40000000 != 0)
