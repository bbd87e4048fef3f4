"""What a stage would do to the disk: the walk from the tree's nodes to a change set.

Owns the translation (what counts as a move, what overwrites, what depends on what) and the order.
It reads the disk only where the stage has touched it. Thread: that of the stage.
"""

# Plain `os` calls: disk paths are strings with surrogates, as os gives them.

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace

from sandbox.blobs import CHUNK_BYTES, BlobStore, Tail
from sandbox.changeset import Base, Change, ChangeSet, Evidence, Piece, in_order
from sandbox.commit_faults import explained
from sandbox.contents import (
    Blob,
    Content,
    DiskContent,
    Extent,
    Patchwork,
    open_content,
    open_tails,
)
from sandbox.disk_names import is_respelled, listed_path
from sandbox.stage_tree import StageTree, disk_entry
from sandbox.tree import (
    DiskEntry,
    FileNode,
    FolderNode,
    LinkNode,
    Node,
    Whiteout,
    base_of,
)

_COMPARE_BYTES = 64 * 1024 * 1024  # a rewritten file up to this size is compared with the disk's


def collect_changes(tree: StageTree, blobs: BlobStore) -> ChangeSet:
    """The changes that turn the disk into `tree`, in an order in which they can be applied.

    CommitError when the disk does not let them be put together: full, gone, or not readable.
    """
    collector = _Collector(blobs)
    for path, root in tree.roots.items():
        collector.note_origins(root, path)
    try:
        for path, root in tree.roots.items():
            collector.folder_metadata(root, path, None)
            collector.folder(root, path, root.origin, None)
    except OSError as error:
        raise explained(error) from error
    return ChangeSet(changes=in_order(collector.changes))


@dataclass(frozen=True, slots=True)
class Recipe:
    """Where new content comes from: `prefix_bytes` of a disk file, then a blob; see `Change`."""

    source: str | None = None
    source_base: Base | None = None
    prefix_bytes: int = 0
    blob: str | None = None
    pieces: tuple[Piece, ...] = ()


def recipe_of(content: Content, blobs: BlobStore) -> Recipe:
    """`content` as a recipe; what was added goes into the blob store, zeros and the rest not."""
    match content:
        case DiskContent(path=path, base=base):
            return Recipe(path, base, base.size_bytes)
        case Blob(sha256=sha256):
            return Recipe(blob=sha256)
        case Patchwork(extents=extents):
            return _recipe_of_parts(extents, blobs)


def _recipe_of_parts(extents: tuple[Extent, ...], blobs: BlobStore) -> Recipe:
    added = [one for one in extents if not isinstance(one.source, DiskContent | None)]
    blob: str | None = None
    if added or not extents:
        with open_tails(added, blobs) as stream:
            blob = blobs.put_stream(stream, is_staged=True)[0]
    on_disk = next((one.source for one in extents if isinstance(one.source, DiskContent)), None)
    path, base = (on_disk.path, on_disk.base) if on_disk else (None, None)
    first = extents[0] if extents else None
    starts_as_it_was = first and isinstance(first.source, DiskContent) and first.at == 0
    prefix = first.size_bytes if first and starts_as_it_was else 0
    rest = extents[1:] if prefix else extents
    if len(rest) == sum(isinstance(one.source, Tail | Blob) for one in rest):
        return Recipe(path, base, prefix, blob)
    return Recipe(path, base, prefix, blob, _pieces(extents))


def _pieces(extents: tuple[Extent, ...]) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    in_blob = 0
    for source, at, size_bytes in extents:
        if source is None:
            pieces.append(Piece(of="zeros", at=0, size_bytes=size_bytes))
        elif isinstance(source, DiskContent):
            pieces.append(Piece(of="source", at=at, size_bytes=size_bytes))
        else:
            pieces.append(Piece(of="blob", at=in_blob, size_bytes=size_bytes))
            in_blob += size_bytes
    return tuple(pieces)


