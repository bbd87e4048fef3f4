"""What a model is sent for a turn: fixed beginning, earlier turns, listing and request.

The beginning (system text and worked example) is the same in every chat, so that a local model
evaluates it once and keeps that on the disk: nothing of a day or a person is in it. Thread:
engine; pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from app.store.records import TurnRecord
from models.prompt import Prompt, fenced
from sandbox.builtin_tools import builtin_tools
from sandbox.tools import ToolSet
from sandbox.workspace.shell_tools import asks_for_shell

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage

_HISTORY_TURNS = 3
_RESULT_CHARS = 400
_HISTORY_SHARE = 0.25
_CHARS_PER_TOKEN = 3
_LIKELY_TOOLS = 2
_TOOLS_TOKENS = 400
_NO_SHELL = "Shell commands cannot be run on this computer; use Python alone."
_TOOLS_INTRODUCED = "Functions that are there as well, to be called without an import:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A request to a model. `history` precedes `prompt`; `left_out` counts earlier turns cut."""

    instructions: str
    history: list[ModelMessage]
    prompt: str
    left_out: int


def build_context(
    prompt: Prompt,
    *,
    request: str,
    listing: str,
    earlier: Sequence[TurnRecord],
    context_tokens: int,
    now: datetime,
    tools: ToolSet | None = None,
    calls: bool = False,
) -> Context:
    """Put a request together within a quarter of `context_tokens` for earlier turns.

    `calls`: earlier programs are told as the calls that they were, for models that make calls.
    """
    budget = int(context_tokens * _HISTORY_SHARE * _CHARS_PER_TOKEN)
    usable = [turn for turn in earlier if _is_worth(turn)]
    kept: list[TurnRecord] = []
    for turn in reversed(usable if calls else usable[-_HISTORY_TURNS:]):
        budget -= len(turn.request) + len(_program_of(turn)) + min(len(turn.answer), _RESULT_CHARS)
        if budget < 0:
            break
        kept.insert(0, turn)
    history: list[ModelMessage] = []
    for asked, reply in (*prompt.example_exchanges(), *prompt.chosen_exchanges(request)):
        history += _exchange(asked, reply, "")
    for turn in kept:
        if calls and _program_of(turn):
            history += _called(turn)
            continue
        reply = fenced(_program_of(turn)) if _program_of(turn) else turn.answer
        history += _exchange(turn.request, reply, _outcome_of(turn))
    return Context(
        instructions=prompt.system_text(),
        history=history,
        prompt=prompt.task_text(
            f"{listing.rstrip()}\n{declared_tools(request, tools or builtin_tools())}",
            request,
            today=f"{now:%A}, {now:%Y-%m-%d}",
        ),
        left_out=len(usable) - len(kept),
    )


def declared_tools(request: str, tools: ToolSet) -> str:
    """The declarations of the functions that `request` most likely needs; usually none.

    They go with the request, not into the fixed beginning, which stays the same for every request.
    """
    likely = tools.likely(request, _LIKELY_TOOLS)
    if not likely:
        return "" if "run_command" in tools or not asks_for_shell(request) else _NO_SHELL
    declared = fenced(tools.declared(likely, _TOOLS_TOKENS))
    return f"{_TOOLS_INTRODUCED}\n{declared}"


def _exchange(asked: str, reply: str, result: str) -> list[ModelMessage]:
    from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart

    answered = [TextPart(content=reply)]
    messages: list[ModelMessage] = [
        ModelRequest(parts=[UserPromptPart(content=asked)]),
        ModelResponse(parts=answered),
    ]
    if result:
        messages += [
            ModelRequest(parts=[UserPromptPart(content=f"Result: {result}")]),
            ModelResponse(parts=[TextPart(content="Done.")]),
        ]
    return messages


def _called(turn: TurnRecord) -> list[ModelMessage]:
    """An earlier turn with its program as a call. Ids are the turn's, so the same each time."""
    from pydantic_ai.messages import (
        ModelRequest,
        ModelResponse,
        TextPart,
        ToolCallPart,
        ToolReturnPart,
        UserPromptPart,
    )

    call_id = f"c{turn.turn_id}"[:9].ljust(9, "0")  # nine letters and digits suit every provider
    call = ToolCallPart(
        tool_name="run_code", args={"source": _program_of(turn)}, tool_call_id=call_id
    )
    told = ToolReturnPart(tool_name="run_code", content=_outcome_of(turn), tool_call_id=call_id)
    return [
        ModelRequest(parts=[UserPromptPart(content=turn.request)]),
        ModelResponse(parts=[call]),
        ModelRequest(parts=[told]),
        ModelResponse(parts=[TextPart(content=turn.answer[:_RESULT_CHARS] or "Done.")]),
    ]


def _is_worth(turn: TurnRecord) -> bool:
    return turn.status in {"done", "rejected", "undone"} and bool(turn.answer or turn.programs)


def _program_of(turn: TurnRecord) -> str:
    return next((item.source for item in reversed(turn.programs) if item.status == "ok"), "")


def _outcome_of(turn: TurnRecord) -> str:
    answer = turn.answer[:_RESULT_CHARS]
    match turn.status:
        case "rejected":
            return f"{answer} The person did not approve the changes; the files are as before."
        case "undone":
            return f"{answer} The person undid the changes; the files are as before."
        case _:
            return answer
