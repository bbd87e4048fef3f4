"""Which network addresses a program may reach, and where a URL leads.

Owns the check of URLs and of the addresses that a name resolves to. It must not connect. Pure;
any thread.
Source: IANA special-purpose address registries, as Python's `ipaddress` has them; RFC 6052 (NAT64).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

import httpx

from sandbox.grants import Address, host_name, literal_address

_NAT64 = IPv6Network("64:ff9b::/96")
_PORTS = {"http": 80, "https": 443}
_LONGEST_URL = 8_000
_LAST_PORT = 65_535
_NAME = re.compile(r"[A-Za-z0-9._-]+|\[?[0-9A-Fa-f:.]+\]?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where a URL leads. `url`: without fragment; `name`: the host in one form."""

    url: httpx.URL
    name: str
    port: int

    @property
    def text(self) -> str:
        """The URL as text."""
        return str(self.url)


def target_of(url: object) -> Target:
    """Check a URL; raises `ValueError` that says what is wrong with it."""
    if not isinstance(url, str):
        raise TypeError(f"a URL is a text, not {type(url).__name__}")
    if len(url) > _LONGEST_URL:
        raise ValueError(f"the URL is longer than {_LONGEST_URL:,} characters")
    try:
        parsed = httpx.URL(url.strip()).copy_with(fragment=None)
    except httpx.InvalidURL as error:
        raise ValueError(f"the URL is not valid: {error}") from error
    if parsed.scheme not in _PORTS or not parsed.host:
        raise ValueError("a URL begins with http:// or https:// and the name of a host")
    port = parsed.port or _PORTS[parsed.scheme]
    if not _NAME.fullmatch(parsed.raw_host.decode("ascii", "replace")) or port > _LAST_PORT:
        raise ValueError("the URL is not valid: its host or port is none")
    if parsed.userinfo:
        raise ValueError("a URL must not hold a user name or password")
    return Target(url=parsed, name=host_name(parsed.host), port=port)


def is_public(address: Address) -> bool:
    """Whether an address is on the open internet, whichever way it is written."""
    if isinstance(address, IPv6Address):
        inner = _inner(address)
        if inner is not None:
            return is_public(inner)
        if address.teredo is not None or address.is_site_local:
            return False
    return address.is_global and not (
        address.is_multicast or address.is_reserved or address.is_unspecified
    )


def _inner(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that an IPv6 address stands for."""
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour


def refusal(target: Target, found: str, *, granted: bool) -> str:
    """Why `target` must not be reached at the address `found`; empty when it may.

    `granted`: the person named this host as one on this machine or in this network. That covers
    private and loopback addresses; a link-local one must be the granted name itself.
    """
    try:
        address = ip_address(found.partition("%")[0])
    except ValueError:
        return f"{target.name} has an address that is none: {found}"
    if is_public(address):
        return ""
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    address = mapped or address
    named = literal_address(target.name) == address
    if granted and not (address.is_multicast or address.is_unspecified):
        private = address.is_private or address.is_loopback
        if named or (private and not address.is_link_local):
            return ""
    where = "this machine" if address.is_loopback else "a private network"
    how = f"host:{address}:{target.port}"
    leads = "is" if named else f"leads to {address}, which is"
    return f"{target.name} {leads} an address of {where}; reading there needs the grant {how}"
