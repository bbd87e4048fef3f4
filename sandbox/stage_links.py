"""New symbolic links in the stage: made by commands in a workspace, never by programs.

Owns the making; a link's text is data and is not followed. Thread: that of the stage.
"""

from __future__ import annotations

import errno

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
