"""What every workspace has to do: pydantic-ai's conformance suite, and more of ours.

A backend's test module subclasses `WorkspaceContract` and says how a machine is made.
"""

from __future__ import annotations

import stat
import struct
import time
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from pydantic_ai.workspaces import WorkspaceBackend, WorkspaceRef
from pydantic_ai.workspaces.conformance import WorkspaceBackendSuite

from sandbox.errors import StoppedError
from sandbox.workspace.backend import ENVIRONMENT, MachineBackend
from sandbox.workspace.channel import Channel, JobLimits, wait_for
from sandbox.workspace.errors import WorkspaceLostError, WorkspaceTimeError
from sandbox.workspace.frames import MOST_BYTES, Batch, frame
from sandbox.workspace.machine import Machine

Maker = Callable[[str], Machine]
_BOUNDED = JobLimits(processes=64)
_BOMB = """
import os, time
while True:
    try:
        os.fork()
    except OSError:
        time.sleep(0.1)
"""


class Machines:
    """Machines by name, each made once; all are destroyed at the end."""

    def __init__(self, make: Maker) -> None:
        self._make = make
        self.made: dict[str, Machine] = {}

    def __call__(self, name: str) -> Machine:
        if name not in self.made:
            self.made[name] = self._make(name)
        return self.made[name]

    def end(self) -> None:
        for machine in self.made.values():
            machine.destroy()


def run(channel: Channel, command: str, **options: Any) -> tuple[int, str, str]:
    """A shell command's exit code and output."""
    limits = options.pop("limits", None)
    job = channel.start(
        ["/bin/sh", "-c", command], cwd="/workspace", env=ENVIRONMENT, limits=limits
    )
    code = wait_for(job, channel, timeout_s=60, stopped=lambda: False, **options)
    return code, job.stdout.text(), job.stderr.text()


class Conformance(WorkspaceBackendSuite):
    """pydantic-ai's own rules. One machine serves a class; some tests take one of their own."""

    @pytest.fixture
    def backend(self, machines: Machines) -> WorkspaceBackend:
        return MachineBackend(machines, "one")

    @pytest.fixture
    def fresh_backend(self, machines: Machines) -> Callable[[], WorkspaceBackend]:
        return lambda: MachineBackend(machines, uuid.uuid4().hex)

    @pytest.fixture
    def attach_backend(self, machines: Machines) -> Callable[[WorkspaceRef], WorkspaceBackend]:
        return lambda ref: MachineBackend(machines, "", ref)

    @pytest.fixture
    def destroy_environment(self) -> Callable[[MachineBackend], Awaitable[None]]:
        async def destroy(backend: MachineBackend) -> None:
            backend.machine.destroy()

        return destroy


