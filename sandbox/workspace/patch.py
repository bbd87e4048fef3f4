"""What a command changed, as bytes that are kept: to do it again without the command.

Owns the form. A program that goes on after a crash is answered what it was answered before, and
its commands are not run again; what they changed in the stage is. Pure data; any thread.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sandbox.workspace.bring import Changes
from sandbox.workspace.frames import Record

_FORM = 1


def to_bytes(
    changes: Changes,
    found: Mapping[str, Record],
    digests: Mapping[str, str],
    disk_paths: Mapping[str, str],
) -> bytes:
    """`changes` with the states they lead to and the contents by their sha256."""
    named = {
        path
        for paths in (changes.folders, changes.files, changes.links, changes.modes, changes.times)
        for path in paths
    }
    states = {
        path: [found[path].mode, found[path].mtime_ns, found[path].link]
        for path in sorted(named)
        if path in found
    }
    data = {
        "form": _FORM,
        "roots": dict(disk_paths),
        "changes": asdict(changes),
        "states": states,
        "digests": {path: digests[path] for path in changes.files if path in digests},
    }
    return json.dumps(data, sort_keys=True).encode("ascii")


def from_bytes(
    data: bytes,
) -> tuple[Changes, dict[str, Record], dict[str, str], dict[str, str]]:
    """The inverse of `to_bytes`. ValueError for another form."""
    known: dict[str, Any] = json.loads(data)
    if known["form"] != _FORM:
        raise ValueError(f"a change of form {known['form']}, expected {_FORM}")
    fields = dict(known["changes"])
    fields["moved"] = [(old, new) for old, new in fields["moved"]]
    found = {
        path: Record(path, mode, 0, mtime_ns, 0, 0, link)
        for path, (mode, mtime_ns, link) in known["states"].items()
    }
    return Changes(**fields), found, dict(known["digests"]), dict(known["roots"])
