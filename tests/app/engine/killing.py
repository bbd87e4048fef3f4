"""Runs turns in processes that are killed at a chosen journal write, and goes on with them.

A process of its own without threads, which imports everything once and then forks a child for each
life of the app: `python -m tests.app.engine.killing HOME PORT SCENARIO FIRST STRIDE LAST`. Prints
one JSON line for each place of death. Linux and macOS alone: elsewhere there is no fork.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.engine.engine import Engine
from app.engine.mailbox import Mailbox
from app.engine.warm import ReadyModel, import_heavy
from app.paths import Paths
from app.store.chats import ChatStore
from app.store.journal import TurnJournal
from app.store.records import Folder, TurnRecord
from app.store.tape_file import TapeFile
from models.client import GenerateRequest
from models.local import LocalModel
from models.prompt import load_prompt
from models.protocol import Delta, Done, Evaluating
from sandbox.grants import grants_of
from sandbox.question import PersonsAnswer
from tests.fakes import Script, ScriptedClient, program_reply

LIVES = 12
LONGEST_S = 200

READS = """
import random, time, uuid
from pathlib import Path
Path("log.txt").write_text(f"{random.random()} {time.time()} {uuid.uuid4()}")
for path in sorted(Path("in").glob("*.txt")):
    target = Path("out") / path.name
    target.write_text(path.read_text().upper())
    path.rename(Path("in") / ("old-" + path.name))
page = fetch_url("URL/page")
print(page["text"], len(list(Path("out").iterdir())))
"""
FAILS = """
from pathlib import Path
Path("half.txt").write_text("half")
reply = http_request("POST", "URL/once", None, "once")
raise ValueError("after sending " + reply["text"])
"""
AGAIN = """
from pathlib import Path
reply = http_request("POST", "URL/once", None, "once")
Path("once.txt").write_text(reply["text"])
print("sent")
"""
GATHER = """
import asyncio
from pathlib import Path
found = await asyncio.gather(
    http_request("POST", "URL/one", None, "1"),
    fetch_url("URL/page"),
    http_request("POST", "URL/two", None, "2"),
)
Path("gathered.txt").write_text(" ".join(one["text"] for one in found))
colour = ask_user("Which colour?", ["red", "blue"])
Path("colour.txt").write_text(colour)
with open("big.txt", "w") as out:
    for number in range(50):
        out.write(f"{number}\\n")
print(colour)
"""
DONE = "All done."
SCENARIOS: dict[str, dict[str, str]] = {
    "sends": {"": READS, "page 3": FAILS, "after sending": AGAIN, "sent": GATHER, "blue": DONE},
    "files": {"": READS, "page 3": 'print(open("out/a.txt").read())', "TEXT A": DONE},
}
"""By what stands in the last message that the model is sent: what it replies."""


@dataclass
class StatelessClient(ScriptedClient):
    """Answers by the last message alone, whichever process asks."""

    replies: dict[str, str]

    def __post_init__(self) -> None:
        super().__init__(Script([]))

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[Evaluating | Delta | Done]:
        """Stream the reply that comes next in this conversation."""
        last = request.messages[-1].content
        marks = [mark for mark in self.replies if mark in last]
        self._script.replies = [self.replies[max(marks, key=len)]]
        async for item in super().generate(request):
            yield item


@dataclass
class StatelessModels:
    """A `ModelSource` for turns of several programs."""

    replies: dict[str, str]

    async def ready(self, model_id: str) -> ReadyModel:
        """The scripted model under any id."""
        return ReadyModel(
            model=LocalModel(StatelessClient(self.replies), model_id),
            prompt=load_prompt("default"),
            context_tokens=8192,
            one_program=False,
        )

    async def close(self) -> None:
        """There is nothing to end."""


class Death:
    """Ends the process at its `at`-th journal write (0: never), when that has been written."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.count = 0

    def watch(self, owner: type, name: str) -> None:
        """Count the calls of a method as journal writes."""
        method: Callable[..., Any] = getattr(owner, name)

        def counted(*args: Any, **kwargs: Any) -> Any:
            result = method(*args, **kwargs)
            self.count += 1
            if self.count == self.at:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        setattr(owner, name, counted)


