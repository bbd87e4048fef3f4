"""What bounds the processes and the memory of a workspace that shares this machine's kernel.

Owns the choice, the best that can be had first: control groups of our own (version 2 or 1), handed
to the agent as open folders, a group for each command; a scope of the user's systemd; the limits of
the user alone. A user's limits do not hold for root: then there is no workspace. Thread: any.
Source: cgroup-v1/pids.rst, cgroup-v1/memory.rst and cgroup-v2.rst of Linux; setrlimit(2).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import signal
import time
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import psutil

from sandbox.workspace.errors import WorkspaceMissingError

Kind = Literal["cgroup2", "cgroup1", "scope", "user", "none"]
MOST_PROCESSES = 2048
"""Of all commands of one workspace together."""
_MEMORY_SHARE = 2
_GROUPS = Path("/sys/fs/cgroup")
_EMPTY_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """What is in force. `folders`: of the groups, pids first; `words`: in front of the command."""

    kind: Kind
    folders: tuple[Path, ...] = ()
    words: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """For the person."""
        match self.kind:
            case "cgroup2" | "cgroup1":
                what = "processes and memory" if self._has_memory else "processes"
                return f"{what} bounded by control groups"
            case "scope":
                return "processes and memory bounded by a systemd scope"
            case "user":
                return "processes bounded by the user's limit, memory for each process alone"
            case "none":
                return "nothing bounds its processes"

    @property
    def _has_memory(self) -> bool:
        return self.kind == "cgroup2" or len(self.folders) > 1

    @contextlib.contextmanager
    def opened(self) -> Generator[tuple[list[int], list[str]]]:
        """Descriptors to hand to the agent, and its arguments that name them."""
        ends = [os.open(folder, os.O_RDONLY | os.O_DIRECTORY) for folder in self.folders]
        try:
            match self.kind:
                case "cgroup2":
                    names = [str(ends[0])] * 2
                case "cgroup1":
                    names = [str(ends[0]), str(ends[1]) if self._has_memory else "-1"]
                case _:
                    names = []
            yield ends, names
        finally:
            for end in ends:
                os.close(end)

    def end(self) -> None:
        """Take the groups away, with what is left in them."""
        for folder in self.folders:
            _remove(folder)


def bound_of(folder: Path) -> Bound:
    """The bound for the workspace below `folder`, made. WorkspaceMissingError without one."""
    name = f"drydock-{hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]}"
    bound = _unified(name) or _divided(name) or _scope() or _user()
    if bound is None:
        raise WorkspaceMissingError(
            "Nothing bounds how many processes a command of root's may start here.",
            hint="Run Drydock as an ordinary user, or where control groups can be written.",
        )
    return bound


def bound_in_force() -> Bound:
    """The kind that a workspace would get here, tried and taken away again."""
    try:
        bound = bound_of(Path("/trial", str(os.getpid())))
    except WorkspaceMissingError:
        return Bound(kind="none")
    bound.end()
    return bound


def memory_bytes() -> int:
    """What all commands of one workspace may use together."""
    return psutil.virtual_memory().total // _MEMORY_SHARE


def _own_group(controller: str) -> Path | None:
    """This process's group of a version 1 controller, or with '' of version 2, as a path."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text("utf-8").splitlines():
            _, names, path = line.split(":", 2)
            if controller in names.split(","):
                return Path(path.lstrip("/"))
    return None


def _unified(name: str) -> Bound | None:
    """A group of version 2, below the nearest of ours that can have one."""
    own = _own_group("")
    if own is None or not (_GROUPS / "cgroup.controllers").exists():
        return None
    for parent in (own, *own.parents):
        place = _GROUPS / parent
        if not os.access(place / "cgroup.procs", os.W_OK):
            return None
        folder = place / name
        try:
            _remake(folder)
            (folder / "pids.max").write_text(str(MOST_PROCESSES))
            (folder / "memory.max").write_text(str(memory_bytes()))
            (folder / "cgroup.subtree_control").write_text("+pids +memory")
        except OSError:  # the controllers are not handed down to here
            _remove(folder)
            continue
        return Bound(kind="cgroup2", folders=(folder,))
    return None


def _divided(name: str) -> Bound | None:
    """Groups of version 1: one for pids, and one for memory where that can be had."""
    pids = _divided_group(name, "pids", "pids.max", MOST_PROCESSES)
    if pids is None:
        return None
    memory = _divided_group(name, "memory", "memory.limit_in_bytes", memory_bytes())
    return Bound(kind="cgroup1", folders=(pids,) if memory is None else (pids, memory))


def _divided_group(name: str, controller: str, file: str, most: int) -> Path | None:
    own = _own_group(controller)
    if own is None:
        return None
    for parent in dict.fromkeys((own, Path())):  # a container may see its own group as the root
        folder = _GROUPS / controller / parent / name
        try:
            _remake(folder)
            (folder / file).write_text(str(most))
        except OSError:
            _remove(folder)
            continue
        return folder
    return None


def _scope() -> Bound | None:
    """A scope of the user's systemd, where it runs."""
    program = shutil.which("systemd-run")
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if program is None or not runtime or not Path(runtime, "systemd", "private").exists():
        return None
    words = [program, "--user", "--scope", "--quiet", "--collect"]
    words += ["-p", f"TasksMax={MOST_PROCESSES}"]
    words += ["-p", f"MemoryMax={memory_bytes()}", "-p", "MemorySwapMax=0", "--"]
    return Bound(kind="scope", words=tuple(words))


def _user() -> Bound | None:
    """The limits of an ordinary user; the kernel does not keep them for root."""
    return None if os.geteuid() == 0 else Bound(kind="user")


def _remake(folder: Path) -> None:
    _remove(folder)
    folder.mkdir()


def _remove(folder: Path) -> None:
    """End what is in a group and take it away; one that stays in use is used again."""
    until = time.monotonic() + _EMPTY_S
    while folder.is_dir():
        for group in (*folder.glob("job-*"), folder):
            with contextlib.suppress(OSError):
                for line in (group / "cgroup.procs").read_text("ascii").split():
                    os.kill(int(line), signal.SIGKILL)
            with contextlib.suppress(OSError):
                group.rmdir()
        if not folder.is_dir() or time.monotonic() > until:
            return
        time.sleep(0.01)
