"""A call that was under way when the process ended: asked about, done again, or taken as done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from sandbox.blobs import BlobStore
from sandbox.effects import Effect
from sandbox.grants import grants_of
from sandbox.limits import Limits
from sandbox.outcome import Outcome, StopToken
from sandbox.pool import SandboxPool
from sandbox.ports import Verdict
from sandbox.program import prepare
from sandbox.question import DONE
from sandbox.runner import Runner
from sandbox.stage import FolderGrant, Stage
from sandbox.tape import RESULT, Recorded, Reply, Tape, reply_mark
from tests.sandbox.loopback import Loopback, serve
from tests.sandbox.running import AllowAll, ListJournal

LIMITS = Limits(interpreter_s=10.0)
SEND = """
reply = http_request("POST", "URL", None, "hello")
print(reply["status"], repr(reply["text"]), reply["headers"])
"""


@pytest.fixture(scope="module")
def pool() -> Iterator[SandboxPool]:
    with SandboxPool(LIMITS) as pool:
        yield pool


@pytest.fixture
def server() -> Iterator[Loopback]:
    with serve() as server:
        server.page("/once", "got it", headers=(("Content-Type", "text/plain"),))
        yield server


class AskOutside(AllowAll):
    """A gate that asks about everything but what is staged."""

    def judge(self, effects: Sequence[Effect]) -> Verdict:
        if any(effect.kind == "ask" for effect in effects):
            return Verdict(outcome="ask", reason="test")
        return super().judge(effects)


class Lives:
    """A program that is run again and again with one tape."""

    def __init__(self, source: str, folder: Path, pool: SandboxPool, host: str = "") -> None:
        folder.mkdir(exist_ok=True)
        self.marks: list[bytes] = []
        self._source, self._folder, self._pool = source, folder, pool
        self._grants = grants_of(frozenset({f"host:{host}"} if host else ()))

    def append(self, mark: bytes, *, sync: bool) -> None:
        self.marks.append(mark)

    def run(self) -> Outcome:
        recorded = Recorded()
        for mark in self.marks:
            recorded.add(mark)
        blobs = BlobStore(self._folder.parent / "blobs")
        return Runner(self._pool, LIMITS).run(
            prepare(self._source),
            program_id="p1",
            stage=Stage([FolderGrant(path=self._folder.resolve())], blobs),
            gate=AskOutside(),
            journal=ListJournal(),
            listen=lambda _: None,
            stop=StopToken(),
            grants=self._grants,
            tape=Tape(self, recorded),
        )

    def die_before_the_result(self) -> None:
        last = max(n for n, mark in enumerate(self.marks) if mark[:1] == RESULT)
        del self.marks[last:]

    def answer(self, outcome: Outcome, text: str = "", *, approved: bool = True) -> None:
        question = outcome.question
        assert question is not None
        reply = Reply(
            ordinal=question.ordinal,
            kind=question.kind,
            digest=bytes.fromhex(question.digest),
            approved=approved,
            text=text,
        )
        self.marks.append(reply_mark(reply))


@pytest.fixture
def lives(tmp_path: Path, pool: SandboxPool, server: Loopback) -> Lives:
    source = SEND.replace("URL", f"http://127.0.0.1:{server.port}/once")
    made = Lives(source, tmp_path / "files", pool, f"127.0.0.1:{server.port}")
    assert "got it" in made.run().printed
    made.die_before_the_result()
    return made


def test_what_was_done_is_taken_as_done_and_the_model_is_told(
    lives: Lives, server: Loopback
) -> None:
    asking = lives.run()
    assert asking.question is not None
    assert asking.question.kind == "unknown"
    lives.answer(asking, DONE)
    outcome = lives.run()
    assert outcome.fault is None
    assert outcome.printed == "0 '' {}\n"
    assert any("was done, as the person says" in note for note in outcome.notes)
    assert len(server.seen) == 1
    assert lives.run().printed == outcome.printed
    assert len(server.seen) == 1


def test_it_is_done_again_when_the_person_says_so(lives: Lives, server: Loopback) -> None:
    lives.answer(lives.run())
    assert "got it" in lives.run().printed
    assert len(server.seen) == 2


def test_a_refusal_is_an_error_of_the_program(lives: Lives, server: Loopback) -> None:
    lives.answer(lives.run(), "leave it", approved=False)
    fault = lives.run().fault
    assert fault is not None
    assert "not to be repeated" in fault.message
    assert len(server.seen) == 1


def test_what_the_person_answered_is_not_asked_about_again(
    tmp_path: Path, pool: SandboxPool
) -> None:
    lives = Lives("print(ask_user('Which?', ['red', 'blue']))", tmp_path / "files", pool)
    lives.answer(lives.run(), "blue")
    assert lives.run().printed == "blue\n"
    lives.die_before_the_result()
    outcome = lives.run()
    assert outcome.question is None
    assert outcome.printed == "blue\n"
