"""Suites and their tasks: folders in Harbor's layout, loaded from folders and zip files.

A task is a folder with `task.toml`, `instruction.md`, `environment/` (`make.py`, or the fixture's
files in `files/`), `tests/verify.py` and `solution/solution.py`. A suite is a folder of tasks, with
a `suite.toml` that names it if it likes. What is not a task in this sense is listed with the reason
and never half used. This room reads; `scripts.py` runs what a task brings. Thread: any.

Source: Harbor's task layout, `harbor.models.task` (package harbor 0.26).
"""

from __future__ import annotations

import shutil
import tomllib
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.errors import AppError, UsageError
from app.paths import ASSETS
from app.store.trials import Capability

Difficulty = Literal["easy", "medium", "hard"]

SUITES = ASSETS / "suites"
KIT = SUITES / "kit"
"""What the shipped tasks' scripts share: fixtures, comparing, and the two scripts that run them."""

_NO_SUITES = frozenset({"kit", "__pycache__"})
_MOST_UNPACKED_BYTES = 512 * 2**20
_MOST_UNPACKED_FILES = 20_000


class _TaskName(BaseModel):
    model_config = ConfigDict(extra="allow")
    name: str


class _Metadata(BaseModel):
    """Drydock's part of `task.toml`; Harbor leaves [metadata] to its users."""

    model_config = ConfigDict(extra="allow")
    capability: Capability
    difficulty: Difficulty = "medium"
    needs: list[Literal["workspace", "network"]] = Field(default_factory=list[str])  # pyright: ignore[reportAssignmentType]  # an empty list has no kind
    grants: list[str] = Field(default_factory=list[str])
    approve: Literal["all", "never"] = "all"


class _Timed(BaseModel):
    model_config = ConfigDict(extra="allow")
    timeout_sec: float = Field(default=600.0, gt=0, le=86_400)


