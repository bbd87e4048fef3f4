"""The effects of a run: collected, merged, journalled and told in batches.

Owns the batching: at most about thirty times a second, and always at the end. Thread: the runner's.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from sandbox.effects import Effect, EffectKind
from sandbox.outcome import CallBatch, CallGroup, Listener, Printed
from sandbox.ports import Journal

_BATCH_S = 0.033


class Ledger:
    """What one program has done so far."""

    def __init__(self, *, program_id: str, journal: Journal, listen: Listener) -> None:
        self.program_id = program_id
        self._journal = journal
        self._listen = listen
        self._effects: list[Effect] = []
        self._settled = 0
        self._calls = 0
        self._groups: dict[tuple[EffectKind, bool, int | None], list[int | str]] = {}
        self._text: list[str] = []
        self._due = time.monotonic() + _BATCH_S

    @property
    def effects(self) -> tuple[Effect, ...]:
        """All effects so far, in order."""
        return tuple(self._effects)

    def add(self, effects: Sequence[Effect]) -> None:
        """Record the effects of a call that is done; writes in a row to one file become one."""
        self._calls += 1
        for effect in effects:
            if not self._merged(effect):
                self._effects.append(effect)
            self._count(effect)

    def printed(self, text: str) -> None:
        """Record printed text."""
        self._text.append(text)
        self.tick()

    def tick(self) -> None:
        """Send what has collected, when a batch is due."""
        if time.monotonic() >= self._due:
            self.flush(more=True)

    def flush(self, *, more: bool = False) -> None:
        """Journal and tell everything that has not been yet.

        `more`: the program goes on, so the last effect waits: the next may be a part of it.
        """
        settled = self._effects[self._settled : -1 if more else None]
        if settled:
            self._journal.settle(self.program_id, settled)
            self._settled += len(settled)
        if self._text:
            self._listen(Printed(program_id=self.program_id, text="".join(self._text)))
            self._text = []
        if self._groups:
            groups = tuple(_group(key, found) for key, found in self._groups.items())
            self._groups = {}
            self._listen(
                CallBatch(program_id=self.program_id, groups=groups, file_calls=self._calls)
            )
        self._due = time.monotonic() + _BATCH_S

    def _merged(self, effect: Effect) -> bool:
        """Add a repeated write to the effect before it, unless that was journalled already."""
        if effect.kind != "modify" or len(self._effects) <= self._settled:
            return False
        last = self._effects[-1]
        if last.path != effect.path or last.kind not in ("create", "modify") or last.folder:
            return False
        size_bytes = (last.size_bytes or 0) + (effect.size_bytes or 0)
        self._effects[-1] = replace(last, size_bytes=size_bytes)
        return True

    def _count(self, effect: Effect) -> None:
        line = effect.span.line if effect.span else None
        found = self._groups.get((effect.kind, effect.folder, line))
        if found is None:
            self._groups[effect.kind, effect.folder, line] = [1, effect.path]
        else:
            found[0] = int(found[0]) + 1


def _group(key: tuple[EffectKind, bool, int | None], found: list[int | str]) -> CallGroup:
    kind, folder, line = key
    return CallGroup(kind=kind, folder=folder, count=int(found[0]), path=str(found[1]), line=line)
