"""What a program may do at a call, and what must be asked, as one ordered table.

Owns the rules for calls. Pure: the same situation gives the same verdict. The first rule that
applies decides; what can be asked gathers the reasons of every rule that applies, the most unusual
first. Changes of files are staged and judged at the end of the turn, by `review.py`.
Pure; any thread.

| situation | verdict |
| --- | --- |
| a kind of effect without a rule; a secret for a host that it is not bound to; a redirect to
  elsewhere | denied: nobody can approve it |
| private data in a request, or deciding on it | asked |
| untrusted data deciding on what is sent, run or given to a tool | asked |
| a command that runs what the turn wrote | asked |
| more requests than the budget | asked |
| what a grant covers: a host, a tool, a command | allowed |
| a change of the stage | allowed |
| anything else | asked |
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from sandbox.effects import Effect, EffectKind
from sandbox.grants import Grants
from sandbox.origins import Origin, Reaching
from sandbox.ports import Reason, Verdict
from sandbox.sensitive import is_program, starts_programs
from sandbox.turn_ledger import TurnLedger

STAGED: frozenset[EffectKind] = frozenset({"read", "create", "modify", "delete", "move"})
_OUTWARD: frozenset[EffectKind] = frozenset({"request", "command", "secret", "tool"})
_INWARD: frozenset[EffectKind] = frozenset({"show", "ask"})
_NEEDED: dict[EffectKind, str] = {
    "command": "running this command needs the person's approval",
    "ask": "only the person can answer this",
}
_PORTS = {"http": 80, "https": 443}
_MOST_REQUESTS = 100
"""Requests of one turn that a grant for a host covers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """One effect about to happen, with everything that is known of it."""

    effect: Effect
    reach: Reaching
    ledger: TurnLedger
    grants: Grants

    @property
    def host(self) -> str:
        """Where it goes to; empty when it does not leave this machine."""
        return host_of(self.effect.path)[0] if is_url(self.effect.path) else ""

    @property
    def is_outward(self) -> bool:
        """Whether it leaves the stage."""
        return bool(self.host) or is_url(self.effect.path) or self.effect.kind in _OUTWARD

    def reason(self, code: str, origin: Origin | None = None, **data: str | int) -> Reason:
        """A reason about this effect, with where the data came from."""
        if self.effect.span is not None:
            data["line"] = self.effect.span.line
        if origin is not None:
            data |= {"source": origin.what, "source_kind": origin.kind}
            if origin.line is not None:
                data["source_line"] = origin.line
        return Reason(code=code, data=data)


