"""Reads a model's reply as it streams. Imports what is heavy only when it is used. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from models.metering import Used

if TYPE_CHECKING:
    from pydantic_ai.usage import RequestUsage


@dataclass(slots=True, kw_only=True)
class Heard:
    """What a reply has brought so far."""

    texts: list[str] = field(default_factory=list[str])
    thoughts: list[str] = field(default_factory=list[str])
    begun: bool = False

    @property
    def text(self) -> str:
        """Its words."""
        return "".join(self.texts)

    @property
    def thinking(self) -> str:
        """What it thought aloud."""
        return "".join(self.thoughts)

    def clear(self) -> None:
        """It begins anew."""
        self.texts.clear()
        self.thoughts.clear()


def used_of(usage: RequestUsage, seconds: float) -> Used:
    """What a local reply took, for the accounts."""
    return Used(
        input_tokens=usage.input_tokens,
        cached_tokens=usage.cache_read_tokens,
        output_tokens=usage.output_tokens,
        seconds=seconds,
    )


def text_of(event: object) -> str:
    """The text that a stream's event brings, if any."""
    from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta

    match event:
        case PartStartEvent(part=TextPart(content=text)):
            return text
        case PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
            return text
        case _:
            return ""


def thinking_of(event: object) -> str:
    """What a stream's event brings of the model's thinking, if any."""
    from pydantic_ai.messages import (
        PartDeltaEvent,
        PartStartEvent,
        ThinkingPart,
        ThinkingPartDelta,
    )

    match event:
        case PartStartEvent(part=ThinkingPart(content=text)):
            return text
        case PartDeltaEvent(delta=ThinkingPartDelta(content_delta=str(text))):
            return text
        case _:
            return ""


def begins_anew(event: object, *, begun: bool) -> bool:
    """Whether a reply that has `begun` begins again: the one before it broke off."""
    from pydantic_ai.messages import PartStartEvent

    return begun and isinstance(event, PartStartEvent) and event.index == 0
