"""The tasks of the suite: one folder each under ``tasks/``, loaded by path.

A task is `instruction.md` (what the person says), `make.py` (builds the folder from a seed),
`verify.py` (decides; None means passed) and `solution.py` (a right program, proof that the task can
be done here). This file loads them; it runs nothing. Thread: any.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from task_folder import Snapshot

TASKS_FOLDER = Path(__file__).parent / "tasks"


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
    names = sorted(path.parent.name for path in TASKS_FOLDER.glob("*/instruction.md"))
    if unknown := sorted(set(only) - set(names)):
        raise ValueError(f"no task is called {unknown[0]!r}; there are: {', '.join(names)}")
    return [_load(name) for name in names if not only or name in only]


def _load(name: str) -> Task:
    folder = TASKS_FOLDER / name
    return Task(
        name=name,
        instruction=(folder / "instruction.md").read_text(encoding="utf-8").strip(),
        solution=folder / "solution.py",
        make=_module(folder / "make.py").make,
        verify=_module(folder / "verify.py").verify,
    )


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"task_{path.parent.name}_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