Test = Callable[[Situation], Reason | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One row of the table."""

    code: str
    outcome: Literal["allow", "ask", "deny"]
    test: Test


# What nobody can approve


def _unknown(at: Situation) -> Reason | None:
    known = at.effect.kind in STAGED or at.effect.kind in _OUTWARD or at.effect.kind in _INWARD
    return None if known else at.reason("unknown-effect", kind=at.effect.kind)


def _unbound_secret(at: Situation) -> Reason | None:
    if at.effect.kind != "secret":
        return None
    host, port = host_of(at.effect.target or "")
    if at.grants.secret(at.effect.path, host, port):
        return None
    return at.reason("secret-unbound", secret=at.effect.path, host=host)


def _led_elsewhere(at: Situation) -> Reason | None:
    """A redirect: the server's word on where to read on. Its host must be allowed by itself."""
    if at.effect.call != "redirect" or at.effect.target is None:
        return None
    if at.effect.kind == "read" and at.grants.host(*host_of(at.effect.path)):
        return None
    if at.effect.kind == "read" and host_of(at.effect.path) == host_of(at.effect.target):
        return None
    return at.reason("redirect", host=at.host, asked=host_of(at.effect.target)[0])


# Compositions


def _private_to_host(at: Situation) -> Reason | None:
    if not is_url(at.effect.path) or at.effect.call == "redirect":
        return None
    found = at.reach.private()
    return at.reason("private-to-host", found[0], host=at.host) if found else None


def _private_decides(at: Situation) -> Reason | None:
    if not is_url(at.effect.path) or at.effect.call == "redirect":
        return None
    found = at.reach.private_led()
    return at.reason("private-decides-request", found[0], host=at.host) if found else None


def _private_to_tool(at: Situation) -> Reason | None:
    if at.effect.kind != "tool":
        return None
    found = at.reach.private()
    return at.reason("private-to-tool", found[0], tool=at.effect.path) if found else None


def _untrusted_steers(at: Situation) -> Reason | None:
    codes: dict[str, str] = {
        "request": "untrusted-steers-request",
        "command": "untrusted-steers-command",
        "tool": "untrusted-steers-tool",
        "secret": "untrusted-steers-request",
    }
    code = codes.get(at.effect.kind)
    found = at.reach.untrusted()
    if code is None or not found:
        return None
    return at.reason(code, found[0], host=at.host, what=at.effect.path)


def _write_then_execute(at: Situation) -> Reason | None:
    if at.effect.kind != "command":
        return None
    words = set(re.findall(r"[\w.-]+", at.effect.path.casefold()))
    for path, file in at.ledger.files.items():
        if file.wrote and _may_run(path, words):
            return at.reason("write-then-execute", path=path, command=at.effect.path)
    return None


def _may_run(path: str, words: set[str]) -> bool:
    """Whether a command of these words may run a file: it names it, or a program starts others."""
    name = posixpath.basename(path)
    named = {name, posixpath.splitext(name)[0]} & words
    return bool(named) or is_program(path) or starts_programs(path, is_new=False) is not None


def _many_requests(at: Situation) -> Reason | None:
    if not is_url(at.effect.path):
        return None
    count = at.ledger.outward
    if count < _MOST_REQUESTS:
        return None
    return at.reason("many-requests", host=at.host, count=count + 1)


# What is allowed


def _granted(at: Situation) -> Reason | None:
    effect, grants = at.effect, at.grants
    match effect.kind:
        case "read" if is_url(effect.path):
            covered = effect.call == "redirect" or grants.host(*host_of(effect.path))
        case "request":
            covered = grants.send(*host_of(effect.path))
        case "tool":
            covered = effect.path in grants.tools
        case "command":
            covered = grants.command(effect.path)
        case "secret":  # it was bound to this host by the person; what it goes with is judged too
            host, port = host_of(effect.target or "")
            covered = grants.host(host, port) or grants.send(host, port)
        case _:
            return None
    return at.reason("granted") if covered else None


def _shown(at: Situation) -> Reason | None:
    """What the person sees in the app leaves it nowhere."""
    return at.reason("shown") if at.effect.kind == "show" else None


def _staged(at: Situation) -> Reason | None:
    return at.reason("staged") if at.effect.kind in STAGED and not at.is_outward else None


def _needs_asking(at: Situation) -> Reason | None:
    match at.effect.kind:
        case "read":
            return at.reason("reads-host", host=at.host)
        case "request":
            return at.reason("sends", host=at.host, bytes=at.effect.size_bytes or 0)
        case "tool":
            return at.reason("uses-tool", tool=at.effect.path)
        case "secret":
            host = host_of(at.effect.target or "")[0]
            return at.reason("uses-secret", secret=at.effect.path, host=host)
        case "ask":
            return at.reason("asks")
        case _:
            return at.reason("runs-command", command=at.effect.path)


CALL_RULES: tuple[Rule, ...] = (
    Rule(code="unknown-effect", outcome="deny", test=_unknown),
    Rule(code="secret-unbound", outcome="deny", test=_unbound_secret),
    Rule(code="redirect", outcome="deny", test=_led_elsewhere),
    Rule(code="private-to-host", outcome="ask", test=_private_to_host),
    Rule(code="private-decides-request", outcome="ask", test=_private_decides),
    Rule(code="private-to-tool", outcome="ask", test=_private_to_tool),
    Rule(code="untrusted-steers", outcome="ask", test=_untrusted_steers),
    Rule(code="write-then-execute", outcome="ask", test=_write_then_execute),
    Rule(code="many-requests", outcome="ask", test=_many_requests),
    Rule(code="granted", outcome="allow", test=_granted),
    Rule(code="staged", outcome="allow", test=_staged),
    Rule(code="shown", outcome="allow", test=_shown),
    Rule(code="default", outcome="ask", test=_needs_asking),
)
"""In this order; the first that applies decides."""

ALLOW = Verdict(outcome="allow", reason="staged")


def judge(at: Situation, rules: tuple[Rule, ...] | None = None) -> Verdict:
    """The verdict on one effect; denied when no rule applies."""
    rules = CALL_RULES if rules is None else rules
    for index, rule in enumerate(rules):
        reason = rule.test(at)
        if reason is None:
            continue
        if rule.outcome == "allow":
            return ALLOW if rule.code == "staged" else Verdict(outcome="allow", reason=rule.code)
        reasons = [reason]
        if rule.outcome == "ask":
            rest = [one.test(at) for one in rules[index + 1 :] if one.outcome == "ask"]
            reasons += [one for one in rest if one is not None]
        return Verdict(
            outcome=rule.outcome,
            reason=reason.code,
            message=message_of(at, reason),
            reasons=tuple(reasons),
        )
    return Verdict(outcome="deny", reason="no-rule", message="programs cannot do this here")


def message_of(at: Situation, reason: Reason) -> str:
    """What the program and the model are told: what to do instead, never what is protected."""
    effect, host = at.effect, at.host
    match reason.code:
        case "private-to-host" | "private-decides-request":
            if effect.kind == "read":
                return (
                    f"the program has read files, and the address it asks {host} for could hold "
                    "what was in them: read from hosts first, or write the whole address as it is"
                )
            return f"sending to {host} needs the person's approval"
        case "reads-host":
            port = host_of(effect.path)[1]
            shown = host if port in _PORTS.values() else f"{host}:{port}"
            return f"reading from {host} needs the person's grant host:{shown}"
        case "uses-tool" | "private-to-tool" | "untrusted-steers-tool":
            return f"the tool {effect.path} needs the person's grant tool:{effect.path}"
        case "redirect":
            return f"{reason.data['asked']} leads to {host}, which needs the grant host:{host}"
        case "secret-unbound":
            return "this secret is not for that host"
        case "many-requests":
            return f"the program asked hosts {reason.data['count']} times; ask for more at once"
        case "unknown-effect":
            return f"programs cannot do this here ({effect.kind})"
        case _ if effect.kind in _NEEDED:
            return _NEEDED[effect.kind]
        case _:
            return (
                f"sending to {host} needs the person's approval; read with fetch_url(), or write "
                "what is to be sent into a file"
            )


def is_url(path: str) -> bool:
    """Whether an effect's path is an address on the network; files are never named so."""
    return path.startswith(("http://", "https://"))


def host_of(url: str) -> tuple[str, int]:
    """Host and port of an address; a host of '' matches no grant."""
    try:
        parts = urlsplit(url)
        return parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError:
        return "", 0
