"""The tools on results that stay out of the context: keep one, read a part of one, look at one.

Owns what each gives a program: words, never the content of a picture. What is looked at goes to a
model that sees, natively, after the program; one that does not is told what it is instead.
Thread: the runner's.
"""

from __future__ import annotations

import mimetypes
from pathlib import Path
from typing import TypedDict

from sandbox.artifacts import Artifact
from sandbox.images import info_of
from sandbox.names import shown
from sandbox.tool_run import ToolRun
from sandbox.tools import Planned, tool

_MOST_CHARS = 200_000
_MOST_LOOKS = 5
_LOOK_BYTES = 8 * 1024 * 1024
_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


class KeptResult(TypedDict):
    """A kept result; `id` is what artifact_text and look take."""

    id: str
    name: str
    media_type: str
    size_bytes: int
    sha256: str


def keep_artifact(run: ToolRun, data: bytes | str, name: str) -> Planned[KeptResult]:
    """Keep a long or binary result out of the conversation; the person finds it in the transcript.

    `name` with its ending says what it is, as in "chart.png".
    """
    kind = mimetypes.guess_type(name)[0]
    content = data.encode() if isinstance(data, str) else data
    media_type = kind or ("text/plain" if isinstance(data, str) else "application/octet-stream")

    def do() -> KeptResult:
        kept = run.results.keep(content, media_type=media_type, name=name)
        run.kept.append(kept)
        return KeptResult(
            id=kept.artifact_id,
            name=kept.name,
            media_type=kept.media_type,
            size_bytes=kept.size_bytes,
            sha256=kept.sha256,
        )

    return Planned(do=do)


def artifact_text(
    run: ToolRun, artifact_id: str, start: int = 0, chars: int = 4000
) -> Planned[str]:
    """A part of a long text that was kept: `chars` characters from `start`."""
    wanted = min(chars, _MOST_CHARS)
    return Planned(do=lambda: run.results.text(artifact_id, start, wanted))


def look(run: ToolRun, item: str | Path) -> Planned[str]:
    """Look at a picture, by its path or the id of a kept result; gives what it is in words."""
    if isinstance(item, str) and item.startswith("artifact-"):
        kept = run.results.get(item)
        return Planned(do=lambda: _looked(run, kept, run.results.read(kept.artifact_id)))
    effect, read = run.read(run.paths.path(item))
    name = shown(str(item).rpartition("/")[2])

    def do() -> str:
        data = read()
        media_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
        return _looked(run, run.results.keep(data, media_type=media_type, name=name), data)

    return Planned(effects=(effect,), do=do)


def _looked(run: ToolRun, kept: Artifact, data: bytes) -> str:
    if kept.media_type not in _PICTURES:
        return f"{kept.described()}. That is no picture: use read_document or artifact_text."
    info = info_of(data, kept.name)
    said = f"{kept.name}: {info['format']}, {info['width']} x {info['height']} pixels"
    if info["taken"]:
        said += f", taken {info['taken']}"
    if not run.sees:
        return f"{said}. The model that is chosen cannot see pictures; this is all it can be told."
    if len(data) > _LOOK_BYTES or len(run.looks) >= _MOST_LOOKS:
        return f"{said}. It is not shown: at most {_MOST_LOOKS} pictures of 8 MiB each are."
    run.looks.append(kept)
    return f"{said}. It is shown to you when the program has ended."


ARTIFACT_TOOLS = (
    tool(
        keep_artifact,
        roles={"data": "data", "name": "name"},
        labels=["private"],
        cost="instant",
        cues=["keep the result", "artifact"],
    ),
    tool(
        artifact_text,
        kinds=["read"],
        roles={"artifact_id": "name", "start": "option", "chars": "option"},
        labels=["private"],
        cost="instant",
        cues=["artifact"],
    ),
    tool(
        look,
        kinds=["read"],
        roles={"item": "path"},
        labels=["private", "untrusted"],
        cost="files",
        cues=["look + picture", "look + photo", "describe + picture", "describe + photo"],
    ),
)
