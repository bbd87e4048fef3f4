"""A Hub on the loopback that misbehaves as it is told, and records what it was asked."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Hub:
    """`drops`: bytes after which each of the next answers is cut off. `ranges`: honour Range."""

    content: bytes
    etag: str = '"v1"'
    ranges: bool = True
    status: int = 200
    announced: str = ""
    drops: list[int] = field(default_factory=list)
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
        if hub.status != 200:
            self.refuse(hub.status)
        elif start >= len(hub.content):
            self.refuse(416)
        else:
            self.deliver(hub, start)

    def first_byte(self, hub: Hub) -> int:
        asked = self.headers.get("range", "")
        same = self.headers.get("if-range", hub.etag) == hub.etag
        return int(asked[6:-1]) if hub.ranges and asked and same else 0

    def refuse(self, status: int) -> None:
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def deliver(self, hub: Hub, start: int) -> None:
        body = hub.content[start:]
        total = len(hub.content)
        self.send_response(206 if start else 200)
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
        self.close_connection = cut < len(body)

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
