"""The gate as far as a call is concerned: what a program may do without being asked.

File effects land in the stage and are reviewed once, at the end of the turn. A host is read from,
and a tool used, only under a standing grant; everything else is denied until a rule allows it.
Thread: the runner's worker, and for redirects the network's.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from urllib.parse import urlsplit

from sandbox.effects import Effect, EffectKind
from sandbox.grants import NO_GRANTS, Grants
from sandbox.ports import Verdict

STAGED: frozenset[EffectKind] = frozenset({"read", "create", "modify", "delete", "move"})
_TELLING: frozenset[EffectKind] = STAGED - {"create", "modify"}

_ALLOW = Verdict(outcome="allow", reason="staged")
_GRANTED = Verdict(outcome="allow", reason="granted")
_PORTS = {"http": 80, "https": 443}


class StagedGate:
    """Judges the calls of one program; fails closed for what no rule allows.

    | effect | verdict |
    | --- | --- |
    | a file effect | allowed: it is staged |
    | a read of a host | allowed under `host:NAME`, and see below |
    | a tool | allowed under `tool:NAME` |
    | anything else | denied |

    A program that has read anything of the person's may read only from addresses that stand in it
    as they are: one that it made could carry out what it read. Content, names, sizes and whether
    something is there count alike; that a move or a deletion went well tells it too.
    """

    def __init__(self, grants: Grants = NO_GRANTS, source: str = "") -> None:
        """`grants`: those of the run; `source`: the program as it was written."""
        self._grants = grants
        self._source = source
        self._literals: frozenset[str] | None = None
        self._has_private = False

    def judge(self, effects: Sequence[Effect]) -> Verdict:
        """Judge the effects of one call. An empty list has no effect and is allowed."""
        verdict = _ALLOW
        for effect in effects:
            found = self._judge(effect)
            if found.outcome != "allow":
                return found
            if found is not _ALLOW:
                verdict = found
        return verdict

    def _judge(self, effect: Effect) -> Verdict:
        if effect.kind == "read" and is_url(effect.path):
            return self._judge_host(effect)
        if effect.kind in STAGED:
            self._has_private = self._has_private or effect.kind in _TELLING
            return _ALLOW
        if effect.kind == "tool":
            return self._judge_tool(effect.path)
        if effect.kind == "request":
            host, _ = host_of(effect.path)
            return _denied(
                "sends",
                f"sending to {host} needs the person's approval, which a program cannot ask for "
                "here yet; read with fetch_url(), or write what is to be sent into a file",
            )
        return _denied("unknown-effect", f"programs cannot do this here ({effect.kind})")

    def _judge_tool(self, name: str) -> Verdict:
        if name in self._grants.tools:
            return _GRANTED
        return _denied("no-grant", f"the tool {name} needs the person's grant tool:{name}")

    def _judge_host(self, effect: Effect) -> Verdict:
        host, port = host_of(effect.path)
        if not self._grants.host(host, port):
            shown = host if port in _PORTS.values() else f"{host}:{port}"
            return _denied("no-grant", f"reading from {host} needs the person's grant host:{shown}")
        # A redirect is the server's word: what the program asked for is its target.
        asked = effect.target or effect.path
        if self._has_private and asked not in self._written():
            return _denied(
                "private-data",
                f"the program has read files, and the address it asks {host} for could hold what "
                "was in them: read from hosts first, or write the whole address as it is",
            )
        return _GRANTED

    def _written(self) -> frozenset[str]:
        """The addresses that stand in the program, in the form that effects have."""
        if self._literals is None:
            self._literals = _addresses_in(self._source)
        return self._literals


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


def _addresses_in(source: str) -> frozenset[str]:
    from sandbox.addresses import target_of

    found: set[str] = set()
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError):
        return frozenset()
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and is_url(node.value):
            try:
                found.add(target_of(node.value).text)
            except ValueError:
                continue
    return frozenset(found)


def _denied(reason: str, message: str) -> Verdict:
    return Verdict(outcome="deny", reason=reason, message=message)
