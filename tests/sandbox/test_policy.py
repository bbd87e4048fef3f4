"""The table of calls: every rule with a row that it lets pass and a row that it stops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import pytest

from sandbox import policy
from sandbox.effects import Effect, EffectKind
from sandbox.grants import Grants, HostGrant, grants_of
from sandbox.origins import Origin, Reaching
from sandbox.policy import Situation, judge
from sandbox.turn_ledger import TurnLedger

URL = "https://example.org/in"
NOTES = Origin(label="private", kind="file", what="/home/ann/notes.txt", line=2, program=1)
PAGE = Origin(label="untrusted", kind="web", what="https://evil.test/", line=3, program=1)
ALL = ("host:example.org", "send:example.org", "tool:mail", "command:sh *")


@dataclass(frozen=True, kw_only=True)
class Row:
    """A situation, and what the rule `rule` makes of it."""

    rule: str
    kind: EffectKind
    outcome: str
    code: str = ""
    path: str = URL
    target: str | None = None
    call: str = ""
    held: tuple[Origin, ...] = ()
    led: tuple[Origin, ...] = ()
    grants: tuple[str, ...] = ()
    bound: str | None = None
    wrote: str = ""
    requests: int = 0


UNKNOWN = cast("EffectKind", "teleport")
ROWS = (
    Row(rule="shown", kind="show", path="chart", outcome="allow"),
    Row(rule="shown", kind="ask", path="which one", outcome="ask", code="asks"),
    Row(rule="unknown-effect", kind=UNKNOWN, outcome="deny", code="unknown-effect", grants=ALL),
    Row(rule="unknown-effect", kind="read", outcome="allow", path="/a"),
    Row(rule="secret-unbound", kind="secret", path="token", target=URL, bound="other.org",
        outcome="deny", code="secret-unbound", grants=ALL),
    Row(rule="secret-unbound", kind="secret", path="token", target=URL, bound="example.org",
        outcome="allow", grants=ALL),
    Row(rule="redirect", kind="read", path="https://else.org/", target=URL, call="redirect",
        outcome="deny", code="redirect", grants=ALL),
    Row(rule="redirect", kind="read", path="https://example.org/b", target=URL, call="redirect",
        outcome="allow", grants=ALL),
    Row(rule="private-to-host", kind="request", held=(NOTES,), grants=ALL, outcome="ask",
        code="private-to-host"),
    Row(rule="private-to-host", kind="read", held=(NOTES,), grants=ALL, outcome="ask",
        code="private-to-host"),
    Row(rule="private-to-host", kind="read", held=(PAGE,), grants=ALL, outcome="allow"),
    Row(rule="private-decides-request", kind="read", led=(NOTES,), grants=ALL, outcome="ask",
        code="private-decides-request"),
    Row(rule="private-decides-request", kind="read", led=(PAGE,), grants=ALL, outcome="allow"),
    Row(rule="private-to-tool", kind="tool", path="mail", held=(NOTES,), grants=ALL,
        outcome="ask", code="private-to-tool"),
    Row(rule="private-to-tool", kind="tool", path="mail", grants=ALL, outcome="allow"),
    Row(rule="untrusted-steers", kind="request", held=(PAGE,), grants=ALL, outcome="ask",
        code="untrusted-steers-request"),
    Row(rule="untrusted-steers", kind="command", path="sh x", led=(PAGE,), grants=ALL,
        outcome="ask", code="untrusted-steers-command"),
    Row(rule="untrusted-steers", kind="command", path="sh x", led=(NOTES,), grants=ALL,
        outcome="allow"),
    Row(rule="write-then-execute", kind="command", path="sh ./x.sh", wrote="/f/x.sh", grants=ALL,
        outcome="ask", code="write-then-execute"),
    Row(rule="write-then-execute", kind="command", path="sh ./y.sh", wrote="/f/x.txt", grants=ALL,
        outcome="allow"),
    Row(rule="many-requests", kind="read", requests=100, grants=ALL, outcome="ask",
        code="many-requests"),
    Row(rule="many-requests", kind="read", requests=99, grants=ALL, outcome="allow"),
    Row(rule="granted", kind="read", grants=ALL, outcome="allow"),
    Row(rule="granted", kind="request", grants=ALL, outcome="allow"),
    Row(rule="granted", kind="tool", path="mail", grants=ALL, outcome="allow"),
    Row(rule="granted", kind="tool", path="post", grants=ALL, outcome="ask", code="uses-tool"),
    Row(rule="granted", kind="command", path="rm x", grants=ALL, outcome="ask",
        code="runs-command"),
    Row(rule="staged", kind="delete", path="/a", held=(PAGE,), outcome="allow"),
    Row(rule="staged", kind="request", path="/a", outcome="ask", code="sends"),
    Row(rule="default", kind="request", outcome="ask", code="sends"),
    Row(rule="default", kind="read", outcome="ask", code="reads-host"),
    Row(rule="default", kind="secret", path="token", target=URL, outcome="ask",
        code="uses-secret"),
    Row(rule="default", kind="create", path="/a", outcome="allow"),
)  # fmt: skip


def holds(row: Row) -> bool:
    """Whether the table gives what the row says."""
    grants = grants_of(frozenset(row.grants))
    if row.bound is not None:
        host = HostGrant(name=row.bound)
        grants = Grants(hosts=grants.hosts, sends=grants.sends, secrets={"token": (host,)})
    ledger = TurnLedger()
    ledger.outward = row.requests
    if row.wrote:
        ledger.observe([Effect(kind="create", path=row.wrote)])
    effect = Effect(kind=row.kind, path=row.path, target=row.target, call=row.call)
    reach = Reaching(held=row.held, led=row.led)
    verdict = judge(Situation(effect=effect, reach=reach, ledger=ledger, grants=grants))
    first = verdict.reasons[0].code if verdict.reasons else ""
    return (verdict.outcome, first) == (row.outcome, row.code)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.rule}-{row.outcome}-{row.kind}")
def test_the_table_gives_what_the_row_says(row: Row) -> None:
    assert holds(row)


def test_every_rule_has_a_row_that_passes_and_one_that_is_stopped() -> None:
    for rule in policy.CALL_RULES:
        outcomes = {row.outcome for row in ROWS if row.rule == rule.code}
        assert "allow" in outcomes, rule.code
        assert outcomes - {"allow"} or rule.outcome == "allow", rule.code


def test_without_any_rule_everything_is_denied() -> None:
    at = Situation(
        effect=Effect(kind="read", path="/a"),
        reach=Reaching(),
        ledger=TurnLedger(),
        grants=Grants(),
    )
    assert judge(at, rules=()).outcome == "deny"


def test_a_denial_never_quotes_what_it_protects() -> None:
    effect = Effect(kind="request", path="https://example.org/?word=heliotrope")
    at = Situation(
        effect=effect, reach=Reaching(held=(NOTES,)), ledger=TurnLedger(), grants=Grants()
    )
    message = judge(at).message
    assert "heliotrope" not in message
    assert "notes.txt" not in message
