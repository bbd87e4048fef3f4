"""Where Drydock keeps its things. Thread: any.

`DRYDOCK_HOME` moves everything; without it the system's place for application data is used.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from app.errors import AppError

ASSETS = Path(__file__).resolve().parent.parent / "assets"


@dataclass(frozen=True, slots=True, kw_only=True)
class Paths:
    """The folders and files of one home.

    `shared_models`: a model folder of another home to use instead of an own one.
    """

    home: Path
    shared_models: Path | None = None

    @property
    def store(self) -> Path:
        """The SQLite file of chats and turns."""
        return self.home / "store.db"

    @property
    def vault(self) -> Path:
        """The encrypted file of secrets, where there is no keyring."""
        return self.home / "vault.sealed"

    @property
    def settings(self) -> Path:
        """The settings as JSON."""
        return self.home / "settings.json"

    @property
    def window(self) -> Path:
        """Size and place of the window and its panels."""
        return self.home / "window.ini"

    @property
    def models(self) -> Path:
        """Model files."""
        return self.shared_models or self.home / "models"

    @property
    def blobs(self) -> Path:
        """Staged content, by hash."""
        return self.home / "stage"

    @property
    def tapes(self) -> Path:
        """One file a turn: what its programs and its model were answered."""
        return self.home / "tapes"

    @property
    def states(self) -> Path:
        """One folder a chat: what its programs left for the next one."""
        return self.home / "states"

    @property
    def undo(self) -> Path:
        """One folder a committed turn, with what undo needs."""
        return self.home / "undo"

    @property
    def artifacts(self) -> Path:
        """Results that stay out of conversations, and the key of their handles."""
        return self.home / "artifacts"

    @property
    def workspaces(self) -> Path:
        """One folder a chat that ran shell commands, and what is known of this machine."""
        return self.home / "workspaces"

    @property
    def workspace_image(self) -> Path:
        """The image that microVMs start from."""
        return self.home / "workspace-image"

    @property
    def logs(self) -> Path:
        """Log files."""
        return self.home / "logs"

    @property
    def lab(self) -> Path:
        """What the lab keeps: one folder a run, with its trajectories."""
        return self.home / "lab"

    @property
    def demo(self) -> Path:
        """Copies of the demo folder."""
        return self.home / "demo"


def open_home() -> Paths:
    """The paths of this process, with the folder made and checked to be writable.

    Raises: `AppError` when the folder cannot be made or written.
    """
    named = os.environ.get("DRYDOCK_HOME", "")
    home = Path(named).expanduser() if named else Path(platformdirs.user_data_dir("drydock", False))
    home = home.absolute()
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise AppError(
            f"The folder for Drydock's data cannot be made: {home} ({error.strerror}).",
            hint="Set DRYDOCK_HOME to a folder that you may write.",
        ) from error
    if not home.is_dir() or not os.access(home, os.W_OK | os.X_OK):
        raise AppError(
            f"Drydock's data folder cannot be written: {home}.",
            hint="Change its permissions, or set DRYDOCK_HOME to another folder.",
        )
    return Paths(home=home)
