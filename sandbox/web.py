"""Tools that speak to hosts: `fetch_url` reads, `http_request` may also send.

Owns their effects: reading from a host is a read of its URL, everything else is a request, which
cannot be taken back. What hosts answer is untrusted. A secret is added by the network at the moment
of sending; known values neither leave in what a program sends nor come back to it in an answer.
Thread: the runner's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import replace
from typing import TypedDict

from sandbox.addresses import Target, target_of
from sandbox.effects import Effect
from sandbox.network import OFFLINE, Request, Response
from sandbox.ports import Secrets
from sandbox.secrets import Secret, handle, name_in
from sandbox.text_guess import guess
from sandbox.tool_run import ToolRun
from sandbox.tools import Planned, tool

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_READING = frozenset({"GET", "HEAD"})
# Of the names a program may set, those that say nothing but what form of answer it takes.
_PLAIN_HEADERS = frozenset({"accept"})
_OUR_HEADERS = frozenset(
    {
        "host",
        "connection",
        "content-length",
        "transfer-encoding",
        "accept-encoding",
        "te",
        "upgrade",
    }
)
_SECRET_HEADERS = frozenset(
    {"authorization", "proxy-authorization", "cookie", "x-api-key", "api-key", "x-auth-token"}
)
_MASK = "••••"
_SHOWN_BYTES = 64 * 1024
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_TEXTUAL = re.compile(r"text/|[/+](?:json|xml|javascript|x-www-form-urlencoded|yaml|csv)\b")
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)


class Reply(TypedDict):
    """What a host answered; `text` is empty when the body is no text."""

    url: str
    status: int
    headers: dict[str, str]
    text: str
    data: bytes


def fetch_url(run: ToolRun, url: str) -> Planned[Reply]:
    """Read a web page or file from a host with HTTP GET. Status codes do not raise.

    The host must have been allowed by the person.
    """
    return _planned(run, Request(method="GET", target=target_of(url)))


def http_request(
    run: ToolRun,
    method: str,
    url: str,
    headers: dict[str, str] | None = None,
    body: str | bytes | None = None,
    auth: Secret | None = None,
) -> Planned[Reply]:
    """Send an HTTP request (POST, PUT, DELETE, ...) to a web service or API.

    Anything but a plain GET must be approved by the person. With auth=secret("name") the secret is
    added to the request, if it is bound to the host.
    """
    if method.upper() not in _METHODS:
        raise ValueError(f"the method is one of {', '.join(sorted(_METHODS))}")
    content = body.encode() if isinstance(body, str) else body or b""
    request = Request(
        method=method.upper(),
        target=target_of(url),
        headers=_checked(headers or {}),
        body=content,
    )
    name = name_in(auth) if auth is not None else None
    return _planned(run, request, name)


def secret(run: ToolRun, name: str) -> Planned[Secret]:
    """A secret of the person's by its name, such as a token, for http_request(auth=...).

    Its value cannot be seen, printed or written by a program.
    """
    if run.secrets.binding(name) is None:
        names = run.secrets.names()
        known = f"there are: {', '.join(names)}" if names else "there is none yet"
        raise LookupError(
            f"there is no secret named {name!r}; {known}. The person adds one in the vault"
        )
    return Planned(do=lambda: handle(name))


def _planned(run: ToolRun, request: Request, auth: str | None = None) -> Planned[Reply]:
    if run.offline():
        raise PermissionError(OFFLINE)
    first = request.target.text
    _refuse_values(run, request)
    if auth is not None:
        request = _with_secret(run, request, auth)
    names = {name.casefold() for name, _ in request.headers}
    reads = request.method in _READING and not request.body and names <= _PLAIN_HEADERS
    size_bytes = None if reads else len(request.body)
    effect = Effect(kind="read" if reads else "request", path=first, size_bytes=size_bytes)

    hops: list[Effect] = []

    def check(target: Target) -> None:
        """A redirect is judged as a read of its own; `target`: what the program asked for."""
        if run.secrets.holds(target.text):
            raise PermissionError(f"{request.target.name} leads to an address with a secret in it")
        hop = Effect(kind=effect.kind, path=target.text, target=first, call="redirect")
        verdict = run.judge([hop])
        if verdict.outcome != "allow":
            raise PermissionError(verdict.message or f"{target.name} is not allowed")
        hops.append(hop)

    def start() -> Future[Reply]:
        return run.network.start(request, check, lambda response: _reply(response, run.secrets))

    used = () if auth is None else (Effect(kind="secret", path=auth, target=first),)
    return Planned(
        effects=(effect, *used),
        do=lambda: start().result(),
        start=start,
        exact="" if reads else run.secrets.text(_exact(request)),
        more=hops,
    )


def _exact(request: Request) -> str:
    """What would be sent, as text; values that let somebody in are masked."""
    lines = [f"{request.method} {request.target.text}"]
    lines += [
        f"{name}: {_MASK if name.casefold() in _SECRET_HEADERS else value}"
        for name, value in request.headers
    ]
    body = request.body[:_SHOWN_BYTES].decode("utf-8", "backslashreplace")
    cut = len(request.body) - _SHOWN_BYTES
    more = f"\n[... {cut:,} more bytes]" if cut > 0 else ""
    return "\n".join([*lines, "", f"{body}{more}"]).rstrip()


def _refuse_values(run: ToolRun, request: Request) -> None:
    """A program that came by a value, say in a file, sends it nowhere."""
    sent = "\n".join(
        (request.target.text, *(f"{name}: {value}" for name, value in request.headers))
    )
    if run.secrets.holds(sent) or (request.body and run.secrets.holds(request.body)):
        raise PermissionError(
            "the request holds the value of a secret; use auth=secret(name), which adds it itself"
        )


def _with_secret(run: ToolRun, request: Request, name: str) -> Request:
    """The request that will carry a secret. Raises `PermissionError` when it must not."""
    binding = run.secrets.binding(name)
    if binding is None:
        raise LookupError(f"there is no secret named {name!r}")
    method = request.method
    problem = binding.refusal(method, request.target)
    if problem:
        raise PermissionError(problem)
    taken = binding.header_name
    if any(given.casefold() == taken.casefold() for given, _ in request.headers):
        raise ValueError(f"the header {taken} is set by auth; leave it out")

    def sign(target: Target) -> tuple[tuple[str, bytes], ...]:
        return run.secrets.headers(name, method, target)

    return replace(request, sign=sign)


def _checked(headers: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(str(name)) or re.search(r"[\r\n\0]", str(value)):
            raise ValueError(f"the header {name!r} is not valid")
        if name.casefold() in _OUR_HEADERS:
            raise ValueError(f"the header {name} is set by itself; leave it out")
    return tuple((str(name), str(value)) for name, value in headers.items())


def _reply(response: Response, secrets: Secrets) -> Reply:
    """What the program gets: a host that repeats what it was sent gives no secret away."""
    kind = response.headers.get("content-type", "")
    text = ""
    if _TEXTUAL.search(kind) or (not kind and b"\0" not in response.body[:1000]):
        named = _CHARSET.search(kind)
        text = guess(response.body, named.group(1) if named else None)
    return Reply(
        url=secrets.text(response.url),
        status=response.status,
        headers={secrets.text(key): secrets.text(value) for key, value in response.headers.items()},
        text=secrets.text(text),
        data=secrets.data(response.body),
    )


WEB_TOOLS = (
    tool(
        fetch_url,
        kinds=["read"],
        roles={"url": "url"},
        labels=["untrusted"],
        cost="network",
        cues=["://", "website", "webpage"],
    ),
    tool(
        http_request,
        kinds=["read", "request", "secret"],
        roles={
            "method": "option",
            "url": "url",
            "headers": "data",
            "body": "data",
            "auth": "option",
        },
        labels=["untrusted"],
        cost="network",
        cues=["webhook"],
    ),
    tool(secret, roles={"name": "name"}, cues=["vault", "stored secret", "saved token"]),
)
