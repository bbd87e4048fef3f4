"""Which kind of workspace this machine can have: the ladder, tried from its top.

Owns the order, the probes and what is remembered of them. A rung counts only when a machine booted
on it: what a library says of itself is no evidence. bubblewrap is weaker and is used only where the
person asked for it. Thread: any, one at a time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, assert_never

from sandbox.errors import SandboxError
from sandbox.workspace.backend import ENVIRONMENT
from sandbox.workspace.bounds import bound_in_force
from sandbox.workspace.bubblewrap import BubblewrapMachine
from sandbox.workspace.choice import Choice, Probed
from sandbox.workspace.errors import WorkspaceMissingError
from sandbox.workspace.image import open_image
from sandbox.workspace.machine import ROOT, Machine, Rung
from sandbox.workspace.qemu import (
    Accelerator,
    QemuMachine,
    QemuShape,
    accelerators,
    install_hint,
    qemu_program,
)

ORDER: tuple[Probed, ...] = ("smol", "qemu", "bubblewrap")
_AUTOMATIC: tuple[Probed, ...] = ("smol", "qemu")
_PROBE_S = 60.0
_FORM = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RungState:
    """One rung. `works`: None when it was not tried yet; `reason`: what was found; `fix`: what
    would make it work, or improve it, empty when nothing; `detail`: e.g. the accelerator."""

    rung: Probed
    works: bool | None
    reason: str
    fix: str = ""
    detail: str = ""
    boot_s: float = 0.0


class Ladder:
    """The rungs of this machine. `folder`: for machines and for what is remembered."""

    def __init__(self, folder: Path, image: Path, shape: QemuShape | None = None) -> None:
        self._folder = folder
        self._image = image
        self._shape = shape or QemuShape()
        self._file = folder / "ladder.json"

    def states(self) -> tuple[RungState, ...]:
        """Every rung from the top, as far as it is known without a boot."""
        known = self._remembered()
        return tuple(self._state(rung, known) for rung in ORDER)

    def probe(self, rungs: tuple[Probed, ...] = ORDER) -> tuple[RungState, ...]:
        """Boot a machine on each rung that could work, and remember; blocks, for seconds."""
        known = self._remembered()
        for rung in rungs:
            if self._missing(rung) is None:
                known[rung] = self._probed(rung)
                self._remember(known)
        return self.states()

    def chosen(self, choice: Choice) -> RungState | None:
        """The rung to use, probing what is not known; None when there is none."""
        match choice:
            case "off":
                return None
            case "auto":
                wanted = _AUTOMATIC
            case "smol" | "qemu" | "bubblewrap":
                wanted = (choice,)
            case _:
                assert_never(choice)
        for rung in wanted:
            state = self._state(rung, self._remembered())
            if state.works is None:
                self.probe((rung,))
                state = self._state(rung, self._remembered())
            if state.works:
                return state
        return None

    def possible(self, choice: Choice) -> Probed | None:
        """The rung that `chosen` would try first, or is known to give; nothing is booted."""
        if choice == "off":
            return None
        wanted = _AUTOMATIC if choice == "auto" else (choice,)
        for rung in wanted:
            if self._state(rung, self._remembered()).works is not False:
                return rung
        return None

    def machine(self, rung: Rung, folder: Path, detail: str = "") -> Machine:
        """A machine of that rung below `folder`, not started. WorkspaceMissingError without one."""
        match rung:
            case "smol":
                from sandbox.workspace.smol import SmolMachine

                return SmolMachine(folder, self._image)
            case "qemu":
                accelerator = detail if detail in ("kvm", "hvf", "whpx") else "tcg"
                shape = QemuShape(
                    accelerator=accelerator,
                    cpus=self._shape.cpus,
                    memory_mb=self._shape.memory_mb,
                )
                return QemuMachine(folder, open_image(self._image), shape)
            case "bubblewrap":
                return BubblewrapMachine(folder)
            case "ssh" | "none":
                raise WorkspaceMissingError("There is no workspace of this kind on this machine.")
            case _:
                assert_never(rung)

    def identity(self) -> str:
        """What a probe's result holds for: this machine, its kernel, and the versions in use."""
        parts = [platform.node(), platform.machine(), platform.release(), sys.platform]
        parts += [_smol_version() or "", _version_of(qemu_program()), _version_of(_bwrap())]
        parts += [str(os.access("/dev/kvm", os.R_OK | os.W_OK)), str(_user())]
        with contextlib.suppress(WorkspaceMissingError):
            parts.append(open_image(self._image).identity)
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    # How it is done

    def _state(self, rung: Probed, known: dict[Probed, RungState]) -> RungState:
        missing = self._missing(rung)
        if missing is not None:
            return missing
        return known.get(rung) or RungState(
            rung=rung, works=None, reason="not tried yet", fix="Try it with: drydock doctor --probe"
        )

    def _missing(self, rung: Probed) -> RungState | None:
        """What keeps a rung from being tried; None when nothing does."""
        match rung:
            case "smol":
                found = _missing_for_smol()
            case "qemu":
                found = self._missing_for_qemu()
            case "bubblewrap":
                found = _missing_for_bubblewrap()
            case _:
                assert_never(rung)
        if found is None:
            return None
        return RungState(rung=rung, works=False, reason=found[0], fix=found[1])

    def _missing_for_qemu(self) -> tuple[str, str] | None:
        if qemu_program() is None:
            return "QEMU is not installed", install_hint()
        try:
            open_image(self._image)
        except WorkspaceMissingError as error:
            return error.message.rstrip("."), error.hint
        return None

    def _probed(self, rung: Probed) -> RungState:
        details: tuple[Accelerator | Literal[""], ...] = accelerators() if rung == "qemu" else ("",)
        reason, fix = "", ""
        for detail in details:
            began = time.monotonic()
            try:
                with tempfile.TemporaryDirectory(prefix="probe-", dir=self._made()) as scratch:
                    _boot(self.machine(rung, Path(scratch) / f"probe-{os.getpid()}", detail))
            except SandboxError as error:
                reason, fix = error.message, error.hint
                continue
            return RungState(
                rung=rung,
                works=True,
                reason=_words(rung, detail),
                fix=_improvement(rung, detail),
                detail=detail,
                boot_s=round(time.monotonic() - began, 2),
            )
        return RungState(rung=rung, works=False, reason=reason.rstrip("."), fix=fix)

    def _made(self) -> Path:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self._folder

    def _remembered(self) -> dict[Probed, RungState]:
        try:
            data = json.loads(self._file.read_text(encoding="utf-8"))
            if data["form"] != _FORM or data["identity"] != self.identity():
                return {}
            return {item["rung"]: RungState(**item) for item in data["rungs"]}
        except (OSError, ValueError, KeyError, TypeError):
            return {}

    def _remember(self, known: dict[Probed, RungState]) -> None:
        rows = [
            {name: getattr(state, name) for name in RungState.__dataclass_fields__}
            for state in known.values()
        ]
        data = {"form": _FORM, "identity": self.identity(), "rungs": rows}
        partial = self._made() / "ladder.json.partial"
        partial.write_text(json.dumps(data, indent=1), encoding="utf-8")
        partial.replace(self._file)


