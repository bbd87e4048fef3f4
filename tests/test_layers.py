"""The rules of the layout (which room may import which, how long a file may be), checked.

Imports point one way. `RANKS` gives every module of the app its floor: a module may import from its
own room and from rooms on lower floors, and nothing else. Every rule is also shown a planted bad
example, so that a rule that notices nothing fails here too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
PACKAGES = ("app", "sandbox", "models")
MOST_LINES = 500

RANKS = {
    "app.__main__": 9,
    "app.cli": 8,  # the command line: with app.cli_* and app.doctor, see `room_of`
    "app.ui": 8,
    "app.bridge": 6,
    "app.lab": 5,
    "app.engine": 4,
    "app.store": 3,
    "app.vault": 3,
    "app.paths": 2,
    "app.log": 2,
    "app.qt_check": 2,
    "app.settings": 2,
    "app.errors": 1,
    "sandbox": 0,
    "models": 0,
}
ENTRIES = ("app.__main__",)  # may load the window, and only inside a function
WINDOW = ("app.ui", "app.bridge")
QT = ("PySide6", "shiboken6", "qtawesome", "qtpy")


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """One import. `lazy`: inside a function."""

    module: str
    line: int
    lazy: bool


def imports_of(source: str) -> Iterator[Import]:
    """All imports of a file, those for type checkers and those inside functions included."""
    tree = ast.parse(source)
    lazy_nodes = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        for module in _modules(node):
            yield Import(module=module, line=node.lineno, lazy=id(node) in lazy_nodes)


def _modules(node: ast.AST) -> list[str]:
    match node:
        case ast.Import(names=names):
            return [alias.name for alias in names]
        case ast.ImportFrom(module=str(module), level=0) if module == "app":
            return [f"app.{alias.name}" for alias in node.names]
        case ast.ImportFrom(module=str(module), level=0):
            return [module]
        case ast.ImportFrom():
            return ["."]  # relative: ruff refuses it, and so does `room_of`
        case _:
            return []


def is_within(module: str, *rooms: str) -> bool:
    """Whether `module` is one of `rooms` or lies inside one."""
    return any(module == room or module.startswith(f"{room}.") for room in rooms)


def room_of(module: str) -> str | None:
    """The room of one of our modules; None for everybody else's.

    Raises: `LookupError` for a module of ours that has no floor yet.
    """
    if not is_within(module, *PACKAGES, ".") or module == "app":
        return None
    if module == "app.doctor" or module.startswith("app.cli_"):
        return "app.cli"
    for room in RANKS:
        if is_within(module, room):
            return room
    raise LookupError(f"{module} has no floor: give it one in RANKS")


def faults_of(module: str, source: str) -> list[str]:
    """What is wrong with a file's imports, one sentence each."""
    room = room_of(module)
    faults: list[str] = []
    for found in imports_of(source):
        problem = _fault(module, room, found)
        if problem:
            faults.append(f"{module}:{found.line} imports {found.module}: {problem}")
    return faults


def _fault(module: str, room: str | None, found: Import) -> str | None:
    if is_within(found.module, *QT) and not is_within(module, *WINDOW):
        return "Qt belongs to app.ui and app.bridge"
    if is_within(found.module, "asyncio") and is_within(module, "app.ui"):
        return "the window has no event loop but Qt's; go through app.bridge"
    target = room_of(found.module)
    if target is None or target == room:
        return None
    return _window_fault(module, found) or _floor_fault(room, target)


def _window_fault(module: str, found: Import) -> str | None:
    if not is_within(found.module, *WINDOW) or is_within(module, *WINDOW):
        return None
    if module not in ENTRIES:
        return "only the window and the entry know the window"
    return None if found.lazy else "the entry loads the window inside a function, on demand"


def _floor_fault(room: str | None, target: str) -> str | None:
    if room is None or RANKS[target] < RANKS[room]:
        return None
    return f"{room} is on floor {RANKS[room]}, {target} on {RANKS[target]}; imports go down"


def module_name(path: Path) -> str:
    """The dotted name of a file in the repository."""
    return ".".join(path.relative_to(REPOSITORY).with_suffix("").parts).removesuffix(".__init__")


def sources(*folders: str) -> list[Path]:
    """Every Python file below the folders."""
    return sorted(path for folder in folders for path in (REPOSITORY / folder).rglob("*.py"))


