"""Files as typed functions, for ways of working that have no `open`: classic tool calls and the
plain code mode that the lab compares with.

Owns their declarations; what each does is what Python's own call does on the stage. Thread: the
runner's.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

from sandbox.host_answer import Answer
from sandbox.host_files import HostFiles, HostPaths, move
from sandbox.host_shutil import HostShutil
from sandbox.names import shown
from sandbox.textcodec import PLAIN, encode
from sandbox.tool_run import ToolRun
from sandbox.tools import Planned, Role, Tool, tool

_ROLES: dict[str, Role] = {
    "path": "path",
    "source": "path",
    "target": "path",
    "pattern": "pattern",
    "text": "data",
}


def list_folder(run: ToolRun, path: str = ".") -> Planned[list[str]]:
    """Names in a folder, sorted; those of folders end with a slash."""
    place = run.paths.path(path)

    def do() -> list[str]:
        stage = run.paths.stage
        return sorted(
            shown(name) + ("/" if stage.is_dir(f"{place}/{name}") else "")
            for name in stage.listdir(place)
        )

    return Planned(effects=(run.paths.effect("read", place, folder=True),), do=do)


def find_files(run: ToolRun, pattern: str) -> Planned[list[str]]:
    """Paths that match a pattern such as "*.csv" or "**/*.txt", sorted."""
    answer = _done(HostShutil(run.paths), "glob.glob", pattern, recursive=True)
    return Planned(effects=answer.effects, do=lambda: sorted(_list_of(answer)))


def file_info(run: ToolRun, path: str) -> Planned[dict[str, Any]]:
    """Kind ("file" or "folder"), size_bytes and modified (ISO date and time) of a path."""
    from datetime import UTC, datetime

    stat = run.paths.stage.stat(run.paths.path(path))
    modified = datetime.fromtimestamp(stat.mtime_ns / 1e9, UTC).astimezone()

    return Planned(
        do=lambda: {
            "kind": "folder" if stat.is_dir else "file",
            "size_bytes": stat.size_bytes,
            "modified": modified.isoformat(timespec="seconds"),
        }
    )


def read_file(run: ToolRun, path: str) -> Planned[str]:
    """The whole text of a file."""
    return _planned(run.paths.read_text(run.paths.path(path), PLAIN))


def write_file(run: ToolRun, path: str, text: str) -> Planned[None]:
    """Write a text file, in place of one that is there; missing folders are made."""
    place = run.paths.path(path)
    written = run.paths.write(place, encode(text), 0)
    return _after_folder(run.paths, place, written)


def append_to_file(run: ToolRun, path: str, text: str) -> Planned[None]:
    """Add text at the end of a file; one that is not there is made."""
    place = run.paths.path(path)
    if run.paths.stage.exists(place):
        return _nothing(HostFiles(run.paths).append(place, text))
    return write_file(run, path, text)


def make_folder(run: ToolRun, path: str) -> Planned[None]:
    """Make a folder and those above it; one that is there stays."""
    return _nothing(_done(HostFiles(run.paths), "Path.mkdir", path, parents=True, exist_ok=True))


def move_file(run: ToolRun, source: str, target: str) -> Planned[None]:
    """Move or rename a file or folder to the path `target`; missing folders are made."""
    old, new = run.paths.path(source), run.paths.path(target)
    if run.paths.stage.is_dir(new):
        new = f"{new}/{PurePosixPath(old).name}"
    return _after_folder(run.paths, new, move(run.paths, old, new))


def copy_file(run: ToolRun, source: str, target: str) -> Planned[None]:
    """Copy a file to the path `target`; missing folders are made."""
    target_path = run.paths.path(target)
    return _after_folder(
        run.paths, target_path, _done(HostShutil(run.paths), "shutil.copy2", source, target)
    )


def delete_path(run: ToolRun, path: str) -> Planned[None]:
    """Delete a file, or a folder with all that is in it."""
    place = run.paths.path(path)
    if run.paths.stage.is_dir(place) and not run.paths.stage.is_symlink(place):
        return _nothing(_done(HostShutil(run.paths), "shutil.rmtree", path))
    return _nothing(_done(HostFiles(run.paths), "Path.unlink", path))


def _done(room: HostFiles | HostShutil, name: str, *args: object, **options: object) -> Answer:
    answer = room.answer(name, args, options)
    assert answer is not None, name
    return answer


def _planned(answer: Answer) -> Planned[Any]:
    return Planned(effects=answer.effects, do=answer.do)


def _nothing(answer: Answer) -> Planned[None]:
    """What has no result worth telling."""

    def do() -> None:
        answer.do()

    return Planned(effects=answer.effects, do=do)


def _after_folder(paths: HostPaths, place: str, answer: Answer) -> Planned[None]:
    """The folder of `place` first, where it is missing."""
    parent = PurePosixPath(place).parent.as_posix()
    made = () if paths.stage.exists(parent) else (paths.effect("create", parent, folder=True),)

    def do() -> None:
        if made:
            paths.stage.mkdir(parent, parents=True, exist_ok=True)
        answer.do()

    return Planned(effects=(*made, *answer.effects), do=do)


def _list_of(answer: Answer) -> list[str]:
    found = answer.do()
    return [str(item) for item in found] if isinstance(found, list) else []  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]  # plain names


def _file_tool(function: Callable[..., Any], *kinds: Any) -> Tool:
    names = [name for name in function.__annotations__ if name in _ROLES]
    return tool(
        function,
        kinds=kinds,
        roles={name: _ROLES[name] for name in names},
        labels=["private"] if "read" in kinds else [],
        cost="files",
        cues=["files as functions"],
    )


FILE_TOOLS: tuple[Tool, ...] = (
    _file_tool(list_folder, "read"),
    _file_tool(find_files, "read"),
    _file_tool(file_info),
    _file_tool(read_file, "read"),
    _file_tool(write_file, "create", "modify"),
    _file_tool(append_to_file, "create", "modify"),
    _file_tool(make_folder, "create"),
    _file_tool(move_file, "move", "create", "delete"),
    _file_tool(copy_file, "read", "create", "modify"),
    _file_tool(delete_path, "delete"),
)
