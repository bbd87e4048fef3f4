"""The tasks of the shipped suites, with their scripts loaded into this process.

A task is `instruction.md` (what the person says), `environment/make.py` (builds the folder from a
seed), `tests/verify.py` (decides; None means passed) and `solution/solution.py` (a right program,
proof that the task can be done here). This file loads them; it runs nothing. Thread: any.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

SUITES = Path(__file__).resolve().parents[2] / "assets" / "suites"
sys.path.insert(0, str(SUITES / "kit"))

from task_folder import Snapshot  # noqa: E402  # the kit is on the path now


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task. `make(folder, seed)` fills an empty folder; `verify(before, folder, result)`
    returns None when the task is done right, else the reason; `result` has the run's `answer`."""

    name: str
    instruction: str
    solution: Path
    make: Callable[[Path, int], None]
    verify: Callable[[Snapshot, Path, Mapping[str, object]], str | None]


def load_tasks(only: Sequence[str] = ()) -> list[Task]:
    """All tasks by name, or those named in `only`; an unknown name is a `ValueError`."""
    folders = {path.parent.name: path.parent for path in sorted(SUITES.glob("*/*/task.toml"))}
    if unknown := sorted(set(only) - set(folders)):
        raise ValueError(f"no task is called {unknown[0]!r}; there are: {', '.join(folders)}")
    return [_load(folder) for name, folder in folders.items() if not only or name in only]


def _load(folder: Path) -> Task:
    return Task(
        name=folder.name,
        instruction=(folder / "instruction.md").read_text(encoding="utf-8").strip(),
        solution=folder / "solution" / "solution.py",
        make=_module(folder / "environment" / "make.py").make,
        verify=_module(folder / "tests" / "verify.py").verify,
    )


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"task_{path.parts[-3]}_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
