"""The agent inside a workspace that has Python: runs commands, reads and changes files there.

Owns the far end of `frames.py`. It stands alone (the standard library of Python 3.9 and, of ours,
`agent_files.py` and `agent_groups.py`), since it is carried into the workspace and started there.
For the microVM, `packaging/workspace/agent.c` is the same. It speaks on standard input and output.
One thread.
"""

# ruff: noqa: PTH112, PTH116, PTH123, PTH208, S603
# The small, plain inside: paths are bytes, and it runs what it is told to.

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import resource
import select
import signal
import socket
import stat
import struct
import subprocess
import sys

from sandbox.workspace.agent_files import apply, hash_of, joined, pack, record, strings, walk
from sandbox.workspace.agent_groups import Groups

MOST_BYTES = 1024 * 1024
CHUNK_BYTES = 64 * 1024
PROXY_PORT = 3128
HEAD = struct.Struct("<IBI")


class Job:
    """A command: its process, and the pipes that are still open."""

    def __init__(self, number: int, pid: int, pipes: dict[int, str]) -> None:
        self.number = number
        self.pid = pid
        self.pipes = pipes
        self.ended = False


class Agent:
    """The loop: frames in, output and answers out."""

    def __init__(self, source: int, sink: int, groups: Groups | None = None) -> None:
        self.source = source
        self.sink = sink
        self.groups = groups
        self.left_groups: set[int] = set()
        self.jobs: dict[int, Job] = {}
        self.pipes: dict[int, Job] = {}
        self.links: dict[int, socket.socket] = {}
        self.next_link = 1
        self.listener: socket.socket | None = None

    def serve(self) -> None:
        """Until the other side goes away."""
        woken, wake = os.pipe()
        for end in (woken, wake):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, wake_up)
        self.send("H", 0, pack(["drydock-agent 1 python"]))
        held = bytearray()
        while True:
            watched = [self.source, woken, *self.pipes, *(s.fileno() for s in self.links.values())]
            if self.listener is not None:
                watched.append(self.listener.fileno())
            poll = select.poll()
            for item in watched:
                poll.register(item, select.POLLIN)
            ready = {item for item, _ in poll.poll()}
            if woken in ready:
                os.read(woken, 4096)
            for end in [end for end in self.pipes if end in ready]:
                self.pass_output(end)
            self.pass_links(ready)
            self.reap()
            self.forget_groups()
            if self.source in ready:
                data = os.read(self.source, CHUNK_BYTES)
                if not data:
                    return
                held += data
                if not self.take(held):
                    return

    def take(self, held: bytearray) -> bool:
        """Do what is whole; False when the other side broke the form."""
        while len(held) >= 9:
            size, kind, number = HEAD.unpack_from(held)
            if not 5 <= size <= MOST_BYTES:
                return False
            if len(held) < size + 4:
                return True
            body = bytes(held[9 : size + 4])
            del held[: size + 4]
            try:
                self.answer(chr(kind), number, body)
            except OSError as error:
                name = error.filename
                text = os.fsdecode(name) if isinstance(name, (bytes, str)) else str(error)
                self.fail(number, error.errno or errno.EIO, text)
            except (struct.error, ValueError, IndexError, UnicodeError) as error:
                self.fail(number, errno.EINVAL, str(error))
        return True

    def send(self, kind: str, number: int, body: bytes = b"") -> None:
        """One frame out, whole."""
        data = memoryview(HEAD.pack(len(body) + 5, ord(kind), number) + body)
        while data:
            data = data[os.write(self.sink, data) :]

    def fail(self, number: int, code: int, text: str) -> None:
        self.send("E", number, struct.pack("<i", code) + pack([text]))

    def answer(self, kind: str, number: int, body: bytes) -> None:
        """One request."""
        if kind == "R":
            self.run(number, strings(body))
        elif kind == "K":
            self.kill(number, body[0])
        elif kind == "S":
            self.scan(number, struct.unpack_from("<Q", body)[0], strings(body[8:]))
        elif kind == "G":
            offset, most = struct.unpack_from("<QQ", body)
            self.get(number, offset, most, strings(body[16:])[0])
        elif kind == "L":
            self.list(number, strings(body)[0])
        elif kind == "T":
            path = strings(body)[0]
            self.send("O", number, record(b"", os.stat(path), path))
            self.send("D", number)
        elif kind == "B":
            apply(body)
            self.send("D", number)
        elif kind == "P":
            self.listen(body)
            self.send("D", number)
        elif kind in "bc":
            self.to_link(kind, number, body)
        else:
            raise ValueError(f"unknown request {kind}")

    # Commands

    def run(self, number: int, texts: list[bytes]) -> None:
        """Start a command; it gets a session, and with it a process group, of its own."""
        cwd, limits, count = texts[0], texts[1].split(), int(texts[2])
        argv = texts[3 : 3 + count]
        environment = dict(text.split(b"=", 1) for text in texts[3 + count :])
        most_bytes, processes = (int(item) for item in limits)
        if self.groups is not None:
            self.groups.make(number, most_bytes, processes)
            self.left_groups.add(number)

        try:
            process = subprocess.Popen(
                argv,
                cwd=cwd,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                preexec_fn=lambda: bound(self.groups, number, most_bytes, processes),
            )
        except subprocess.SubprocessError as error:
            raise OSError(errno.EAGAIN, "the command's bounds cannot be set") from error
        except OSError as error:
            if not os.path.isdir(cwd):
                raise
            text = f"{os.fsdecode(argv[0])}: {error.strerror}\n".encode()
            self.send("e", number, text)
            code = 127 if error.errno in (errno.ENOENT, errno.ENOTDIR) else 126
            self.send("X", number, struct.pack("<i", code))
            return
        ends: dict[int, str] = {}
        for stream, letter in ((process.stdout, "o"), (process.stderr, "e")):
            assert stream is not None
            end = os.dup(stream.fileno())
            stream.close()
            os.set_blocking(end, False)
            fcntl.fcntl(end, fcntl.F_SETFD, fcntl.FD_CLOEXEC)
            ends[end] = letter
        process.returncode = 0  # reaped below, with everybody's orphans
        job = Job(number, process.pid, ends)
        self.jobs[job.pid] = job
        for end in ends:
            self.pipes[end] = job

    def pass_output(self, end: int) -> bool:
        """Pass on what a pipe has; False when that was nothing."""
        job = self.pipes[end]
        try:
            data = os.read(end, CHUNK_BYTES)
        except BlockingIOError:
            return False
        if data:
            if not job.ended:  # what comes later has nobody waiting for it
                self.send(job.pipes[end], job.number, data)
            return True
        del self.pipes[end]
        os.close(end)
        return False

    def reap(self) -> None:
        """Collect what has ended, our commands and everybody's orphans."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            job = self.jobs.pop(pid, None)
            if job is None:
                continue
            for end in list(job.pipes):
                pieces = 0
                while end in self.pipes and pieces < 1024 and self.pass_output(end):
                    pieces += 1
            job.ended = True
            code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)
            self.send("X", job.number, struct.pack("<i", code))

    def forget_groups(self) -> None:
        """Take away the groups in which nothing is left."""
        if self.groups is not None and self.left_groups:
            running = {job.number for job in self.jobs.values()}
            for number in self.left_groups - running:
                if self.groups.forget(number):
                    self.left_groups.discard(number)

    def kill(self, number: int, scope: int) -> None:
        """End one job's processes, or everything but this agent."""
        if scope == 1 and os.getpid() == 1:
            kill_quietly(-1)
        elif scope == 1:
            kill_below(os.getpid())
        if self.groups is not None:
            for left in self.left_groups if scope == 1 else self.left_groups & {number}:
                self.groups.end(left)
        for job in list(self.jobs.values()):
            if scope == 1 or job.number == number:
                kill_below(job.pid)
                kill_quietly(-job.pid)
        self.send("D", number)

    # Files

    def scan(self, number: int, token: int, roots: list[bytes]) -> None:
        """Everything below the roots; only the token when it is what the other side knows."""
        found: list[bytes] = []
        for index, root in enumerate(roots):
            if os.path.lexists(root):
                walk(root, str(index).encode(), found)
        total = 14695981039346656037  # FNV-1a, 64 bits
        for item in found:
            total = (total ^ hash_of(item)) * 1099511628211 & 0xFFFFFFFFFFFFFFFF
        if total != token:
            for start in joined(found):
                self.send("O", number, start)
        self.send("D", number, struct.pack("<Q", total))

    def get(self, number: int, offset: int, most: int, path: bytes) -> None:
        """Bytes of a regular file."""
        end = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            mode = os.fstat(end).st_mode
            if not stat.S_ISREG(mode):
                code = errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL
                raise OSError(code, os.strerror(code), path)
            os.lseek(end, offset, os.SEEK_SET)
            while most > 0:
                data = os.read(end, min(most, CHUNK_BYTES * 8))
                if not data:
                    break
                most -= len(data)
                self.send("O", number, data)
        finally:
            os.close(end)
        self.send("D", number)

    def list(self, number: int, path: bytes) -> None:
        """What is in a folder, links followed where they lead somewhere."""
        found: list[bytes] = []
        for name in sorted(os.listdir(path)):
            child = path + b"/" + name
            for look in (os.stat, os.lstat):  # what is gone meanwhile is left out
                with contextlib.suppress(OSError):
                    found.append(record(name, look(child), child))
                    break
        for body in joined(found):
            self.send("O", number, body)
        self.send("D", number)

    # Connections to the proxy outside

    def listen(self, body: bytes) -> None:
        """A ping that begins with 1 opens the proxy's port here."""
        if body[:1] != b"1" or self.listener is not None:
            return
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", PROXY_PORT))
        listener.listen(32)
        self.listener = listener

    def pass_links(self, ready: set[int]) -> None:
        if self.listener is not None and self.listener.fileno() in ready:
            made, _ = self.listener.accept()
            self.links[self.next_link] = made
            self.send("n", self.next_link)
            self.next_link += 1
        for number, link in list(self.links.items()):
            if link.fileno() not in ready:
                continue
            try:
                data = link.recv(CHUNK_BYTES)
            except OSError:
                data = b""
            if data:
                self.send("b", number, data)
            else:
                self.close_link(number)
                self.send("c", number)

    def to_link(self, kind: str, number: int, body: bytes) -> None:
        link = self.links.get(number)
        if link is None:
            return
        try:
            if kind == "b":
                link.sendall(body)
            else:
                self.close_link(number)
        except OSError:
            self.close_link(number)
            self.send("c", number)

    def close_link(self, number: int) -> None:
        link = self.links.pop(number, None)
        if link is not None:
            link.close()


