"""One job on a fixture folder, by way of the command line: its program, and what is checked always.

Owns the frame of each test here: a folder beside the granted one that must not change, the review
before the approval, and the tree before, after and once it was undone.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from app import cli

Tree = dict[str, tuple[int, int, str]]


def tree(folder: Path) -> Tree:
    """Mode, time (ns) and digest or link text of everything below, by relative path."""
    found: Tree = {}
    for parent, folders, files in os.walk(folder):
        for name in (".", *folders, *files):
            path = os.path.normpath(f"{parent}/{name}")
            st = os.lstat(path)
            content = ""
            if stat.S_ISLNK(st.st_mode):
                content = str(Path(path).readlink())
            elif stat.S_ISREG(st.st_mode):
                content = hashlib.sha256(Path(path).read_bytes()).hexdigest()
            found[os.path.relpath(path, folder)] = (st.st_mode, st.st_mtime_ns, content)
    return found


def digests(found: Tree) -> Counter[str]:
    """How often each file content is there."""
    return Counter(content for mode, _, content in found.values() if stat.S_ISREG(mode))


@dataclass
class Job:
    """A granted folder, the folder beside it, and the command line."""

    home: Path
    capsys: pytest.CaptureFixture[str]
    run: dict[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        self.folder = self.home / "Holiday Bilder \u00fc \u7167\u7247"
        self.folder.mkdir()
        self._beside = self.home / "beside"
        self._beside.mkdir()
        (self._beside / "untouched").write_text("u", encoding="utf-8")

    def begin(self) -> None:
        """The fixture is made: remember how everything is."""
        self.before = tree(self.folder)
        self._outside = tree(self._beside)

    def review(self, program: str, *options: str) -> dict[str, Any]:
        """Run a program up to its review; nothing is on the disk yet. Returns the run."""
        path = self.home / "program.py"
        path.write_text(program, encoding="utf-8")
        code = self._drydock("exec", str(path), "--folder", str(self.folder), *options, "--json")
        assert tree(self.folder) == self.before
        assert code == (3 if self.run["changes"] else 0), (code, self.run["error"], self.run)
        return self.run

    def approve(self) -> dict[str, Any]:
        """Approve the whole review; returns the run."""
        code = self._drydock("runs", "resume", self.run["run_id"], "--approve", "all", "--json")
        assert code == 0, self.run["error"]
        assert self.run["committed"]
        assert self.run["conflicts"] == []
        assert tree(self._beside) == self._outside
        return self.run

    def undo(self) -> None:
        """Undo, and check that everything is as it was, times and modes included."""
        assert self._drydock("runs", "undo", self.run["run_id"]) == 0
        assert tree(self.folder) == self.before
        assert tree(self._beside) == self._outside

    def kinds(self) -> Counter[str]:
        """How many changes of each kind the review has."""
        return Counter(change["kind"] for change in self.run["changes"])

    def names(self) -> set[str]:
        """The files that are there now, relative to the folder."""
        return {name for name, (mode, _, _) in tree(self.folder).items() if not stat.S_ISDIR(mode)}

    def _drydock(self, *arguments: str) -> int:
        self.capsys.readouterr()
        code = cli.run(arguments)
        out = self.capsys.readouterr().out
        if "--json" in arguments:
            self.run = json.loads(out.splitlines()[-1])
        return code
