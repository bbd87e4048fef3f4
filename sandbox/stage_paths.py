"""Which paths a chat may touch: the granted folders without the closed ones; words of a refusal.

Owns the lexical part of the boundary; symbolic links are followed in `stage.py`, which asks here
again for every path it arrives at. Thread: any; nothing here touches the disk.
"""

from __future__ import annotations

import errno
import os
import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderGrant:
    """A folder that the person opened to a chat. `path`: absolute, resolved, existing.

    `closed`: folders that stay out of reach even where a grant holds them, absolute and resolved;
    a folder inside a closed one is open when it is granted itself.
    """

    path: Path
    rights: Literal["read", "write"] = "write"
    closed: tuple[Path, ...] = ()


class Boundary:
    """The granted folders as POSIX paths; decides what is inside, and what may be written."""

    def __init__(self, grants: Sequence[FolderGrant]) -> None:
        if not grants:
            raise ValueError("a stage needs at least one granted folder")
        self._rights = {grant.path.as_posix(): grant.rights for grant in grants}
        self._longest_first = sorted(self._rights, key=len, reverse=True)
        self.closed = tuple({path.as_posix(): None for grant in grants for path in grant.closed})
        self._reopened = [
            path for path in self._rights if any(is_within(path, shut) for shut in self.closed)
        ]
        self.cwd = grants[0].path.as_posix()
        self.roots = tuple(path for path in self._rights if not self._is_nested(path))

    def absolute(self, path: str | PurePath) -> str:
        """`path` against the first granted folder, with ``.`` and ``..`` taken out lexically."""
        text = path if isinstance(path, str) else path.as_posix()
        if "\0" in text:
            raise ValueError("embedded null byte")
        if not text:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), text)
        if os.name == "nt":
            text = text.replace("\\", "/")
        joined = text if _is_absolute(text) else f"{self.cwd}/{text}"
        return "/" + posixpath.normpath(joined).lstrip("/") if joined[:1] == "/" else joined

    def root_of(self, path: str) -> str | None:
        """The outermost granted folder that holds `path`; None when it is outside or closed."""
        if self.is_closed(path):
            return None
        return next((root for root in self.roots if is_within(path, root)), None)

    def may_write(self, path: str) -> bool:
        """Whether the innermost grant that holds `path` allows changes. Never where closed."""
        if self.is_closed(path):
            return False
        for grant in self._longest_first:
            if is_within(path, grant):
                return self._rights[grant] == "write"
        return False

    def holds_grant(self, path: str) -> bool:
        """Whether `path` is a granted folder or has one below it."""
        return any(is_within(grant, path) for grant in self._rights)

    def is_closed(self, path: str) -> bool:
        """Whether `path` is in a closed folder, and in no folder granted inside that one."""
        shut = any(is_within(path, folder) for folder in self.closed)
        return shut and not self.is_reopened(path)

    def is_reopened(self, path: str) -> bool:
        """Whether `path` is in a folder that was granted inside a closed one."""
        return any(is_within(path, grant) for grant in self._reopened)

    def must_stay(self, path: str) -> bool:
        """Whether `path` is or holds a granted or a closed folder, and so cannot move or go."""
        return self.holds_grant(path) or any(is_within(folder, path) for folder in self.closed)

    def check(self, path: str | PurePath) -> None:
        """Raise the refusal for a path that is itself outside or closed, links not followed."""
        asked = self.absolute(path)
        if self.root_of(asked) is None:
            raise self.refusal(asked)

    def refusal(self, asked: str) -> PermissionError:
        """Why `asked` cannot be used: it is closed, or outside, or else a link there leads out."""
        if self.is_closed(asked):
            return self.kept_closed(asked)
        return self.outside(asked) if self.root_of(asked) is None else self.leads_out(asked)

    def kept_closed(self, path: str) -> PermissionError:
        """The refusal for what is in a closed folder."""
        text = "belongs to Drydock itself: programs can neither read nor change it; leave it out"
        return PermissionError(errno.EACCES, text, path)

    def stays(self, path: str) -> PermissionError:
        """The refusal to move or delete a folder that must stay."""
        text = "is a granted folder of this chat, or holds one; it has to stay where it is"
        if not self.holds_grant(path):
            text = "holds Drydock's own data; it has to stay where it is"
        return PermissionError(errno.EACCES, text, path)

    def outside(self, path: str) -> PermissionError:
        """The refusal for a path in none of the folders; names those that there are."""
        folders = ", ".join(self._rights)
        text = f"outside the folders of this chat; use a path inside {folders}"
        return PermissionError(errno.EACCES, text, path)

    def leads_out(self, path: str) -> PermissionError:
        """The refusal for a symbolic link whose target is in none of the folders."""
        text = (
            "a link that leads out of the folders of this chat; only what is inside can be used: "
            "skip links, for example with is_symlink()"
        )
        return PermissionError(errno.EACCES, text, path)

    def read_only(self, path: str) -> PermissionError:
        """The refusal to change something in a folder that was opened for reading."""
        writable = [path for path, rights in self._rights.items() if rights == "write"]
        instead = f"write to {', '.join(writable)} instead" if writable else "nothing is writable"
        return PermissionError(errno.EACCES, f"may only be read; {instead}", path)

    def _is_nested(self, path: str) -> bool:
        return any(path != other and is_within(path, other) for other in self._rights)


def is_within(path: str, folder: str) -> bool:
    """Whether `path` is `folder` or below it; both absolute and normalised."""
    return path == folder or path.startswith(folder if folder == "/" else folder + "/")


def parent_of(path: str) -> str:
    """The folder that holds `path`, which is absolute and normalised; a top folder holds itself."""
    folder = path[: path.rfind("/")]
    return folder if folder and folder[-1] != ":" else path[: path.rfind("/") + 1]


def divided(path: str) -> tuple[str, str]:
    """The folder that holds `path`, and its name there."""
    return parent_of(path), path[path.rfind("/") + 1 :]


def relative_parts(path: str, folder: str) -> list[str]:
    """The names that lead from `folder` to `path`, which is within it."""
    return [name for name in path[len(folder) :].split("/") if name]


def _is_absolute(text: str) -> bool:
    return text.startswith("/") or (os.name == "nt" and text[1:2] == ":")
