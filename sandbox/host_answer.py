"""What a call at the host would do, before it is done.

Owns the record that the runner judges and then carries out. Pure data; runner's thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sandbox.effects import Effect


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one call would do.

    `effects`: what `do` would cause; `do`: carries it out and returns the program's value;
    `place`: the file that this opens, or that a helper writes for the call that opened it;
    `reveals`: whether a call that names a path and has no effect tells what is there;
    `exact`: what would leave the machine, or what the person is asked, as it is shown to the
    person; `choices`: the answers offered; `asks_person`: the value is what the person answers;
    `taken`: makes the value of that answer;
    `more`: effects that come up while it is done, e.g. redirects.
    """

    do: Callable[[], object]
    effects: tuple[Effect, ...] = ()
    place: str | None = None
    reveals: bool = True
    exact: str = ""
    choices: tuple[str, ...] = ()
    asks_person: bool = False
    taken: Callable[[str], object] | None = None
    more: Sequence[Effect] = ()


Handler = Callable[[Sequence[object], Mapping[str, object]], Answer]
