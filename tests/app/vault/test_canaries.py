"""Canary secrets are planted, everything runs, and no byte of what is kept or sent shows one.

Out of scope, and said so in `redact.py`: the person's own files and what is staged from them.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from app.engine.engine import Engine
from app.engine.events import Event, Notice, ReplyDelta, TurnChanged
from app.engine.mailbox import Mailbox
from app.log import start_log
from app.paths import Paths
from app.store.records import Folder, TurnRecord
from sandbox.grants import grants_of
from sandbox.secrets import Binding, BoundHost
from tests.app.vault.canaries import (
    CANARIES,
    PASSWORD,
    TOKEN,
    DictKeyring,
    files_below,
    leaks_in,
)
from tests.fakes import Script, ScriptedModels, program_reply
from tests.sandbox.loopback import Loopback, serve
from tests.turns import run

HOST = BoundHost(name="127.0.0.1")
TOKEN_BINDING = Binding(name="github", hosts=(HOST,))
PASSWORD_BINDING = Binding(name="mail", kind="password", user="me", hosts=(HOST,))

LEAKY_PROGRAMS = [
    "print(open('.env').read())",
    "import base64\nt = open('.env').read()\n"
    "for n in range(3):\n    print(base64.b64encode(('x' * n + t).encode()).decode())",
    "import base64\nprint(base64.urlsafe_b64encode(open('.env').read().encode()).decode())",
    "t = open('.env').read().encode()\nprint(t.hex(), t.hex().upper(), t, list(t))",
    "import json\nt = open('.env').read()\nprint(json.dumps({'a': t, 'b': json.dumps([t])}))",
    "from urllib.parse import quote\nprint(quote(open('.env').read(), safe=''))",
    "for c in open('.env').read():\n    print(c, end='')",
    "raise ValueError(open('.env').read())",
    "open(open('.env').read().splitlines()[0])",
    "print(fetch_url('http://127.0.0.1:1/?' + open('.env').read().splitlines()[0]))",
    "assert False, open('.env').read()",
    "{}[open('.env').read()]",
    "open('.env').read()",
    "import sys\nsys.exit(open('.env').read())",
]


class Watched:
    """An engine with the canaries in its vault, whose events are kept."""

    def __init__(self, home: Path, script: Script) -> None:
        self.home = home
        self.script = script
        self.mailbox = Mailbox()
        self.events: list[Event] = []
        start_log(home / "logs", debug=True)
        self.engine = Engine(
            Paths(home=home),
            self.mailbox,
            models=ScriptedModels(script=script),
            keyring=DictKeyring(),
        )

    async def __aenter__(self) -> Watched:
        await self.engine.start(in_background=False)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.events += self.mailbox.drain()
        await self.engine.close()

    async def plant(self) -> None:
        await self.engine.secrets.add(TOKEN_BINDING, TOKEN, "keyring")
        await self.engine.secrets.add(PASSWORD_BINDING, PASSWORD, "keyring")

    async def program(self, folder: Path, source: str) -> TurnRecord:
        chat = await self.engine.new_chat([Folder(path=str(folder))])
        turn = await self.engine.run_program(
            chat.chat_id, source, "program.py", grants=grants_of(frozenset({"host:127.0.0.1"}))
        )
        return await self.engine.wait(turn.turn_id)

    def leaks(self) -> list[str]:
        """Everywhere that a canary must not be."""
        told = [("events", repr(self.events).encode("utf-8", "surrogatepass"))]
        deltas = "".join(each.text for each in self.events if isinstance(each, ReplyDelta))
        asked = [
            (f"request {number}", repr(request).encode())
            for number, request in enumerate(self.script.seen)
        ]
        return leaks_in([*files_below(self.home), *told, ("stream", deltas.encode()), *asked])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "folder"
    made.mkdir()
    (made / ".env").write_text(f"TOKEN={TOKEN}\nPASSWORD={PASSWORD}\n", encoding="utf-8")
    return made


@pytest.fixture
def server() -> Any:
    with serve() as loopback:
        yield loopback


def test_a_search_that_finds_nothing_would_find_a_canary() -> None:
    assert leaks_in([("x", f"a{TOKEN}b".encode())])
    assert leaks_in([("x", PASSWORD.encode().hex().encode())])
    assert not leaks_in([("x", b"nothing")])


def test_programs_that_try_to_leak_leave_nothing(drydock_home: Path, folder: Path) -> None:
    watched = Watched(drydock_home, Script([]))

    async def work() -> None:
        async with watched:
            await watched.plant()
            for source in LEAKY_PROGRAMS:
                turn = await watched.program(folder, source)
                assert turn.status in {"done", "failed"}, source
            await watched.program(folder, f"print({TOKEN!r})\nprint({PASSWORD!r})")
            await watched.engine.run_records()

    run(work)
    assert watched.leaks() == []
    shown = repr(watched.events)
    assert "[secret:github]" in shown
    assert "[secret:mail]" in shown


def test_a_conversation_about_a_secret_leaves_nothing(drydock_home: Path, folder: Path) -> None:
    reply = f"Your token is {TOKEN}.\n" + program_reply(f"print({TOKEN!r}, {PASSWORD!r})")
    replies: list[str | Exception] = [
        program_reply("print(1 / 0)  # " + TOKEN),
        reply,
        program_reply(f"raise ValueError({PASSWORD!r})"),
        RuntimeError(f"the server said {TOKEN}"),
    ]
    watched = Watched(drydock_home, Script(replies, piece_chars=5))

    async def work() -> None:
        async with watched:
            await watched.plant()
            chat = await watched.engine.new_chat([Folder(path=str(folder))])
            for request in (f"Use my token {TOKEN} to list", f"And {PASSWORD} for the mail"):
                turn = await watched.engine.send(chat.chat_id, request)
                await watched.engine.wait(turn.turn_id)

    run(work)
    assert watched.script.seen
    assert watched.leaks() == []
    turns = [each.turn for each in watched.events if isinstance(each, TurnChanged)]
    assert any("[secret:github]" in turn.reply for turn in turns)
    assert any("[secret:github]" in turn.request for turn in turns)


def test_sending_a_secret_leaves_nothing_but_the_record_of_its_use(
    drydock_home: Path, folder: Path, server: Loopback
) -> None:
    url = server.page("/echo", f"you sent {TOKEN} and {PASSWORD}")
    server.page("/away", status=302, headers=(("Location", f"http://localhost/?{TOKEN}"),))
    watched = Watched(drydock_home, Script([]))
    turns: list[TurnRecord] = []

    async def work() -> None:
        async with watched:
            await watched.plant()
            for name, path in (("github", "/echo"), ("mail", "/echo"), ("github", "/away")):
                source = f"""
