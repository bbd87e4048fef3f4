"""A machine on the rung that this computer can have, found out when it is first needed.

Owns the choice and that it stays: a workspace that was made on one rung is never carried on on
another, its files are there. Thread: as `machine.py` says.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from sandbox.workspace.channel import Channel
from sandbox.workspace.choice import Choice, Probed
from sandbox.workspace.errors import WorkspaceMissingError
from sandbox.workspace.ladder import Ladder
from sandbox.workspace.machine import Machine, Rung

_RUNGS: dict[str, Probed] = {"smol": "smol", "qemu": "qemu", "bubblewrap": "bubblewrap"}


class ChosenMachine:
    """One workspace below `folder`; its files and what is remembered of it are there."""

    def __init__(self, folder: Path, ladder: Ladder, choice: Choice) -> None:
        self.folder = folder
        self.id = folder.name
        self._ladder = ladder
        self._choice: Choice = choice
        self._machine: Machine | None = None

    @property
    def rung(self) -> Rung:
        """The rung it is on; before it was started, the one that it would be on."""
        if self._machine is not None:
            return self._machine.rung
        made = self._made()
        return made[0] if made is not None else self._ladder.possible(self._choice) or "none"

    @property
    def exists(self) -> bool:
        return self._made() is not None

    def channel(self) -> Channel:
        if self._machine is None:
            self._machine = self._opened()
        return self._machine.channel()

    def stop(self) -> None:
        if self._machine is not None:
            self._machine.stop()

    def destroy(self) -> None:
        machine, self._machine = self._machine, None
        if machine is None and (made := self._made()) is not None:
            machine = self._ladder.machine(made[0], self._inner(), made[1])
        if machine is not None:
            machine.destroy()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _opened(self) -> Machine:
        made = self._made()
        if made is None:
            state = self._ladder.chosen(self._choice)
            if state is None:
                raise self._nothing()
            made = state.rung, state.detail
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            data = json.dumps({"rung": made[0], "detail": made[1]})
            (self.folder / "rung.json").write_text(data, encoding="utf-8")
        return self._ladder.machine(made[0], self._inner(), made[1])

    def _made(self) -> tuple[Probed, str] | None:
        try:
            data = json.loads((self.folder / "rung.json").read_text(encoding="utf-8"))
            return _RUNGS[data["rung"]], str(data["detail"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _inner(self) -> Path:
        return self.folder / self.folder.name

    def _nothing(self) -> WorkspaceMissingError:
        states = self._ladder.states()
        tried = "; ".join(f"{state.rung}: {state.reason}" for state in states)
        fix = next((state.fix for state in states if state.fix), "")
        return WorkspaceMissingError(f"Commands cannot be run here ({tried}).", hint=fix)