def bound(groups: Groups | None, number: int, most_bytes: int, processes: int) -> None:
    """In the new process: its limits; 0 is none. What cannot be bounded is not run.

    With a group the number of processes is the group's: a limit of the user's would count all that
    this user runs, and does not hold for root.
    """
    if groups is not None:
        groups.join(number)
    limits = {resource.RLIMIT_AS: most_bytes, resource.RLIMIT_NPROC: 0 if groups else processes}
    for kind, most in limits.items():
        if most:
            hard = resource.getrlimit(kind)[1]
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(kind, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def wake_up(_number: int, _frame: object) -> None:
    """The wake-up pipe says it all."""


def descendants(pid: int) -> list[int]:
    """All processes below `pid`, as /proc has them now."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            text = b"0 () 0 0"
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                text = file.read()
            parent = int(text[text.rindex(b")") + 2 :].split()[1])
            children.setdefault(parent, []).append(int(name))
    found: list[int] = []
    pending = [pid]
    while pending:
        below = children.get(pending.pop(), [])
        found += below
        pending += below
    return found


def kill_quietly(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def kill_below(pid: int) -> None:
    for child in descendants(pid):
        kill_quietly(child)


def adopt_orphans() -> None:
    """Be the parent of what loses its own, so that nothing escapes (PR_SET_CHILD_SUBREAPER)."""
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)


def close_up() -> None:
    """Let no command look into this process, which holds its bounds open (PR_SET_DUMPABLE)."""
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)


def main() -> None:
    """Serve until the other side goes away; nothing that was started stays.

    With two arguments, the descriptors of the folders of `agent_groups.py`: pids, memory.
    """
    close_up()
    if os.getpid() != 1:
        adopt_orphans()
    groups = None
    if len(sys.argv) == 3:
        groups = Groups(int(sys.argv[1]), int(sys.argv[2]))
        for end in groups.folders:
            os.set_inheritable(end, False)
    Agent(os.dup(0), os.dup(1), groups).serve()
    kill_below(os.getpid())
    sys.exit(0)
