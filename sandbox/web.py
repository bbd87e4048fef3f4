"""Tools that speak to hosts: `fetch_url` reads, `http_request` may also send.

Owns their effects: reading from a host is a read of its URL, everything else is a request, which
cannot be taken back. What hosts answer is untrusted. Thread: the runner's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from concurrent.futures import Future
from typing import TypedDict

from sandbox.addresses import Target, target_of
from sandbox.effects import Effect
from sandbox.network import Request, Response
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
) -> Planned[Reply]:
    """Send an HTTP request (POST, PUT, DELETE, ...) to a web service or API.

    Anything but a plain GET must be approved by the person.
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
    return _planned(run, request)


def _planned(run: ToolRun, request: Request) -> Planned[Reply]:
    first = request.target.text
    names = {name.casefold() for name, _ in request.headers}
    reads = request.method in _READING and not request.body and names <= _PLAIN_HEADERS
    size_bytes = None if reads else len(request.body)
    effect = Effect(kind="read" if reads else "request", path=first, size_bytes=size_bytes)

    def check(target: Target) -> None:
        """A redirect is judged as a read of its own; `target`: what the program asked for."""
        hop = Effect(kind=effect.kind, path=target.text, target=first, call="redirect")
        verdict = run.judge([hop])
        if verdict.outcome != "allow":
            raise PermissionError(verdict.message or f"{target.name} is not allowed")

    def start() -> Future[Reply]:
        return run.network.start(request, check, _reply)

    return Planned(effects=(effect,), do=lambda: start().result(), start=start)


def _checked(headers: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(str(name)) or re.search(r"[\r\n\0]", str(value)):
            raise ValueError(f"the header {name!r} is not valid")
        if name.casefold() in _OUR_HEADERS:
            raise ValueError(f"the header {name} is set by itself; leave it out")
    return tuple((str(name), str(value)) for name, value in headers.items())


def _reply(response: Response) -> Reply:
    kind = response.headers.get("content-type", "")
    text = ""
    if _TEXTUAL.search(kind) or (not kind and b"\0" not in response.body[:1000]):
        named = _CHARSET.search(kind)
        text = guess(response.body, named.group(1) if named else None)
    return Reply(
        url=response.url,
        status=response.status,
        headers=response.headers,
        text=text,
        data=response.body,
    )


WEB_TOOLS = (
    tool(
        fetch_url,
        kinds=["read"],
        roles={"url": "url"},
        labels=["untrusted"],
        cost="network",
        cues=["http", "https", "website", "webpage"],
    ),
    tool(
        http_request,
        kinds=["read", "request"],
        roles={"method": "option", "url": "url", "headers": "data", "body": "data"},
        labels=["untrusted"],
        cost="network",
        cues=["webhook"],
    ),
)