r = await http_request("GET", "{server.url(path)}", auth=secret("{name}"))
print(r)
open("answer.txt", "w").write(r["text"])
open("answer.bin", "wb").write(r["data"])
"""
                turns.append(await watched.program(folder, source))
            for turn in turns[:2]:
                await watched.engine.decide(turn.turn_id, approved=None)
            steps = await watched.engine.journal(turns[0].turn_id)
            uses = [each.data for each in steps if each.step == "secret-used"]
            assert uses == [
                {"secret": "github", "method": "GET", "host": f"127.0.0.1:{server.port}"}
            ]
            views = {view.record.name: view.record for view in await watched.engine.secrets.all()}
            assert views["github"].uses == 2
            assert views["mail"].used is not None

    run(work)
    assert [turn.status for turn in turns] == ["waiting", "waiting", "failed"]
    assert url
    assert {seen[2]["authorization"][:6] for seen in server.seen} == {"Bearer", "Basic "}
    assert watched.leaks() == []


def test_logs_and_errors_of_ours_leave_nothing(drydock_home: Path, folder: Path) -> None:
    watched = Watched(drydock_home, Script([]))

    async def work() -> None:
        async with watched:
            await watched.plant()
            log = logging.getLogger("app.test")
            log.warning("the token is %s", TOKEN)
            try:
                raise RuntimeError(f"it broke at {PASSWORD}")
            except RuntimeError:
                log.exception("an error of ours")
            watched.mailbox.post(Notice(severity="info", message=f"see {TOKEN}"))

    run(work)
    text = (drydock_home / "logs" / "drydock.log").read_text(encoding="utf-8")
    assert "the token is [secret:github]" in text
    assert "[secret:mail]" in text
    assert watched.leaks() == []


def test_what_was_written_before_a_value_was_known_is_cleaned_when_it_is_added(
    drydock_home: Path, folder: Path
) -> None:
    watched = Watched(drydock_home, Script([program_reply(f"print({TOKEN!r})")]))

    async def work() -> None:
        async with watched:
            chat = await watched.engine.new_chat([Folder(path=str(folder))])
            turn = await watched.engine.send(chat.chat_id, f"My token is {TOKEN}")
            await watched.engine.wait(turn.turn_id)
            await watched.program(folder, f"print({PASSWORD!r})")
            logging.getLogger("app.test").warning("the token is %s", TOKEN)
            assert leaks_in(files_below(drydock_home))
            watched.mailbox.drain()
            watched.script.seen.clear()
            await watched.plant()
            view = await watched.engine.open_chat(chat.chat_id)
            assert view.turns[0].request == "My token is [secret:github]"

    run(work)
    assert watched.leaks() == []


def test_values_are_known_again_in_the_next_process(drydock_home: Path, folder: Path) -> None:
    first = Watched(drydock_home, Script([]))
    keyring = first.engine.secrets.vault.keyring

    async def work() -> None:
        async with first:
            await first.plant()
        second = Engine(
            Paths(home=drydock_home), Mailbox(), models=ScriptedModels(), keyring=keyring
        )
        await second.start(in_background=False)
        try:
            chat = await second.new_chat([Folder(path=str(folder))])
            turn = await second.run_program(chat.chat_id, f"print({CANARIES!r})", "p.py")
            turn = await second.wait(turn.turn_id)
            assert "[secret:github]" in turn.programs[0].printed
        finally:
            await second.close()

    run(work)
    assert leaks_in(files_below(drydock_home)) == []
