"""Judging the answer text of a task: the numbers and names that it must and must not say.

Answers are free text ("There are 17 PDF files."), so the checks look for facts and accept any
wording, but an answer that lists everything is no answer. Thread: any.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

_NUMBER = re.compile(r"(?<![\w.])-?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w])|(?<![\w.])-?\d+(?:\.\d+)?")
_MOST_NUMBERS = 4  # an answer with more different numbers than this does not commit itself


def answer_of(result: Mapping[str, object]) -> str:
    """The run's answer text, or empty."""
    answer = result.get("answer")
    return answer if isinstance(answer, str) else ""


def says_number(answer: str, wanted: float, *, tolerance: float = 0.0) -> str | None:
    """None when `answer` names the number and not a heap of others, else the reason."""
    numbers = {float(text.replace(",", "")) for text in _NUMBER.findall(answer)}
    if len(numbers) > _MOST_NUMBERS:
        return f"the answer names {len(numbers)} different numbers: {answer[:200]!r}"
    if any(abs(number - wanted) <= tolerance for number in numbers):
        return None
    return f"the answer should say {wanted:.12g}, is {answer[:200]!r}"


def says_names(
    answer: str, wanted: Sequence[str], among: Iterable[str], *, ordered: bool = False
) -> str | None:
    """None when `answer` names each of `wanted` and nothing else of `among`, else the reason.

    `ordered`: they must appear in the order of `wanted`. Names are matched without regard to case
    and longest first, so that ``a.txt`` is not found within ``data.txt``.
    """
    names = sorted({*wanted, *among}, key=len, reverse=True)
    pattern = "|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in names)
    found: list[str] = []
    for match in re.finditer(pattern, answer, re.IGNORECASE):
        name = next(name for name in names if name.lower() == match.group().lower())
        if name not in found:
            found.append(name)
    if missing := [name for name in wanted if name not in found]:
        return f"the answer does not name {missing[0]!r}: {answer[:200]!r}"
    if extra := [name for name in found if name not in wanted]:
        return f"the answer names {extra[0]!r} as well: {answer[:200]!r}"
    if ordered and found != list(wanted):
        return f"the answer has the order {found}, wanted {list(wanted)}"
    return None
