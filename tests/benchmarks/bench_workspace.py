"""Workspaces: start to ready, one command, and what staying in step with a large folder costs.

Run: ``python tests/benchmarks/bench_workspace.py [RUNG ...]``, e.g. ``qemu bubblewrap``. Prints a
JSON line a rung: seconds to ready (aim for qemu under software emulation: 3), milliseconds for
`true` (median; aim: 15), seconds of the first command with 10,000 files and of the next that
changes nothing, and milliseconds of that over the bare command (aim: under 300). `cpu_s` is what
the machine's process had computed when it was ready: on a busy machine it says more than seconds.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from sandbox.blobs import BlobStore  # noqa: E402
from sandbox.ports import Verdict  # noqa: E402
from sandbox.stage import FolderGrant, Stage  # noqa: E402
from sandbox.workspace.backend import ENVIRONMENT  # noqa: E402
from sandbox.workspace.bubblewrap import BubblewrapMachine  # noqa: E402
from sandbox.workspace.channel import Channel  # noqa: E402
from sandbox.workspace.qemu import QemuMachine  # noqa: E402
from sandbox.workspace.session import Workspace  # noqa: E402
from tests.sandbox.workspace.images import workspace_image  # noqa: E402

FILES = 10_000
ROUNDS = 30


def make(folder: Path) -> None:
    for number in range(FILES):
        inner = folder / f"{number // 100:03}"
        inner.mkdir(parents=True, exist_ok=True)
        (inner / f"{number:05}.txt").write_text(f"{number}\n" * 20)


def exec_s(channel: Channel, *argv: str) -> float:
    began = time.perf_counter()
    channel.start(argv, cwd="/workspace", env=ENVIRONMENT).ended.result(120)
    return time.perf_counter() - began


def bench(rung: str, scratch: Path) -> dict[str, float | str | int]:
    """One rung's figures."""
    folder = scratch / rung
    if rung == "qemu":
        machine: QemuMachine | BubblewrapMachine = QemuMachine(folder, workspace_image())
    else:
        machine = BubblewrapMachine(folder)
    workspace = Workspace(machine, folder / "known.json")
    try:
        began = time.perf_counter()
        channel = machine.channel()
        first_s = time.perf_counter() - began  # with the disk's copy
        machine.stop()
        began = time.perf_counter()
        channel = machine.channel()
        ready_s = time.perf_counter() - began
        pid = machine.pid if isinstance(machine, QemuMachine) else None
        times = psutil.Process(pid or os.getpid()).cpu_times()
        execs = sorted(exec_s(channel, "true") for _ in range(ROUNDS))
        stage = Stage([FolderGrant(path=scratch / "files")], BlobStore(scratch / f"b-{rung}"))

        def command_s() -> float:
            began = time.perf_counter()
            workspace.run(
                "true",
                stage=stage,
                judge=lambda _: Verdict(outcome="allow"),
                stopped=lambda: False,
            )
            return time.perf_counter() - began

        push_s = command_s()
        shells = [exec_s(channel, "/bin/sh", "-c", "exec bash -c true") for _ in range(ROUNDS)]
        again = [command_s() for _ in range(ROUNDS)]
        bare_s = statistics.median(shells)
        return {
            "rung": rung,
            "first_start_s": round(first_s, 2),
            "ready_s": round(ready_s, 2),
            "ready_cpu_s": round(times.user + times.system, 2) if pid else 0.0,
            "exec_ms": round(statistics.median(execs) * 1e3, 1),
            "exec_least_ms": round(execs[0] * 1e3, 1),
            "files": FILES,
            "first_command_s": round(push_s, 2),
            "unchanged_over_bare_ms": round((statistics.median(again) - bare_s) * 1e3, 1),
            "unchanged_over_bare_least_ms": round((min(again) - min(shells)) * 1e3, 1),
        }
    finally:
        machine.destroy()


def main() -> None:
    """Bench the rungs that were named."""
    with tempfile.TemporaryDirectory(prefix="bench-workspace-") as scratch:
        make(Path(scratch) / "files")
        for rung in sys.argv[1:] or ["bubblewrap", "qemu"]:
            load = os.getloadavg()[0]
            print(json.dumps({**bench(rung, Path(scratch)), "load": round(load, 1)}))


if __name__ == "__main__":
    main()
