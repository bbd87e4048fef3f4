"""The gate of a turn: for every kind of effect what it allows, asks about and denies."""

from __future__ import annotations

import pytest

from app.engine.gate import TurnGate
from sandbox.effects import Effect, EffectKind, Span
from sandbox.grants import Grants, grants_of
from sandbox.program import Program, prepare

PRIVATE = Effect(kind="read", path="/home/ann/notes.txt")
LISTING = Effect(kind="read", path="/home/ann", folder=True)


def granted(*texts: str) -> Grants:
    return grants_of(frozenset(texts))


def read(url: str, asked: str | None = None) -> Effect:
    call = "fetch_url" if asked is None else "redirect"
    return Effect(kind="read", path=url, target=asked, call=call)


@pytest.mark.parametrize("kind", ["read", "create", "modify", "delete", "move"])
def test_a_file_effect_is_allowed_since_it_is_staged(kind: EffectKind) -> None:
    assert TurnGate().judge([Effect(kind=kind, path="/home/ann/a")]).outcome == "allow"


def test_no_effect_is_allowed() -> None:
    assert TurnGate().judge([]).outcome == "allow"


def test_a_kind_without_a_rule_is_denied_under_every_grant() -> None:
    gate = TurnGate(granted("host:example.org", "tool:send"))
    verdict = gate.judge([Effect(kind="new", path="https://example.org/")])  # type: ignore[arg-type]
    assert verdict.outcome == "deny"
    assert verdict.message


def test_what_is_shown_to_the_person_is_allowed_and_a_question_waits() -> None:
    assert TurnGate().judge([PRIVATE, Effect(kind="show", path="")]).outcome == "allow"
    verdict = TurnGate().judge([Effect(kind="ask", path="")])
    assert verdict.outcome == "ask"
    assert [reason.code for reason in verdict.reasons] == ["asks"]


@pytest.mark.parametrize("kind", ["command", "secret", "request", "tool"])
def test_what_cannot_be_taken_back_is_asked_about(kind: EffectKind) -> None:
    verdict = TurnGate().judge([Effect(kind=kind, path="https://example.org/")])
    assert verdict.outcome == "ask"
    assert verdict.reasons
    assert verdict.message


def test_one_effect_to_be_asked_about_asks_for_the_call() -> None:
    effects = [PRIVATE, Effect(kind="command", path="ls")]
    assert TurnGate().judge(effects).outcome == "ask"


def test_one_denied_effect_denies_the_call() -> None:
    unbound = Effect(kind="new", path="x")  # type: ignore[arg-type]
    assert TurnGate().judge([Effect(kind="command", path="ls"), unbound]).outcome == "deny"


@pytest.mark.parametrize(
    ("grant", "url", "outcome"),
    [
        ("host:example.org", "https://example.org/a?b=c", "allow"),
        ("host:example.org", "http://EXAMPLE.org:8080/", "allow"),
        ("host:example.org:443", "https://example.org/", "allow"),
        ("host:example.org:443", "http://example.org/", "ask"),
        ("host:example.org", "https://www.example.org/", "ask"),
        ("host:example.org", "https://example.org.evil.net/", "ask"),
        ("host:example.org", "https://evil.net/example.org", "ask"),
        ("host:127.0.0.1:80", "http://2130706433/", "allow"),
        ("tool:example.org", "https://example.org/", "ask"),
        ("send:example.org", "https://example.org/", "ask"),
        ("host:example.org", "http://[bad/", "ask"),
    ],
)
def test_a_host_is_read_under_its_own_grant_alone(grant: str, url: str, outcome: str) -> None:
    verdict = TurnGate(granted(grant)).judge([read(url)])
    assert verdict.outcome == outcome
    assert outcome == "allow" or "grant host:" in verdict.message


@pytest.mark.parametrize(
    ("grant", "outcome"), [("send:example.org", "allow"), ("host:example.org", "ask")]
)
def test_a_host_is_sent_to_under_its_own_grant_alone(grant: str, outcome: str) -> None:
    effect = Effect(kind="request", path="https://example.org/", call="http_request")
    assert TurnGate(granted(grant)).judge([effect]).outcome == outcome


@pytest.mark.parametrize(("name", "outcome"), [("send", "allow"), ("send_all", "ask")])
def test_a_tool_is_used_under_its_own_grant_alone(name: str, outcome: str) -> None:
    gate = TurnGate(granted("tool:send"))
    assert gate.judge([Effect(kind="tool", path=name)]).outcome == outcome


@pytest.mark.parametrize(("command", "outcome"), [("ls -l", "allow"), ("rm ls", "ask")])
def test_a_command_is_run_under_a_pattern_that_fits(command: str, outcome: str) -> None:
    gate = TurnGate(granted("command:ls*"))
    assert gate.judge([Effect(kind="command", path=command)]).outcome == outcome


