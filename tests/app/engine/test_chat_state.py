"""What a chat defined is there in its next turn, after a restart too, until it is reset."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from app.engine.engine import Engine
from app.engine.events import Notice
from app.engine.mailbox import Mailbox
from app.errors import AppError
from app.paths import Paths
from app.store.records import ChatRecord, Folder, TurnRecord
from app.store.state_file import StateFiles
from sandbox.errors import StateUnusableError
from sandbox.session_state import FRESH, SessionState, Variable
from tests.turns import run

DEFINES = "total = 3\ndef double(n):\n    return 2 * n\nprint(total)\n"
USES = "print(double(total))\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "desk"
    folder.mkdir()
    (folder / "notes.txt").write_text("private words", encoding="utf-8")
    return folder


class Opened:
    """An engine that is opened again and again on one home."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self.heard: list[str] = []

    async def __aenter__(self) -> Engine:
        mailbox = Mailbox()
        self.engine = Engine(Paths(home=self._home), mailbox)
        self._mailbox = mailbox
        await self.engine.start(in_background=False)
        return self.engine

    async def __aexit__(self, *_: object) -> None:
        self.heard += [one.message for one in self._mailbox.drain() if isinstance(one, Notice)]
        await self.engine.close()


async def chat_on(engine: Engine, folder: Path) -> ChatRecord:
    return await engine.new_chat([Folder(path=str(folder))])


async def ran(engine: Engine, chat: ChatRecord, source: str) -> TurnRecord:
    turn = await engine.run_program(chat.chat_id, source, "program")
    return await engine.wait(turn.turn_id)


def states_of(home: Path) -> list[Path]:
    return sorted((home / "states").rglob("*.state"))


def test_the_next_turn_uses_what_an_earlier_one_defined(drydock_home: Path, folder: Path) -> None:
    async def work() -> None:
        async with Opened(drydock_home) as engine:
            chat = await chat_on(engine, folder)
            assert (await ran(engine, chat, DEFINES)).answer == "3"
            assert (await ran(engine, chat, USES)).answer == "6"
            other = await chat_on(engine, folder)
            assert (await ran(engine, other, USES)).status == "failed"

    run(work)


def test_it_survives_a_restart_and_can_be_reset(drydock_home: Path, folder: Path) -> None:
    async def work() -> None:
        opened = Opened(drydock_home)
        async with opened as engine:
            chat = await chat_on(engine, folder)
            await ran(engine, chat, DEFINES)
        async with opened as engine:
            assert (await ran(engine, chat, USES)).answer == "6"
            session = await engine.sessions.of(chat.chat_id)
            assert (session.variables, session.functions) == (("total",), ("double",))
            assert session.size_bytes > 0
            await engine.sessions.reset(chat.chat_id)
            assert (await engine.sessions.of(chat.chat_id)).is_empty
            assert not states_of(drydock_home)
            assert (await ran(engine, chat, USES)).status == "failed"

    run(work)


def test_a_turn_that_fails_or_is_refused_leaves_the_state_as_it_was(
    drydock_home: Path, folder: Path
) -> None:
    async def work() -> None:
        async with Opened(drydock_home) as engine:
            chat = await chat_on(engine, folder)
            await ran(engine, chat, "seen = [1]")
            failed = await ran(engine, chat, "seen.append(2)\nraise ValueError('no')")
            assert failed.status == "failed"
            asking = await ran(
                engine,
                chat,
                "seen.append(3)\nhttp_request('POST', 'http://127.0.0.1:9/', None, 'x')",
            )
            assert asking.status == "asking"
            with pytest.raises(AppError, match="still at work"):
                await engine.sessions.reset(chat.chat_id)
            await engine.stop(asking.turn_id)
            assert (await ran(engine, chat, "print(seen)")).answer == "[1]"

    run(work)


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:2000])


def _alter(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-100] ^= 1
    path.write_bytes(bytes(data))


def _of_another_interpreter(path: Path) -> None:
    home = path.parents[2]
    files = StateFiles(home / "states", home / "artifacts" / "handles.key")
    state = files.load(path.parent.name, path.stem)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pydantic_monty.__version__", "0.0.9")
        files.save(path.parent.name, path.stem, state)


def _of_another_library(path: Path) -> None:
    home = path.parents[2]
    files = StateFiles(home / "states", home / "artifacts" / "handles.key")
    state = files.load(path.parent.name, path.stem)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.store.state_file.library_mark", lambda: "other")
        files.save(path.parent.name, path.stem, state)


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (_truncate, "damaged, or was altered"),
        (_alter, "damaged, or was altered"),
        (_of_another_interpreter, "of the program interpreter 0.0.9"),
        (_of_another_library, "another version of Drydock"),
    ],
)
def test_a_state_that_cannot_be_used_is_said_and_the_next_program_starts_fresh(
    drydock_home: Path, folder: Path, harm: Callable[[Path], None], said: str
) -> None:
    async def work() -> None:
        opened = Opened(drydock_home)
        async with opened as engine:
            chat = await chat_on(engine, folder)
            await ran(engine, chat, DEFINES)
        (path,) = states_of(drydock_home)
        harm(path)
        async with opened as engine:
            assert said in (await engine.sessions.of(chat.chat_id)).problem
            assert (await ran(engine, chat, "fresh = 1\nprint(fresh)")).answer == "1"
            assert (await ran(engine, chat, "print(fresh)")).answer == "1"
        assert any(said in message for message in opened.heard)

    run(work)


def test_a_state_of_another_chat_is_refused(tmp_path: Path) -> None:
    files = StateFiles(tmp_path / "states", tmp_path / "key")
    files.save("one", "turn", SessionState(session=b"dump", names={"a": Variable(plain=True)}))
    assert files.load("one", "turn").names == {"a": Variable(plain=True)}
    (tmp_path / "states" / "one").rename(tmp_path / "states" / "two")
    with pytest.raises(StateUnusableError, match="altered"):
        files.load("two", "turn")


def test_only_the_latest_states_of_a_chat_are_kept(tmp_path: Path) -> None:
    files = StateFiles(tmp_path / "states", tmp_path / "key")
    for number in range(30):
        files.save("chat", f"turn{number:02}", FRESH)
    kept = [f"turn{number:02}" for number in range(30)]
    assert files.latest("chat", kept) == "turn29"
    assert len(states_of(tmp_path)) == 20
    files.forget_strays({"other"})
    assert not states_of(tmp_path)


def test_values_that_become_known_are_taken_out(tmp_path: Path) -> None:
    known: list[bytes] = []

    def scrub(data: bytes) -> bytes:
        for value in known:
            data = data.replace(value, b"*" * len(value))
        return data

    files = StateFiles(tmp_path / "states", tmp_path / "key", scrub)
    files.save("chat", "turn", SessionState(session=b"dump with swordfish in it"))
    known.append(b"swordfish")
    files.scrub()
    assert files.load("chat", "turn").session == b"dump with ********* in it"


def test_a_chat_that_is_deleted_takes_its_state_along(drydock_home: Path, folder: Path) -> None:
    async def work() -> None:
        async with Opened(drydock_home) as engine:
            chat = await chat_on(engine, folder)
            await ran(engine, chat, DEFINES)
            assert states_of(drydock_home)
            await engine.delete_chat(chat.chat_id)
            assert not states_of(drydock_home)

    run(work)
