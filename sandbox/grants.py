"""What the person has allowed in advance for a run: hosts to read from, tools to use.

Owns the form of these grants (`host:NAME[:PORT]`, `tool:NAME`) and which host one covers. It must
not decide on effects: the gate does. Pure data; any thread.
"""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address

Address = IPv4Address | IPv6Address

_HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^\s:/?#@\[\]]+)(?::(\d{1,5}))?")
_TOOL = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
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
    """The grants of one run."""

    hosts: tuple[HostGrant, ...] = ()
    tools: frozenset[str] = frozenset()

    def host(self, name: str, port: int) -> bool:
        """Whether programs may read from this host at this port."""
        return any(grant.covers(name, port) for grant in self.hosts)

    def private_host(self, name: str, port: int) -> bool:
        """Whether the person named this host knowing that it is on this machine or network.

        True for a granted address, `localhost`, and names of private networks. A public name that
        leads to a private address is how a page reaches into a network: its grant does not count.
        """
        name = host_name(name)
        known = literal_address(name) is not None or "." not in name
        return (known or name.endswith(_PRIVATE_NAMES)) and self.host(name, port)


NO_GRANTS = Grants()


def grants_of(texts: frozenset[str]) -> Grants:
    """The host and tool grants among `texts`; others are left to who owns them.

    Raises `ValueError`, with the form that is right, for a host or tool grant that is malformed.
    """
    hosts: list[HostGrant] = []
    tools: set[str] = set()
    for text in sorted(texts):
        kind, _, value = text.partition(":")
        if kind == "host":
            hosts.append(_host_grant(text, value))
        elif kind == "tool":
            if not _TOOL.fullmatch(value):
                raise ValueError(f"{text} is not of the form tool:NAME")
            tools.add(value)
    return Grants(hosts=tuple(hosts), tools=frozenset(tools))


def _host_grant(text: str, value: str) -> HostGrant:
    found = _HOST.fullmatch(value)
    port = int(found.group(2)) if found is not None and found.group(2) else None
    if found is None or "*" in value or (port is not None and not 0 < port < 65_536):
        raise ValueError(f"{text} is not of the form host:NAME or host:NAME:PORT")
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
