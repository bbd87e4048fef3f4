"""What a program put in view of the person. Pure data; any thread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Something that a program put in view.

    `text`: of a text, the path of a file (`open`: in the side panel), or a filter on names;
    `columns` and `rows`: of a table, or label and value of each point of a chart; `left_out`: rows
    that were too many.
    """

    kind: Literal["text", "table", "chart", "file", "open", "filter"]
    title: str = ""
    text: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    left_out: int = 0
