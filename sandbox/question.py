"""What a program waits for a person to say: the call that stopped it, and what led there.

Pure data; any thread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

from sandbox.effects import Effect, Span
from sandbox.ports import Reason

QuestionKind = Literal["effects", "unknown", "person"]
"""May it do this; it is not known whether it was done: again; the program asks for an answer."""


DONE = "done"
"""The person knows that it was done: it is not done again, and the program goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Composition:
    """What the turn has done so far, in sums. `counts`: effects by kind; `hosts`: spoken to."""

    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    read_bytes: int = 0
    written_bytes: int = 0
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A call that waits for the person.

    `ordinal`, `digest`: which call of the program it is, and of what; `call`: the function;
    `effects`: what it would do, with spans; `reasons`: why it is asked, the most unusual first;
    `exact`: what would be sent, or the program's own question; `choices`: the answers that the
    program offers, none: any text.
    """

    kind: QuestionKind
    program_id: str
    ordinal: int
    digest: str
    call: str
    line: int | None
    effects: tuple[Effect, ...]
    reasons: tuple[Reason, ...] = ()
    composition: Composition = field(default_factory=Composition)
    exact: str = ""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonsAnswer:
    """What the person says to a question.

    `text`: with a refusal, a word for the model; to a program's own question, the answer; `DONE`
    to one about a call of which it is not known whether it was done.
    """

    approved: bool
    text: str = ""


def composed(effects: Iterable[Effect]) -> Composition:
    """The sums of `effects`."""
    counts: Counter[str] = Counter()
    read_bytes = written_bytes = 0
    hosts: dict[str, None] = {}
    for effect in effects:
        counts[effect.kind] += 1
        if effect.path.startswith(("http://", "https://")):
            hosts[urlsplit(effect.path).netloc] = None
        elif effect.kind == "read":
            read_bytes += effect.size_bytes or 0
        else:
            written_bytes += effect.size_bytes or 0
    return Composition(
        counts=dict(counts),
        read_bytes=read_bytes,
        written_bytes=written_bytes,
        hosts=tuple(hosts),
    )


def question_to_text(question: Question) -> str:
    """A question as JSON text, for the store."""
    from sandbox.plain import to_text  # loads the interpreter

    return to_text({**asdict(question), "effects": question.effects})


def question_from_text(text: str) -> Question:
    """The question again."""
    from sandbox.plain import from_text  # loads the interpreter

    found: dict[str, Any] = from_text(text)
    found["reasons"] = tuple(Reason(**item) for item in found["reasons"])
    found["composition"] = Composition(**found["composition"])
    return Question(**found)


def spans_of(question: Question) -> tuple[Span, ...]:
    """Where in the program the call is."""
    return tuple(effect.span for effect in question.effects if effect.span is not None)
