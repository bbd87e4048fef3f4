"""The copy-on-write view over the granted folders: what programs see and change.

Owns what each file operation means; errors are the `OSError`s that CPython raises. The disk is only
read, never written: changes live in the tree's nodes and in the blob store, so memory and disk grow
with the changes and not with the folders. Kinder than Python in two ways, for the sake of small
models: writing and moving create missing parent folders. Thread: one worker thread at a time.
"""

# Plain `os` calls: called for every path of a program; names may hold surrogates, as os gives them.

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import BinaryIO, Literal

from sandbox import contents
from sandbox.blobs import BlobStore
from sandbox.changeset import ChangeSet, Evidence
from sandbox.contents import Blob, Content, DiskContent, Patchwork
from sandbox.disk_names import is_cloud_stub, is_placeholder
from sandbox.stage_changes import collect_changes
from sandbox.stage_paths import Boundary, FolderGrant
from sandbox.stage_scan import StageEntry, scan
from sandbox.stage_tree import (
    NEW_FILE_PERMISSIONS,
    NEW_FOLDER_PERMISSIONS,
    Place,
    StageTree,
    failure,
    is_below,
    is_mount,
    mode_of,
    not_here,
    same_file,
    special,
    witness,
)
from sandbox.tree import (
    DiskEntry,
    Entry,
    FileNode,
    FolderNode,
    LinkNode,
    base_of,
)

__all__ = ["FolderGrant", "Stage", "StageEntry", "StageStat"]

AnyPath = str | PurePath


@dataclass(frozen=True, slots=True, kw_only=True)
class StageStat:
    """An entry as the stage has it. `mode`: full `st_mode`; folders report size 0."""

    size_bytes: int
    mtime_ns: int
    mode: int
    is_dir: bool
    is_file: bool
    is_symlink: bool