def _boot(machine: Machine) -> None:
    """Start it, run a command, and take it away. SandboxError when any of that fails."""
    try:
        channel = machine.channel()
        job = channel.start(["/bin/sh", "-c", "echo ready"], cwd=ROOT, env=ENVIRONMENT)
        try:
            code = job.ended.result(_PROBE_S)
        except TimeoutError:
            code = -1
        if code != 0 or job.stdout.text() != "ready\n":
            raise WorkspaceMissingError("A machine started, but commands do not run in it.")
    finally:
        machine.destroy()


def _missing_for_smol() -> tuple[str, str] | None:
    if sys.platform == "win32" or (sys.platform == "darwin" and platform.machine() != "arm64"):
        return "smolmachines does not run on this kind of machine", ""
    if _smol_version() is None:
        return "smolmachines is not installed", "Install it with: uv sync --extra smol"
    if sys.platform == "linux" and not os.access("/dev/kvm", os.R_OK | os.W_OK):
        fix = "Turn virtualization on in the firmware, and add yourself to the group kvm."
        return "/dev/kvm cannot be opened", fix
    if _user() == 0:
        return "smolmachines does not work for root here", "Run Drydock as an ordinary user."
    return None


def _missing_for_bubblewrap() -> tuple[str, str] | None:
    if sys.platform != "linux":
        return "bubblewrap is for Linux only", ""
    if _bwrap() is None:
        return "bubblewrap is not installed", "Install the package bubblewrap."
    if bound_in_force().kind == "none":
        fix = "Run Drydock as an ordinary user, or where control groups can be written."
        return "nothing bounds how many processes root's commands may start", fix
    return None


def _words(rung: Probed, detail: str) -> str:
    match rung:
        case "smol":
            return "a microVM by smolmachines"
        case "qemu" if detail == "tcg":
            return "a microVM by QEMU, emulated in software"
        case "qemu":
            return f"a microVM by QEMU with {detail}"
        case "bubblewrap":
            bound = bound_in_force().text
            return f"namespaces by bubblewrap: weaker, the kernel is shared; {bound}"
        case _:
            assert_never(rung)


def _improvement(rung: Probed, detail: str) -> str:
    if rung == "qemu" and detail == "tcg" and sys.platform == "linux":
        return "Faster with /dev/kvm: turn virtualization on, and join the group kvm."
    if rung == "bubblewrap":
        return 'Used only when chosen: set "workspace" to "bubblewrap" in the settings.'
    return ""


def _bwrap() -> str | None:
    return shutil.which("bwrap")


def _user() -> int:
    get: Callable[[], int] | None = getattr(os, "geteuid", None)
    return 1 if get is None else get()


def _smol_version() -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("smolmachines")
    except PackageNotFoundError:
        return None


def _version_of(program: str | None) -> str:
    if program is None:
        return ""
    found = Path(program).stat()
    return f"{program} {found.st_size} {found.st_mtime_ns}"
