"""A loopback HTTP server that answers from a script, byte by byte if so wished.

It knows no provider: the formats are in the files beside it. Everything it receives is kept and
can be looked at. It runs on the test's own loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

Ending = Literal["whole", "closed", "reset"]
"""How a body ends: as it should, closed in the middle, or reset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """One request as it came in. Header names are in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> dict[str, Any]:
        """The JSON object in it."""
        return json.loads(self.raw)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What is sent back. `piece_bytes` 0: at once; `cut_after`: how much of the body is sent."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str = "text/event-stream"
    piece_bytes: int = 0
    cut_after: int | None = None
    ending: Ending = "whole"
    hold: asyncio.Event | None = None


def stream(body: bytes, **values: Any) -> Answer:
    """Server-sent events."""
    return Answer(body=body, **values)


def broken(body: bytes, after: int, ending: Ending = "closed") -> Answer:
    """Server-sent events that break after so many bytes."""
    return Answer(body=body, cut_after=after, ending=ending)


def failure(status: int, body: object, **headers: str) -> Answer:
    """An error with a JSON body. Header names are given with ``_`` for ``-``."""
    return Answer(
        status=status,
        body=json.dumps(body).encode(),
        content_type="application/json",
        headers={name.replace("_", "-"): value for name, value in headers.items()},
    )


class WireServer:
    """Answers in the order of `answers`; asked once more than that, it fails the test's request."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.received: list[Received] = []
        self.address = ""
        self.check: Callable[[Received], None] = lambda _: None
        self.faults: list[BaseException] = []
        self.writers: set[asyncio.StreamWriter] = set()

    def expect(self, *answers: Answer) -> None:
        """Add answers."""
        self.answers.extend(answers)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        self.writers.add(writer)
        try:
            while (received := await _read(reader)) is not None:
                self.received.append(received)
                try:
                    self.check(received)
                except (AssertionError, LookupError) as fault:
                    self.faults.append(fault)
                if not self.answers:
                    await _send(writer, failure(418, {"error": {"message": "nothing scripted"}}))
                    continue
                if not await _send(writer, self.answers.pop(0)):
                    break
        except ConnectionError:
            writer.write(b"HTTP/1.1 400 plain text\r\n\r\n")
        except (asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def serving(*answers: Answer) -> AsyncGenerator[WireServer]:
    """A server on a free loopback port; what `check` found is raised at the end."""
    server = WireServer(*answers)
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    host, port = listener.sockets[0].getsockname()[:2]
    server.address = f"http://{host}:{port}"
    try:
        yield server
    finally:
        listener.close()
        for writer in server.writers:
            writer.transport.abort()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(2):
                await listener.wait_closed()
    if server.faults:
        raise server.faults[0]


async def _read(reader: asyncio.StreamReader) -> Received | None:
    first_byte = await reader.readexactly(1)
    if first_byte == b"\x16":  # a TLS handshake, which this server does not speak
        raise ConnectionError
    head = first_byte + await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {
        name.strip().lower(): value.strip()
        for name, colon, value in (line.partition(":") for line in lines)
        if colon
    }
    size = int(headers.get("content-length", "0"))
    if headers.get("transfer-encoding", "") == "chunked":
        raw = await _read_chunks(reader)
    else:
        raw = await reader.readexactly(size) if size else b""
    return Received(method=method, path=path, headers=headers, raw=raw)


async def _read_chunks(reader: asyncio.StreamReader) -> bytes:
    found = b""
    while size := int(await reader.readline(), 16):
        found += await reader.readexactly(size)
        await reader.readline()
    await reader.readline()
    return found


async def _send(writer: asyncio.StreamWriter, answer: Answer) -> bool:
    """Send an answer; False when the connection ends with it."""
    headers = {"content-type": answer.content_type, "transfer-encoding": "chunked"} | answer.headers
    lines = [f"HTTP/1.1 {answer.status} X", *(f"{name}: {text}" for name, text in headers.items())]
    writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))
    await writer.drain()
    body = answer.body if answer.cut_after is None else answer.body[: answer.cut_after]
    step = answer.piece_bytes or max(1, len(body))
    for start in range(0, len(body), step):
        piece = body[start : start + step]
        writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        await writer.drain()
        if start == 0 and answer.hold is not None:
            await answer.hold.wait()
        if answer.piece_bytes:
            await asyncio.sleep(0)
    match answer.ending:
        case "whole":
            writer.write(b"0\r\n\r\n")
            await writer.drain()
            return True
        case "reset":
            writer.transport.abort()
            return False
        case "closed":
            return False
