"""Control groups inside a workspace, for the agent there: what each command may use, made real.

Owns the groups of jobs below folders that `bounds.py` made and handed in as open descriptors, one a
controller (the same one under version 2). Like `agent.py`, nothing but the standard library.
Thread: the agent's only one; `join` runs in the new process.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import time

_ROUNDS = 200


class Groups:
    """Groups of jobs. `pids`, `memory`: folders of that controller; -1 is none."""

    def __init__(self, pids: int, memory: int) -> None:
        self._pids = pids
        self._memory = memory
        self._is_unified = pids == memory
        self.folders = sorted({pids, memory} - {-1})

    def make(self, number: int, most_bytes: int, processes: int) -> None:
        """A group for a job, with its bounds; 0 is none. OSError when it cannot be had."""
        for folder in self.folders:
            with contextlib.suppress(FileExistsError):
                os.mkdir(_name(number), dir_fd=folder)
        if processes:
            self._write(self._pids, number, "pids.max", processes)
        if most_bytes and self._memory >= 0:
            name = "memory.max" if self._is_unified else "memory.limit_in_bytes"
            self._write(self._memory, number, name, most_bytes)

    def join(self, number: int) -> None:
        """Put the calling process in. OSError when that fails: then it must not go on."""
        for folder in self.folders:
            self._write(folder, number, "cgroup.procs", 0)

    def end(self, number: int) -> None:
        """End everything in the group: it cannot grow any more, so this comes to an end."""
        with contextlib.suppress(OSError):
            self._write(self._pids, number, "pids.max", 0)
        for _ in range(_ROUNDS):
            inside = self._inside(number)
            if not inside:
                return
            for pid in inside:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.001)

    def forget(self, number: int) -> bool:
        """Take an empty group away; False when something is in it still."""
        for folder in self.folders:
            try:
                os.rmdir(_name(number), dir_fd=folder)
            except FileNotFoundError:
                pass
            except OSError as error:
                if error.errno in (errno.EBUSY, errno.ENOTEMPTY):
                    return False
                raise
        return True

    def _inside(self, number: int) -> list[int]:
        try:
            end = os.open(_name(number) + "/cgroup.procs", os.O_RDONLY, dir_fd=self._pids)
        except OSError:
            return []
        with os.fdopen(end, encoding="ascii") as file:
            return [int(line) for line in file if line.strip() != "0"]

    @staticmethod
    def _write(folder: int, number: int, name: str, value: int) -> None:
        end = os.open(f"{_name(number)}/{name}", os.O_WRONLY | os.O_CLOEXEC, dir_fd=folder)
        try:
            os.write(end, str(value).encode())
        finally:
            os.close(end)


def _name(number: int) -> str:
    return f"job-{number}"
