"""The gate: for every rule what it allows and what it denies."""

from __future__ import annotations

import pytest

from app.engine.gate import StagedGate
from sandbox.effects import Effect, EffectKind
from sandbox.grants import Grants, grants_of

PRIVATE = Effect(kind="read", path="/home/ann/notes.txt")
LISTING = Effect(kind="read", path="/home/ann", folder=True)


def granted(*texts: str) -> Grants:
    return grants_of(frozenset(texts))


def read(url: str, asked: str | None = None) -> Effect:
    return Effect(kind="read", path=url, target=asked)


@pytest.mark.parametrize("kind", ["read", "create", "modify", "delete", "move"])
def test_a_file_effect_is_allowed_since_it_is_staged(kind: EffectKind) -> None:
    assert StagedGate().judge([Effect(kind=kind, path="/home/ann/a")]).outcome == "allow"


def test_no_effect_is_allowed() -> None:
    assert StagedGate().judge([]).outcome == "allow"


@pytest.mark.parametrize("kind", ["command", "secret", "show", "ask", "request"])
def test_a_kind_without_a_rule_is_denied_under_every_grant(kind: EffectKind) -> None:
    gate = StagedGate(granted("host:example.org", "tool:send"))
    verdict = gate.judge([Effect(kind=kind, path="https://example.org/")])
    assert verdict.outcome == "deny"
    assert verdict.message


def test_one_denied_effect_denies_the_call() -> None:
    effects = [PRIVATE, Effect(kind="command", path="ls")]
    assert StagedGate().judge(effects).outcome == "deny"


@pytest.mark.parametrize(
    ("grant", "url", "outcome"),
    [
        ("host:example.org", "https://example.org/a?b=c", "allow"),
        ("host:example.org", "http://EXAMPLE.org:8080/", "allow"),
        ("host:example.org:443", "https://example.org/", "allow"),
        ("host:example.org:443", "http://example.org/", "deny"),
        ("host:example.org", "https://www.example.org/", "deny"),
        ("host:example.org", "https://example.org.evil.net/", "deny"),
        ("host:example.org", "https://evil.net/example.org", "deny"),
        ("host:127.0.0.1:80", "http://2130706433/", "allow"),
        ("tool:example.org", "https://example.org/", "deny"),
        ("host:example.org", "http://[bad/", "deny"),
    ],
)
def test_a_host_is_read_under_its_own_grant_alone(grant: str, url: str, outcome: str) -> None:
    verdict = StagedGate(granted(grant)).judge([read(url)])
    assert verdict.outcome == outcome
    assert outcome == "allow" or "grant host:" in verdict.message


@pytest.mark.parametrize(("name", "outcome"), [("send", "allow"), ("send_all", "deny")])
def test_a_tool_is_used_under_its_own_grant_alone(name: str, outcome: str) -> None:
    gate = StagedGate(granted("tool:send"))
    assert gate.judge([Effect(kind="tool", path=name)]).outcome == outcome


SOURCE = "page = fetch_url('https://example.org/prices?year=2024#top')\n"
WRITTEN = "https://example.org/prices?year=2024"


MOVED = Effect(kind="move", path="/home/ann/a.txt", target="/home/ann/b.txt")
DELETED = Effect(kind="delete", path="/home/ann/a.txt")


@pytest.mark.parametrize(
    "before", [PRIVATE, LISTING, MOVED, DELETED], ids=["a file", "names", "a move", "a deletion"]
)
def test_an_address_made_after_reading_files_is_denied(before: Effect) -> None:
    gate = StagedGate(granted("host:example.org"), SOURCE)
    made = read("https://example.org/?x=my-secret")
    assert gate.judge([made]).outcome == "allow"
    assert gate.judge([before]).outcome == "allow"
    verdict = gate.judge([made])
    assert verdict.outcome == "deny"
    assert "secret" not in verdict.message


@pytest.mark.parametrize("kind", ["create", "modify"])
def test_what_a_program_writes_tells_it_nothing(kind: EffectKind) -> None:
    gate = StagedGate(granted("host:example.org"), SOURCE)
    gate.judge([Effect(kind=kind, path="/home/ann/a")])
    assert gate.judge([read("https://example.org/?page=2")]).outcome == "allow"


def test_an_address_that_stands_in_the_program_holds_nothing_that_was_read() -> None:
    gate = StagedGate(granted("host:example.org"), SOURCE)
    gate.judge([PRIVATE])
    assert gate.judge([read(WRITTEN)]).outcome == "allow"


def test_a_redirect_counts_as_what_was_asked_for_and_needs_its_host_granted() -> None:
    gate = StagedGate(granted("host:example.org"), SOURCE)
    gate.judge([PRIVATE])
    assert gate.judge([read("https://example.org/moved", WRITTEN)]).outcome == "allow"
    assert gate.judge([read("https://other.net/moved", WRITTEN)]).outcome == "deny"


def test_a_program_that_cannot_be_parsed_has_no_addresses() -> None:
    gate = StagedGate(granted("host:example.org"), "fetch_url('https://example.org/' oops")
    gate.judge([PRIVATE])
    assert gate.judge([read("https://example.org/")]).outcome == "deny"
