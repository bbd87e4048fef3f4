"""What every kind of workspace is to the rest: a place that is started, spoken with and ended.

Owns the protocol and what is common to those that are a process of this machine. Thread: any, one
at a time for start and stop.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Literal, Protocol

from sandbox.workspace.channel import Channel

Rung = Literal["smol", "qemu", "bubblewrap", "ssh", "none"]
ROOT = "/workspace"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Machine(Protocol):
    """One workspace: its files stay while it is stopped and are gone once it is destroyed."""

    @property
    def rung(self) -> Rung:
        """Which kind it is."""
        ...

    @property
    def id(self) -> str:
        """Its name, unique among those of its kind."""
        ...

    @property
    def exists(self) -> bool:
        """Whether it was made and not destroyed."""
        ...

    def channel(self) -> Channel:
        """A live connection, starting the machine where needed; blocks until it is ready.

        Raises `WorkspaceMissingError` when it cannot be had and `WorkspaceLostError` when it ends.
        """
        ...

    def stop(self) -> None:
        """End all that runs; files stay."""
        ...

    def destroy(self) -> None:
        """End it and forget its files."""
        ...


class PipeTransport:
    """Bytes to and from a process by its pipes."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._stdin, self._stdout = process.stdin, process.stdout
        self._process = process

    def read(self) -> bytes:
        return os.read(self._stdout.fileno(), 1024 * 1024)

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._stdin.fileno(), view) :]

    def close(self) -> None:
        end_process(self._process)


class SocketTransport:
    """Bytes over a socket; ends the process behind it with the connection."""

    def __init__(self, connection: socket.socket, process: subprocess.Popen[bytes]) -> None:
        self._socket = connection
        self._process = process

    def read(self) -> bytes:
        return self._socket.recv(1024 * 1024)

    def write(self, data: bytes) -> None:
        self._socket.sendall(data)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        end_process(self._process)
        self._socket.close()


class OneStart:
    """Starts a machine once, however many ask; starts it again when it was lost."""

    def __init__(self, start: Callable[[], Channel]) -> None:
        self._start = start
        self._lock = threading.Lock()
        self._channel: Channel | None = None

    def channel(self) -> Channel:
        """The live connection."""
        with self._lock:
            if self._channel is None or self._channel.lost is not None:
                self._channel = self._start()
            return self._channel

    @property
    def current(self) -> Channel | None:
        """The connection, if there is a live one."""
        found = self._channel
        return found if found is not None and found.lost is None else None

    def close(self) -> None:
        """End the connection, and with it the machine."""
        with self._lock:
            if self._channel is not None:
                self._channel.close()
                self._channel = None


def spawn(
    words: Sequence[str], *, stdin: int, stdout: int, stderr: int, pass_fds: Sequence[int] = ()
) -> subprocess.Popen[bytes]:
    """Start a process from a thread that stays for as long as it lives.

    What is told to end with its parent ends with the thread that started it (prctl(2)), and the
    threads of a pool come and go.
    """
    started: Future[subprocess.Popen[bytes]] = Future()

    def stay() -> None:
        try:
            process = subprocess.Popen(  # noqa: S603 - our own command lines
                words,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                pass_fds=pass_fds,
                start_new_session=True,
            )
        except BaseException as error:
            started.set_exception(error)
            return
        started.set_result(process)
        process.wait()

    threading.Thread(target=stay, name="workspace-process", daemon=True).start()
    return started.result()


def end_process(process: subprocess.Popen[bytes]) -> None:
    """End a process now, with its group where it has one of its own."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.name == "posix" and os.getpgid(process.pid) == process.pid:
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(5.0)


def size_on_disk(folder: Path) -> int:
    """Bytes that the files below a folder take on the disk."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(parent, name)).st_blocks * 512  # noqa: PTH118
    return total
