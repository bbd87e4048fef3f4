"""A reply without a format: what a model says, before a provider's format is given to it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360"
    "606060000000050001a5f645400000000049454e44ae426082"
)
"""A PNG of one pixel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call. `raw`: arguments as they are sent, where they are not to be valid."""

    name: str = "run_code"
    args: dict[str, Any] | None = None
    raw: str | None = None

    @property
    def text(self) -> str:
        """The arguments as JSON text."""
        return self.raw if self.raw is not None else json.dumps(self.args or {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the model does: thinks, speaks, calls."""

    text: str = ""
    thinking: str = ""
    calls: tuple[Call, ...] = ()
    input_tokens: int = 1200
    cached_tokens: int = 800
    output_tokens: int = 40
    thinking_tokens: int = 0
    finish: Literal["", "length", "content_filter"] = ""


def pieces(text: str, size: int = 7) -> Iterable[str]:
    """A text as a model streams it."""
    return [text[at : at + size] for at in range(0, len(text), size)]


def event(data: object, name: str = "") -> bytes:
    """One server-sent event."""
    head = f"event: {name}\n" if name else ""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return f"{head}data: {text}\n\n".encode()
