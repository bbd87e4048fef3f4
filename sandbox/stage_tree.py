"""Finding and owning nodes of the virtual tree: paths in, nodes out, links followed inside only.

Owns the roots and the epochs. It decides nothing about what a file operation means (`stage.py`
does) and never writes to the disk. Thread: one worker thread at a time.
"""

# ruff: noqa: PTH115, PTH116
# Plain `os` calls: called for every path of a program; names may hold surrogates, as os gives them.

from __future__ import annotations

import copy
import errno
import os
import stat
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path, PurePath

from sandbox.changeset import Base, Evidence
from sandbox.contents import DiskContent
from sandbox.disk_names import ListedNames, NameRules, rules_of
from sandbox.stage_paths import Boundary, is_within, relative_parts
from sandbox.tree import (
    DiskEntry,
    Entry,
    FileNode,
    FolderNode,
    LinkNode,
    Node,
    Whiteout,
    base_of,
)

_MAX_LINKS = 40  # Source: MAXSYMLINKS of Linux, path_resolution(7)
_MAX_EVIDENCE = 16
_first = itemgetter(0)
_NOTHING = Whiteout()


def _read_umask() -> int:
    umask = os.umask(0o022)
    os.umask(umask)
    return umask


_UMASK = _read_umask()
NEW_FILE_PERMISSIONS = 0o666 & ~_UMASK
NEW_FOLDER_PERMISSIONS = 0o777 & ~_UMASK


