"""How fast the window is: start to first paint, and the longest gap while text streams.

    python -m tests.benchmarks.bench_ui [--seconds 5] [--starts 3]

Prints one JSON object a line. `window_start`: milliseconds from the start of a fresh process to the
window's first paint, median and worst. `stream_gap`: the longest time in milliseconds between two
turns of the UI thread's event loop while 200 tokens a second arrive in a transcript of 50 turns.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

TOKENS_PER_S = 200
TURNS = 50
TICK_MS = 1
START = """
import time, sys, tempfile
from pathlib import Path
from app.bridge import Bridge
from app.ui.start import application, open_window
app = application()
window = open_window(app, Path(tempfile.mkdtemp()), Bridge(lambda mailbox: None))
window.first_painted.disconnect()
window.first_painted.connect(lambda: (print(time.time()), app.quit()))
app.exec()
heavy = {"pydantic_ai", "llama_cpp", "pydantic_monty", "sqlite_utils", "httpx"} & set(sys.modules)
print(",".join(sorted(heavy)))
"""


def window_start(starts: int) -> dict[str, Any]:
    """Time fresh processes until the window's first paint."""
    times_ms: list[float] = []
    heavy = ""
    for _ in range(starts):
        before = time.time()
        out = subprocess.run(
            [sys.executable, "-c", START], capture_output=True, text=True, check=True
        ).stdout.splitlines()
        times_ms.append((float(out[0]) - before) * 1000)
        heavy = out[1] if len(out) > 1 else ""
    return {
        "benchmark": "window_start",
        "median_ms": round(statistics.median(times_ms)),
        "worst_ms": round(max(times_ms)),
        "starts": starts,
        "heavy_imports_before_paint": heavy.split(",") if heavy else [],
    }


def stream_gap(duration_s: float) -> dict[str, Any]:
    """Stream a reply into the newest of many turns and watch the event loop."""
    from PySide6.QtCore import QEventLoop, QTimer
    from PySide6.QtWidgets import QApplication

    from app.bridge import Bridge
    from app.engine.events import ReplyDelta
    from app.ui.main_window import MainWindow
    from app.ui.session import Session
    from app.ui.theme import Theme
    from app.ui.window_state import WindowState
    from tests.app.ui import samples
    from tests.app.ui.fake_engine import FakeEngine

    app = QApplication.instance() or QApplication(["bench"])
    assert isinstance(app, QApplication)
    engines: list[FakeEngine] = []

    def make(mailbox: Any) -> Any:
        engine = FakeEngine(mailbox, stored=samples.chats())
        old = [samples.turn("done", f"old{number}") for number in range(TURNS - 1)]
        engine.turns = {"c1": [*old, samples.turn("writing", "t1")]}
        engines.append(engine)
        return engine

    bridge = Bridge(make)
    session = Session(bridge)
    window = MainWindow(session, WindowState(Path(tempfile.mkdtemp())), Theme(app, "light"))
    loop = QEventLoop()
    session.chat_opened.connect(lambda view: loop.quit() if view is not None else None)
    window.show()
    bridge.start()
    window.load()
    session.open_chat("c1")
    loop.exec()
    while window.transcript.model.earlier:
        window.transcript.show_earlier()
    window.transcript.scroll_to_end()
    QTimer.singleShot(700, loop.quit)
    loop.exec()
    gc.freeze()

    async def stream(engine: FakeEngine) -> int:
        words = ("for", " path", " in", " sorted", "(folder", ".glob", '("*.pdf"))', ":", "\n    ")
        engine.post(ReplyDelta(chat_id="c1", turn_id="t1", text="I sort.\n```python\n"))
        begin = time.perf_counter()
        number = 0
        while (passed := time.perf_counter() - begin) < duration_s:
            while number < passed * TOKENS_PER_S:
                text = words[number % len(words)]
                engine.post(ReplyDelta(chat_id="c1", turn_id="t1", text=text))
                number += 1
            await asyncio.sleep(0.002)
        return number

    tokens: list[int] = []
    gaps_ms: list[float] = []
    last = [time.perf_counter()]

    def tick() -> None:
        now = time.perf_counter()
        gaps_ms.append((now - last[0]) * 1000)
        last[0] = now

    def done(number: int) -> None:
        tokens.append(number)
        loop.quit()

    timer = QTimer()
    timer.timeout.connect(tick)
    timer.start(TICK_MS)
    last[0] = time.perf_counter()
    bridge.call(lambda engine: stream(engine), done)  # type: ignore[arg-type]
    loop.exec()
    timer.stop()
    window.close()
    bridge.close()
    ordered = sorted(gaps_ms)
    return {
        "benchmark": "stream_gap",
        "longest_ms": round(ordered[-1], 1),
        "p99_ms": round(ordered[int(len(ordered) * 0.99)], 1),
        "tokens": tokens[0],
        "tokens_per_s": round(tokens[0] / duration_s),
        "turns": TURNS,
    }


def main() -> None:
    """Run both benchmarks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--starts", type=int, default=3)
    options = parser.parse_args()
    print(json.dumps(window_start(options.starts)), flush=True)
    print(json.dumps(stream_gap(options.seconds)), flush=True)


if __name__ == "__main__":
    main()
