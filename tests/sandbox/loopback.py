"""A small HTTP server on loopback for tests: answers are set per path, what it saw is kept."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """An answer. `waits`: it comes when this many requests are there at once."""

    body: bytes = b""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    waits: int = 0
    silent: bool = False


@dataclass(kw_only=True)
class Loopback:
    """The running server. `seen`: method, path, headers and body of each request."""

    port: int
    pages: dict[str, Served] = field(default_factory=dict)
    seen: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)
    arrived: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    barrier: threading.Barrier | None = None

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        """The address of a path."""
        return f"http://{host}:{self.port}{path}"

    def page(self, path: str, body: bytes | str = b"", **rest: object) -> str:
        """Serve a page; gives its address."""
        content = body.encode() if isinstance(body, str) else body
        served = Served(body=content, **rest)  # type: ignore[arg-type]
        if served.waits:
            self.barrier = threading.Barrier(served.waits)
        self.pages[path] = served
        return self.url(path)


@contextmanager
def serve() -> Iterator[Loopback]:
    """A server while the block runs."""

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            headers = {name.lower(): value for name, value in self.headers.items()}
            loopback.seen.append((self.command, self.path, headers, self.rfile.read(size)))
            served = loopback.pages.get(self.path, Served(status=404))
            loopback.arrived.release()
            if served.silent:
                loopback.ended.wait(20)
                return
            if served.waits and loopback.barrier is not None:
                loopback.barrier.wait(10)
            self.send_response(served.status)
            for name, value in served.headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(served.body)))
            self.end_headers()
            with contextlib.suppress(ConnectionError):  # who asked was killed meanwhile
                self.wfile.write(served.body)

        do_GET = do_POST = do_HEAD = do_PUT = _answer  # noqa: N815  # the base class's names

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    loopback = Loopback(port=server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield loopback
    finally:
        loopback.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()