class _TaskFile(BaseModel):
    """`task.toml`, as far as the lab reads it."""

    model_config = ConfigDict(extra="allow")
    schema_version: str = "1.4"
    task: _TaskName | None = None
    metadata: _Metadata
    agent: _Timed = Field(default_factory=_Timed)
    verifier: _Timed = Field(default_factory=lambda: _Timed(timeout_sec=60.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task.

    `folder`: where it lies; `kit`: the folder its scripts import from; `approve`: what the person
    of this task does with a change set; `grants`: what they allowed beforehand, as on the command
    line; `needs`: what a machine must have; `timeout_s`: for the run, `verify_s`: for the verifier.
    """

    name: str
    suite: str
    folder: Path
    instruction: str
    capability: Capability
    difficulty: Difficulty
    kit: Path
    approve: Literal["all", "never"] = "all"
    grants: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    timeout_s: float = 600.0
    verify_s: float = 60.0

    @property
    def solution(self) -> Path:
        """The oracle: a program that does the task."""
        return self.folder / "solution" / "solution.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class Invalid:
    """A folder that looks like a task and is none, with the reason in words."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """The tasks of a suite, by name. `trusted`: it came with Drydock, so its scripts may run."""

    name: str
    title: str
    tasks: tuple[Task, ...]
    invalid: tuple[Invalid, ...] = ()
    trusted: bool = False


@dataclass(slots=True)
class _Found:
    tasks: list[Task] = field(default_factory=list[Task])
    invalid: list[Invalid] = field(default_factory=list[Invalid])


def shipped_suites() -> list[str]:
    """The names of the suites that come with Drydock."""
    return sorted(
        path.name for path in SUITES.iterdir() if path.is_dir() and path.name not in _NO_SUITES
    )


def load_suite(name: str, *, unpack_to: Path | None = None) -> Suite:
    """The suite of this name, or the one at this path (a folder, or a zip file).

    `unpack_to`: an empty folder for the contents of a zip file, which must outlive the suite.
    Raises: `UsageError` when there is none, or when it has no task at all.
    """
    if name in shipped_suites():
        return _load(SUITES / name, name, trusted=True)
    path = Path(name).expanduser()
    if path.is_file() and zipfile.is_zipfile(path):
        if unpack_to is None:
            raise UsageError(f"{name} is a zip file.", hint="Unpack it and give its folder.")
        _unpack(path, unpack_to)
        return _load(_inner(unpack_to), path.stem, trusted=False)
    if not path.is_dir():
        known = ", ".join(shipped_suites())
        raise UsageError(
            f"There is no suite {name}.", hint=f"Known: {known}, or a folder or zip file of tasks."
        )
    return _load(path.absolute(), path.absolute().name, trusted=False)


def _load(folder: Path, name: str, *, trusted: bool) -> Suite:
    title = name
    about = folder / "suite.toml"
    if about.is_file():
        try:
            title = str(tomllib.loads(about.read_text(encoding="utf-8")).get("title", name))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
            title = name
    found = _Found()
    candidates = [folder] if (folder / "task.toml").is_file() else sorted(folder.iterdir())
    for path in candidates:
        if path.is_dir() and path.name not in _NO_SUITES and not path.name.startswith("."):
            _add(path, name, found)
    if not found.tasks and not found.invalid:
        raise UsageError(
            f"There is no task in {folder}.",
            hint="A task is a folder with task.toml, instruction.md, environment/ and tests/.",
        )
    if not found.tasks:
        reasons = "; ".join(f"{item.name}: {item.reason}" for item in found.invalid[:3])
        raise UsageError(f"No task of {name} can be used. {reasons}", hint="Mend them first.")
    return Suite(
        name=name,
        title=title,
        tasks=tuple(found.tasks),
        invalid=tuple(found.invalid),
        trusted=trusted,
    )


def _add(folder: Path, suite: str, found: _Found) -> None:
    try:
        found.tasks.append(load_task(folder, suite))
    except AppError as error:
        found.invalid.append(Invalid(name=folder.name, reason=error.message))


def load_task(folder: Path, suite: str = "") -> Task:
    """The task in this folder. Raises: `AppError` that says what is wrong with it."""
    file = _task_file(folder)
    instruction = _text(folder / "instruction.md").strip()
    if not instruction:
        raise AppError("instruction.md is empty.")
    kit = next((path for path in (folder / "tests" / "kit", KIT) if path.is_dir()), KIT)
    environment = folder / "environment"
    if not (environment / "make.py").is_file() and not (environment / "files").is_dir():
        raise AppError(
            "environment/ has neither make.py nor files/: its folder could only be made in a"
            " container, which the lab does not use."
        )
    for needed in ("tests/verify.py", "solution/solution.py"):
        if not (folder / needed).is_file():
            raise AppError(f"{needed} is missing.")
    return Task(
        name=folder.name,
        suite=suite,
        folder=folder,
        instruction=instruction,
        capability=file.metadata.capability,
        difficulty=file.metadata.difficulty,
        kit=kit,
        approve=file.metadata.approve,
        grants=tuple(file.metadata.grants),
        needs=tuple(file.metadata.needs),
        timeout_s=file.agent.timeout_sec,
        verify_s=file.verifier.timeout_sec,
    )


def _task_file(folder: Path) -> _TaskFile:
    try:
        return _TaskFile.model_validate(tomllib.loads(_text(folder / "task.toml")))
    except tomllib.TOMLDecodeError as error:
        raise AppError(f"task.toml is not TOML: {error}.") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise AppError(f"task.toml: {where}: {first['msg']}.") from error


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise AppError(f"{path.name} is missing.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise AppError(f"{path.name} cannot be read: {error}.") from error


def select(suite: Suite, names: Sequence[str]) -> Suite:
    """The suite with only these tasks, or all for none. Raises: `UsageError` for an unknown one."""
    known = {task.name: task for task in suite.tasks}
    for name in names:
        if name not in known:
            raise UsageError(
                f"The suite {suite.name} has no task {name}.",
                hint=f"It has: {', '.join(known)}.",
            )
    tasks = suite.tasks if not names else tuple(known[name] for name in dict.fromkeys(names))
    return Suite(
        name=suite.name,
        title=suite.title,
        tasks=tasks,
        invalid=suite.invalid,
        trusted=suite.trusted,
    )


def _unpack(archive: Path, target: Path) -> None:
    """Unpack a zip file below `target`; nothing leads out of it, and it is bounded."""
    try:
        with zipfile.ZipFile(archive) as opened:
            members = [info for info in opened.infolist() if not info.is_dir()]
            size = sum(info.file_size for info in members)
            if len(members) > _MOST_UNPACKED_FILES or size > _MOST_UNPACKED_BYTES:
                raise UsageError(
                    f"{archive} is too large for a suite.", hint="Unpack it and give its folder."
                )
            for info in members:
                parts = PurePosixPath(info.filename.replace("\\", "/")).parts
                if not parts or ".." in parts or PurePosixPath(info.filename).is_absolute():
                    raise UsageError(f"{archive} has a path that leads out of it.")
                place = target.joinpath(*parts)
                place.parent.mkdir(parents=True, exist_ok=True)
                with opened.open(info) as source, place.open("wb") as sink:
                    shutil.copyfileobj(source, sink)
    except (OSError, zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        raise UsageError(f"{archive} cannot be unpacked: {error}.") from error


def _inner(folder: Path) -> Path:
    """The folder itself, or the only folder in it, as zip files of a checkout have one."""
    entries = list(folder.iterdir())
    only = entries[0] if len(entries) == 1 and entries[0].is_dir() else None
    if only is not None and not (only / "task.toml").is_file():
        return only
    return folder
