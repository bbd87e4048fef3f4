"""Requests to hosts: names resolved once, checked, and connected to at exactly that address.

Owns one asyncio loop on a thread of its own for a run, so that requests overlap and end at once
when the run does. It must not decide what may be sent: callers give a check for each redirect.
Thread: `start` and `close` from the runner's; the rest on its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import threading
import zlib
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any

import httpx

from sandbox.addresses import Target, refusal, target_of
from sandbox.grants import Grants, HostGrant, host_name
from sandbox.secrets import is_loopback_address

Signer = Callable[[Target], tuple[tuple[str, bytes], ...]]
"""Gives the headers that carry a secret, at the moment of sending; blocks, raises OSErrors."""
Resolver = Callable[[str, int], Awaitable[Sequence[str]]]

OFFLINE = "Drydock is offline: no host can be reached; the person can change that in the settings"
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_AGENT = b"drydock"
_TRIED_ADDRESSES = 4
_JOIN_S = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkLimits:
    """Bounds of a request. `total_s`: redirects and body included; `body_bytes`: unpacked."""

    connect_s: float = 10.0
    silence_s: float = 20.0
    total_s: float = 60.0
    body_bytes: int = 16 * 1024 * 1024
    redirects: int = 5
    at_once: int = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is asked of a host. `sign`: adds a secret, for the first host alone."""

    method: str
    target: Target
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    sign: Signer | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What a host answered. `url`: of the last redirect; header names in lower case."""

    url: str
    status: int
    headers: dict[str, str]
    body: bytes


class Network:
    """The way to hosts in one run."""

    def __init__(
        self,
        *,
        grants: Grants,
        limits: NetworkLimits | None = None,
        resolve: Resolver | None = None,
        offline: Callable[[], bool] = lambda: False,
    ) -> None:
        """`offline`: asked right before each connection; where it holds, none is made."""
        self._grants = grants
        self._limits = limits or NetworkLimits()
        self._resolve = resolve or _resolve
        self._offline = offline
        self._loop = asyncio.new_event_loop()
        self._slots = asyncio.Semaphore(self._limits.at_once)
        self._tls: ssl.SSLContext | None = None
        self._thread = threading.Thread(target=self._run, name="sandbox-network", daemon=True)
        self._thread.start()

    def start[T](
        self, request: Request, check: Callable[[Target], None], into: Callable[[Response], T]
    ) -> Future[T]:
        """Begin a request. `check` raises for a redirect that must not be followed.

        The future raises `PermissionError` for an address that must not be reached, `TimeoutError`,
        `ConnectionError`, and `ValueError` for an answer that is too large or cannot be unpacked.
        """

        async def fetch() -> T:
            return into(await self._bounded(request, check))

        return self._submit(fetch())

    def allow(self, address: str) -> None:
        """Take the host of `address` as named by the person, for this run."""
        target = target_of(address)
        grant = HostGrant(name=host_name(target.name), port=target.port)
        self._grants = replace(self._grants, hosts=(*self._grants.hosts, grant))

    def close(self) -> None:
        """End all requests and the loop."""
        if self._loop.is_closed():
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_JOIN_S)

    def _submit[T](self, work: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            tasks = asyncio.all_tasks(self._loop)
            for task in tasks:
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            self._loop.close()

    async def _bounded(self, request: Request, check: Callable[[Target], None]) -> Response:
        name, total_s = request.target.name, self._limits.total_s
        try:
            async with self._slots, asyncio.timeout(total_s):
                return await self._follow(request, check)
        except (TimeoutError, httpx.TimeoutException) as error:
            raise TimeoutError(f"{name} did not answer in time; try again later") from error
        except httpx.HTTPError as error:
            reason = str(error) or type(error).__name__
            raise ConnectionError(f"{name} could not be reached: {reason}") from error

    async def _follow(self, request: Request, check: Callable[[Target], None]) -> Response:
        for _ in range(self._limits.redirects + 1):
            response, goal = await self._once(request)
            if goal is None:
                return response
            target = target_of(goal)
            if request.target.url.scheme == "https" and target.url.scheme == "http":
                raise PermissionError(f"{request.target.name} leads from https to http")
            check(target)
            same = _origin(target) == _origin(request.target)
            request = replace(request, target=target, sign=request.sign if same else None)
        raise ConnectionError(f"{request.target.name} redirects without end")

    async def _once(self, request: Request) -> tuple[Response, str | None]:
        """One exchange, at the first address that takes the connection."""
        addresses = await self._addresses(request.target)
        for address in addresses[:-1]:
            with contextlib.suppress(httpx.ConnectError):
                return await self._exchange(request, address)
        return await self._exchange(request, addresses[-1])

    async def _addresses(self, target: Target) -> list[str]:
        """The addresses of a host, every one of them checked."""
        if self._offline():
            raise PermissionError(OFFLINE)
        try:
            found = list(await self._resolve(target.name, target.port))
        except (OSError, UnicodeError) as error:
            raise ConnectionError(f"the host {target.name} is not known") from error
        if not found:
            raise ConnectionError(f"the host {target.name} is not known")
        granted = self._grants.private_host(target.name, target.port)
        for address in found:
            problem = refusal(target, address, granted=granted)
            if problem:
                raise PermissionError(problem)
        return found[:_TRIED_ADDRESSES]

    async def _exchange(self, request: Request, address: str) -> tuple[Response, str | None]:
        """The answer from one address, and where it redirects to.

        No connection is kept: one that was verified for a name must not serve another name at the
        same address. No cookies, no proxies: the address that was checked is the one reached.
        """
        target, limits = request.target, self._limits
        signed = await _signed(request, address)
        transport = httpx.AsyncHTTPTransport(
            verify=self._context() if target.url.scheme == "https" else False,
            trust_env=False,
            limits=httpx.Limits(max_connections=1, max_keepalive_connections=0),
        )
        extensions: dict[str, Any] = {
            "timeout": {
                "connect": limits.connect_s,
                "read": limits.silence_s,
                "write": limits.silence_s,
                "pool": limits.connect_s,
            },
            "sni_hostname": target.url.host,
        }
        headers: list[tuple[bytes, bytes]] = [
            (b"Host", target.url.netloc),
            (b"User-Agent", _AGENT),
            (b"Accept-Encoding", b"gzip, deflate"),
            (b"Connection", b"close"),
            *((name.encode("ascii"), value.encode()) for name, value in request.headers),
            *((name.encode("ascii"), value) for name, value in signed),
        ]
        if not any(name.casefold() == "accept" for name, _ in request.headers):
            headers.append((b"Accept", b"*/*"))
        sent = httpx.Request(
            request.method,
            target.url.copy_with(host=address),
            headers=headers,
            content=request.body or None,
            extensions=extensions,
        )
        async with transport:
            answer = await transport.handle_async_request(sent)
            answer.request = sent
            try:
                goal = _redirect(request, answer)
                body = b"" if goal is not None else await self._body(request, answer)
            finally:
                await answer.aclose()
        response = Response(
            url=target.text,
            status=answer.status_code,
            headers={name.casefold(): value for name, value in answer.headers.items()},
            body=body,
        )
        return response, goal

    async def _body(self, request: Request, answer: httpx.Response) -> bytes:
        """The body, unpacked within the limit: a small answer may stand for a huge one."""
        limit = self._limits.body_bytes
        packed = answer.headers.get("content-encoding", "identity").strip().casefold()
        if packed not in {"identity", "gzip", "x-gzip", "deflate", ""}:
            raise ValueError(f"{request.target.name} answered in an unknown encoding")
        unpack = zlib.decompressobj(47) if packed not in {"identity", ""} else None
        body = bytearray()
        async for chunk in answer.aiter_raw():
            try:
                body += unpack.decompress(chunk, limit + 1 - len(body)) if unpack else chunk
            except zlib.error as error:
                raise ValueError(f"{request.target.name} answered with broken data") from error
            if len(body) > limit:
                raise ValueError(f"the answer is larger than {limit // 1_048_576} MiB")
        return bytes(body)

    def _context(self) -> ssl.SSLContext:
        if self._tls is None:
            self._tls = httpx.create_ssl_context(trust_env=False)
        return self._tls


async def _signed(request: Request, address: str) -> tuple[tuple[str, bytes], ...]:
    """The headers with the secret, if one goes along: over TLS, or within this machine."""
    if request.sign is None:
        return ()
    if request.target.url.scheme != "https" and not is_loopback_address(address):
        raise PermissionError(f"a secret goes to {request.target.name} over https only")
    return await asyncio.to_thread(request.sign, request.target)


def _origin(target: Target) -> tuple[str, str, int]:
    return target.url.scheme, target.name, target.port


def _redirect(request: Request, answer: httpx.Response) -> str | None:
    """Where an answer leads; only reading is led on, what sends is not sent twice."""
    location = answer.headers.get("location")
    if answer.status_code not in _REDIRECTS or location is None:
        return None
    if request.method not in {"GET", "HEAD"}:
        return None
    try:
        return str(request.target.url.join(location))
    except httpx.InvalidURL as error:
        raise ConnectionError(f"{request.target.name} redirects to what is no URL") from error


async def _resolve(name: str, port: int) -> list[str]:
    found = await asyncio.get_running_loop().getaddrinfo(name, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(item[4][0]) for item in found))