class Stage:
    """The staged folders of one turn; `push`, `drop` and `merge` give each program its own layer.

    `evidence`: what is to be recorded as the cause of the changes that follow.
    """

    def __init__(self, grants: Sequence[FolderGrant], blobs: BlobStore) -> None:
        self.grants = tuple(grants)
        self.evidence: Evidence | None = None
        self._blobs = blobs
        self._boundary = Boundary(grants)
        self._tree = StageTree(self._boundary)
        self._layers: list[dict[str, FolderNode]] = []

    @property
    def cwd(self) -> str:
        """The first granted folder: relative paths start there."""
        return self._boundary.cwd

    def use_clock(self, clock: Callable[[], int]) -> None:
        """Take the times of what changes from `clock`, in nanoseconds."""
        self._tree.clock = clock

    # Layers

    def push(self) -> None:
        """Begin a layer: what follows can be dropped alone."""
        self._layers.append(dict(self._tree.roots))
        self._tree.epoch = object()

    def drop(self) -> None:
        """Forget the innermost layer, in constant time."""
        self._tree.roots = self._layers.pop()
        self._tree.epoch = object()

    def merge(self) -> None:
        """Make the innermost layer part of the one below."""
        self._layers.pop()

    def fork(self) -> Stage:
        """An independent stage with the same content and no open layer."""
        other = Stage.__new__(Stage)
        other.grants, other.evidence = self.grants, self.evidence
        other._blobs = self._blobs
        other._boundary = self._boundary
        other._tree = self._tree.forked()
        other._layers = []
        return other

    # Looking

    def exists(self, path: AnyPath) -> bool:
        """Whether something is there; not by a link that leads out. PermissionError outside."""
        return self._found(path) is not None

    def is_file(self, path: AnyPath) -> bool:
        """Whether an ordinary file is there, links followed."""
        entry = self._found(path)
        return isinstance(entry, Entry) and stat.S_ISREG(mode_of(entry))

    def is_dir(self, path: AnyPath) -> bool:
        """Whether a folder is there, links followed."""
        entry = self._found(path)
        return entry is not None and (entry == "ancestor" or stat.S_ISDIR(mode_of(entry)))

    def is_symlink(self, path: AnyPath) -> bool:
        """Whether the last name is a link, leading anywhere."""
        entry = self._found(path, follow=False)
        return isinstance(entry, Entry) and stat.S_ISLNK(mode_of(entry))

    def stat(self, path: AnyPath, *, follow: bool = True) -> StageStat:
        """Size, time and mode. FileNotFoundError when nothing is there."""
        entry = self._existing(path, follow=follow)
        mode = mode_of(entry)
        match entry:
            case DiskEntry(st=st):
                size_bytes, mtime_ns = st.st_size, st.st_mtime_ns
            case FileNode():
                size_bytes, mtime_ns = entry.content.size_bytes, entry.mtime_ns
            case LinkNode(base=base):
                size_bytes, mtime_ns = (base.size_bytes, base.mtime_ns) if base else (0, 0)
            case FolderNode():
                size_bytes, mtime_ns = 0, entry.mtime_ns
        is_dir = stat.S_ISDIR(mode)
        return StageStat(
            size_bytes=0 if is_dir else size_bytes,
            mtime_ns=mtime_ns,
            mode=mode,
            is_dir=is_dir,
            is_file=stat.S_ISREG(mode),
            is_symlink=stat.S_ISLNK(mode),
        )

    def listdir(self, path: AnyPath) -> list[str]:
        """The names in a folder, sorted."""
        return [name for name, _ in self._tree.children(self._folder(path))]

    def scan(
        self, path: AnyPath, *, max_depth: int | None, follow_symlinks: bool = False
    ) -> Iterator[StageEntry]:
        """A folder and all below it, parents first, names sorted; '' is the folder itself.

        `max_depth`: 0 for the folder alone, 1 with its entries, None without bound.
        """
        place = self._tree.locate(path)
        return scan(self._tree, place, max_depth=max_depth, follow_symlinks=follow_symlinks)

    def read_bytes(self, path: AnyPath, *, limit_bytes: int | None = None) -> bytes:
        """A file's content. OSError EFBIG when it is larger than `limit_bytes`."""
        with self.open_reader(path) as stream:
            size_bytes = stream.seek(0, os.SEEK_END)
            if limit_bytes is not None and size_bytes > limit_bytes:
                text = f"File too large to read whole: {size_bytes} bytes, at most {limit_bytes}"
                raise OSError(errno.EFBIG, text, self._boundary.absolute(path))
            stream.seek(0)
            return stream.read()

    def open_reader(self, path: AnyPath) -> BinaryIO:
        """A read-only, seekable stream over a file's content as staged."""
        return contents.open_content(self._content(path), self._blobs)

    def sha256(self, path: AnyPath) -> str:
        """The hex digest of a file's content."""
        return contents.digest_of(self._content(path), self._blobs)

    def changes(self) -> ChangeSet:
        """The stage against the disk; appended tails are put into the blob store."""
        return collect_changes(self._tree, self._blobs)

    # Changing files

    def write_bytes(self, path: AnyPath, data: bytes) -> int:
        """Create or replace a file, with missing parents; returns the number of bytes."""
        place = self._writable_file(path)
        sha256, size_bytes = self._blobs.put(data)
        self._set_content(place, Blob(sha256, size_bytes))
        return size_bytes

    def append_bytes(self, path: AnyPath, data: bytes) -> int:
        """Add to a file, or create it; what is there already is not copied."""
        return self._in_part(
            path, lambda content: contents.written(content, content.size_bytes, data)
        )

    def write_at(self, path: AnyPath, offset: int, data: bytes) -> int:
        """Replace bytes of a file from `offset` on; the rest is not copied. A gap is zeros."""
        self._existing(path)
        return self._in_part(path, lambda old: contents.written(old, offset, data))

    def truncate(self, path: AnyPath, size_bytes: int) -> None:
        """Cut a file, or make it longer with zeros that take no room."""
        if size_bytes < 0:
            raise failure(errno.EINVAL, self._boundary.absolute(path))
        self._existing(path)
        self._in_part(path, lambda old: contents.resized(old, size_bytes))

    def create(self, path: AnyPath) -> None:
        """An empty file, replacing the content of one that is there (open mode 'w')."""
        self.write_bytes(path, b"")

    def touch(self, path: AnyPath) -> None:
        """An empty file, or the time of one that is there (open mode 'a', `Path.touch`)."""
        if self._tree.locate(path).entry is None:
            self.create(path)
        else:
            self.utime(path, self._tree.clock())

    def copy_file(self, source: AnyPath, target: AnyPath, *, metadata: bool) -> None:
        """Give `target` the content of `source` by reference; `metadata`: mode and time too."""
        origin = self._existing(source)
        content = self._content(source)
        place = self._writable_file(target)
        if place.path == self._tree.locate(source).path:
            raise OSError(errno.EINVAL, "source and target are the same file", place.path)
        node = self._set_content(place, content)
        if metadata:
            node.permissions = stat.S_IMODE(mode_of(origin))
            node.mtime_ns = self.stat(source).mtime_ns

    def unlink(self, path: AnyPath) -> None:
        """Delete a file or a link. IsADirectoryError for a folder."""
        place = self._removable(path)
        if isinstance(place.entry, Entry) and stat.S_ISDIR(mode_of(place.entry)):
            raise failure(errno.EISDIR, place.path)
        self._tree.detach(place.path, self._witnesses())

    def chmod(self, path: AnyPath, mode: int) -> None:
        """Set the permission bits of a file or a folder."""
        node = self._owned_metadata(path)
        node.permissions = stat.S_IMODE(mode)
        witness(node, self.evidence)

    def utime(self, path: AnyPath, mtime_ns: int) -> None:
        """Set the modification time of a file or a folder, in nanoseconds since the epoch."""
        node = self._owned_metadata(path)
        node.mtime_ns = mtime_ns
        if isinstance(node, FolderNode):
            node.times_set = True
        witness(node, self.evidence)

    # Changing folders

    def mkdir(self, path: AnyPath, *, parents: bool = False, exist_ok: bool = False) -> None:
        """A new folder. FileExistsError when something is there, a folder with `exist_ok` apart."""
        if self._is_ancestor(path) or self._tree.locate(path, follow=False).entry is not None:
            if not (exist_ok and self.is_dir(path)):
                raise failure(errno.EEXIST, self._boundary.absolute(path))
            return
        place = self._tree.locate(path, follow=False)
        if not parents and self._tree.locate(place.parent).entry is None:
            raise failure(errno.ENOENT, place.path)
        self._check_writable(place.path)
        self._make_folders(place.path)

    def rmdir(self, path: AnyPath) -> None:
        """Delete an empty folder. OSError ENOTEMPTY, NotADirectoryError as in Python."""
        place = self._removable(path, links=False)
        if place.entry is None or not self._tree.is_empty(place.entry):
            raise failure(errno.ENOTEMPTY, place.path)
        self._tree.detach(place.path, self._witnesses())

    def rmtree(self, path: AnyPath) -> None:
        """Delete a folder with all that is in it."""
        place = self._removable(path, links=False, below=True)
        self._tree.detach(place.path, self._witnesses())

    def rename(self, source: AnyPath, target: AnyPath) -> None:
        """Move a file, a link or a folder, as `os.rename`; missing parents are created.

        A file replaces a file, a folder an empty folder; anything else raises what Python raises.
        Constant time, whatever is in the folder.
        """
        old = self._removable(source, target)
        new = self._tree.respelled(old, target)
        if old.entry is None or old.path == new.path:
            return
        if is_below(new.path, old.path):
            raise failure(errno.EINVAL, old.path, new.path)
        self._check_writable(new.path)
        self._tree.check_name(new.path)
        if self._boundary.must_stay(new.path):
            raise failure(errno.EBUSY, old.path, new.path)
        if new.entry is not None and not self._may_replace(old, new):
            return
        self._make_folders(new.parent)
        self._check_folder(new.parent)
        node = self._tree.own(old)
        witness(node, self.evidence)
        self._tree.detach(old.path, self._witnesses())
        self._tree.attach(new.path, node)

    # How it is done

    def _may_replace(self, old: Place, new: Place) -> bool:
        """Whether a move may take the place of `new`; False when both are one file already."""
        if old.entry is None or new.entry is None:
            return True
        old_mode, new_mode = mode_of(old.entry), mode_of(new.entry)
        if stat.S_ISDIR(old_mode):
            if not stat.S_ISDIR(new_mode):
                raise failure(errno.ENOTDIR, old.path, new.path)
            if not self._tree.is_empty(new.entry):
                raise failure(errno.ENOTEMPTY, old.path, new.path)
        elif stat.S_ISDIR(new_mode):
            raise failure(errno.EISDIR, old.path, new.path)
        elif not (stat.S_ISREG(new_mode) or stat.S_ISLNK(new_mode)):
            raise special(new.path)
        return not same_file(old.entry, new.entry)

    def _found(self, path: AnyPath, *, follow: bool = True) -> Entry | Literal["ancestor"] | None:
        if self._is_ancestor(path):
            return "ancestor"
        try:
            return self._tree.locate(path, follow=follow).entry
        except OSError:  # too long, through a file, in circles, by a link that leads out
            self._boundary.check(path)
            return None

    def _is_ancestor(self, path: AnyPath) -> bool:
        absolute = self._boundary.absolute(path)
        return self._boundary.root_of(absolute) is None and self._boundary.holds_grant(absolute)

    def _existing(self, path: AnyPath, *, follow: bool = True) -> Entry:
        place = self._tree.locate(path, follow=follow)
        if place.entry is None:
            raise failure(errno.ENOENT, self._boundary.absolute(path))
        return place.entry

    def _folder(self, path: AnyPath) -> Entry:
        entry = self._existing(path)
        if not stat.S_ISDIR(mode_of(entry)):
            raise failure(errno.ENOTDIR, self._boundary.absolute(path))
        return entry

    def _content(self, path: AnyPath) -> Content:
        entry = self._existing(path)
        mode = mode_of(entry)
        if stat.S_ISDIR(mode):
            raise failure(errno.EISDIR, self._boundary.absolute(path))
        if isinstance(entry, FileNode):
            return entry.content
        if not isinstance(entry, DiskEntry) or not stat.S_ISREG(mode):
            raise special(self._boundary.absolute(path))
        if is_placeholder(entry.st) or is_cloud_stub(entry.path):
            raise not_here(entry.path)
        base = self._tree.seen[entry.path] = base_of(entry.st)
        return DiskContent(entry.path, base)

    def _writable_file(self, path: AnyPath) -> Place:
        """Where a file is or can be written; parents are created."""
        place = self._tree.locate(path)
        self._check_writable(place.path)
        if place.entry is None:
            self._make_folders(place.parent)
            self._check_folder(place.parent)
            return place
        mode = mode_of(place.entry)
        if stat.S_ISDIR(mode):
            raise failure(errno.EISDIR, place.path)
        if not stat.S_ISREG(mode):
            raise special(place.path)
        if not mode & 0o222:
            text = "the file is read-only; make it writable with os.chmod first"
            raise PermissionError(errno.EACCES, text, place.path)
        return place

    def _set_content(self, place: Place, content: Content) -> FileNode:
        if place.entry is None:
            node = FileNode(self._tree.epoch, content, NEW_FILE_PERMISSIONS, self._tree.clock())
            self._tree.attach(place.path, node)
        else:
            node = self._tree.own(place)
            if not isinstance(node, FileNode):
                raise failure(errno.EISDIR, place.path)
            node.content = content
            node.mtime_ns = self._tree.clock()
        witness(node, self.evidence)
        return node

    def _owned_file(self, place: Place) -> Place:
        if place.entry is None:
            empty = Blob(*self._blobs.put(b""))
            return Place(place.path, self._set_content(place, empty))
        return Place(place.path, self._tree.own(place))

    def _in_part(self, path: AnyPath, change: Callable[[Patchwork], Patchwork]) -> int:
        """Change parts of a file's content; the number of bytes by which what is written grew."""
        place = self._writable_file(path)
        if not isinstance(place.entry, FileNode) or place.entry.epoch is not self._tree.epoch:
            place = self._owned_file(place)
        node = place.entry
        if not isinstance(node, FileNode):
            raise failure(errno.EISDIR, place.path)
        content = contents.patchwork(node.content, self._blobs, self._tree.epoch)
        before = content.tail.size_bytes
        changed = change(content)
        node.content = contents.plain(changed)
        node.mtime_ns = self._tree.clock()
        witness(node, self.evidence)
        return changed.tail.size_bytes - before

    def _owned_metadata(self, path: AnyPath) -> FileNode | FolderNode:
        place = self._tree.locate(path)
        if place.entry is None:
            raise failure(errno.ENOENT, place.path)
        self._check_writable(place.path)
        node = self._tree.own(place)
        if isinstance(node, LinkNode):
            raise special(place.path)
        return node

    def _removable(
        self,
        path: AnyPath,
        other: AnyPath | None = None,
        *,
        links: bool = True,
        below: bool = False,
    ) -> Place:
        """A place that may be emptied. `links` False: a real folder; `below`: with all in it."""
        place = self._tree.locate(path, follow=False)
        if place.entry is None:
            aside = None if other is None else self._boundary.absolute(other)
            raise failure(errno.ENOENT, self._boundary.absolute(path), aside)
        mode = mode_of(place.entry)
        if not links and not stat.S_ISDIR(mode):
            raise failure(errno.ENOTDIR, place.path)
        if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
            raise special(place.path)
        self._check_writable(place.path)
        if self._boundary.must_stay(place.path) or self._tree.holds_closed(place.entry):
            raise self._boundary.stays(place.path)
        if stat.S_ISDIR(mode) and is_mount(place.entry):
            text = "is where another device is mounted; it has to stay where it is"
            raise PermissionError(errno.EACCES, text, place.path)
        self._check_folder(place.parent)
        if below:
            self._tree.check_removable(place.entry, place.path)
        return place

    def _check_writable(self, path: str) -> None:
        if not self._boundary.may_write(path):
            raise self._boundary.read_only(path)

    def _check_folder(self, path: str) -> None:
        """The folder itself lets names come and go."""
        entry = self._existing(path)
        if not mode_of(entry) & 0o222:
            text = "the folder is read-only; make it writable with os.chmod first"
            raise PermissionError(errno.EACCES, text, path)

    def _make_folders(self, path: str) -> None:
        """`path` and its missing parents as folders."""
        missing: list[str] = []
        place = self._tree.locate(path)
        while place.entry is None:
            missing.append(place.path)
            place = self._tree.locate(place.parent)
        if not stat.S_ISDIR(mode_of(place.entry)):
            raise failure(errno.ENOTDIR, path)
        if missing:
            self._check_writable(place.path)
            self._check_folder(place.path)
        for folder in reversed(missing):
            node = FolderNode(self._tree.epoch, NEW_FOLDER_PERMISSIONS, self._tree.clock())
            witness(node, self.evidence)
            self._tree.attach(folder, node)

    def _witnesses(self) -> tuple[Evidence, ...]:
        return (self.evidence,) if self.evidence is not None else ()
