"""How long Stop takes: for a program that goes on for ever, and for a reply in its middle.

    uv run python tests/benchmarks/bench_stop.py [MODEL.gguf]

Prints a JSON line with milliseconds (median and worst of ten) from Stop to the end; the reply is
measured where a model's file is named. Aim: 1,000 ms.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from models.client import GenerateRequest, WorkerClient, WorkerSettings  # noqa: E402
from models.protocol import ChatMessage, Delta  # noqa: E402
from sandbox.blobs import BlobStore  # noqa: E402
from sandbox.effects import Effect  # noqa: E402
from sandbox.limits import Limits  # noqa: E402
from sandbox.outcome import CallBatch, Printed, StopToken  # noqa: E402
from sandbox.pool import SandboxPool  # noqa: E402
from sandbox.ports import Verdict  # noqa: E402
from sandbox.program import prepare  # noqa: E402
from sandbox.runner import Runner  # noqa: E402
from sandbox.stage import FolderGrant, Stage  # noqa: E402

TIMES = 10
BEFORE_S = 0.3
ENDLESS = "while True:\n    pass\n"


class _AllowAll:
    def judge(self, effects: Sequence[Effect]) -> Verdict:
        return Verdict(outcome="allow")


class _NoJournal:
    def settle(self, program_id: str, effects: Sequence[Effect]) -> None:
        pass


def _ignore(_: CallBatch | Printed) -> None:
    pass


def programs() -> list[float]:
    """Milliseconds from Stop to the end of an endless program."""
    took: list[float] = []
    with tempfile.TemporaryDirectory() as scratch, SandboxPool() as pool:
        folder = Path(scratch, "folder")
        folder.mkdir()
        runner = Runner(pool, Limits(interpreter_s=30.0))
        for _ in range(TIMES):
            stop, pressed = StopToken(), [0.0]

            def press(stop: StopToken = stop, pressed: list[float] = pressed) -> None:
                pressed[0] = time.perf_counter()
                stop.stop()

            stage = Stage([FolderGrant(path=folder)], BlobStore(Path(scratch, "blobs")))
            stage.push()
            threading.Timer(BEFORE_S, press).start()
            outcome = runner.run(
                prepare(ENDLESS),
                program_id="p",
                stage=stage,
                gate=_AllowAll(),
                journal=_NoJournal(),
                listen=_ignore,
                stop=stop,
            )
            if outcome.status != "stopped":
                raise SystemExit(f"the program was not stopped: {outcome.status}")
            took.append(1000 * (time.perf_counter() - pressed[0]))
    return took


async def replies(model: Path) -> list[float]:
    """Milliseconds from Stop to the end of a reply."""
    client = WorkerClient(WorkerSettings(path=model))
    story = (ChatMessage(role="user", content="Tell a long story."),)
    took: list[float] = []
    try:
        for _ in range(TIMES):
            pressed, stopping = 0.0, None
            async for event in client.generate(GenerateRequest(messages=story, max_tokens=2000)):
                if isinstance(event, Delta) and stopping is None:
                    pressed = time.perf_counter()
                    stopping = asyncio.create_task(client.stop())
            took.append(1000 * (time.perf_counter() - pressed))
    finally:
        await client.close()
    return took


def shown(took: list[float]) -> dict[str, float]:
    """Median and worst."""
    return {"median_ms": round(statistics.median(took), 1), "worst_ms": round(max(took), 1)}


if __name__ == "__main__":
    line: dict[str, object] = {"benchmark": "stop", "program": shown(programs())}
    if len(sys.argv) > 1:
        line["reply"] = shown(asyncio.run(replies(Path(sys.argv[1]))))
    print(json.dumps(line | {"aim_ms": 1000}))
