"""The demo: a fresh copy of a realistic messy folder, and a task for it.

Thread: a worker (it copies files).
"""

from __future__ import annotations

import shutil
import tomllib
from dataclasses import dataclass
from pathlib import Path

from app.paths import ASSETS, Paths


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """A copy of the demo folder that belongs to the person, and what to ask for."""

    folder: Path
    task: str


def make_demo(paths: Paths) -> Demo:
    """Copy the demo folder to a place of its own under the home."""
    source = ASSETS / "demo"
    folder = paths.demo / "Demo folder"
    number = 2
    while folder.exists():
        folder = paths.demo / f"Demo folder {number}"
        number += 1
    shutil.copytree(source / "files", folder)
    task = tomllib.loads((source / "demo.toml").read_text(encoding="utf-8"))["task"]
    return Demo(folder=folder, task=task)