async def live(home: Path, folder: Path, url: str, scenario: str) -> dict[str, Any]:
    """One life of the app: begins the turn or goes on with it, until it is done."""
    replies = {
        mark: text if text == DONE else program_reply(text.replace("URL", url))
        for mark, text in SCENARIOS[scenario].items()
    }
    models = StatelessModels(replies)
    engine = Engine(Paths(home=home), Mailbox(), models=models)
    asked: list[str] = []
    grants = grants_of(frozenset({f"host:{url.split('/')[2]}"}))
    await engine.start(in_background=False)
    try:
        turns = await engine.run_records()
        if not turns:
            chats = await engine.chats()
            chat = chats[0] if chats else await engine.new_chat([Folder(path=str(folder))])
            turn = await engine.send(chat.chat_id, "Do it", grants=grants)
        else:
            turn = turns[0]
            if turn.status == "interrupted":
                await engine.resume(turn.turn_id)
        turn = await engine.wait(turn.turn_id)
        while turn.status == "asking" and turn.question is not None:
            asked.append(f"{turn.question.kind} {turn.question.call}")
            answer = PersonsAnswer(approved=True, text="blue" * (turn.question.kind == "person"))
            if turn.question.kind == "unknown":
                return {"status": "unknown", "asked": asked, "line": turn.question.exact}
            await engine.answer(turn.turn_id, answer)
            turn = await engine.wait(turn.turn_id)
        if turn.status == "waiting" and turn.changes is not None:
            turn = await engine.decide(
                turn.turn_id, approved=[change.id for change in turn.changes.changes]
            )
        return {**told(turn), "asked": asked}
    finally:
        await engine.close()


def told(turn: TurnRecord) -> dict[str, Any]:
    """What a person sees of a turn."""
    return {
        "status": turn.status,
        "answer": turn.answer,
        "problem": turn.problem.message if turn.problem else "",
        "programs": [
            (item.status, item.fault.message if item.fault else "", item.printed, len(item.calls))
            for item in turn.programs
        ],
        "notes": [note for item in turn.programs for note in item.notes],
        "changes": len(turn.changes.changes) if turn.changes else 0,
    }


def one_life(home: Path, folder: Path, url: str, scenario: str, at: int) -> dict[str, Any] | None:
    """A forked child lives once; what it told, or None when it was killed."""
    path = home.parent / "told.json"
    path.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            death = Death(at)
            for owner, name in (
                (TapeFile, "append"),
                (TurnJournal, "add"),
                (ChatStore, "save_turn"),
                (ChatStore, "save_program"),
                (ChatStore, "claim"),
            ):
                death.watch(owner, name)

            async def bounded() -> dict[str, Any]:
                async with asyncio.timeout(LONGEST_S):
                    return await live(home, folder, url, scenario)

            found = asyncio.run(bounded())
            path.write_text(json.dumps({**found, "writes": death.count}), encoding="utf-8")
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return None
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"status": "crashed"}


def tree(folder: Path) -> dict[str, str]:
    """Every file's content."""
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def story(base: Path, port: int, scenario: str, at: int) -> dict[str, Any]:
    """A turn that dies at write `at`, and what came of it when the app was opened again."""
    shutil.rmtree(base, ignore_errors=True)
    folder = base / "folder"
    (folder / "in").mkdir(parents=True)
    for name in ("a", "b", "c"):
        (folder / "in" / f"{name}.txt").write_text(f"text {name}", encoding="utf-8")
    home = base / "home"
    home.mkdir()
    url = f"http://127.0.0.1:{port}/{scenario}-{at}"
    found = one_life(home, folder, url, scenario, at)
    died = found is None
    for _ in range(LIVES):
        if found is not None:
            break
        found = one_life(home, folder, url, scenario, 0)
    return {"at": at, "died": died, "tree": tree(folder), **(found or {"status": "dead"})}


def main(arguments: list[str]) -> None:
    """Tell the undisturbed story, then one for each place of death."""
    base, port, scenario = Path(arguments[0]), int(arguments[1]), arguments[2]
    first, stride, last = (int(text) for text in arguments[3:6])
    import_heavy()
    whole = story(base, port, scenario, 0)
    _tell(whole)
    for at in range(first, min(int(whole.get("writes", 0)), last) + 1, stride):
        _tell(story(base, port, scenario, at))


def _tell(found: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