class WorkspaceContract:
    """Our own rules, on one machine per class."""

    @pytest.fixture
    def machine(self, machines: Machines) -> Machine:
        return machines("contract")

    @pytest.fixture
    def channel(self, machine: Machine) -> Channel:
        return machine.channel()

    def test_a_command_gives_its_output_and_its_code(self, channel: Channel) -> None:
        assert run(channel, "echo out; echo err >&2; exit 3") == (3, "out\n", "err\n")

    def test_python_and_git_are_there(self, channel: Channel) -> None:
        code, out, err = run(channel, "python3 -c 'print(6 * 7)' && git --version")
        assert (code, err) == (0, "")
        assert out.startswith("42\ngit version")

    def test_stop_ends_the_whole_tree_within_a_second(self, channel: Channel) -> None:
        script = "sleep 4321 & setsid sleep 4321 & (sleep 4321; true) & exec sleep 4321"
        job = channel.start(["/bin/sh", "-c", script], cwd="/workspace", env=ENVIRONMENT)
        assert _wait_until(lambda: _count(channel, "[s]leep 4321") >= 4)
        with pytest.raises(StoppedError):
            wait_for(job, channel, timeout_s=60, stopped=lambda: True)
        assert _wait_until(lambda: _count(channel, "[s]leep 4321") == 0)

    def test_a_command_that_takes_too_long_is_ended(self, channel: Channel) -> None:
        job = channel.start(
            ["/bin/sh", "-c", "echo first; sleep 987 & sleep 987"],
            cwd="/workspace",
            env=ENVIRONMENT,
        )
        with pytest.raises(WorkspaceTimeError, match=r"longer than 0\.5 seconds"):
            wait_for(job, channel, timeout_s=0.5, stopped=lambda: False)
        assert job.stdout.text() == "first\n"
        assert _wait_until(lambda: _count(channel, "[s]leep 987") == 0)

    def test_much_output_keeps_its_head_and_its_tail(self, channel: Channel) -> None:
        limits = JobLimits(output_bytes=100_000)
        code, out, _ = run(channel, "seq 1 60000; echo last", limits=limits)
        assert code == 0
        assert out.startswith("1\n2\n3\n")
        assert out.endswith("60000\nlast\n")
        assert "bytes left out" in out
        assert len(out) < 60_000

    def test_files_come_and_go_as_they_are(self, channel: Channel) -> None:
        name = "/workspace/caf\udce9 \n'\"`$(x)"
        batch = Batch()
        batch.write(name, 0, b"first")
        batch.write(name, 5, b" second")
        batch.mode(name, 0o751)
        batch.time(name, 1_234_567_890_123_456_789)
        batch.link("/workspace/link", "nowhere/\udcff")
        batch.make_folder("/workspace/empty folder", 0o700)
        channel.apply(batch)
        token, found = channel.scan(["/workspace"], 0)
        assert found is not None
        by_name = {item.path: item for item in found}
        file = by_name[f"0/{name.removeprefix('/workspace/')}"]
        assert (stat.S_IMODE(file.mode), file.size_bytes) == (0o751, 12)
        assert file.mtime_ns == 1_234_567_890_123_456_789
        assert by_name["0/link"].link == "nowhere/\udcff"
        assert stat.S_ISDIR(by_name["0/empty folder"].mode)
        data = bytearray()
        assert channel.get(name, data.extend) == 12
        assert bytes(data) == b"first second"
        assert channel.scan(["/workspace"], token) == (token, None)
        again = Batch()
        again.move(name, "/workspace/other/place")
        again.remove("/workspace/link")
        again.remove("/workspace/empty folder")
        again.remove("/workspace/other")
        channel.apply(again)

    def test_errors_of_files_are_those_of_python(self, channel: Channel) -> None:
        with pytest.raises(FileNotFoundError):
            channel.get("/workspace/missing", lambda _: None)
        with pytest.raises(IsADirectoryError):
            channel.get("/workspace", lambda _: None)
        with pytest.raises(NotADirectoryError):
            channel.list("/etc/passwd")

    def test_there_is_no_network(self, channel: Channel) -> None:
        probe = (
            "import socket\n"
            "for host in ('1.1.1.1', '169.254.169.254', '10.0.2.2', '192.168.1.1'):\n"
            "    try:\n"
            "        socket.create_connection((host, 80), timeout=1)\n"
            "    except OSError as error:\n"
            "        print('closed')\n"
        )
        code, out, _ = run(channel, f"python3 -c \"{probe}\"; ip -o link | grep -vc ' lo:'")
        assert out.split() == ["closed"] * 4 + ["0"], code

    def test_what_runs_here_is_not_seen_there(self, channel: Channel) -> None:
        code, out, _ = run(channel, "env; cat /proc/1/environ; ls -a /root")
        assert code == 0
        assert "DRYDOCK" not in out
        assert "SECRET" not in out

    def test_a_fork_bomb_ends_with_its_job(self, machine: Machine) -> None:
        channel = machine.channel()
        job = channel.start(
            ["python3", "-c", _BOMB], cwd="/workspace", env=ENVIRONMENT, limits=_BOUNDED
        )
        assert _wait_until(lambda: _processes(channel) > _BOUNDED.processes // 2)
        with pytest.raises(StoppedError):
            wait_for(job, channel, timeout_s=60, stopped=lambda: True)
        # A bomb can keep the agent from answering in time: then the machine is started anew.
        assert run(machine.channel(), "echo alive")[1] == "alive\n"
        assert _wait_until(lambda: _count(machine.channel(), "[o]s.fork") == 0)

    def test_a_fork_bomb_never_grows_over_its_bound(self, machine: Machine) -> None:
        channel = machine.channel()
        before = _processes(channel)
        job = channel.start(
            ["python3", "-c", _BOMB], cwd="/workspace", env=ENVIRONMENT, limits=_BOUNDED
        )
        counts = [_processes(channel) - before]
        while max(counts) < _BOUNDED.processes // 2 or len(counts) < 60:
            counts.append(_processes(channel) - before)
        channel.kill(job, timeout_s=60)
        assert max(counts) <= _BOUNDED.processes + 8
        assert run(machine.channel(), "echo alive")[1] == "alive\n"

    def test_many_small_processes_together_keep_to_the_memory(self, machine: Machine) -> None:
        channel = machine.channel()
        hold = "import time; held = b'x' * (40 << 20); time.sleep(600)"
        script = f'for i in 1 2 3 4 5 6; do (python3 -c "{hold}"; echo gone) & done; wait'
        job = channel.start(
            ["/bin/sh", "-c", script],
            cwd="/workspace",
            env=ENVIRONMENT,
            limits=JobLimits(memory_bytes=128 << 20),
        )
        assert _wait_until(lambda: job.stdout.text().count("gone") >= 3)  # three fit, not six
        channel.kill(job, timeout_s=60)
        assert run(machine.channel(), "echo alive")[1] == "alive\n"

    def test_an_unknown_request_is_refused_and_the_agent_lives(self, channel: Channel) -> None:
        for kind, body in (("Z", b""), ("G", b"\1"), ("B", b"w\xff\xff\xff\xff"), ("S", b"")):
            number, asked = channel._ask()
            channel._send(frame(kind, number, body))
            with pytest.raises(OSError):
                channel._answer(number, asked, 10)
        assert run(channel, "echo alive")[1] == "alive\n"

    def test_a_frame_without_measure_ends_the_machine(self, machines: Machines) -> None:
        machine = machines("broken")
        channel = machine.channel()
        channel._transport.write(struct.pack("<I", MOST_BYTES + 1) + b"x" * 100)
        assert _wait_until(lambda: channel.lost is not None)
        with pytest.raises(WorkspaceLostError):
            channel.ping()
        assert run(machine.channel(), "echo back")[1] == "back\n"
        machine.destroy()

    def test_files_outlast_a_stop(self, machines: Machines) -> None:
        machine = machines("kept")
        run(machine.channel(), "echo kept > /workspace/file; echo kept > /root/file")
        machine.stop()
        assert machine.exists
        code, out, _ = run(machine.channel(), "cat /workspace/file /root/file")
        assert (code, out) == (0, "kept\nkept\n")
        machine.destroy()
        assert not machine.exists


def _count(channel: Channel, pattern: str) -> int:
    """How many processes inside have `pattern` in their command line."""
    return int(run(channel, f"ps -A -o args 2>/dev/null | grep -c '{pattern}'")[1] or 0)


def _processes(channel: Channel) -> int:
    """How many there are inside, told by the agent: counting starts none."""
    return sum(item.path.isdigit() for item in channel.list("/proc"))


def _wait_until(is_so: Callable[[], bool]) -> bool:
    for _ in range(400):
        if is_so():
            return True
        time.sleep(0.05)
    return False
