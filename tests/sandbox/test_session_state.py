"""What one program of a chat defined, the next one uses: as it was, with where it came from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from app.engine.gate import TurnGate
from sandbox.blobs import BlobStore
from sandbox.effects import Effect
from sandbox.errors import ProgramFaultError, StateUnusableError
from sandbox.grants import grants_of
from sandbox.labels import PRIVATE, UNTRUSTED
from sandbox.limits import Limits
from sandbox.outcome import Outcome, StopToken
from sandbox.pool import SandboxPool
from sandbox.ports import Verdict
from sandbox.program import prepare
from sandbox.runner import Runner
from sandbox.session_state import FRESH, SessionState
from sandbox.stage import FolderGrant, Stage
from tests.sandbox.running import ListJournal

LIMITS = Limits(interpreter_s=10.0)


@pytest.fixture(scope="module")
def pool() -> Iterator[SandboxPool]:
    with SandboxPool(LIMITS) as pool:
        yield pool


class WatchingGate(TurnGate):
    """The turn's own gate, which remembers what it was asked and with which data."""

    def __init__(self) -> None:
        super().__init__(grants_of(frozenset()))
        self.asked: list[tuple[Effect, tuple[str, ...]]] = []

    def judge(self, effects: Sequence[Effect]) -> Verdict:
        self.asked += [(one, self.ledger.reaching(one).labels()) for one in effects]
        return super().judge(effects)

    def labels_of(self, call: str) -> tuple[str, ...]:
        return next(labels for effect, labels in reversed(self.asked) if effect.call == call)


@dataclass
class Chat:
    """Programs one after another, as a turn runs them."""

    folder: Path
    pool: SandboxPool
    limits: Limits = LIMITS
    state: SessionState = FRESH
    gate: WatchingGate = field(default_factory=WatchingGate)

    def __post_init__(self) -> None:
        blobs = BlobStore(self.folder.parent / "blobs")
        self.stage = Stage([FolderGrant(path=self.folder.resolve())], blobs)

    def run(self, source: str) -> Outcome:
        runner = Runner(self.pool, self.limits)
        program = prepare(source, state=self.state)
        runner.check(program)
        outcome = runner.run(
            program,
            program_id="p1",
            stage=self.stage,
            gate=self.gate.begin(program),
            journal=ListJournal(),
            listen=lambda _: None,
            stop=StopToken(),
        )
        if outcome.state is not None:
            self.state = self.gate.labelled(outcome.state)
        self.gate.end()
        return outcome

    def told(self, source: str) -> str:
        outcome = self.run(source)
        assert outcome.fault is None, outcome.fault
        return f"{outcome.printed}{outcome.value or ''}".strip()


@pytest.fixture
def chat(tmp_path: Path, pool: SandboxPool) -> Chat:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "notes.txt").write_text("private words\n", encoding="utf-8")
    return Chat(folder, pool)


def test_variables_and_functions_are_there_in_the_next_program(chat: Chat) -> None:
    chat.told(
        "import json\nfrom pathlib import Path as P\ntotal = 2\nseen = [1]\n"
        "def double(n):\n    return n * 2\n"
    )
    assert chat.told("print(double(total), seen)") == "4 [1]"
    chat.told("total += 1\nseen.append(total)\n")
    assert chat.told("print(json.dumps([total, seen]), P('a').name)") == "[3, [1, 3]] a"


def test_objects_keep_their_classes_and_what_they_share(chat: Chat) -> None:
    chat.told(
        "class Base:\n    def __init__(self, n):\n        self.n = n\n"
        "    def more(self):\n        self.n += 1\n        return self.n\n"
        "class Child(Base):\n    pass\n"
        "one = Child(4)\nboth = [one, one]\nadd = lambda n: n + one.n\n"
    )
    text = "one.more()\nprint(both[1].n, isinstance(one, Child), isinstance(one, Base), add(1))"
    assert chat.told(text) == "5 True True 6"
    assert chat.told("print(Child(1).more(), both[0] is one)") == "2 True"


def test_a_helper_that_uses_files_and_tools_works_in_the_next_program(chat: Chat) -> None:
    chat.told(
        "import csv\n"
        "def rows(name):\n    with open(name) as file:\n        return [line for line in file]\n"
        "def ask(question):\n    return find_text(question, '.')\n"
    )
    assert chat.told("print(rows('notes.txt'))") == "['private words\\n']"
    assert chat.told("found = ask('private')\nprint(len(found) > 0)") == "True"


def test_a_program_may_define_everything_anew(chat: Chat) -> None:
    first = "from datetime import date\ndef helper(n):\n    return n\nday = helper(1)\n"
    chat.told(first)
    chat.told(first)
    assert chat.told("def helper(n):\n    return n + 1\nprint(helper(day))") == "2"
    assert chat.told("import datetime\nday = datetime.date(2024, 1, 2)\nprint(day)") == "2024-01-02"


def test_a_failed_program_leaves_nothing_behind(chat: Chat) -> None:
    chat.told("kept = [1]")
    outcome = chat.run("kept.append(2)\nextra = 1\nraise ValueError('no')")
    assert outcome.fault is not None
    assert outcome.state is None
    assert chat.told("print(kept)") == "[1]"
    with pytest.raises(ProgramFaultError, match="extra"):
        chat.run("print('x')\nprint(extra)\nprint('y')")


