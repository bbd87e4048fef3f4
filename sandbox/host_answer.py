"""What a call at the host would do, before it is done.

Owns the record that the runner judges and then carries out. Pure data; runner's thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sandbox.effects import Effect


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """`effects`: what `do` would cause; `do`: carries it out and returns the program's value."""

    do: Callable[[], object]
    effects: tuple[Effect, ...] = ()


Handler = Callable[[Sequence[object], Mapping[str, object]], Answer]
