"""Temporary files of a program: in the stage, gone at the end of the program.

Owns their folder and their names. Thread: the runner's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence

from sandbox.host_answer import Answer
from sandbox.host_files import HostPaths

_FOLDER = ".drydock-temporary"


class HostTemporary:
    """Makes temporary files and folders for one run."""

    def __init__(self, paths: HostPaths) -> None:
        self._paths = paths
        self._folder = f"{paths.stage.cwd}/{_FOLDER}"
        self._made = 0
        self._calls: dict[str, Callable[..., Answer]] = {
            "__dd_temporary": self._temporary,
            "__dd_temporary_folder": lambda: Answer(do=self._default),
        }

    def answer(
        self, name: str, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> Answer | None:
        """What call `name` would do, or None for an unknown call."""
        call = self._calls.get(name)
        return None if call is None else call(*args, **kwargs)

    def close(self) -> None:
        """Remove what is left of the program's temporary files."""
        stage = self._paths.stage
        stage.evidence = None
        if stage.is_dir(self._folder):
            stage.rmtree(self._folder)

    def _default(self) -> str:
        if not self._paths.stage.is_dir(self._folder):
            self._paths.stage.mkdir(self._folder, parents=True, exist_ok=True)
        return self._folder

    def _free(self, folder: str, prefix: str, suffix: str) -> str:
        """A name that is free; the same one when the program is run again."""
        while True:
            self._made += 1
            mark = hashlib.sha256(str(self._made).encode()).hexdigest()[:8]
            name = f"{prefix}{mark}{suffix}"
            if not self._paths.stage.exists(f"{folder}/{name}"):
                return name

    def _temporary(
        self, suffix: str | None, prefix: str | None, folder: object, is_folder: bool
    ) -> Answer:
        """A new, empty file or folder; its path."""
        base = None if folder is None else self._paths.path(folder)
        name = self._free(base or self._folder, prefix or "tmp", suffix or "")
        effect = self._paths.effect(
            "create", f"{base or self._folder}/{name}", folder=is_folder, size_bytes=0
        )

        def do() -> str:
            path = f"{base or self._default()}/{name}"
            if is_folder:
                self._paths.stage.mkdir(path, parents=True)
            else:
                self._paths.stage.create(path)
            return path

        return Answer(effects=(effect,), do=do)
