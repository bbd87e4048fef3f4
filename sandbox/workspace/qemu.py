"""A workspace in a QEMU microVM: a kernel of its own, our image, no network card, no shared disk.

Owns QEMU's command line. The only way in or out is one virtio port, on which our agent speaks.
Hardware acceleration is used where a probe said that it works; software emulation works anywhere.
Thread: as `machine.py` says.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sandbox.workspace.channel import Channel
from sandbox.workspace.errors import WorkspaceLostError, WorkspaceMissingError
from sandbox.workspace.image import Image, copy_sparse, free_bytes, machine_architecture
from sandbox.workspace.machine import OneStart, Rung, SocketTransport, end_process, spawn

Accelerator = Literal["kvm", "hvf", "whpx", "tcg"]
_START_S: dict[Accelerator, float] = {"kvm": 20.0, "hvf": 20.0, "whpx": 30.0, "tcg": 90.0}
_SPARE_BYTES = 1024**3
# What is not there is not looked for, and nothing is waited for: a second less of emulated start.
_KERNEL_WORDS = (
    "quiet loglevel=3 panic=-1 nokaslr mitigations=off tsc=reliable random.trust_cpu=on "
    "no_timer_check rcupdate.rcu_expedited=1 cryptomgr.notests 8250.nr_uarts=0 "
    "i8042.noaux i8042.nokbd i8042.nopnp pci=lastbus=0"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class QemuShape:
    """How large a machine is, and what runs it."""

    accelerator: Accelerator = "tcg"
    cpus: int = 1
    memory_mb: int = 512


class QemuMachine:
    """One workspace below `folder`, whose disk holds its files while it is stopped."""

    rung: Rung = "qemu"

    def __init__(self, folder: Path, image: Image, shape: QemuShape | None = None) -> None:
        self.folder = folder
        self.id = folder.name
        self._image = image
        self._shape = shape or QemuShape()
        self._process: subprocess.Popen[bytes] | None = None
        self._paused = False
        self._one = OneStart(self._start)

    @property
    def exists(self) -> bool:
        return (self.folder / "disk").is_file()

    @property
    def pid(self) -> int | None:
        """Of QEMU, while it runs."""
        return self._process.pid if self._process is not None else None

    def channel(self) -> Channel:
        self.resume()
        return self._one.channel()

    def pause(self) -> None:
        """Take the processor away from it; everything stays where it is."""
        if self._process is not None and os.name == "posix" and self._process.poll() is None:
            self._process.send_signal(signal.SIGSTOP)
            self._paused = True

    def resume(self) -> None:
        """Go on after a pause, with the clock put right."""
        if not self._paused or self._process is None:
            return
        self._paused = False
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGCONT)
        current = self._one.current
        if current is not None:
            set_clock(current)

    def stop(self) -> None:
        self.resume()
        current = self._one.current
        if current is not None:
            with contextlib.suppress(WorkspaceLostError):
                current.ping(b"s", timeout_s=3.0)
        self._one.close()

    def destroy(self) -> None:
        self.resume()
        self._one.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _start(self) -> Channel:
        program = qemu_program()
        if program is None:
            raise WorkspaceMissingError("QEMU is not installed.", hint=install_hint())
        self._make_disk()
        ours, theirs = socket.socketpair()
        with theirs:
            words = command_line(
                program, self._image, self.folder / "disk", self._shape, theirs.fileno()
            )
            process = spawn(
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=[theirs.fileno()],
            )
        self._process = process
        channel = Channel(SocketTransport(ours, process), why_lost=lambda: _why(process))
        try:
            channel.greeting(_START_S[self._shape.accelerator])
        except WorkspaceLostError as error:
            raise WorkspaceMissingError(
                f"The microVM does not start: {error.message}", hint="See: drydock doctor"
            ) from error
        set_clock(channel)
        return channel

    def _make_disk(self) -> None:
        if self.exists:
            return
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if free_bytes(self.folder) < _SPARE_BYTES:
            raise WorkspaceMissingError(
                "The disk is too full for a workspace.", hint="Free a gigabyte, then try again."
            )
        try:
            copy_sparse(self._image.disk, self.folder / "disk")
        except OSError as error:
            raise WorkspaceMissingError(
                f"The workspace's disk cannot be made: {error.strerror}.",
                hint="Free some space, then try again.",
            ) from error


def command_line(
    program: str, image: Image, disk: Path, shape: QemuShape, connection: int
) -> list[str]:
    """How QEMU is called; `connection`: the socket's number that leads to us."""
    is_arm = machine_architecture() == "arm64"
    is_soft = shape.accelerator == "tcg"
    accelerator = "tcg,thread=multi,tb-size=256" if is_soft else shape.accelerator
    cpu = "max" if is_soft else "host"
    words = [program, "-M", "virt" if is_arm else "q35", "-accel", accelerator, "-cpu", cpu]
    words += ["-smp", str(shape.cpus), "-m", str(shape.memory_mb)]
    words += ["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-nic", "none"]
    if sys.platform == "linux":
        words += ["-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny"]
    words += ["-kernel", str(image.kernel), "-initrd", str(image.initrd), "-append", _KERNEL_WORDS]
    name = str(disk).replace(",", ",,")
    words += ["-drive", f"file={name},format=raw,if=none,id=disk,cache=unsafe,discard=unmap"]
    words += ["-device", "virtio-blk-pci,drive=disk", "-device", "virtio-serial-pci"]
    words += ["-chardev", f"socket,id=agent,fd={connection}"]
    return [*words, "-device", "virtserialport,chardev=agent,name=agent"]


def qemu_program() -> str | None:
    """QEMU for this machine's architecture."""
    name = {"amd64": "x86_64", "arm64": "aarch64"}.get(machine_architecture())
    return None if name is None else shutil.which(f"qemu-system-{name}")


def install_hint() -> str:
    """How QEMU is got here."""
    match sys.platform:
        case "darwin":
            return "Install it with: brew install qemu"
        case "win32":
            return "Install it with: winget install SoftwareFreedomConservancy.QEMU"
        case _:
            return "Install the package qemu-system-x86 (or qemu-system-arm)."


def accelerators() -> tuple[Accelerator, ...]:
    """What is worth a probe here, the fastest first; software emulation always works."""
    match sys.platform:
        case "linux" if os.access("/dev/kvm", os.R_OK | os.W_OK):
            return ("kvm", "tcg")
        case "darwin":
            return ("hvf", "tcg")
        case "win32":
            return ("whpx", "tcg")
        case _:
            return ("tcg",)


def set_clock(channel: Channel) -> None:
    """Tell the machine the time: one that was paused is behind."""
    channel.ping(b"t" + time.time_ns().to_bytes(8, "little"), timeout_s=10.0)


def _why(process: subprocess.Popen[bytes]) -> str:
    """Why a machine is gone, by how its process ended."""
    try:
        code = process.wait(1.0)
    except subprocess.TimeoutExpired:
        end_process(process)
        return "The workspace closed its connection."
    said = ""
    if process.stderr is not None and not process.stderr.closed:
        said = process.stderr.read(2_000).decode("utf-8", "replace").strip()
        process.stderr.close()
    if code < 0:
        return f"The workspace's machine was ended from outside (signal {-code})."
    if code > 0:
        last = (said.splitlines() or ["no reason given"])[-1]
        return f"QEMU ended with an error: {last}"
    return "The workspace's system stopped by itself: its kernel failed, or it was shut down."
