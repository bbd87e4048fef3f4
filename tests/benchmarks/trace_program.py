"""Runs a program and writes down, one JSON line each, what it does to files.

    python trace_program.py PROGRAM TRACE

Run in the task's folder. Python's own audit events tell of every look into a folder, every opened
file and every change, whichever library it came through.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

_CHANGES = {
    "os.rename": "move_file", "os.remove": "delete_file", "os.mkdir": "make_folder",
    "os.rmdir": "delete_folder",
}  # fmt: skip


class Trace:
    """What a program has done so far, in the folder `here`."""

    def __init__(self, here: Path) -> None:
        self.lines: list[dict[str, object]] = []
        self.busy = False
        self._here = here

    def hook(self, event: str, args: tuple[object, ...]) -> None:
        """An audit event of Python; what the tracing itself does is no part of it."""
        if self.busy:
            return
        self.busy = True
        try:
            path = self._inside(args[0]) if args else None
            if path is not None:
                self._note(event, args, path)
        finally:
            self.busy = False

    def _inside(self, value: object) -> str | None:
        try:
            path = Path(os.fsdecode(value)).resolve()  # type: ignore[arg-type]
            return path.relative_to(self._here).as_posix()
        except (TypeError, ValueError):
            return None

    def _note(self, event: str, args: tuple[object, ...], path: str) -> None:
        place = self._here / path
        if event in {"os.listdir", "os.scandir"}:
            self.lines.append({"do": "list_folder", "path": path, "result": _listed(place)})
        elif event == "open":
            self._opened(args, path)
        elif event in _CHANGES:
            target = self._inside(args[1]) if event == "os.rename" else None
            self.lines.append({"do": _CHANGES[event], "path": path, "target": target})

    def _opened(self, args: tuple[object, ...], path: str) -> None:
        mode, flags = str(args[1] or "r"), int(args[2] or 0)  # type: ignore[arg-type]
        if flags & (os.O_WRONLY | os.O_RDWR) or set(mode) & set("wax+"):
            self.lines.append({"do": "write_file", "path": path})
        elif (self._here / path).is_file():
            text = _text(self._here / path)
            self.lines.append({"do": "read_file", "path": path, "result": text})

    def finish(self) -> None:
        """Add what the written files hold at the end."""
        self.busy = True
        for line in self.lines:
            if line["do"] == "write_file":
                line["content"] = _text(self._here / str(line["path"]))


def main() -> None:
    """Trace one program."""
    program, file = Path(sys.argv[1]), Path(sys.argv[2])
    source = compile(program.read_text(encoding="utf-8"), str(program), "exec")
    trace = Trace(Path.cwd().resolve())
    sys.addaudithook(trace.hook)
    exec(source, {"__name__": "__main__"})
    trace.finish()
    rows = [json.dumps(line) + "\n" for line in trace.lines]
    file.write_text("".join(rows), encoding="utf-8")


def _text(file: Path) -> str:
    return file.read_bytes().decode("utf-8", "replace") if file.is_file() else ""


def _listed(folder: Path) -> str:
    rows: list[str] = []
    for path in sorted(folder.iterdir()):
        kind = "folder" if path.is_dir() else f"{path.stat().st_size} B"
        rows.append(f"{path.name}  {kind}")
    return "\n".join(rows)


if __name__ == "__main__":
    main()
