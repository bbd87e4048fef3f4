"""The folders of a chat as the sandbox gets them: there, readable, and none of Drydock's own.

Owns which folders may be opened to programs; what they may do in one is the sandbox's. Thread: any;
it looks at the disk.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from app.errors import AppError
from app.paths import Paths
from app.store.records import Folder
from sandbox.stage_paths import FolderGrant


def open_grants(folders: Sequence[Folder], paths: Paths) -> list[FolderGrant]:
    """The folders as grants, checked to be there, with Drydock's own home closed in each.

    Raises: `AppError` naming the folder that is missing, cannot be read, or is Drydock's own.
    """
    home, demo = paths.home.resolve(), paths.demo.resolve()
    grants: list[FolderGrant] = []
    for folder in folders:
        path = Path(folder.path).expanduser()
        try:
            real = path.resolve(strict=True)
            if not real.is_dir():
                raise AppError(f"This is not a folder: {path}.", hint="Choose a folder.")
            next(real.iterdir(), None)
            own = _is_own(real, home, demo)
        except OSError as error:
            raise AppError(
                f"The folder cannot be read: {path} ({error.strerror}).",
                hint="Check that it is there and that you may read it, or remove it from the chat.",
            ) from error
        if own:
            raise AppError(
                f"This folder belongs to Drydock itself: {path}. A program that could change it "
                "could change what you allowed, or take away what undo needs.",
                hint="Choose a folder with your own files.",
            )
        grants.append(FolderGrant(path=real, rights=folder.rights, closed=(home,)))
    return grants


def _is_own(folder: Path, home: Path, demo: Path) -> bool:
    """Whether it is the home or inside it; copies of the demo folder are the person's.

    By identity, not by name: a disk that folds case has more than one name for a folder.
    """
    above = [folder, *folder.parents]
    if demo.is_dir() and any(parent.samefile(demo) for parent in above[1:]):
        return False
    return home.is_dir() and any(parent.samefile(home) for parent in above)
