"""What arrives in the stage from commands in a workspace: contents as streams, symbolic links.

Owns their making; a link's text is data and is not followed. Programs make no links. Thread: that
of the stage.
"""

from __future__ import annotations

import errno
from typing import BinaryIO

from sandbox.contents import Blob
from sandbox.stage import Stage
from sandbox.stage_tree import failure, witness
from sandbox.tree import LinkNode


def make_link(stage: Stage, path: str, text: str) -> None:
    """A link at `path` that points to `text`, with missing parents.

    FileExistsError when something is there, PermissionError where nothing may be written.
    """
    tree = stage._tree  # pyright: ignore[reportPrivateUsage]  # the stage's own room
    place = tree.locate(path, follow=False)
    stage._check_writable(place.path)  # pyright: ignore[reportPrivateUsage]
    if place.entry is not None:
        raise failure(errno.EEXIST, place.path)
    stage._make_folders(place.parent)  # pyright: ignore[reportPrivateUsage]
    stage._check_folder(place.parent)  # pyright: ignore[reportPrivateUsage]
    node = LinkNode(tree.epoch, text)
    witness(node, stage.evidence)
    tree.attach(place.path, node)


def put_content(stage: Stage, path: str, stream: BinaryIO) -> str:
    """Create or replace a file, with missing parents; returns the sha256 (hex) of its content."""
    place = stage._writable_file(path)  # pyright: ignore[reportPrivateUsage]
    content = Blob(*stage._blobs.put_stream(stream))  # pyright: ignore[reportPrivateUsage]
    stage._set_content(place, content)  # pyright: ignore[reportPrivateUsage]
    return content.sha256


def put_note(stage: Stage, data: bytes) -> str:
    """Keep `data` beside the stage's contents, as long as they; returns its sha256 (hex)."""
    return stage._blobs.put(data)[0]  # pyright: ignore[reportPrivateUsage]


def open_kept(stage: Stage, sha256: str) -> BinaryIO:
    """What `put_note` or `put_content` kept. FileNotFoundError when it is not here."""
    return stage._blobs.open(sha256)  # pyright: ignore[reportPrivateUsage]
