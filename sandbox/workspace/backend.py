"""pydantic-ai's workspace protocol over our machines.

Owns the translation of arguments, results and errors. It does no I/O when built. Thread: the event
loop's; blocking parts run on worker threads.
"""

from __future__ import annotations

import asyncio
import errno
import math
import os
import posixpath
import stat
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from pydantic_ai.workspaces import (
    CommandResult,
    FileEntry,
    SupportsCommands,
    SupportsFilesystem,
    WorkspaceBackend,
    WorkspaceCommand,
    WorkspaceOutputLimitError,
    WorkspaceRef,
    WorkspaceTimeoutError,
    WorkspaceUnavailableError,
)

from sandbox.workspace.channel import Channel, Job, JobLimits
from sandbox.workspace.errors import WorkspaceLostError, WorkspaceMissingError
from sandbox.workspace.frames import Batch, Record
from sandbox.workspace.machine import PATH, ROOT, Machine

T = TypeVar("T")
_OUTPUT_BYTES = 10 * 1024 * 1024
ENVIRONMENT = {"PATH": PATH, "HOME": "/root", "LANG": "C.UTF-8", "TERM": "dumb"}


class MachineBackend(WorkspaceBackend, SupportsCommands, SupportsFilesystem):
    """One machine as a workspace backend.

    `make`: the machine of a name, not started; `name`: for a new one; `ref`: attach to this one.
    """

    def __init__(
        self, make: Callable[[str], Machine], name: str, ref: WorkspaceRef | None = None
    ) -> None:
        self._machine = make(name if ref is None else ref.id)
        self._ref = ref
        self._attached = ref is not None

    @property
    def ref(self) -> WorkspaceRef | None:
        return self._ref

    @property
    def machine(self) -> Machine:
        """What is behind it."""
        return self._machine

    async def working_dir(self) -> str:
        await self._channel()
        return ROOT

    async def run(
        self,
        command: WorkspaceCommand,
        *,
        shell: bool = False,
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the protocol's
    ) -> CommandResult:
        argv = _argv(command, shell=shell)
        if timeout is not None and not (math.isfinite(timeout) and timeout > 0):
            raise ValueError("timeout must be a positive finite number or None")
        channel = await self._channel()
        limits = JobLimits(output_bytes=_OUTPUT_BYTES)
        job = await self._asked(
            lambda: channel.start(argv, cwd=ROOT, env={**ENVIRONMENT, **(env or {})}, limits=limits)
        )
        try:
            code = await asyncio.wait_for(_ended(job), timeout)
        except TimeoutError:
            await asyncio.shield(self._asked(lambda: channel.kill(job)))
            raise WorkspaceTimeoutError(
                f"the command took longer than {timeout:g} s",
                stdout=_text(job.stdout.data()),
                stderr=_text(job.stderr.data()),
            ) from None
        except asyncio.CancelledError:
            await asyncio.shield(self._asked(lambda: channel.kill(job)))
            raise
        except WorkspaceLostError as error:
            raise WorkspaceUnavailableError(error.message) from error
        if not self._machine.exists:
            raise WorkspaceUnavailableError("the workspace was destroyed")
        return _result(job, code)

    async def read_bytes(self, path: str) -> bytes:
        channel = await self._channel()
        found = bytearray()
        await self._asked(lambda: channel.get(path, found.extend))
        return bytes(found)

    async def write_bytes(self, path: str, data: bytes) -> None:
        channel = await self._channel()
        batch = Batch()
        for start in range(0, max(1, len(data)), Batch.PIECE_BYTES):
            batch.write(path, start, data[start : start + Batch.PIECE_BYTES])
        await self._asked(lambda: channel.apply(batch))

    async def stat(self, path: str) -> FileEntry:
        channel = await self._channel()
        found = await self._asked(lambda: channel.stat(path))
        return _entry(posixpath.basename(path), path, found)

    async def list_dir(self, path: str) -> Sequence[FileEntry]:
        channel = await self._channel()
        found = await self._asked(lambda: channel.list(path))
        return [_entry(item.path, posixpath.join(path, item.path), item) for item in found]

    async def make_dir(self, path: str) -> None:
        channel = await self._channel()
        batch = Batch()
        batch.make_folder(path, 0o777)
        await self._asked(lambda: channel.apply(batch))

    async def remove(self, path: str) -> None:
        channel = await self._channel()
        plain = posixpath.normpath(path)
        if plain == ROOT or ROOT.startswith(plain.rstrip("/") + "/"):
            raise ValueError(f"{path} is the working directory, or holds it")

        def work() -> None:
            parent, name = posixpath.split(plain)
            if all(item.path != name for item in channel.list(parent)):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
            batch = Batch()
            batch.remove(plain)
            channel.apply(batch)

        await self._asked(work)

    async def exists(self, path: str) -> bool:
        try:
            await self.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            return error.errno != errno.ELOOP
        return True

    async def _channel(self) -> Channel:
        if self._attached and not self._machine.exists:
            raise WorkspaceUnavailableError(f"the workspace {self._machine.id} is gone")
        channel = await self._asked(self._machine.channel)
        if self._ref is None:
            self._ref = WorkspaceRef(provider=f"drydock-{self._machine.rung}", id=self._machine.id)
        self._attached = True
        return channel

    async def _asked(self, work: Callable[[], T]) -> T:
        try:
            return await asyncio.to_thread(work)
        except (WorkspaceLostError, WorkspaceMissingError) as error:
            raise WorkspaceUnavailableError(error.message) from error


async def _ended(job: Job) -> int:
    """The job's exit code; cancelling the wait leaves the job as it is."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    job.ended.add_done_callback(lambda _: loop.call_soon_threadsafe(ended.set))
    await ended.wait()
    return job.ended.result()


def _argv(command: WorkspaceCommand, *, shell: bool) -> list[str]:
    if isinstance(command, str):
        if not shell:
            raise TypeError("a string needs shell=True; give a list of words otherwise")
        return ["/bin/sh", "-c", command]
    if shell:
        raise TypeError("a list of words cannot be a shell string")
    if not command:
        raise ValueError("an empty command")
    return list(command)


def _result(job: Job, code: int) -> CommandResult:
    stdout, stderr = _text(job.stdout.data()), _text(job.stderr.data())
    if not (job.stdout.is_whole and job.stderr.is_whole):
        raise WorkspaceOutputLimitError(
            f"the command wrote more than {_OUTPUT_BYTES:,} bytes",
            limit=_OUTPUT_BYTES,
            stdout=stdout,
            stderr=stderr,
        )
    job.stdout.close()
    job.stderr.close()
    return CommandResult(exit_code=code, stdout=stdout, stderr=stderr)


def _entry(name: str, path: str, found: Record) -> FileEntry:
    is_file = stat.S_ISREG(found.mode)
    return FileEntry(
        name=name,
        path=path,
        is_dir=stat.S_ISDIR(found.mode),
        size=found.size_bytes if is_file else None,
    )


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
