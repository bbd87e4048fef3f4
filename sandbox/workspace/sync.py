"""Keeping the files inside a workspace and the stage in step, before and after each command.

Owns when to look and what is known. Before a command the inside is made what the stage has;
afterwards what the command changed is judged and brought into the stage. Thread: the stage's.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sandbox.effects import Effect
from sandbox.ports import Verdict
from sandbox.stage import Stage
from sandbox.stage_arrivals import open_kept, put_note
from sandbox.stage_manifest import ManifestEntry, manifest, roots_of
from sandbox.workspace.bring import Bring, Changes
from sandbox.workspace.channel import Channel
from sandbox.workspace.frames import Batch, Record
from sandbox.workspace.known import KnownFiles
from sandbox.workspace.machine import ROOT
from sandbox.workspace.patch import from_bytes, to_bytes
from sandbox.workspace.pull import Pull
from sandbox.workspace.push import Push

Judge = Callable[[Sequence[Effect]], Verdict]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pushed:
    """What a push did. `skipped`: files that cannot be read here, as the person knows them."""

    sent_bytes: int = 0
    skipped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pulled:
    """What a pull did. `refused`: changes in folders that may only be read, `left_out`: what
    cannot be brought in (sockets, devices), as the person knows them; both are undone inside.
    `patch`: under which the stage keeps what was brought in, for `bring_again`."""

    effects: tuple[Effect, ...] = ()
    refused: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    patch: str = ""


@dataclass(slots=True)
class StageSync:
    """The two sides of one workspace. `file`: where what is known outlasts a restart."""

    file: Path
    _known: KnownFiles | None = None
    _is_sure: bool = False
    _began_ns: int = field(default_factory=time.time_ns)

    def push(self, channel: Channel, stage: Stage, stopped: Callable[[], bool]) -> Pushed:
        """Make the folders inside what the stage has.

        Raises `StoppedError`, `WorkspaceLostError`, and OSError for what fails inside (ENOSPC).
        """
        roots = roots_of(stage)
        known = self._opened(channel, roots)
        places = inside_places(roots)
        if not self._is_sure:
            self._learn(channel, known, places)
        wanted: dict[str, ManifestEntry] = {}
        for number, root in enumerate(roots):
            for entry in manifest(stage, root):
                path = f"{number}/{entry.path}" if entry.path else str(number)
                wanted[path] = entry
        push = Push(channel, known, places, stopped)
        self._is_sure = False
        push.run(wanted)
        if push.changed:
            self._learn(channel, known, places)
            for path, (key, sha256) in push.contents().items():
                if path in known:
                    known[path].key, known[path].sha256 = key, sha256
        self._is_sure = True
        self._began_ns = time.time_ns()
        named = tuple(_outside(path, roots) for path in push.skipped)
        return Pushed(sent_bytes=push.sent_bytes, skipped=named)

    def pull(self, channel: Channel, stage: Stage, judge: Judge) -> Pulled:
        """Bring into the stage what is different inside.

        Raises PermissionError when `judge` does not allow it, `WorkspaceLimitError` when it is too
        much: then the stage is as it was, and the next push undoes it inside.
        """
        roots = roots_of(stage)
        known = self._opened(channel, roots)
        places = inside_places(roots)
        self._is_sure = False
        token, records = channel.scan(list(places.values()), known.token)
        if records is None:
            self._is_sure = True
            return Pulled()
        found = {item.path: item for item in records}
        disk_paths = {str(number): root for number, root in enumerate(roots)}
        pull = Pull(channel, stage, known, places, disk_paths, self._began_ns)
        try:
            changes = pull.compare(found)
            effects = pull.effects(changes, found)
            if effects:
                verdict = judge(effects)
                if verdict.outcome != "allow":
                    raise PermissionError(verdict.message or "what the command did is not allowed")
            bring = Bring(stage, disk_paths, pull.content)
            bring.bring_in(changes, found)
        finally:
            pull.close()
        self._after(known, found, {**pull.contents, **bring.digests}, changes, bring.refused)
        known.token = token
        self._is_sure = not (bring.refused or changes.left_out)
        note = to_bytes(changes, found, bring.digests, disk_paths) if effects else b""
        return Pulled(
            effects=tuple(effects),
            refused=tuple(_outside(path, roots) for path in bring.refused),
            left_out=tuple(_outside(path, roots) for path in changes.left_out),
            patch=put_note(stage, note) if note else "",
        )

    def doubt(self) -> None:
        """Something may have changed inside without a pull: look before the next push."""
        self._is_sure = False

    def save(self) -> None:
        """Write down what is known."""
        if self._known is not None and self.file.parent.is_dir():
            with contextlib.suppress(OSError):
                self._known.save(self.file)

    def forget(self) -> None:
        """The inside is new."""
        self._known = KnownFiles()
        self._is_sure = False

    def _opened(self, channel: Channel, roots: tuple[str, ...]) -> KnownFiles:
        """What is known of these folders; folders that are no longer granted go."""
        if self._known is None:
            self._known = KnownFiles.load(self.file)
        if self._known.roots != roots:
            batch = Batch()
            for place in inside_places(self._known.roots).values():
                batch.remove(place)
            channel.apply(batch)
            self._known = KnownFiles()
            self._known.roots = roots
            self._is_sure = False
        return self._known

    def _learn(self, channel: Channel, known: KnownFiles, places: Mapping[str, str]) -> None:
        token, records = channel.scan(list(places.values()), 0)
        known.learn({item.path: item for item in records or ()})
        known.token = token

    @staticmethod
    def _after(
        known: KnownFiles,
        found: Mapping[str, Record],
        contents: Mapping[str, str],
        changes: Changes,
        refused: Sequence[str],
    ) -> None:
        """The inside is as found, and its contents are the stage's but for what was refused."""
        former = dict(known.entries)
        known.learn(found)
        for path, entry in known.entries.items():
            before = former.get(path)
            if path in contents:
                digest = contents[path]
                kept = before is not None and before.sha256 == digest
                entry.key = before.key if kept and before is not None else (digest,)
                entry.sha256 = digest
            elif before is not None and not entry.key and path not in changes.files:
                entry.key, entry.sha256 = before.key, before.sha256
        for path in (*refused, *changes.left_out):
            if path in known:
                known[path].key, known[path].sha256 = (), ""


def bring_again(stage: Stage, patch: str) -> None:
    """Change the stage as a pull did before. OSError or ValueError when that is not known."""
    with open_kept(stage, patch) as stream:
        changes, found, digests, disk_paths = from_bytes(stream.read())
    bring = Bring(stage, disk_paths, lambda path: open_kept(stage, digests[path]))
    bring.bring_in(changes, found)


def inside_places(roots: Sequence[str]) -> dict[str, str]:
    """Where each granted folder is inside, by its number: ``/workspace/NAME``, names unique."""
    places: dict[str, str] = {}
    for number, root in enumerate(roots):
        name = root.rstrip("/").rpartition("/")[2] or "root"
        place, count = f"{ROOT}/{name}", 2
        while place in places.values():
            place, count = f"{ROOT}/{name}-{count}", count + 1
        places[str(number)] = place
    return places


def _outside(path: str, roots: Sequence[str]) -> str:
    number, _, rest = path.partition("/")
    return f"{roots[int(number)]}/{rest}" if rest else roots[int(number)]
