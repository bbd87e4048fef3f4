"""The tool `find_text`: lines that hold a text or match a pattern, in all files below a folder.

Owns which files are looked into and the bounds of the search; a pattern is matched with a time
limit, since one can take for ever. Thread: the runner's.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from posixpath import normpath
from typing import Any, TypedDict

from sandbox.effects import Effect
from sandbox.errors import StoppedError
from sandbox.names import shown
from sandbox.text_guess import guess
from sandbox.tool_run import ToolRun
from sandbox.tools import Planned, tool

_FILES = 50_000
_FILE_BYTES = 32 * 1024 * 1024
_BINARY_SAMPLE = 8_000
_LINE_CHARS = 500
_TIME_S = 30.0
_MOST_MATCHES = 100_000


class Match(TypedDict):
    """A line that was found: its file, its number from 1, and its text."""

    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class _File:
    path: str
    name: str
    size_bytes: int


def find_text(
    run: ToolRun,
    pattern: str,
    path: str | Path = ".",
    regex: bool = False,
    ignore_case: bool = False,
    glob: str = "*",
    limit: int = 1000,
) -> Planned[list[Match]]:
    """Search the text of all files below a folder, like grep: the lines that hold `pattern`.

    `glob` chooses files by name ("*.log"). Binary files are skipped.
    """
    if not pattern:
        raise ValueError("the pattern is a text that is not empty")
    if not 0 < limit <= _MOST_MATCHES:
        raise ValueError(f"limit is between 1 and {_MOST_MATCHES:,}")
    finder = _Finder(pattern, regex=regex, ignore_case=ignore_case)
    files = list(_files(run, path, glob))
    effects: tuple[Effect, ...] = tuple(
        run.paths.effect("read", file.path, size_bytes=file.size_bytes) for file in files
    )
    return Planned(effects=effects, do=lambda: _search(run, files, finder, limit))


def _files(run: ToolRun, path: str | Path, glob: str) -> Iterator[_File]:
    """The files that are searched; raises what `os.scandir` raises for a wrong folder."""
    stage, top = run.paths.stage, normpath(run.paths.path(path))
    stat = stage.stat(top)
    if not stat.is_dir:
        yield _File(top, shown(str(path)), stat.size_bytes)
        return
    count = 0
    prefix = "" if str(path) in (".", "./") else f"{str(path).rstrip('/')}/"
    for entry in run.paths.entries(top):
        if not entry.is_file or entry.is_symlink:
            continue
        if not fnmatchcase(entry.path.rpartition("/")[2].casefold(), glob.casefold()):
            continue
        count += 1
        if count > _FILES:
            raise ValueError(f"there are more than {_FILES:,} files; choose a smaller folder")
        inner = f"{top}/{entry.path}"
        size_bytes = stage.stat(inner).size_bytes
        if size_bytes <= _FILE_BYTES:
            yield _File(inner, f"{prefix}{shown(entry.path)}", size_bytes)


def _search(run: ToolRun, files: list[_File], finder: _Finder, limit: int) -> list[Match]:
    found: list[Match] = []
    for file in files:
        if run.stopped():
            raise StoppedError
        data = run.paths.stage.read_bytes(file.path, limit_bytes=_FILE_BYTES)
        if finder.cannot_be_in(data) or b"\0" in data[:_BINARY_SAMPLE]:
            continue
        for number, text in enumerate(guess(data).split("\n"), 1):
            if finder.matches(text):
                line = text.rstrip("\r")[:_LINE_CHARS]
                found.append(Match(path=file.name, line=number, text=line))
                if len(found) >= limit:
                    return found
    return found


class _Finder:
    """Decides on a line."""

    def __init__(self, pattern: str, *, regex: bool, ignore_case: bool) -> None:
        self._ends = time.monotonic() + _TIME_S
        self._bytes = b""
        self.matches: Callable[[str], bool]
        if regex:
            self.matches = self._by_regex(pattern, ignore_case=ignore_case)
        elif ignore_case:
            folded = pattern.casefold()
            self.matches = lambda line: folded in line.casefold()
        else:
            self._bytes = pattern.encode("utf-8", "replace") if pattern.isascii() else b""
            self.matches = lambda line: pattern in line

    def cannot_be_in(self, data: bytes) -> bool:
        """Whether a file's bytes tell that the text is not in it; wide encodings are read."""
        return bool(self._bytes) and self._bytes not in data and b"\0" not in data[:2_000]

    def _by_regex(self, pattern: str, *, ignore_case: bool) -> Callable[[str], bool]:
        import regex

        engine: Any = regex
        flags = engine.VERSION0 | (engine.IGNORECASE if ignore_case else 0)
        try:
            compiled = engine.compile(pattern, flags)
        except engine.error as error:
            raise ValueError(f"the pattern is not a regular expression: {error}") from error

        def matches(line: str) -> bool:
            left_s = self._ends - time.monotonic()
            try:
                return (
                    compiled.search(line, timeout=max(left_s, 0.001), concurrent=True) is not None
                )
            except TimeoutError:
                raise ValueError(
                    f"the search took more than {_TIME_S:g} s; use a simpler pattern"
                ) from None

        return matches


FIND_TOOLS = (
    tool(
        find_text,
        kinds=["read"],
        roles={
            "pattern": "pattern",
            "path": "path",
            "regex": "option",
            "ignore_case": "option",
            "glob": "pattern",
            "limit": "option",
        },
        labels=["private"],
        cost="files",
        cues=["grep"],
    ),
)