def failure(number: int, path: str, other: str | None = None) -> OSError:
    """The `OSError` that CPython raises for `number`, of the right subclass, names filled in."""
    return OSError(number, os.strerror(number), path, None, other)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a path leads: the virtual path with all links followed, and what is there."""

    path: str
    entry: Entry | None

    @property
    def parent(self) -> str:
        return self.path.rsplit("/", 1)[0] or "/"

    @property
    def name(self) -> str:
        return self.path.rsplit("/", 1)[1]


class StageTree:
    """The virtual tree: one root node per outermost granted folder."""

    def __init__(self, boundary: Boundary, roots: dict[str, FolderNode] | None = None) -> None:
        self.boundary = boundary
        self.epoch = object()
        self.clock: Callable[[], int] = time.time_ns
        self.roots = roots if roots is not None else {r: self._root(r) for r in boundary.roots}
        self.seen: dict[str, Base] = {}
        self._real_folders: set[str] = set()
        self._names: dict[str, ListedNames] = {}
        # By identity too: a disk that folds case has more than one path to a folder.
        shut = [Path(path) for path in boundary.closed]
        self._shut = _identities(shut)
        self._shut_names = {path.name.casefold() for path in shut}
        self._holders = _identities([parent for path in shut for parent in path.parents])

    def locate(self, path: str | PurePath, *, follow: bool = True) -> Place:
        """Where `path` leads. PermissionError outside the folders, also by way of a link.

        `follow`: whether a link in the last position is followed too.
        """
        asked = self.boundary.absolute(path)
        current = asked
        for _ in range(_MAX_LINKS):
            root = self.boundary.root_of(current)
            if root is None:
                raise self.boundary.refusal(asked)
            found = self._walk(root, relative_parts(current, root), asked, follow)
            if isinstance(found, Place):
                return found
            current = self.boundary.absolute(found)
        raise failure(errno.ELOOP, asked)

    def _walk(self, root: str, names: list[str], asked: str, follow: bool) -> Place | str:
        """The place, or the path to go on with when a link was met."""
        at: Entry | str | None = self.roots[root]
        path = root
        rules = self._rules_at(root)
        folds = rules.folds_case or rules.folds_forms
        for index, asked_name in enumerate(names):
            is_last = index == len(names) - 1
            name = self._spelled(at, asked_name, self._names[root]) if folds else asked_name
            at = self._step(at, name, asked, is_last=is_last)
            if self._is_shut(at) and not self.boundary.is_reopened("/".join([root, *names])):
                raise self.boundary.kept_closed(asked)
            text = self._link_text(at) if follow or not is_last else None
            if text is not None:
                return "/".join(
                    [text if text.startswith("/") else f"{path}/{text}", *names[index + 1 :]]
                )
            path = f"{path}/{name}"
        return Place(path, None if isinstance(at, str) else at)

    def _step(
        self, at: Entry | str | None, name: str, asked: str, *, is_last: bool
    ) -> Entry | str | None:
        """One name down; a disk folder known to be real is passed through as its path."""
        match at:
            case None:
                return None
            case FolderNode():
                child = at.children.get(name)
                if child is not None:
                    return None if isinstance(child, Whiteout) else child
                if at.origin is None:
                    return None
                disk = f"{at.origin}/{name}"
            case str():
                disk = f"{at}/{name}"
            case DiskEntry(path=folder, st=st) if stat.S_ISDIR(st.st_mode):
                disk = f"{folder}/{name}"
            case _:
                raise failure(errno.ENOTDIR, asked)
        if not is_last and disk in self._real_folders:
            return disk
        entry = disk_entry(disk)
        if not is_last and entry is not None and stat.S_ISDIR(entry.st.st_mode):
            self._real_folders.add(disk)
        return entry

    @staticmethod
    def _link_text(at: Entry | str | None) -> str | None:
        if isinstance(at, LinkNode):
            return at.text
        if isinstance(at, DiskEntry) and stat.S_ISLNK(at.st.st_mode):
            return os.readlink(at.path)
        return None

    def own_folder(self, path: str) -> FolderNode:
        """The node of an existing folder (links already followed), ready to be changed."""
        root = self.boundary.root_of(path)
        if root is None:
            raise self.boundary.outside(path)
        node = self.roots[root] = self._owned(self.roots[root])
        for name in relative_parts(path, root):
            child = node.children.get(name)
            if child is None and node.origin is not None:
                entry = disk_entry(f"{node.origin}/{name}")
                child = self.node_for(entry) if entry else None
            if child is None or isinstance(child, Whiteout):
                raise failure(errno.ENOENT, path)
            if not isinstance(child, FolderNode):
                raise failure(errno.ENOTDIR, path)
            node.children[name] = child = self._owned(child)
            node = child
        return node

    def own(self, place: Place) -> Node:
        """The node of what is at `place`, ready to be changed. FileNotFoundError if nothing is."""
        if place.entry is None:
            raise failure(errno.ENOENT, place.path)
        if place.path in self.roots:
            return self.own_folder(place.path)
        parent = self.own_folder(place.parent)
        child = self._owned(self.node_for(place.entry))
        parent.children[place.name] = child
        return child

    def attach(self, path: str, node: Node) -> None:
        """Put `node` at `path`, in a folder that exists, over what may be there.

        OSError as from the disk when it would not take the name.
        """
        parent, name = path.rsplit("/", 1)
        self.check_name(path)
        folder = self.own_folder(parent or "/")
        folder.children[name] = node
        touch_folder(folder, self.clock())

    def respelled(self, old: Place, target: str | PurePath) -> Place:
        """Where `target` leads; free if it is `old` itself, spelled otherwise, where names fold."""
        new = self.locate(target, follow=False)
        asked = self.boundary.absolute(target)
        name = asked[asked.rfind("/") + 1 :]
        if new.path != old.path or name == old.name or asked == old.path:
            return new
        return Place(f"{new.parent.rstrip('/')}/{name}", None)

    def _rules_at(self, path: str) -> NameRules:
        root = self.boundary.root_of(path) or path
        if root not in self._names:
            self._names[root] = ListedNames(rules_of(root))
        return self._names[root].rules

    def _spelled(self, at: Entry | str | None, name: str, names: ListedNames) -> str:
        """`name` as it is listed in the folder `at`, where the disk folds names."""
        folder: str | None = None
        children: dict[str, Node | Whiteout] = {}
        match at:
            case FolderNode():
                folder, children = at.origin, at.children
            case DiskEntry(path=path):
                folder = path
            case str():
                folder = at
            case _:
                return name
        if not isinstance(children.get(name, _NOTHING), Whiteout):
            return name
        key = names.rules.key(name)
        for other, child in children.items():
            if not isinstance(child, Whiteout) and names.rules.key(other) == key:
                return other
        listed = names.find(folder, name) if folder is not None else None
        return name if listed is None or listed in children else listed

    def check_name(self, path: str) -> None:
        """OSError as from the disk when it would not take the last name of `path`."""
        name = path[path.rfind("/") + 1 :]
        match self._rules_at(path).fault(path):
            case None:
                return
            case "long":
                raise failure(errno.ENAMETOOLONG, path)
            case "reserved":
                text = f"this disk has a meaning of its own for the name {name}; choose another"
            case "characters":
                text = 'this disk takes none of <>:"|?*\\ in a name; choose another'
            case "ending":
                text = "this disk takes no name that ends with a dot or a space; choose another"
        raise OSError(errno.EINVAL, text, path)

    def detach(self, path: str, evidence: tuple[Evidence, ...]) -> None:
        """Take away what is at `path`; the disk's entry of that name is hidden."""
        parent, name = path.rsplit("/", 1)
        folder = self.own_folder(parent or "/")
        if folder.origin is None:
            del folder.children[name]
        else:
            folder.children[name] = Whiteout(evidence)
        touch_folder(folder, self.clock())

    def node_for(self, entry: Entry) -> Node:
        """`entry` as a node; what only the disk knew is recorded as it is now."""
        if not isinstance(entry, DiskEntry):
            return entry
        st = entry.st
        permissions = stat.S_IMODE(st.st_mode)
        base = self.seen.get(entry.path) or base_of(st)
        if stat.S_ISDIR(st.st_mode):
            return FolderNode(
                self.epoch, permissions, st.st_mtime_ns, origin=entry.path, base=base_of(st)
            )
        if stat.S_ISLNK(st.st_mode):
            return LinkNode(self.epoch, os.readlink(entry.path), entry.path, base_of(st))
        if not stat.S_ISREG(st.st_mode):
            raise special(entry.path)
        content = DiskContent(entry.path, base)
        return FileNode(self.epoch, content, permissions, st.st_mtime_ns, entry.path, base)

    def children(self, folder: Entry | str) -> list[tuple[str, Entry | os.DirEntry[str]]]:
        """What is in a folder, sorted by name; the disk's entries are not looked at.

        `folder`: an entry, or the path of a folder that is still as on the disk.
        """
        overlay: dict[str, Node | Whiteout] = {}
        match folder:
            case FolderNode():
                origin, overlay = folder.origin, folder.children
            case DiskEntry(path=path):
                origin = path
            case str():
                origin = folder
            case _:
                return []
        found: list[tuple[str, Entry | os.DirEntry[str]]] = []
        if origin is not None:
            with os.scandir(origin) as listing:
                found = [(item.name, item) for item in listing]
        if overlay:
            found = [item for item in found if item[0] not in overlay]
        for name, node in overlay.items():
            if not isinstance(node, Whiteout):
                found.append((name, node))
        if self._shut:
            found = [item for item in found if not self._is_hidden(*item)]
        found.sort(key=_first)
        return found

    def holds_closed(self, entry: Entry) -> bool:
        """Whether a folder has a closed one somewhere below it."""
        return bool(self._holders) and _identity(entry) in self._holders

    def _is_shut(self, at: Entry | str | None) -> bool:
        if not self._shut or at is None or isinstance(at, str):
            return False
        return _identity(at) in self._shut

    def _is_hidden(self, name: str, child: Entry | os.DirEntry[str]) -> bool:
        """Whether a listing leaves it out: it is a closed folder."""
        if name.casefold() not in self._shut_names:
            return False
        return self._is_shut(disk_entry(child.path) if isinstance(child, os.DirEntry) else child)

    def is_empty(self, entry: Entry) -> bool:
        """Whether a folder has nothing in it."""
        return not self.children(entry)

    def check_removable(self, folder: Entry | str, path: str) -> None:
        """Whether all in a folder can be deleted, as Python would find out half-way.

        PermissionError for a read-only folder with something in it, or a mounted device, below.
        """
        for name, child in self.children(folder):
            below = f"{path}/{name}"
            if isinstance(child, os.DirEntry):
                if not child.is_dir(follow_symlinks=False):
                    continue
                mode = child.stat(follow_symlinks=False).st_mode
                inner: Entry | str = child.path
            else:
                mode, inner = mode_of(child), child
            if not stat.S_ISDIR(mode):
                continue
            if not mode & 0o222 and self.children(inner):
                text = "the folder is read-only; make it writable with os.chmod first"
                raise PermissionError(errno.EACCES, text, below)
            found = disk_entry(inner) if isinstance(inner, str) else inner
            if found is not None and is_mount(found):
                text = "another device is mounted there; it has to stay where it is"
                raise PermissionError(errno.EACCES, text, below)
            self.check_removable(inner, below)

    def forked(self) -> StageTree:
        """An independent tree with the same content; from now on both copy before they change."""
        self.epoch = object()
        other = StageTree(self.boundary, dict(self.roots))
        other.seen = dict(self.seen)
        other.clock = self.clock
        return other

    def _owned[N: FolderNode | FileNode | LinkNode](self, node: N) -> N:
        if node.epoch is self.epoch:
            return node
        mine = copy.copy(node)
        mine.epoch = self.epoch
        if isinstance(mine, FolderNode):
            mine.children = dict(mine.children)
        return mine

    def _root(self, path: str) -> FolderNode:
        st = os.stat(path)
        if not stat.S_ISDIR(st.st_mode):
            raise failure(errno.ENOTDIR, path)
        permissions = stat.S_IMODE(st.st_mode)
        return FolderNode(self.epoch, permissions, st.st_mtime_ns, origin=path, base=base_of(st))


