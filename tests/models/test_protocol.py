"""The lines of the protocol survive the way there and back."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from models.protocol import (
    COMMANDS,
    EVENTS,
    ChatMessage,
    Count,
    Delta,
    Done,
    Failed,
    Generate,
    Hello,
    Load,
    Shutdown,
    Stop,
    encode_line,
)

MESSAGES = (ChatMessage(role="user", content="Zeile 1\nZeile 2 \u2028 ü 你"),)


@pytest.mark.parametrize(
    "command",
    [
        Load(id=1, path="/a b/c.gguf", context_tokens=1, threads=1),
        Generate(id=2, messages=MESSAGES, max_tokens=5, seed=3, stop=("x",)),
        Count(id=3, text="a"),
        Stop(id=2),
        Shutdown(),
    ],
)
def test_a_command_is_one_line_and_comes_back_as_itself(command):
    line = encode_line(command)
    assert line.count(b"\n") == 1
    assert COMMANDS.validate_json(line) == command


@pytest.mark.parametrize(
    "event",
    [
        Hello(protocol=1, pid=2),
        Delta(id=1, text="a\nb"),
        Failed(id=1, code="internal", message="x"),
        Done(
            id=1,
            finish="stop",
            prompt_tokens=3,
            cached_tokens=1,
            evaluated_tokens=2,
            completion_tokens=4,
            first_token_s=None,
            total_s=1.5,
        ),
    ],
)
def test_an_event_is_one_line_and_comes_back_as_itself(event):
    line = encode_line(event)
    assert line.count(b"\n") == 1
    assert EVENTS.validate_json(line) == event


def test_unknown_fields_are_ignored_so_that_fields_can_be_added():
    assert EVENTS.validate_json('{"event":"delta","id":1,"text":"a","new":2}') == Delta(
        id=1, text="a"
    )


def test_an_unknown_command_is_refused():
    with pytest.raises(ValidationError):
        COMMANDS.validate_json('{"op":"format_disk","id":1}')