class _Collector:
    """Two passes over the nodes: where every touched origin went, then the changes."""

    def __init__(self, blobs: BlobStore) -> None:
        self.changes: list[Change] = []
        self._blobs = blobs
        self._placed: dict[str, str] = {}

    def note_origins(self, node: Node, path: str) -> None:
        """First pass: remember where each disk entry that has a node is now."""
        if node.origin is not None:
            self._placed[node.origin] = path
        if isinstance(node, FolderNode):
            for name, child in node.children.items():
                if not isinstance(child, Whiteout):
                    self.note_origins(child, f"{path}/{name}")

    def folder(self, node: FolderNode, path: str, disk: str | None, holder: str | None) -> None:
        """Second pass, one folder. `disk`: the folder on the disk that this one continues.

        `holder`: id of the change that brings this folder here, None when it was here already.
        """
        for name in sorted(node.children):
            child = node.children[name]
            beneath = f"{disk}/{name}" if disk is not None else None
            if isinstance(child, Whiteout):
                self._gone(beneath, child.evidence)
            elif child.origin is not None and child.origin == beneath:
                self._stays(child, f"{path}/{name}", holder)
            else:
                self._arrives(child, f"{path}/{name}", beneath, holder)

    def folder_metadata(self, node: FolderNode, path: str, holder: str | None) -> None:
        """A mode or a time that the program gave to a folder that was there."""
        if node.origin is None or node.base is None:
            return
        mode = _mode_if_changed(node)
        mtime_ns = node.mtime_ns if node.times_set else None
        if mode is not None or mtime_ns is not None:
            self._metadata(node, node.origin, path, holder, mode, mtime_ns)

    def _stays(self, node: Node, path: str, holder: str | None) -> None:
        """An entry that is still in its folder (which may itself have moved)."""
        match node:
            case FolderNode():
                self.folder_metadata(node, path, holder)
                self.folder(node, path, node.origin, holder)
            case FileNode(origin=str() as origin, base=Base() as base):
                if self._is_modified(node):
                    self._modify(node, origin, base, path, holder)
                else:
                    mode = _mode_if_changed(node)
                    mtime_ns = node.mtime_ns if self._time_was_set(node) else None
                    if mode is not None or mtime_ns is not None:
                        self._metadata(node, origin, path, holder, mode, mtime_ns)
            case _:
                return

    def _arrives(self, node: Node, path: str, disk: str | None, holder: str | None) -> None:
        """An entry that is new at its place: created, copied or moved here."""
        needs = [holder] if holder else []
        occupant = self._occupant(node, disk)
        disk = occupant.path if occupant is not None else disk
        if disk is not None and occupant is not None and disk in self._placed:
            needs.append(_id("move", disk))
            occupant = None
        evidence = node.evidence
        if occupant is not None and disk is not None:
            if isinstance(node, FolderNode) and node.origin is None and _is_folder(occupant):
                self._continues(node, path, occupant, holder)
                return
            if isinstance(node, FileNode) and node.origin is None and _is_regular(occupant):
                self._modify(node, disk, base_of(occupant.st), path, holder, tuple(needs))
                return
            if isinstance(node, FolderNode) or _is_folder(occupant) or node.origin is None:
                needs.append(self._removal(disk, occupant.st, evidence))
                occupant = None
        match node:
            case FileNode(origin=None):
                self._create(node, path, needs)
            case LinkNode(origin=None):
                self._link(node, path, needs)
            case FolderNode(origin=None):
                self._make(node, path, needs)
            case _:
                self._move(node, path, occupant, needs)

    def _occupant(self, node: Node, disk: str | None) -> DiskEntry | None:
        """What the disk has at the place of `node`, as it is listed there; not `node` itself."""
        found = disk_entry(disk) if disk is not None else None
        if found is None or _is_itself(node, found):
            return None
        known = found.path in self._placed
        return found if known else DiskEntry(listed_path(found.path), found.st)

    def _continues(self, node: FolderNode, path: str, there: DiskEntry, holder: str | None) -> None:
        """A folder deleted and made again: the same folder, without what was in it."""
        base = base_of(there.st)
        as_before = replace(node, origin=there.path, base=base)
        self.folder_metadata(as_before, path, holder)
        for name in _names(there.path):
            if name not in node.children:
                self._gone(f"{there.path}/{name}", node.evidence)
        self.folder(node, path, there.path, holder)

    def _gone(self, disk: str | None, evidence: tuple[Evidence, ...]) -> str | None:
        """The disk's entry at `disk` is not in its place: id of the move or removal, or None."""
        if disk is None:
            return None
        entry = disk_entry(disk)
        if entry is None:
            return None
        if disk in self._placed:
            return _id("move", disk)
        return self._removal(disk, entry.st, evidence)

    def _removal(self, disk: str, st: os.stat_result, evidence: tuple[Evidence, ...]) -> str:
        base = base_of(st)
        if not stat.S_ISDIR(st.st_mode):
            self._add("delete", disk, base=base, evidence=evidence, size_before=base.size_bytes)
            return _id("delete", disk)
        inner = [self._gone(f"{disk}/{name}", evidence) for name in _names(disk)]
        needs = tuple(change_id for change_id in inner if change_id)
        self._add("rmdir", disk, base=base, evidence=evidence, depends_on=needs)
        return _id("rmdir", disk)

    def _create(self, node: FileNode, path: str, needs: list[str]) -> None:
        recipe = recipe_of(node.content, self._blobs)
        self.changes.append(
            Change(
                id=_id("create", path),
                kind="create",
                path=path,
                size_after=node.content.size_bytes,
                blob=recipe.blob,
                source=recipe.source,
                source_base=recipe.source_base,
                prefix_bytes=recipe.prefix_bytes,
                pieces=recipe.pieces,
                mode=node.permissions,
                mtime_ns=node.mtime_ns,
                depends_on=tuple(needs),
                evidence=node.evidence,
            )
        )

    def _link(self, node: LinkNode, path: str, needs: list[str]) -> None:
        self.changes.append(
            Change(
                id=_id("create", path),
                kind="create",
                path=path,
                link=node.text,
                size_after=len(os.fsencode(node.text)),
                depends_on=tuple(needs),
                evidence=node.evidence,
            )
        )

    def _make(self, node: FolderNode, path: str, needs: list[str]) -> None:
        self.changes.append(
            Change(
                id=_id("mkdir", path),
                kind="mkdir",
                path=path,
                mode=node.permissions,
                mtime_ns=node.mtime_ns if node.times_set else None,
                depends_on=tuple(needs),
                evidence=node.evidence,
            )
        )
        self.folder(node, path, None, _id("mkdir", path))

    def _move(self, node: Node, path: str, replaced: DiskEntry | None, needs: list[str]) -> None:
        origin = node.origin or path
        change = Change(
            id=_id("move", origin),
            kind="move",
            path=origin,
            target=path,
            base=node.base,
            overwrites=replaced is not None,
            replaces=replaced.path if replaced else None,
            target_base=base_of(replaced.st) if replaced else None,
            depends_on=tuple(needs),
            evidence=node.evidence,
        )
        if not isinstance(node, LinkNode):
            change = replace(change, mode=_mode_if_changed(node))
        if isinstance(node, FolderNode) and node.times_set:
            change = replace(change, mtime_ns=node.mtime_ns)
        if isinstance(node, FileNode):
            change = self._with_content(change, node)
        self.changes.append(change)
        if isinstance(node, FolderNode):
            self.folder(node, path, node.origin, change.id)

    def _with_content(self, change: Change, node: FileNode) -> Change:
        """A file's move, with its new content where it was modified too."""
        before = node.base.size_bytes if node.base else None
        change = replace(change, size_before=before, size_after=node.content.size_bytes)
        if self._is_modified(node):
            recipe = recipe_of(node.content, self._blobs)
            return replace(
                change,
                modified=True,
                blob=recipe.blob,
                source=recipe.source,
                source_base=recipe.source_base,
                prefix_bytes=recipe.prefix_bytes,
                pieces=recipe.pieces,
                mtime_ns=node.mtime_ns,
            )
        return replace(change, mtime_ns=node.mtime_ns if self._time_was_set(node) else None)

    def _modify(
        self,
        node: FileNode,
        disk: str,
        base: Base,
        path: str,
        holder: str | None,
        needs: tuple[str, ...] = (),
    ) -> None:
        recipe = recipe_of(node.content, self._blobs)
        permissions = node.permissions if node.permissions != stat.S_IMODE(base.mode) else None
        self.changes.append(
            Change(
                id=_id("modify", disk),
                kind="modify",
                path=disk,
                target=path if path != disk else None,
                size_before=base.size_bytes,
                size_after=node.content.size_bytes,
                blob=recipe.blob,
                source=recipe.source,
                source_base=recipe.source_base,
                prefix_bytes=recipe.prefix_bytes,
                pieces=recipe.pieces,
                mode=permissions,
                mtime_ns=node.mtime_ns,
                base=base,
                depends_on=needs or ((holder,) if holder else ()),
                evidence=node.evidence,
            )
        )

    def _metadata(
        self,
        node: FileNode | FolderNode,
        disk: str,
        path: str,
        holder: str | None,
        mode: int | None,
        mtime_ns: int | None,
    ) -> None:
        self.changes.append(
            Change(
                id=_id("mode", disk),
                kind="mode",
                path=disk,
                target=path if path != disk else None,
                mode=mode,
                mtime_ns=mtime_ns,
                base=node.base,
                depends_on=(holder,) if holder else (),
                evidence=node.evidence,
            )
        )

    def _add(
        self,
        kind: str,
        disk: str,
        *,
        base: Base,
        evidence: tuple[Evidence, ...],
        size_before: int | None = None,
        depends_on: tuple[str, ...] = (),
    ) -> None:
        self.changes.append(
            Change(
                id=_id(kind, disk),
                kind="rmdir" if kind == "rmdir" else "delete",
                path=disk,
                base=base,
                size_before=size_before,
                evidence=evidence,
                depends_on=depends_on,
            )
        )

    def _is_modified(self, node: FileNode) -> bool:
        """Whether the bytes differ from those of the file that this node is."""
        content, base = node.content, node.base
        if base is None or (isinstance(content, DiskContent) and content.path == node.origin):
            return False
        if base.placeholder:  # to compare it would fetch it
            return True
        if content.size_bytes != base.size_bytes or base.size_bytes > _COMPARE_BYTES:
            return True
        return self._digest(DiskContent(node.origin or "", base)) != self._digest(content)

    def _time_was_set(self, node: FileNode) -> bool:
        """A time of its own, not the trace of content that came out the same."""
        is_own = isinstance(node.content, DiskContent) and node.content.path == node.origin
        return is_own and node.base is not None and node.mtime_ns != node.base.mtime_ns

    def _digest(self, content: Content) -> bytes:
        hasher = hashlib.sha256()
        try:
            with open_content(content, self._blobs) as stream:
                while chunk := stream.read(CHUNK_BYTES):
                    hasher.update(chunk)
        except OSError:  # gone or locked meanwhile: the commit will name it as a conflict
            return b""
        return hasher.digest()


def _id(kind: str, path: str) -> str:
    return f"{kind}:{path}"


def _names(folder: str) -> Iterator[str]:
    with os.scandir(folder) as listing:
        yield from sorted(item.name for item in listing)


def _is_itself(node: Node, occupant: DiskEntry) -> bool:
    """Whether what is at the new place is the moved entry: only its spelling changes there."""
    if node.base is None or node.base.inode != occupant.st.st_ino:
        return False
    return is_respelled(occupant.path, node.base.inode)


def _is_folder(entry: DiskEntry) -> bool:
    return stat.S_ISDIR(entry.st.st_mode)


def _is_regular(entry: DiskEntry) -> bool:
    return stat.S_ISREG(entry.st.st_mode)


def _mode_if_changed(node: FileNode | FolderNode) -> int | None:
    if node.base is None or node.permissions == stat.S_IMODE(node.base.mode):
        return None
    return node.permissions
