"""A workspace in a smolmachines microVM: Linux with KVM, and Apple silicon.

Owns the machine's life and the way to our agent in it: what we say goes in by the standard input
of small commands, what it says comes out as lines of base64 of one that stays. No network card:
never `network=True`, which reaches the host. Thread: as `machine.py` says.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sandbox.workspace.channel import Channel
from sandbox.workspace.errors import WorkspaceLostError, WorkspaceMissingError
from sandbox.workspace.frames import FrameError
from sandbox.workspace.image import open_image
from sandbox.workspace.machine import OneStart, Rung

_START_S = 60.0
_READY_S = 120.0
_LINE_BYTES = 3 * 1024 * 1024
_AGENT, _PIPE = "/root/.drydock/agent", "/root/.drydock/in"
_SERVE = f"rm -f {_PIPE}; mkfifo -m 600 {_PIPE}; mkdir -p /workspace; exec {_AGENT} text {_PIPE}"
_SAY = ["/bin/sh", "-c", f"base64 -d > {_PIPE}"]


class SmolMachine:
    """One workspace; smolmachines keeps its disk, `folder` what we know of it."""

    rung: Rung = "smol"

    def __init__(self, folder: Path, image: Path, *, cpus: int = 2, memory_mb: int = 1024) -> None:
        """`image`: the folder with our agent, built by `packaging/workspace_image.py`."""
        self.folder = folder
        self.id = folder.name
        self._image = image
        self._cpus, self._memory_mb = cpus, memory_mb
        self._name = f"drydock-{folder.name}"[:60]
        self._machine: Any = None
        self._one = OneStart(self._start)

    @property
    def exists(self) -> bool:
        return (self.folder / "made").is_file()

    def channel(self) -> Channel:
        return self._one.channel()

    def stop(self) -> None:
        current = self._one.current
        if current is not None:
            with contextlib.suppress(WorkspaceLostError):
                current.ping(b"s")
        self._one.close()
        if self._machine is not None:
            with contextlib.suppress(Exception):  # it may be gone already
                self._machine.stop()
            self._machine = None

    def destroy(self) -> None:
        self._one.close()
        self._machine = None
        if self.exists:
            smol = _library()
            with contextlib.suppress(smol.SmolError):
                smol.Machine.delete_by_name(self._name, smol.ConnectOptions(target="local"))
        shutil.rmtree(self.folder, ignore_errors=True)

    def _start(self) -> Channel:
        smol = _library()
        agent = open_image(self._image).agent.read_bytes()
        try:
            machine = self._machine = self._opened(smol)
            machine.exec(["/bin/mkdir", "-p", str(Path(_AGENT).parent)])
            machine.write_file(_AGENT, agent, 0o755)
            stream = machine.exec_stream(["/bin/sh", "-c", _SERVE])
        except smol.SmolError as error:
            raise WorkspaceMissingError(
                f"The microVM does not start: {error}", hint="See: drydock doctor"
            ) from error
        channel = Channel(_SmolTransport(smol, machine, stream))
        try:
            channel.greeting(_START_S)
        except WorkspaceLostError as error:
            raise WorkspaceMissingError(
                f"The microVM does not answer: {error.message}", hint="See: drydock doctor"
            ) from error
        return channel

    def _opened(self, smol: Any) -> Any:
        """The machine: a new one, or the one that was made before, started."""
        target = smol.ConnectOptions(target="local")
        if self.exists:
            with contextlib.suppress(smol.SmolError):
                return smol.Machine.connect(self._name, target)
        config = smol.MachineConfig(
            name=self._name,
            persistent=True,
            resources=smol.ResourceSpec(cpus=self._cpus, memory_mb=self._memory_mb),
            ready_timeout_seconds=_READY_S,
        )
        machine = smol.Machine.create(config, target)
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self.folder / "made").touch()
        return machine


class _SmolTransport:
    """Bytes over commands of a machine."""

    def __init__(self, smol: Any, machine: Any, stream: Any) -> None:
        self._smol = smol
        self._machine = machine
        self._stream = stream
        self._lines = self._decoded()

    def read(self) -> bytes:
        try:
            return next(self._lines, b"")
        except self._smol.SmolError as error:
            raise OSError(str(error)) from error

    def write(self, data: bytes) -> None:
        options = self._smol.ExecOptions(stdin=base64.b64encode(data).decode("ascii"), timeout=60)
        try:
            done = self._machine.exec(_SAY, options)
        except self._smol.SmolError as error:
            raise OSError(str(error)) from error
        if done.exit_code != 0:
            raise OSError(f"the agent cannot be reached: {done.stderr[:200]}")

    def close(self) -> None:
        with contextlib.suppress(self._smol.SmolError):
            self._stream.close()

    def _decoded(self) -> Iterator[bytes]:
        held = ""
        for event in self._stream:
            if event.get("kind") in ("exit", "error"):
                return
            if event.get("kind") != "stdout":
                continue
            held += event["data"]
            *lines, held = held.split("\n")
            if len(held) > _LINE_BYTES:
                raise FrameError("a line without an end")
            for line in lines:
                try:
                    yield base64.b64decode(line, validate=True)
                except (binascii.Error, ValueError):
                    raise FrameError("a line that is not base64") from None


def _library() -> Any:
    try:
        import smol  # pyright: ignore[reportMissingImports]  # an extra
    except ImportError as error:
        raise WorkspaceMissingError(
            "smolmachines is not installed.", hint="Install it with: uv sync --extra smol"
        ) from error
    return smol  # pyright: ignore[reportUnknownVariableType]
