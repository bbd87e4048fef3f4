"""The contract of workspaces on smolmachines, for the emulated outer machine: no pytest is there.

Run by `test_smol.py` through `outer_machine.sh`. One line a step; the exit code is how many failed.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from sandbox.errors import StoppedError
from sandbox.workspace.channel import Channel, JobLimits, wait_for
from sandbox.workspace.errors import WorkspaceTimeError
from sandbox.workspace.frames import Batch
from sandbox.workspace.smol import SmolMachine

ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/root"}
MACHINE = SmolMachine(Path("/home/app/one"), Path("/repo/image"), cpus=1, memory_mb=512)


def run(command: str, limits: JobLimits | None = None) -> tuple[int, str, str]:
    channel = MACHINE.channel()
    job = start(channel, command, limits)
    code = wait_for(job, channel, timeout_s=60, stopped=lambda: False)
    return code, job.stdout.text(), job.stderr.text()


def start(channel: Channel, command: str, limits: JobLimits | None = None):
    words = ["/bin/sh", "-c", command]
    return channel.start(words, cwd="/workspace", env=ENVIRONMENT, limits=limits)


def count(pattern: str) -> int:
    return int(run(f"ps | grep -c '{pattern}'")[1] or 0)


def boots() -> None:
    assert MACHINE.channel().greeting(1).startswith("drydock-agent")


def commands_give_output_and_code() -> None:
    assert run("echo out; echo err >&2; exit 3") == (3, "out\n", "err\n")
    assert run("exec no-such-program")[0] == 127


def files_come_and_go_as_they_are() -> None:
    name = "/workspace/t/caf\udce9 \n'x"
    batch = Batch()
    batch.write(name, 0, b"first")
    batch.write(name, 5, b" second")
    batch.mode(name, 0o751)
    batch.time(name, 1_234_567_890_123_456_789)
    batch.link("/workspace/t/link", "nowhere")
    batch.make_folder("/workspace/t/empty", 0o700)
    channel = MACHINE.channel()
    channel.apply(batch)
    token, found = channel.scan(["/workspace/t"], 0)
    by_name = {item.path: item for item in found or ()}
    file = by_name["0/" + name.removeprefix("/workspace/t/")]
    assert (file.mode & 0o777, file.size_bytes) == (0o751, 12)
    assert file.mtime_ns == 1_234_567_890_123_456_789
    assert by_name["0/link"].link == "nowhere"
    data = bytearray()
    channel.get(name, data.extend)
    assert bytes(data) == b"first second"
    assert channel.scan(["/workspace/t"], token) == (token, None)


def a_large_file_comes_whole() -> None:
    code, out, _ = run("head -c 3000000 /dev/urandom > /root/large; sha256sum < /root/large")
    assert code == 0
    data = bytearray()
    MACHINE.channel().get("/root/large", data.extend)
    import hashlib

    assert hashlib.sha256(data).hexdigest() == out.split()[0]


def stop_ends_the_whole_tree() -> None:
    channel = MACHINE.channel()
    job = start(channel, "sleep 4321 & setsid sleep 4321 & exec sleep 4321")
    while count("[s]leep 4321") < 3:
        time.sleep(0.1)
    try:
        wait_for(job, channel, timeout_s=60, stopped=lambda: True)
    except StoppedError:
        pass
    else:
        raise AssertionError("it was not stopped")
    assert count("[s]leep 4321") == 0


def a_long_command_is_ended() -> None:
    channel = MACHINE.channel()
    try:
        wait_for(start(channel, "sleep 987"), channel, timeout_s=0.5, stopped=lambda: False)
    except WorkspaceTimeError:
        return
    raise AssertionError("it was not ended")


def there_is_no_network() -> None:
    for host in ("127.0.0.1:8099", "1.1.1.1", "169.254.169.254"):
        assert run(f"wget -q -T 2 -O- http://{host}/")[0] != 0


def files_outlast_a_stop() -> None:
    run("echo kept > /workspace/kept; echo kept > /root/kept")
    MACHINE.stop()
    assert MACHINE.exists
    assert run("cat /workspace/kept /root/kept")[1] == "kept\nkept\n"


def destroyed_is_gone() -> None:
    MACHINE.destroy()
    assert not MACHINE.exists


STEPS: tuple[Callable[[], None], ...] = (
    boots,
    commands_give_output_and_code,
    files_come_and_go_as_they_are,
    a_large_file_comes_whole,
    stop_ends_the_whole_tree,
    a_long_command_is_ended,
    there_is_no_network,
    files_outlast_a_stop,
    destroyed_is_gone,
)


def main() -> int:
    """Every step; one that fails does not keep the next from being tried."""
    failed = 0
    for step in STEPS:
        began = time.monotonic()
        try:
            step()
            said = "passed"
        except BaseException:
            traceback.print_exc(file=sys.stdout)
            failed += 1
            said = "FAILED"
        print(f"{said} {step.__name__} {time.monotonic() - began:.1f} s", flush=True)  # noqa: T201
    return failed


if __name__ == "__main__":
    sys.exit(main())
