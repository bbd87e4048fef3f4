"""The tables can fail: without any one rule, or any one join of labels, some row does."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from app.engine.gate import TurnGate
from sandbox import policy, review
from sandbox.effects import Effect
from sandbox.flow_calls import Calls
from sandbox.flow_graph import Graph
from sandbox.flow_names import Scope
from sandbox.flow_values import Values
from sandbox.flow_walk import Walk
from sandbox.grants import grants_of
from sandbox.labels import Marks
from sandbox.origins import Reaching
from sandbox.pool import SandboxPool
from sandbox.turn_ledger import TurnLedger
from tests.attacks.arena import Seen, Turn, play, replay
from tests.attacks.test_attacks import FAMILIES
from tests.benign.everyday import TURNS as BENIGN
from tests.sandbox.loopback import serve
from tests.sandbox.test_policy import ROWS, holds

Played = list[tuple[Turn, Seen, bool]]


@pytest.fixture(scope="module")
def played() -> Iterator[Played]:
    """Every turn of both tables, run once for real."""
    found: Played = []
    with SandboxPool() as pool, serve() as web, tempfile.TemporaryDirectory() as scratch:
        attacks = [turn for turns in FAMILIES.values() for turn in turns]
        for number, turn in enumerate((*attacks, *BENIGN)):
            folder = Path(scratch) / str(number)
            folder.mkdir()
            seen = play(turn, folder, pool, web)
            found.append((turn, seen, number < len(attacks)))
        yield found


def _right(turn: Turn, seen: Seen, *, is_attack: bool) -> bool:
    if not is_attack:
        wanted = 0 if turn.read_only or turn.standing else 1
        return not seen.verdicts and seen.asked == wanted
    named = all(code in seen.codes for code in turn.names)
    return (named or len(seen.refused) == len(turn.programs)) and (
        not seen.changes.changes or seen.review.outcome == "ask"
    )


def _fails(played: Played) -> bool:
    """Whether any row of any table is wrong now."""
    return (
        not all(holds(row) for row in ROWS)
        or not _unknown_is_asked()
        or any(
            not _right(turn, replay(turn, seen), is_attack=is_attack)
            for turn, seen, is_attack in played
        )
    )


def _unknown_is_asked() -> bool:
    """Whether a program that was not analysed may not ask a host after it has read."""
    gate = TurnGate(grants_of(frozenset({"host:example.org"})))
    gate.judge([Effect(kind="read", path="/home/ann/notes.txt", size_bytes=3)])
    page = Effect(kind="read", path="https://example.org/", call="fetch_url")
    return gate.judge([page]).outcome == "ask"


def test_the_tables_hold_when_they_are_judged_again(played: Played) -> None:
    assert not _fails(played)


@pytest.mark.parametrize("code", [rule.code for rule in policy.CALL_RULES])
def test_each_rule_for_calls_is_needed(
    code: str, played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    rest = tuple(rule for rule in policy.CALL_RULES if rule.code != code)
    monkeypatch.setattr(policy, "CALL_RULES", rest)
    assert _fails(played)


@pytest.mark.parametrize("code", [rule.code for rule in review.REVIEW_RULES])
def test_each_rule_for_the_review_is_needed(
    code: str, played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    rest = tuple(rule for rule in review.REVIEW_RULES if rule.code != code)
    monkeypatch.setattr(review, "REVIEW_RULES", rest)
    assert _fails(played)


def _nothing(*_: object, **__: object) -> None:
    return None


def _same_value(_self: object, value: int, *_: object) -> int:
    return value


def _no_origins(*_: object, **__: object) -> tuple[object, ...]:
    return ()


JOINS: Sequence[tuple[str, object, str, Callable[..., object]]] = (
    ("data of one value in another", Graph, "flow", _nothing),
    ("several values in one", Graph, "merged", lambda _self, nodes: 0),
    ("what decides on a value", Graph, "lead", _nothing),
    ("values that are the same object", Graph, "same", _nothing),
    ("what is written into an object", Graph, "write", _nothing),
    ("control as influence", Marks, "as_influence", lambda _self, mark: 0),
    ("assignment", Values, "assign_name", _nothing),
    ("targets of an assignment", Values, "bind", _nothing),
    ("containers and attributes that are stored into", Values, "_store", _nothing),
    ("containers", Values, "_container", lambda self, parts: self.graph.node()),
    ("comprehensions", Values, "_comprehension", lambda self, node: self.graph.node()),
    ("formatting", Values, "_formatted", lambda self, node: 0),
    ("sums", Values, "_binary", lambda self, node: 0),
    ("errors", Values, "raises", _nothing),
    ("early ends", Values, "ends", _nothing),
    ("functions that keep or wait", Values, "_after", _nothing),
    ("parameters and defaults", Values, "parameters", _nothing),
    ("constants that the model was shown", Values, "_constant", lambda self, node: 0),
    ("arguments", Calls, "_pass", _nothing),
    ("calls of functions by way of values", Calls, "connect", lambda self: False),
    ("what calls write into", Calls, "_written", _nothing),
    ("what calls give", Calls, "_aliased", _nothing),
    ("what an opened file takes", Calls, "_content", lambda self, value: 0),
    ("where ways meet", Scope, "_join", _nothing),
    ("operators of a class", Walk, "finish", _nothing),
    ("names out of a function", Scope, "outside", _nothing),
    ("leaving a loop", Walk, "_leaves_loop", _nothing),
    ("raising", Walk, "_raise", _nothing),
    ("asserting", Walk, "_assert", _nothing),
    ("returning", Walk, "_return", _nothing),
    ("matching", Walk, "_match", _nothing),
    ("program to program", TurnLedger, "end", _nothing),
    ("files in the stage", TurnLedger, "_written", _nothing),
    ("moved files", TurnLedger, "_gone", _nothing),
    ("names in the stage", TurnLedger, "_name", _nothing),
    ("content", TurnLedger, "_content", _no_origins),
    ("what calls yield", TurnLedger, "_yielded", _no_origins),
    ("what steers", TurnLedger, "_steer", _nothing),
    ("calls without a flow", TurnLedger, "_from_everywhere", lambda self: Reaching()),
)


@pytest.mark.parametrize(("owner", "name", "instead"), [j[1:] for j in JOINS], ids=[j[0] for j in JOINS])  # fmt: skip
def test_each_join_of_labels_is_needed(
    owner: object,
    name: str,
    instead: Callable[..., object],
    played: Played,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert hasattr(owner, name)
    monkeypatch.setattr(owner, name, instead)
    try:
        failed = _fails(played)
    except (IndexError, KeyError, AttributeError):
        failed = True
    assert failed, "no row needs this join"
