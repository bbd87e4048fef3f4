"""Reads a model's reply as it streams. Imports what is heavy only when it is used. Pure."""

from __future__ import annotations


def thoughts_of(event: object) -> str:
    """The thinking that a stream's event brings, if any."""
    from pydantic_ai.messages import (
        PartDeltaEvent,
        PartStartEvent,
        ThinkingPart,
        ThinkingPartDelta,
    )

    match event:
        case PartStartEvent(part=ThinkingPart(content=text)):
            return text
        case PartDeltaEvent(delta=ThinkingPartDelta(content_delta=text)):
            return text or ""
        case _:
            return ""


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