def lines_over(source: str) -> int:
    """By how many lines a file is too long; 0 when it is not."""
    return max(0, len(source.splitlines()) - MOST_LINES)


def test_there_is_something_to_check() -> None:
    assert all(sources(package) for package in PACKAGES)


@pytest.mark.parametrize("path", sources(*PACKAGES), ids=module_name)
def test_imports_point_down(path: Path) -> None:
    assert faults_of(module_name(path), path.read_text(encoding="utf-8")) == []


def test_no_file_is_too_long() -> None:
    long = {
        path.relative_to(REPOSITORY).as_posix(): over
        for path in sources(*PACKAGES, "tests", "packaging")
        if (over := lines_over(path.read_text(encoding="utf-8")))
    }
    assert long == {}, f"lines over {MOST_LINES}; split by noun"


@pytest.mark.parametrize("path", sources(*PACKAGES), ids=module_name)
def test_a_file_says_what_it_owns(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("sandbox.stage", "from app.errors import AppError"),
        ("sandbox.stage", "import models.catalog"),
        ("models.local", "from sandbox.errors import SandboxError"),
        ("models.local", "from app import settings"),
        ("sandbox.stage", "from PySide6.QtCore import QObject"),
        ("app.errors", "from app.settings import Settings"),
        ("app.paths", "from app.engine.turn import Turn"),
        ("app.store.chats", "from app.engine.events import Event"),
        ("app.store.chats", "from app.vault.vault import Vault"),
        ("app.engine.turn", "from app.lab.trial import Trial"),
        ("app.engine.turn", "from app.bridge import Bridge"),
        ("app.engine.turn", "import qtawesome"),
        ("app.engine.turn", "from app.ui import words"),
        ("app.lab.trial", "from app.bridge import Bridge"),
        ("app.bridge", "from app.ui.main_window import MainWindow"),
        ("app.cli_run", "from app.ui.theme import tokens"),
        ("app.cli_run", "from app.bridge import Bridge"),
        ("app.cli", "def run():\n    from app.ui.theme import tokens"),
        ("app.cli", "import app.__main__"),
        ("app.__main__", "from app.ui.main_window import MainWindow"),
        ("app.__main__", "from PySide6.QtWidgets import QApplication"),
        ("app.ui.main_window", "import asyncio"),
        ("app.ui.main_window", "from asyncio import Queue"),
        ("app.ui.main_window", "from app.cli import main"),
        (
            "sandbox.stage",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from app.engine import turn",
        ),
    ],
)
def test_an_import_that_points_the_wrong_way_is_noticed(module: str, line: str) -> None:
    assert len(faults_of(module, line)) == 1


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("app.__main__", "def main():\n    from app.ui.main_window import MainWindow"),
        ("app.__main__", "from app.cli import main"),
        ("app.ui.main_window", "from PySide6.QtWidgets import QWidget"),
        ("app.ui.main_window", "from app.bridge import Bridge"),
        ("app.ui.main_window", "from app.store.records import TurnRecord"),
        ("app.bridge", "import asyncio\nfrom app.engine.engine import Engine"),
        ("app.cli_run", "from app.cli_output import print_json\nfrom app.engine import turn"),
        ("app.engine.turn", "import asyncio\nfrom app.engine.gate import Gate\nimport sandbox"),
        ("app.store.records", "from sandbox.changeset import ChangeSet"),
        ("app.settings", "from app.errors import AppError\nfrom sandbox.limits import Limits"),
        ("sandbox.stage", "import os\nfrom sandbox.tree import Tree\nimport pydantic_monty"),
        ("models.local", "import asyncio_helpers\nimport application"),
    ],
)
def test_an_import_that_points_down_is_fine(module: str, line: str) -> None:
    assert faults_of(module, line) == []


@pytest.mark.parametrize("module", ["app.helpers", "."])
def test_a_module_without_a_floor_is_refused(module: str) -> None:
    with pytest.raises(LookupError, match="RANKS"):
        room_of(module)


def test_a_relative_import_is_refused() -> None:
    with pytest.raises(LookupError, match="RANKS"):
        faults_of("sandbox.stage", "from . import tree")


def test_a_long_file_is_noticed() -> None:
    assert lines_over("x = 1\n" * MOST_LINES) == 0
    assert lines_over("x = 1\n" * (MOST_LINES + 3)) == 3
