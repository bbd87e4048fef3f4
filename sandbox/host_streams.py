"""Host-side streams: large files that a program reads by lines, rows or pieces.

Owns the open streams of one run and how much of each goes to the interpreter at once. It must not
judge effects: opening did. Thread: the runner's.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, BinaryIO, cast

from sandbox.host_answer import Answer
from sandbox.host_files import HostPaths
from sandbox.textcodec import TextOptions

_LINES_CHARS = 256 * 1024
_ROWS = 1_000
_LINE_BYTES = 16 * 1024 * 1024
_OPEN_STREAMS = 256


class HostStreams:
    """The streams of one run, by number."""

    def __init__(self, paths: HostPaths) -> None:
        self._paths = paths
        self._streams: dict[int, Any] = {}
        self._rows: dict[int, Iterator[list[str]]] = {}
        self._next = paths.first_number
        self._calls: dict[str, Callable[..., object]] = {
            "__dd_stream_lines": self._lines,
            "__dd_stream_read": self._read,
            "__dd_stream_rows": self._table,
            "__dd_stream_seek": self._seek,
            "__dd_stream_close": self._close,
        }

    def answer(
        self, name: str, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> Answer | None:
        """What call `name` would do, or None for an unknown call."""
        call = self._calls.get(name)
        return None if call is None else Answer(do=lambda: call(*args, **kwargs))

    def open(self, path: str, mode: str, options: TextOptions) -> int:
        """A new stream over a file of the stage."""
        if len(self._streams) >= _OPEN_STREAMS:
            raise OSError(24, "Too many open files", path)
        raw = self._paths.stage.open_reader(path)
        stream: Any = raw if "b" in mode else text_stream(raw, options)
        number, self._next = self._next, self._next + 1
        self._streams[number] = stream
        return number

    def close(self) -> None:
        """Close what the program left open."""
        for number in list(self._streams):
            self._close(number)

    def _close(self, number: int) -> None:
        self._rows.pop(number, None)
        stream = self._streams.pop(number, None)
        if stream is not None:
            stream.close()

    def _stream(self, number: int) -> Any:
        stream = self._streams.get(number)
        if stream is None:
            raise ValueError("I/O operation on closed file.")
        return stream

    def _lines(self, number: int) -> str | bytes:
        """The next lines, whole ones; empty at the end."""
        stream = self._stream(number)
        piece = stream.read(_LINES_CHARS)
        end: Any = b"\n" if isinstance(piece, bytes) else "\n"
        if piece and not piece.endswith(end):
            rest = stream.readline(_LINE_BYTES)
            if len(rest) >= _LINE_BYTES:
                raise OSError(27, "a line of the file is too long", "")
            piece += rest
        return piece

    def _read(self, number: int, size: int | None) -> str | bytes:
        """`size` characters or bytes, or all that is left."""
        stream = self._stream(number)
        limit = self._paths.limits.read_bytes
        if size is None or size < 0:
            piece = stream.read(limit + 1)
            if len(piece) > limit:
                raise OSError(
                    27, f"File too large to read whole: more than {limit} bytes; read its lines", ""
                )
            return cast("str | bytes", piece)
        return cast("str | bytes", stream.read(min(size, limit)))

    def _seek(self, number: int, offset: int, whence: int) -> int:
        return int(self._stream(number).seek(offset, whence))

    def _table(self, number: int, options: Mapping[str, Any]) -> list[list[str]]:
        """The next rows of a table; none at the end."""
        rows = self._rows.get(number)
        if rows is None:
            rows = self._rows[number] = csv.reader(self._stream(number), **options)
        return list(islice(rows, _ROWS))


def text_stream(raw: BinaryIO, options: TextOptions) -> io.TextIOBase:
    """A file's bytes as `open` decodes them."""
    encoding = options.encoding or "utf-8"
    buffered: Any = io.BufferedReader(_Raw(raw))
    return io.TextIOWrapper(
        buffered,
        encoding="utf-8" if encoding == "locale" else encoding,
        errors=options.errors,
        newline=options.newline,
    )


class _Raw(io.RawIOBase):
    """Any readable, seekable stream as a raw one."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__()
        self._stream = stream

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self._stream.seek(offset, whence)

    def close(self) -> None:
        self._stream.close()
        super().close()
