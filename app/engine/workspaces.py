"""The workspaces of chats: one each, as long as the chat, on the rung that this machine has.

Owns which exist and which run. It must not run commands: the tools of a turn do. Thread: methods
that start, stop or delete block and are called on worker threads, one at a time for a chat.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from app.errors import NotFoundError
from app.paths import Paths
from app.settings import Settings
from sandbox.errors import SandboxError
from sandbox.workspace.chosen import ChosenMachine
from sandbox.workspace.ladder import Ladder, RungState
from sandbox.workspace.machine import Rung, size_on_disk
from sandbox.workspace.qemu import QemuShape
from sandbox.workspace.session import CommandLimits, Workspace

_log = logging.getLogger(__name__)
_MOST_RUNNING = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceInfo:
    """One chat's workspace. `size_bytes`: on this disk; `running`: in this process."""

    chat_id: str
    rung: Rung
    size_bytes: int
    running: bool


class Workspaces:
    """All workspaces of one home."""

    def __init__(self, paths: Paths, settings: Callable[[], Settings]) -> None:
        self._paths = paths
        self._settings = settings
        self._open: dict[str, Workspace] = {}
        self._lock = threading.Lock()

    @property
    def ladder(self) -> Ladder:
        """The rungs of this machine, under the settings in force."""
        settings = self._settings().workspace
        shape = QemuShape(cpus=settings.cpus, memory_mb=settings.memory_mib)
        return Ladder(self._paths.workspaces, self._paths.workspace_image, shape)

    def state(self) -> RungState | None:
        """The rung that commands run on, or would; None when there is none. Boots nothing."""
        ladder = self.ladder
        rung = ladder.possible(self._settings().workspace.kind)
        return next((item for item in ladder.states() if item.rung == rung), None)

    def of(self, chat_id: str) -> Workspace | None:
        """A chat's workspace, not started; None where there can be none."""
        with self._lock:
            found = self._open.pop(chat_id, None)
            if found is None:
                if self.state() is None and not self._folder(chat_id).is_dir():
                    return None
                found = self._made(chat_id)
            self._open[chat_id] = found  # the latest used is the last
            return found

    def warm(self, chat_id: str) -> None:
        """Start a chat's workspace in advance; that it cannot be started shows when it is used."""
        workspace = self.of(chat_id)
        if workspace is None:
            return
        with contextlib.suppress(SandboxError):
            self._stop_others(chat_id)
            workspace.warm()

    def was_used(self, chat_id: str) -> bool:
        """Whether a chat has a workspace already."""
        return self._folder(chat_id).is_dir()

    def list(self) -> tuple[WorkspaceInfo, ...]:
        """What there is, the largest first."""
        found: list[WorkspaceInfo] = []
        for folder in self._folders():
            machine = ChosenMachine(folder, self.ladder, "off")
            opened = self._open.get(folder.name)
            found.append(
                WorkspaceInfo(
                    chat_id=folder.name,
                    rung=machine.rung,
                    size_bytes=size_on_disk(folder),
                    running=opened is not None and opened.is_running,
                )
            )
        return tuple(sorted(found, key=lambda info: -info.size_bytes))

    def reset(self, chat_id: str) -> None:
        """Make a chat's workspace as new. `NotFoundError` when it has none."""
        if not self._folder(chat_id).is_dir():
            raise NotFoundError(f"There is no workspace of a chat {chat_id}.")
        self.delete(chat_id)

    def delete(self, chat_id: str) -> None:
        """Take a chat's workspace away with all that is in it; fine when it has none."""
        with self._lock:
            workspace = self._open.pop(chat_id, None)
        if workspace is not None:
            workspace.reset()
        elif self._folder(chat_id).is_dir():
            ChosenMachine(self._folder(chat_id), self.ladder, "off").destroy()

    def sweep(self, chats: Collection[str]) -> None:
        """Take away what belongs to no chat any more, e.g. after a crash."""
        for folder in self._folders():
            if folder.name not in chats:
                self.delete(folder.name)

    def close(self) -> None:
        """Stop all; files stay."""
        with self._lock:
            opened = list(self._open.values())
            self._open.clear()
        for workspace in opened:
            workspace.close()

    def _stop_others(self, chat_id: str) -> None:
        running = [key for key, item in self._open.items() if item.is_running and key != chat_id]
        for key in running[: max(0, len(running) - _MOST_RUNNING + 1)]:
            _log.info("stopping the workspace of chat %s", key)
            self._open[key].close()

    def _made(self, chat_id: str) -> Workspace:
        settings = self._settings().workspace
        folder = self._folder(chat_id)
        limits = CommandLimits(timeout_s=settings.timeout_s, processes=settings.processes)
        machine = ChosenMachine(folder, self.ladder, settings.kind)
        return Workspace(machine, folder / "known.json", limits=limits)

    def _folder(self, chat_id: str) -> Path:
        if not chat_id.isalnum():
            raise NotFoundError(f"There is no chat {chat_id}.")
        return self._paths.workspaces / "chats" / chat_id

    def _folders(self) -> list[Path]:
        place = self._paths.workspaces / "chats"
        return sorted(path for path in place.iterdir() if path.is_dir()) if place.is_dir() else []
