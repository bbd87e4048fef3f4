"""A workspace in bubblewrap: the programs of this machine, in namespaces of their own.

Owns the command line of `bwrap`. It stops accidents, not an attacker: the kernel is shared. What
commands see is read-only but for a home and `/workspace` of their own. Linux only. Thread: as
`machine.py` says.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from sandbox.workspace.agent_bundle import agent_bundle
from sandbox.workspace.bounds import Bound, bound_of
from sandbox.workspace.channel import Channel
from sandbox.workspace.errors import WorkspaceLostError, WorkspaceMissingError
from sandbox.workspace.machine import PATH, ROOT, OneStart, PipeTransport, Rung, end_process, spawn

_START_S = 20.0
_SYSTEM_LINKS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_SHOWN = (
    "alternatives",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "mime.types",
    "nsswitch.conf",
    "ssl",
    "ca-certificates",
    "pki",
)
"""What of /etc programs need and may see."""
_USERS = "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n"


class BubblewrapMachine:
    """One workspace below `folder`, which holds its files while it is stopped."""

    rung: Rung = "bubblewrap"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.id = folder.name
        self._bound: Bound | None = None
        self._one = OneStart(self._start)

    @property
    def exists(self) -> bool:
        return (self.folder / "workspace").is_dir()

    def channel(self) -> Channel:
        return self._one.channel()

    def stop(self) -> None:
        self._one.close()
        if self._bound is not None:
            self._bound.end()
            self._bound = None

    def destroy(self) -> None:
        self.stop()
        _make_writable(self.folder)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _start(self) -> Channel:
        program = shutil.which("bwrap")
        if program is None or sys.platform != "linux":
            raise WorkspaceMissingError(
                "bubblewrap is not installed.", hint="Install the package bubblewrap."
            )
        for name in ("workspace", "home", "tmp"):
            (self.folder / name).mkdir(mode=0o700, parents=True, exist_ok=True)
        (self.folder / "agent").write_bytes(agent_bundle())
        (self.folder / "passwd").write_text(_USERS, encoding="utf-8")
        bound = self._bound = bound_of(self.folder)
        with bound.opened() as (ends, names):
            process = spawn(
                [*bound.words, *command_line(program, self.folder), *names],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=ends,
            )
        channel = Channel(PipeTransport(process), why_lost=lambda: _why(process))
        try:
            channel.greeting(_START_S)
        except WorkspaceLostError as error:
            raise WorkspaceMissingError(
                f"bubblewrap cannot start here: {error.message}",
                hint="Allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone "
                "or an AppArmor profile for bwrap).",
            ) from error
        return channel


def command_line(program: str, folder: Path) -> list[str]:
    """How `bwrap` is called for a workspace below `folder`."""
    python, python_home = _python()
    words = [program, "--unshare-all", "--die-with-parent", "--new-session", "--as-pid-1"]
    words += ["--unshare-user"]
    words += ["--hostname", "workspace", "--clearenv", "--cap-drop", "ALL"]
    for right in ("CAP_DAC_OVERRIDE", "CAP_FOWNER"):  # over the workspace's own files
        words += ["--cap-add", right]
    words += ["--ro-bind", "/usr", "/usr"]
    for name in _SYSTEM_LINKS:
        path = Path("/", name)
        if path.is_symlink():
            words += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            words += ["--ro-bind", str(path), str(path)]
    for name in _SHOWN:
        words += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    if python_home is not None:
        words += ["--ro-bind", python_home, python_home]
    words += ["--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--tmpfs", "/run"]
    words += ["--bind", str(folder / "tmp"), "/tmp"]  # noqa: S108 - the workspace's own
    words += ["--bind", str(folder / "home"), "/root"]
    words += ["--bind", str(folder / "workspace"), ROOT]
    words += ["--ro-bind", str(folder / "passwd"), "/etc/passwd"]
    words += ["--ro-bind", str(folder / "agent"), "/run/agent", "--chdir", ROOT]
    words += ["--setenv", "PATH", PATH, "--setenv", "HOME", "/root"]
    return [*words, python, "-I", "-S", "/run/agent"]


def _python() -> tuple[str, str | None]:
    """A Python for the agent, and the folder that it needs beside /usr."""
    if Path("/usr/bin/python3").exists():
        return "/usr/bin/python3", None
    home = Path(sys.base_prefix)
    return str(home / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}"), str(home)


def _why(process: subprocess.Popen[bytes]) -> str:
    end_process(process)
    said = b""
    if process.stderr is not None and not process.stderr.closed:
        said = process.stderr.read(2_000)
        process.stderr.close()
    last = said.decode("utf-8", "replace").strip().splitlines()[-1:] or ["it ended by itself"]
    return f"The workspace was lost ({last[0]})."


def _make_writable(folder: Path) -> None:
    """Folders that commands made read-only would keep their content from being deleted."""
    if not folder.is_dir():
        return
    for parent, _, _ in folder.walk():
        parent.chmod(0o700)
