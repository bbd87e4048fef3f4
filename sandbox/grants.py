"""What the person has allowed in advance for a run: hosts, tools, commands, changes, secrets.

Owns the forms of grants (`host:NAME[:PORT]` to read from, `send:NAME[:PORT]` to send to,
`tool:NAME`, `command:PATTERN`; those for changes are in `grant_budgets.py`) and which host one
covers. It must not decide on effects: the gate does. Pure data; any thread.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from ipaddress import IPv4Address, IPv6Address, ip_address

from sandbox.grant_budgets import FORMS, WORDS, ChangeGrant, change_grant

Address = IPv4Address | IPv6Address

_SHELL_OPERATORS = frozenset(";&|<>`$(){}!\n\r\\")
_HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^\s:/?#@\[\]]+)(?::(\d{1,5}))?")
_TOOL = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_COMMAND = re.compile(r"[^\s*?\[][^\n]*")
_PRIVATE_NAMES = (
    ".local",
    ".localhost",
    ".internal",
    ".intranet",
    ".lan",
    ".home",
    ".corp",
    ".private",
    ".home.arpa",
    ".test",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostGrant:
    """A host that programs may read from. `name`: as `host_name` gives it; `port` None: any."""

    name: str
    port: int | None = None

    def covers(self, name: str, port: int) -> bool:
        """Whether this is the host and port."""
        return self.name == host_name(name) and self.port in (None, port)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grants:
    """The grants of one run.

    `hosts`: to read from; `sends`: to send to; `commands`: patterns as in a shell; `changes`: what
    needs no asking at the end; `secrets`: by name, the hosts that each is bound to; None: that is
    looked at elsewhere; `texts`: as they were given.
    """

    hosts: tuple[HostGrant, ...] = ()
    sends: tuple[HostGrant, ...] = ()
    tools: frozenset[str] = frozenset()
    commands: tuple[str, ...] = ()
    changes: tuple[ChangeGrant, ...] = ()
    secrets: Mapping[str, tuple[HostGrant, ...]] | None = None
    texts: frozenset[str] = frozenset()

    def with_more(self, other: Grants) -> Grants:
        """These and others."""
        return replace(
            self,
            hosts=self.hosts + other.hosts,
            sends=self.sends + other.sends,
            tools=self.tools | other.tools,
            commands=self.commands + other.commands,
            changes=self.changes + other.changes,
        )

    def send(self, name: str, port: int) -> bool:
        """Whether programs may send to this host at this port."""
        return any(grant.covers(name, port) for grant in self.sends)

    def secret(self, secret: str, name: str, port: int) -> bool:
        """Whether a secret is bound to this host."""
        if self.secrets is None:
            return True
        return any(grant.covers(name, port) for grant in self.secrets.get(secret, ()))

    def host(self, name: str, port: int) -> bool:
        """Whether programs may read from this host at this port."""
        return any(grant.covers(name, port) for grant in self.hosts)

    def command(self, text: str) -> bool:
        """Whether a shell command is covered by a pattern.

        A pattern such as ``git *`` is for one command: text with which a shell would do more (a
        second command, a pipe, a redirection, a substitution) is covered only word for word.
        """
        if text in self.commands:
            return True
        single = not any(char in _SHELL_OPERATORS for char in text)
        return single and any(fnmatchcase(text, pattern) for pattern in self.commands)

    def private_host(self, name: str, port: int) -> bool:
        """Whether the person named this host knowing that it is on this machine or network.

        True for a granted address, `localhost`, and names of private networks. A public name that
        leads to a private address is how a page reaches into a network: its grant does not count.
        """
        name = host_name(name)
        known = literal_address(name) is not None or "." not in name
        named = self.host(name, port) or self.send(name, port)
        return (known or name.endswith(_PRIVATE_NAMES)) and named


NO_GRANTS = Grants()


def grants_of(texts: frozenset[str]) -> Grants:
    """The grants that `texts` spell.

    Raises `ValueError`, with the form that is right, for one that is not known or malformed.
    """
    hosts: list[HostGrant] = []
    sends: list[HostGrant] = []
    tools: set[str] = set()
    commands: list[str] = []
    changes: list[ChangeGrant] = []
    for text in sorted(texts):
        kind, _, value = text.partition(":")
        match kind:
            case "host":
                hosts.append(_host_grant(text, value))
            case "send":
                sends.append(_host_grant(text, value))
            case "tool":
                tools.add(_matching(_TOOL, text, value, "tool:NAME"))
            case "command":
                commands.append(_matching(_COMMAND, text, value, "command:PATTERN"))
            case "commit" if value.partition(",")[0] == "new-files":
                changes.append(change_grant(text))
            case _ if kind in WORDS:
                changes.append(change_grant(text))
            case _:
                raise ValueError(f"{text} is not a known grant; the forms are {', '.join(FORMS)}")
    return Grants(
        hosts=tuple(hosts),
        sends=tuple(sends),
        tools=frozenset(tools),
        commands=tuple(commands),
        changes=tuple(changes),
        texts=texts,
    )


def _matching(pattern: re.Pattern[str], text: str, value: str, form: str) -> str:
    if not pattern.fullmatch(value):
        raise ValueError(f"{text} is not of the form {form}")
    return value


def _host_grant(text: str, value: str) -> HostGrant:
    found = _HOST.fullmatch(value)
    port = int(found.group(2)) if found is not None and found.group(2) else None
    if found is None or "*" in value or (port is not None and not 0 < port < 65_536):
        kind = text.partition(":")[0]
        raise ValueError(f"{text} is not of the form {kind}:NAME or {kind}:NAME:PORT")
    return HostGrant(name=host_name(found.group(1)), port=port)


def host_name(name: str) -> str:
    """A host's name in one form: lower case, no dot at the end, addresses in their usual form."""
    name = name.strip("[]").rstrip(".").casefold()
    address = literal_address(name)
    if address is not None:
        return str(address)
    if name.isascii():
        return name
    try:
        return name.encode("idna").decode("ascii")
    except UnicodeError:
        return name


def literal_address(name: str) -> Address | None:
    """The address that `name` spells, in any of the forms that resolvers take; None for a name.

    IPv4 may be decimal, octal or hexadecimal, in one to four parts, or mapped into IPv6.
    """
    name = name.strip("[]")
    try:
        address = ip_address(name)
    except ValueError:
        pass
    else:
        mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
        return mapped or address
    if not re.fullmatch(r"(0[xX][0-9a-fA-F]*|\d+)(\.(0[xX][0-9a-fA-F]*|\d+)){0,3}", name):
        return None
    try:
        return IPv4Address(socket.inet_aton(name))
    except (OSError, ValueError):
        return None