def disk_entry(path: str) -> DiskEntry | None:
    """What the disk has at `path`, links not followed; None when nothing is there."""
    try:
        return DiskEntry(path, os.lstat(path))
    except (FileNotFoundError, NotADirectoryError):
        return None


def special(path: str) -> PermissionError:
    """The refusal for sockets, devices and pipes."""
    text = "is a socket, a device or a pipe, not a file; leave it where it is"
    return PermissionError(errno.EACCES, text, path)


def not_here(path: str) -> PermissionError:
    """The refusal to read a file whose content is still in the cloud."""
    text = "is in the cloud only, its content is not on this disk; leave it, or open it there first"
    return PermissionError(errno.EACCES, text, path)


def touch_folder(folder: FolderNode, now_ns: int) -> None:
    """A name in `folder` came or went."""
    folder.mtime_ns = now_ns
    folder.times_set = False


def witness(node: Node, evidence: Evidence | None) -> None:
    """Add what changed `node`, once."""
    known = node.evidence
    if evidence is not None and evidence not in known and len(known) < _MAX_EVIDENCE:
        node.evidence = (*known, evidence)


def mode_of(entry: Entry) -> int:
    """The full `st_mode` of an entry as staged."""
    match entry:
        case DiskEntry(st=st):
            return st.st_mode
        case FolderNode():
            return stat.S_IFDIR | entry.permissions
        case FileNode():
            return stat.S_IFREG | entry.permissions
        case LinkNode(base=base):
            return stat.S_IFLNK | 0o777 if base is None else base.mode


def is_below(path: str, folder: str) -> bool:
    """Whether `path` is strictly inside `folder`."""
    return path != folder and is_within(path, folder)


def same_file(first: Entry, second: Entry) -> bool:
    """Whether two entries are names of one file on the disk (hard links)."""
    a, b = _identity(first), _identity(second)
    return a is not None and a == b


def _identity(entry: Entry) -> tuple[int, int] | None:
    if isinstance(entry, DiskEntry):
        return entry.st.st_dev, entry.st.st_ino
    return (entry.base.device, entry.base.inode) if entry.base else None


def _identities(paths: Sequence[Path]) -> set[tuple[int, int]]:
    """Device and inode of each of the paths that is there."""
    entries = [disk_entry(path.as_posix()) for path in paths]
    return {(entry.st.st_dev, entry.st.st_ino) for entry in entries if entry is not None}


def is_mount(entry: Entry) -> bool:
    """Whether another device is mounted at a folder of the disk."""
    origin = entry.path if isinstance(entry, DiskEntry) else entry.origin
    if origin is None:
        return False
    parent = disk_entry(origin.rsplit("/", 1)[0] or "/")
    own = disk_entry(origin)
    return own is not None and parent is not None and own.st.st_dev != parent.st.st_dev