WRITTEN = "https://example.org/prices?year=2024"
SOURCE = f"""text = open('notes.txt').read()
page = fetch_url('{WRITTEN}')
made = fetch_url('https://example.org/?x=' + text)
"""
MOVED = Effect(kind="move", path="/home/ann/a.txt", target="/home/ann/b.txt")
DELETED = Effect(kind="delete", path="/home/ann/a.txt")


def at(program: Program, text: str) -> Span:
    """The place of a call in the source of a program."""
    start = program.source.index(text)
    depth, end = 0, start
    while True:
        depth += {"(": 1, ")": -1}.get(program.source[end], 0)
        end += 1
        if depth == 0 and program.source[end - 1] == ")":
            line = program.source.count("\n", 0, start) + 1
            return Span(start=start, end=end, line=line)


def begun() -> tuple[TurnGate, Effect, Effect, Effect]:
    """A gate at a program; the effects of its reading and of its two requests."""
    program = prepare(SOURCE)
    gate = TurnGate(granted("host:example.org")).begin(program)
    notes = Effect(
        kind="read", path="/home/ann/notes.txt", call="open", span=at(program, "open('notes")
    )
    fixed = Effect(
        kind="read", path=WRITTEN, call="fetch_url", span=at(program, "fetch_url('https://example.org/p")
    )  # fmt: skip
    made = Effect(
        kind="read",
        path="https://example.org/?x=my-secret",
        call="fetch_url",
        span=at(program, "fetch_url('https://example.org/?x"),
    )
    return gate, notes, fixed, made


def test_an_address_made_of_what_was_read_is_asked_about_and_not_quoted() -> None:
    gate, notes, _, made = begun()
    assert gate.judge([made]).outcome == "allow", "nothing was read yet"
    assert gate.judge([notes]).outcome == "allow"
    verdict = gate.judge([made])
    assert verdict.outcome == "ask"
    assert verdict.reasons[0].code == "private-to-host"
    assert verdict.reasons[0].data["source"] == "/home/ann/notes.txt"
    assert "secret" not in verdict.message


def test_an_address_that_stands_in_the_program_holds_nothing_that_was_read() -> None:
    gate, notes, fixed, _ = begun()
    gate.judge([notes])
    assert gate.judge([fixed]).outcome == "allow"


@pytest.mark.parametrize(
    "before", [PRIVATE, LISTING, MOVED, DELETED], ids=["a file", "names", "a move", "a deletion"]
)
def test_without_a_flow_everything_learned_is_in_every_address(before: Effect) -> None:
    gate = TurnGate(granted("host:example.org"))
    made = read("https://example.org/?x=1")
    assert gate.judge([made]).outcome == "allow"
    assert gate.judge([before]).outcome == "allow"
    assert gate.judge([made]).outcome == "ask"


@pytest.mark.parametrize("kind", ["create", "modify"])
def test_what_a_program_writes_tells_it_nothing(kind: EffectKind) -> None:
    gate = TurnGate(granted("host:example.org"))
    gate.judge([Effect(kind=kind, path="/home/ann/a")])
    assert gate.judge([read("https://example.org/?page=2")]).outcome == "allow"


@pytest.mark.parametrize(
    ("hop", "outcome"),
    [
        ("https://example.org/moved", "allow"),
        ("https://other.net/moved", "deny"),
        ("https://other.net.example.org/moved", "deny"),
    ],
)
def test_a_redirect_needs_its_host_granted_and_nobody_is_asked(hop: str, outcome: str) -> None:
    gate, notes, fixed, _ = begun()
    gate.judge([notes])
    gate.judge([fixed])
    assert gate.judge([read(hop, WRITTEN)]).outcome == outcome


def test_what_the_model_was_shown_may_be_in_the_next_program() -> None:
    gate, notes, _, _ = begun()
    gate.judge([notes])
    gate.end()
    program = prepare("page = fetch_url('https://example.org/?x=my-secret')\n")
    gate.begin(program)
    effect = Effect(
        kind="read",
        path="https://example.org/?x=my-secret",
        call="fetch_url",
        span=at(program, "fetch_url("),
    )
    assert gate.judge([effect]).reasons[0].code == "private-to-host"


def test_an_address_in_the_persons_own_words_holds_nothing_else() -> None:
    gate, notes, _, _ = begun()
    gate = TurnGate(granted("host:example.org"), "Get https://example.org/rates please")
    gate.begin(prepare(SOURCE))
    gate.judge([notes])
    gate.end()
    program = prepare("page = fetch_url('https://example.org/rates')\n")
    gate.begin(program)
    effect = Effect(
        kind="read",
        path="https://example.org/rates",
        call="fetch_url",
        span=at(program, "fetch_url("),
    )
    assert gate.judge([effect]).outcome == "allow"
