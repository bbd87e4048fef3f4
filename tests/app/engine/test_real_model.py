"""Turns with real local models: a worker that is killed, and a whole run from the command line."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from app.engine.engine import Engine
from app.engine.events import ReplyDelta
from app.engine.mailbox import Mailbox
from app.paths import Paths
from app.settings import ModelSettings, Settings
from app.store.records import Folder

ROOT = Path(__file__).resolve().parents[3]
pytestmark = [pytest.mark.real_model, pytest.mark.timeout(600)]


def home_with(home: Path, model: Path) -> Paths:
    """A home in which `model` is installed."""
    (home / "models").mkdir(exist_ok=True)
    (home / "models" / model.name).symlink_to(model)
    return Paths(home=home)


def worker_pid() -> int | None:
    """The process id of this process's model worker."""
    for child in psutil.Process().children(recursive=True):
        if "models.worker" in child.cmdline():
            return child.pid
    return None


async def until_it_writes(mailbox: Mailbox, turn_id: str) -> None:
    """Return when the model has streamed something for this turn; what came before is not it."""

    def writes() -> bool:
        deltas = [event for event in mailbox.drain() if isinstance(event, ReplyDelta)]
        return any(delta.turn_id == turn_id for delta in deltas)

    while not writes():  # noqa: ASYNC110
        await asyncio.sleep(0.02)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signals on this system")
def test_a_killed_worker_is_reported_and_the_next_turn_works(
    drydock_home: Path, tmp_path: Path, real_model: Path
) -> None:
    async def work() -> None:
        folder = tmp_path / "folder"
        folder.mkdir()
        (folder / "a.txt").write_text("hello", encoding="utf-8")
        mailbox = Mailbox()
        engine = Engine(home_with(drydock_home, real_model), mailbox)
        await engine.start(in_background=False)
        try:
            chat = await engine.new_chat([Folder(path=str(folder))], "local:smollm2-135m")
            for number in (signal.SIGKILL, signal.SIGSEGV):
                turn = await engine.send(chat.chat_id, "Count to one hundred in words.")
                await until_it_writes(mailbox, turn.turn_id)
                pid = worker_pid()
                assert pid is not None
                os.kill(pid, number)
                turn = await engine.wait(turn.turn_id)
                assert turn.status == "failed"
                assert turn.problem is not None
                assert turn.problem.kind == "model"
                assert turn.problem.hint
            quick = ModelSettings(reply_tokens=64, tries=1)
            await engine.change_settings(Settings(model=quick))
            turn = await engine.send(chat.chat_id, "Say hello.")
            turn = await engine.wait(turn.turn_id)
            assert turn.usage.output_tokens > 0
            assert turn.problem is None or turn.problem.kind == "", turn.problem
            assert [path.name for path in folder.iterdir()] == ["a.txt"]
        finally:
            await engine.close()

    asyncio.run(work())


def test_a_run_from_the_command_line_ends_with_a_decision_and_an_untouched_disk(
    drydock_home: Path, tmp_path: Path, starter_model: Path
) -> None:
    home_with(drydock_home, starter_model)
    folder = tmp_path / "Fotos & Übungen"
    folder.mkdir()
    for name in ("a.txt", "b.txt", "c.csv"):
        (folder / name).write_text("one\n", encoding="utf-8")
    command = [
        *(sys.executable, "-m", "app", "run", "How many files are in this folder?"),
        *("--folder", str(folder), "--model", "local:qwen2.5-coder-0.5b"),
        *("--approve", "never", "--seed", "1", "--json"),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    run = json.loads(done.stdout.splitlines()[-1])
    assert done.returncode in {0, 1, 3}, done.stderr
    assert run["status"] in {"done", "failed", "waiting"}
    assert run["programs"], "the model wrote a program"
    assert run["usage"]["completion_tokens"] > 0
    assert sorted(path.name for path in folder.iterdir()) == ["a.txt", "b.txt", "c.csv"]