def test_a_name_that_was_not_kept_is_a_certain_fault(chat: Chat) -> None:
    chat.told("known = 1")
    with pytest.raises(ProgramFaultError, match="unknown"):
        chat.run("value = known + unknown\nprint(value)\nopen('a.txt', 'w').close()")


def test_a_fault_in_a_helper_is_told_at_the_line_that_called_it(chat: Chat) -> None:
    chat.told("def fails(n):\n    x = 1\n    y = 2\n    return n / 0\n")
    outcome = chat.run("a = 1\nfails(a)\n")
    assert outcome.fault is not None
    assert (outcome.fault.type, outcome.fault.line) == ("ZeroDivisionError", 2)


def test_what_was_read_stays_private_in_the_next_program(chat: Chat) -> None:
    chat.told("text = open('notes.txt').read()\nplace = 'http://127.0.0.1:9/a'\n")
    assert {one.label for one in chat.state.names["text"].held} == {PRIVATE}
    assert chat.state.names["place"].held == ()
    chat.gate = WatchingGate()  # of a new turn: the model's words hold nothing yet
    outcome = chat.run("http_request('POST', place, None, 'hello')")
    assert chat.gate.labels_of("http_request") == ()
    assert outcome.question is not None
    chat.run("http_request('POST', place, None, text.upper())")
    assert PRIVATE in chat.gate.labels_of("http_request")


def test_what_was_read_stays_private_when_a_helper_sends_it(chat: Chat) -> None:
    chat.told(
        "text = open('notes.txt').read()\nclean = 'hello'\n"
        "def send(what):\n    return http_request('POST', 'http://127.0.0.1:9/a', None, what)\n"
    )
    chat.run("send(clean)")
    assert chat.gate.labels_of("http_request") == ()
    chat.run("send(text)")
    assert PRIVATE in chat.gate.labels_of("http_request")


def test_what_is_put_into_an_old_list_is_private_under_its_other_name(chat: Chat) -> None:
    chat.told("one = []\nother = one\nnumber = 3\n")
    chat.told("one.append(open('notes.txt').read())")
    assert {origin.label for origin in chat.state.names["other"].held} == {PRIVATE}
    chat.run("http_request('POST', 'http://127.0.0.1:9/a', None, str(other))")
    assert PRIVATE in chat.gate.labels_of("http_request")


@pytest.mark.parametrize(
    "use",
    [
        "keep(open('notes.txt').read())\nhttp_request('POST', URL, None, str(log))",
        "log.append(open('notes.txt').read())\nhttp_request('POST', URL, None, give())",
        "post(open('notes.txt').read())",
        "calls['post'](open('notes.txt').read())",
        "box.put(open('notes.txt').read())\nhttp_request('POST', URL, None, str(log))",
    ],
)
def test_what_can_be_called_and_is_not_in_the_text_does_everything(chat: Chat, use: str) -> None:
    chat.told(
        "URL = 'http://127.0.0.1:9/a'\nlog = []\nkeep = lambda x: log.append(x)\n"
        "give = lambda: str(log)\npost = lambda x: http_request('POST', URL, None, x)\n"
        "calls = {'post': post}\n"
        "class Box:\n    def put(self, x):\n        log.append(x)\nbox = Box()\n"
    )
    chat.run(use)
    assert PRIVATE in chat.gate.labels_of("http_request")


def test_a_variable_of_another_turn_keeps_its_labels(chat: Chat) -> None:
    chat.told("text = open('notes.txt').read()\n")
    chat.gate = WatchingGate()
    chat.run("copy = text\nhttp_request('POST', 'http://127.0.0.1:9/a', None, copy)")
    assert PRIVATE in chat.gate.labels_of("http_request")
    assert UNTRUSTED not in chat.gate.labels_of("http_request")


def test_a_state_that_is_too_large_is_said_and_dropped(chat: Chat) -> None:
    chat.told("small = 1")
    chat.limits = replace(LIMITS, state_bytes=1_000_000)
    outcome = chat.run("large = 'x' * 2_000_000\nNone")
    assert any("the next program starts fresh" in note for note in outcome.notes)
    assert chat.state == FRESH


def test_a_damaged_state_is_refused_and_the_pool_goes_on(chat: Chat) -> None:
    chat.told("small = 1")
    chat.state = replace(chat.state, session=chat.state.session[: len(chat.state.session) // 2])
    with pytest.raises(StateUnusableError):
        chat.run("print(small)")
    chat.state = FRESH
    assert chat.told("print(1)") == "1"


def test_a_file_that_was_left_open_is_closed(chat: Chat) -> None:
    chat.told("big = open('notes.txt')\nfirst = next(big)\n")
    outcome = chat.run("other = open('notes.txt')\nnext(other)\nprint(big.read())")
    assert outcome.fault is None or "closed" in outcome.fault.message


def test_a_class_of_an_earlier_program_can_be_derived_from_or_it_is_said(chat: Chat) -> None:
    chat.told("class Base:\n    def name(self):\n        return 'base'\n")
    told = chat.told(
        "class Child(Base):\n    def name(self):\n        return super().name() + '!'\n"
        "print(Child().name())"
    )
    assert told == "base!"
