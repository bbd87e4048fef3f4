"""Reads documents in a process of its own, and the tool `read_document`.

Owns the life of that process: started at the first document, ended when one takes too long, when
the run is stopped, and at its end. Thread: the runner's, and one that waits for the process.
"""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

from sandbox.names import shown
from sandbox.thumbnails import Thumbnail
from sandbox.tool_run import ToolRun
from sandbox.tools import Planned, tool

_TIMEOUT_S = 60.0
_END_S = 5.0
_MOST_CHARS = 2_000_000
# A request that names a kind of document may only move or count such files; with a word of the
# other list it is about what is in them.
_KINDS = ("pdf", "docx", "xlsx", "excel", "eml")
_CONTENTS = ("text", "content", "read", "summary", "summarize", "summarise", "extract", "mention")


class DocumentProcess:
    """One process; a document at a time."""

    def __init__(self, stopped: Callable[[], bool], *, timeout_s: float = _TIMEOUT_S) -> None:
        self._stopped = stopped
        self._timeout_s = timeout_s
        self._process: subprocess.Popen[bytes] | None = None
        self._waiting = ThreadPoolExecutor(1, thread_name_prefix="sandbox-documents")
        self._lock = threading.Lock()
        self._closed = False

    def start(self, name: str, data: bytes, limit_chars: int) -> Future[str]:
        """Begin reading; the future raises `ValueError` saying why a document cannot be read."""
        return self._waiting.submit(self._read, name, data, limit_chars)

    def thumbnail(self, name: str, data: bytes, most_px: int) -> Future[Thumbnail]:
        """Begin making a small picture; the future raises `ValueError` saying why there is none."""
        return self._waiting.submit(self._reduce, name, data, most_px)

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._closed = True
            process = self._process
        if process is not None:
            _end(process)
        self._waiting.shutdown(wait=True, cancel_futures=True)

    def _read(self, name: str, data: bytes, limit_chars: int) -> str:
        return self._ask(name, data, {"limit_chars": limit_chars})["text"]

    def _reduce(self, name: str, data: bytes, most_px: int) -> Thumbnail:
        answer = self._ask(name, data, {"most_px": most_px})
        png = base64.b64decode(answer["png"])
        return Thumbnail(png, int(answer["width"]), int(answer["height"]))

    def _ask(self, name: str, data: bytes, wish: dict[str, int]) -> dict[str, Any]:
        process = self._running()
        late = threading.Event()

        def end() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(self._timeout_s, end)
        timer.daemon = True
        timer.start()
        try:
            line = _exchange(process, name, data, wish)
        finally:
            timer.cancel()
        if not line.endswith(b"\n"):
            _end(process)
            why = (
                "it takes too long" if late.is_set() else "its reader ended, which may need memory"
            )
            raise ValueError(f"{name} cannot be read: {why}")
        answer: dict[str, Any] = json.loads(line)
        if "problem" in answer:
            raise ValueError(f"{name} cannot be read: {answer['problem']}")
        return answer

    def _running(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._closed or self._stopped():
                raise ValueError("the run has ended")
            if self._process is None or self._process.poll() is not None:
                self._process = subprocess.Popen(  # fixed arguments
                    [sys.executable, "-P", "-m", "sandbox.document_worker"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                )
            return self._process


def _exchange(
    process: subprocess.Popen[bytes], name: str, data: bytes, wish: dict[str, int]
) -> bytes:
    """One document to the process and its line back; less than a line when it has ended."""
    asked = {"name": name, "size": len(data), **wish}
    try:
        to, back = _pipes(process)
        to.write(json.dumps(asked).encode("ascii") + b"\n")
        to.write(data)
        to.flush()
        return back.readline()
    except (OSError, ValueError):
        return b""


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    assert process.stdin is not None
    assert process.stdout is not None
    return process.stdin, process.stdout


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait(_END_S)
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:  # what could not be written to a process that has gone
                continue


def read_document(run: ToolRun, path: str | Path, max_chars: int = 200_000) -> Planned[str]:
    """The text of a PDF, Word (DOCX), Excel (XLSX), e-mail (EML), HTML or text file.

    Tables have a tab between cells. Raises ValueError for a file without readable text.
    """
    if max_chars < 1:
        raise ValueError("max_chars is a number of characters, at least 1")
    limit_chars = min(max_chars, _MOST_CHARS)
    effect, read = run.read(run.paths.path(path))
    name = shown(str(path).rpartition("/")[2])

    def start() -> Future[str]:
        return run.documents.start(name, read(), limit_chars)

    return Planned(effects=(effect,), do=lambda: start().result(), start=start)


DOCUMENT_TOOLS = (
    tool(
        read_document,
        kinds=["read"],
        roles={"path": "path", "max_chars": "option"},
        labels=["private"],
        cost="files",
        cues=[f"{kind} + {content}" for kind in _KINDS for content in _CONTENTS],
    ),
)
