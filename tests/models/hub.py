"""A Hub on the loopback that misbehaves as it is told, and records what it was asked."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Hub:
    """`drops`: bytes after which each of the next answers is cut off; `raw_drops`: the same, status
    line and headers counted too; `answers`: what the next ones are instead, status and headers;
    `ranges`: honour Range; `chunked`: say no length, and end with the connection.
    """

    content: bytes
    etag: str = '"v1"'
    ranges: bool = True
    status: int = 200
    announced: str = ""
    drops: list[int] = field(default_factory=list)
    raw_drops: list[int] = field(default_factory=list)
    answers: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    chunked: bool = False
    stall: threading.Event | None = None
    asked: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    endpoint: str = ""


class _Server(ThreadingHTTPServer):
    """The server, with the hub that it serves."""

    daemon_threads = True

    def __init__(self, hub: Hub) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.hub = hub


class _Handler(BaseHTTPRequestHandler):
    """One request to the hub."""

    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        hub = self.server.hub
        hub.asked.append({key.lower(): value for key, value in self.headers.items()})
        hub.paths.append(self.path)
        start = self.first_byte(hub)
        if hub.answers:
            self.refuse(*hub.answers.pop(0))
        elif hub.status != 200:
            self.refuse(hub.status)
        elif start >= len(hub.content):
            self.refuse(416)
        else:
            self.deliver(hub, start)

    def first_byte(self, hub: Hub) -> int:
        asked = self.headers.get("range", "")
        same = self.headers.get("if-range", hub.etag) == hub.etag
        return int(asked[6:-1]) if hub.ranges and asked and same else 0

    def refuse(self, status: int, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("content-length", "0")
        self.end_headers()

    def deliver(self, hub: Hub, start: int) -> None:
        body = hub.content[start:]
        total = len(hub.content)
        if hub.raw_drops:
            self.deliver_raw(hub, start, body, hub.raw_drops.pop(0))
            return
        self.send_response(206 if start else 200)
        if hub.chunked:
            self.send_header("connection", "close")
        else:
            self.send_header("content-length", str(len(body)))
        self.send_header("etag", hub.etag)
        if hub.announced:
            self.send_header("x-linked-etag", f'"{hub.announced}"')
        if start:
            self.send_header("content-range", f"bytes {start}-{total - 1}/{total}")
        self.end_headers()
        cut = hub.drops.pop(0) if hub.drops else len(body)
        self.wfile.write(body[:cut])
        self.wfile.flush()
        if hub.stall is not None:
            hub.stall.wait(20)
        self.close_connection = hub.chunked or cut < len(body)

    def deliver_raw(self, hub: Hub, start: int, body: bytes, cut: int) -> None:
        """The answer byte by byte, up to `cut`."""
        total = len(hub.content)
        head = (
            f"HTTP/1.1 {'206 Partial' if start else '200 OK'}\r\ncontent-length: {len(body)}\r\n"
            f"etag: {hub.etag}\r\n"
            + (f"content-range: bytes {start}-{total - 1}/{total}\r\n" if start else "")
            + "\r\n"
        )
        self.wfile.write((head.encode() + body)[:cut])
        self.close_connection = True

    def log_message(self, *_args) -> None:
        """Say nothing."""


@contextmanager
def serve(hub: Hub) -> Iterator[Hub]:
    """Run `hub` until the block ends; `hub.endpoint` is its address."""
    server = _Server(hub)
    hub.endpoint = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield hub
    finally:
        if hub.stall is not None:
            hub.stall.set()
        server.shutdown()
        server.server_close()
        thread.join()
