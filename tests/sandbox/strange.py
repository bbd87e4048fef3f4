"""Fifty kinds of strange entry, made for real, each with what the stage has to do about it.

`handled`: it can be read (if it is a file), moved and deleted like any other; `kept`: it can be
moved and deleted, never read or written; `refused`: it is left alone, with a clear message.
"""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Fate = Literal["handled", "kept", "refused"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Strange:
    """One kind: what it is, the name of its entry, how it is made, and its fate."""

    title: str
    name: str
    make: Callable[[Path], object]
    fate: Fate = "handled"


def _text(path: Path) -> None:
    path.write_bytes(b"content\n")


def _mode(mode: int) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        _text(path)
        path.chmod(mode)

    return make


def _folder_mode(mode: int) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        path.mkdir()
        _text(path / "inside")
        path.chmod(mode)

    return make


def _time(mtime_ns: int) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        _text(path)
        os.utime(path, ns=(mtime_ns, mtime_ns))

    return make


def _content(data: bytes) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(data)


def _link(target: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(target)


def _sparse(path: Path) -> None:
    with path.open("wb") as out:
        out.truncate(64 * 1024 * 1024)


def _socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the names of sockets have to be short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


def _hard_link(path: Path) -> None:
    _text(path)
    path.with_name("other name").hardlink_to(path)


def _attribute(path: Path) -> None:
    _text(path)
    try:
        os.setxattr(path, "user.note", b"kept")
    except OSError as error:
        if error.errno != errno.ENOTSUP:
            raise


def _deep(path: Path) -> None:
    deep = path.joinpath(*["d"] * 60)
    deep.mkdir(parents=True)
    _text(deep / "bottom")


def _wide(path: Path) -> None:
    path.mkdir()
    for number in range(500):
        (path / f"{number:03}").touch()


def _nested(path: Path) -> None:
    path.mkdir()
    (path / "loop").symlink_to("..")
    _text(path / "inside")


def _bytes_name(path: Path) -> None:
    _text(path)


KINDS: tuple[Strange, ...] = (
    Strange(title="an empty file", name="empty", make=_content(b"")),
    Strange(title="an empty folder", name="empty folder", make=Path.mkdir),
    Strange(title="a name with spaces around", name=" spaced ", make=_text),
    Strange(title="a name with a newline", name="two\nlines", make=_text),
    Strange(title="a name with a tab", name="a\tb", make=_text),
    Strange(title="a name with a control character", name="bell\a", make=_text),
    Strange(title="a name with an escape sequence", name="\x1b[31mred", make=_text),
    Strange(title="a name that is not Unicode", name="caf\udce9", make=_bytes_name),
    Strange(title="a name of bytes only", name="\udcff\udcfe", make=_bytes_name),
    Strange(title="a composed name", name="\u00fcber", make=_text),
    Strange(title="a decomposed name", name="u\u0308ber", make=_text),
    Strange(title="a Chinese name", name="\u4f1a\u8bae", make=_text),
    Strange(title="a name of emoji with joiners", name="\U0001f469\u200d\U0001f4bb", make=_text),
    Strange(title="a name that turns direction", name="photo\u202egpj.exe", make=_text),
    Strange(title="a name of no width", name="\u200b", make=_text),
    Strange(title="a name of 255 bytes", name="n" * 255, make=_text),
    Strange(title="a name with a leading dash", name="-rf", make=_text),
    Strange(title="a hidden name", name=".hidden", make=_text),
    Strange(title="a name of three dots", name="...", make=_text),
    Strange(title="a name with a tilde", name="~", make=_text),
    Strange(title="a name with a star", name="*", make=_text),
    Strange(title="a name with quotes", name="'\"`$(true)", make=_text),
    Strange(title="a name with a backslash", name="back\\slash", make=_text),
    Strange(title="a name with a colon", name="C:", make=_text),
    Strange(title="a name with a per cent sign", name="%2e%2e%2f", make=_text),
    Strange(title="a name that Windows reserves", name="CON", make=_text),
    Strange(title="a name that ends with a dot", name="dot.", make=_text),
    Strange(title="a name like ours", name=".drydock-1f", make=_text),
    Strange(title="a read-only file", name="read-only", make=_mode(0o444)),
    Strange(title="a file without any right", name="no rights", make=_mode(0o000)),
    Strange(title="a file with a set-user bit", name="setuid", make=_mode(0o4755)),
    Strange(title="an executable", name="program.sh", make=_mode(0o755)),
    Strange(title="a read-only folder", name="shut", make=_folder_mode(0o555)),
    Strange(title="a sticky folder", name="sticky", make=_folder_mode(0o1777)),
    Strange(title="a set-group folder", name="setgid", make=_folder_mode(0o2755)),
    Strange(title="a file from 1901", name="1901", make=_time(-2_147_483_648 * 10**9)),
    Strange(title="a file from the future", name="2100", make=_time(4_102_444_800 * 10**9 + 1)),
    Strange(title="a file of the epoch", name="1970", make=_time(0)),
    Strange(title="a sparse file", name="sparse", make=_sparse),
    Strange(title="a file of zeros and no line end", name="zeros", make=_content(b"\0" * 5000)),
    Strange(title="a file that is not text", name="bytes.txt", make=_content(bytes(range(256)))),
    Strange(title="a hard link", name="linked", make=_hard_link),
    Strange(title="a file with extended attributes", name="attributes", make=_attribute),
    Strange(title="a very deep folder", name="deep", make=_deep),
    Strange(title="a wide folder", name="wide", make=_wide),
    Strange(title="a folder with a loop of links", name="loops", make=_nested),
    Strange(title="a link to a file", name="to file", make=_link("ordinary")),
    Strange(title="a link that leads nowhere", name="broken", make=_link("nothing"), fate="kept"),
    Strange(title="a link to itself", name="itself", make=_link("itself"), fate="kept"),
    Strange(title="a link out of the folder", name="out", make=_link("/etc"), fate="kept"),
    Strange(title="a link to the parent", name="up", make=_link("../.."), fate="kept"),
    Strange(title="a link into /proc", name="proc", make=_link("/proc/self"), fate="kept"),
    Strange(title="a socket", name="socket", make=_socket, fate="refused"),
    Strange(title="a pipe", name="pipe", make=os.mkfifo, fate="refused"),
)
