"""Secrets as programs have them: a handle with a name, and the rules of its one use.

Owns the handle, what a secret is bound to, and how a value is put on a request. It must not keep
values: the app gives one at the moment of sending, through `ports.Secrets`. Thread: any.
Source: RFC 7617 (Basic), RFC 6750 (Bearer).
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Literal, cast

from sandbox.grants import host_name, literal_address

if TYPE_CHECKING:
    from sandbox.addresses import Target

Kind = Literal["model-key", "token", "password", "header"]
KINDS: tuple[Kind, ...] = ("model-key", "token", "password", "header")
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")

_HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^\s:/?#@\[\]*]+)(?::(\d{1,5}))?")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_TLS_PORT = 443


class Secret:
    """A secret's handle: the name, never the value. Only `http_request(auth=...)` takes it."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"Secret(name={self.name!r})"


def handle(name: str) -> Any:
    """The handle as the interpreter takes it. With it goes the name: a resumed program keeps it."""
    from pydantic_monty import ClassInstance  # the window names secrets without it

    return ClassInstance(Secret(name), eager_attrs=("name",))


def name_in(value: object) -> str | None:
    """The name in a handle that came back from a program; None for anything else."""
    from pydantic_monty import MontyClassProxy

    if isinstance(value, Secret):
        return value.name
    if isinstance(value, MontyClassProxy) and value.name == Secret.__name__:
        found = cast("dict[str, object]", value.attributes).get("name")
        return found if isinstance(found, str) else None
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundHost:
    """A host that may get a secret. `port` None: the one of https, or any port of this machine."""

    name: str
    port: int | None = None

    @property
    def text(self) -> str:
        """As it is written."""
        name = f"[{self.name}]" if ":" in self.name else self.name
        return name if self.port is None else f"{name}:{self.port}"

    def covers(self, target: Target) -> bool:
        """Whether `target` is this host."""
        if self.name != host_name(target.name):
            return False
        if self.port is not None:
            return self.port == target.port
        return target.port == _TLS_PORT or is_loopback(self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """What a secret is and where it may go.

    `methods`: that it may be used with, none named: all; `header`: the header that takes it (kind
    header); `user`: who it belongs to (kind password).
    """

    name: str
    kind: Kind = "token"
    hosts: tuple[BoundHost, ...] = ()
    methods: tuple[str, ...] = ()
    header: str = ""
    user: str = ""

    def refusal(self, method: str, target: Target) -> str:
        """Why the secret must not go with this request; empty when it may."""
        if self.kind == "model-key":
            return f"{self.name} is a model's key: Drydock alone uses it, programs cannot"
        if not any(host.covers(target) for host in self.hosts):
            where = ", ".join(host.text for host in self.hosts) or "no host"
            return f"{self.name} is bound to {where}, not to {target.name}:{target.port}"
        if self.methods and method not in self.methods:
            return f"{self.name} may be used with {', '.join(self.methods)}, not with {method}"
        if target.url.scheme != "https" and not is_loopback(target.name):
            return f"{self.name} goes over https only: write https:// in the address"
        return ""

    @property
    def header_name(self) -> str:
        """The header that carries it; empty for one that is named in the value."""
        return self.header if self.kind == "header" else "Authorization"

    def headers(self, value: str) -> tuple[tuple[str, bytes], ...]:
        """The headers of a request with `value`. Raises `PermissionError` for a broken value."""
        name, content = self._header(value)
        raw = content.encode("utf-8", "surrogatepass")
        if not _HEADER.fullmatch(name) or re.search(rb"[\x00-\x08\x0a-\x1f\x7f]", raw):
            raise PermissionError(f"the value of {self.name} cannot be sent: it breaks the request")
        return ((name, raw),)

    def _header(self, value: str) -> tuple[str, str]:
        match self.kind:
            case "password":
                pair = f"{self.user}:{value}" if self.user else value
                coded = base64.b64encode(pair.encode("utf-8", "surrogatepass")).decode("ascii")
                return "Authorization", f"Basic {coded}"
            case "header":
                if self.header:
                    return self.header, value
                name, _, content = value.partition(":")
                return name.strip(), content.strip()
            case "token" | "model-key":
                return "Authorization", f"Bearer {value}"


def is_loopback(name: str) -> bool:
    """Whether a host's name is this machine, whatever it resolves to."""
    address = literal_address(name)
    return name == "localhost" if address is None else address.is_loopback


def is_loopback_address(address: str) -> bool:
    """Whether a resolved address is this machine's own."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(found, "ipv4_mapped", None)
    return (mapped or found).is_loopback


def bound_host(text: str) -> BoundHost:
    """A host as it is written: NAME, NAME:PORT, or an address of it. Raises `ValueError`."""
    text = text.strip()
    match = re.match(r"(?:https?://)?([^/?#]*)", text)
    found = _HOST.fullmatch(match.group(1) if match else "")
    if found is None:
        raise ValueError(f"{text!r} is no host: write it like api.example.com or localhost:8080")
    port = int(found.group(2)) if found.group(2) else None
    if port is not None and not 0 < port < 65_536:
        raise ValueError(f"{text!r} has no port that exists")
    return BoundHost(name=host_name(found.group(1)), port=port)


def checked_methods(methods: Sequence[str]) -> tuple[str, ...]:
    """HTTP methods in one form. Raises `ValueError`."""
    found = tuple(dict.fromkeys(method.strip().upper() for method in methods))
    unknown = [method for method in found if method not in METHODS]
    if unknown:
        raise ValueError(f"{unknown[0]} is no method; the methods are {', '.join(METHODS)}")
    return found


def checked_header(name: str) -> str:
    """A header's name. Raises `ValueError`."""
    if not _HEADER.fullmatch(name):
        raise ValueError(f"{name!r} is no name of a header")
    return name
