"""What a model is sent for a turn: fixed beginning, earlier turns, listing and request.

The beginning (system text and worked example) is the same in every chat, so that a local model
evaluates it once and keeps that on the disk: nothing of a day or a person is in it. Earlier turns
come next, as they were sent (`conversation.py`), and what is chosen for the request follows them:
so all but the new is evaluated already. Thread: engine; pure but for the conversation's memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from app.engine.conversation import Conversation, Row
from app.engine.listing import estimate_tokens
from app.store.records import TurnRecord
from models.prompt import Prompt, fenced
from sandbox.builtin_tools import builtin_tools
from sandbox.file_tools import FILE_TOOLS
from sandbox.tools import ToolSet
from sandbox.workspace.shell_tools import asks_for_shell

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage

    from app.engine.toolbox import Way

_RESULT_CHARS = 400
_HISTORY_SHARE = 0.25
_LOCAL_HISTORY_SHARE = 0.5
_SPARE_TOKENS = 300
"""For what a model is told of a program that failed."""

_CHARS_PER_TOKEN = 3
_LIKELY_TOOLS = 2
_TOOLS_TOKENS = 400
_NO_SHELL = "Shell commands cannot be run on this computer; use Python alone."
_TOOLS_INTRODUCED = "Functions that are there as well, to be called without an import:"
_FUNCTIONS_INTRODUCED = "Functions, to be called without an import:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A request to a model. `history` precedes `prompt`; `left_out` counts earlier turns cut.

    `shortened` counts those that are told in short; `repeated`: so many messages of `history` are
    the fixed beginning and earlier turns, the rest was chosen for this request.
    """

    instructions: str
    history: list[ModelMessage]
    prompt: str
    left_out: int
    shortened: int = 0
    repeated: int = 0


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
    conversation: Conversation | None = None,
    reply_tokens: int = 0,
    declared: str | None = None,
) -> Context:
    """Put a request together.

    `calls`: earlier programs are told as the calls that they were, for models that make calls,
    within a quarter of `context_tokens`. Else they are told as `conversation` has them, within half
    of it and with room for a reply of `reply_tokens`. `declared`: the functions to tell of, those
    that `request` likely needs when not given.
    """
    usable = [turn for turn in earlier if _is_worth(turn)]
    fixed = [row for pair in prompt.example_exchanges() for row in _rows(*pair)]
    if declared is None:
        declared = declared_tools(request, tools or builtin_tools())
    asked = prompt.task_text(
        f"{listing.rstrip()}\n{declared}",
        request,
        today=f"{now:%A}, {now:%Y-%m-%d}",
    )
    if calls:
        told, left_out = _called_turns(usable, int(context_tokens * _HISTORY_SHARE))
        chosen = [row for pair in prompt.chosen_exchanges(request) for row in _rows(*pair)]
        return Context(
            instructions=prompt.system_text(),
            history=[*_messages(fixed + chosen), *told],
            prompt=asked,
            left_out=left_out,
        )
    conversation = conversation or Conversation()
    new = [row for pair in prompt.chosen_exchanges(request) for row in _rows(*pair)]
    needed = sum(map(estimate_tokens, [prompt.system_text(), asked, *(w for _, w in fixed + new)]))
    room = min(
        int(context_tokens * _LOCAL_HISTORY_SHARE),
        context_tokens - needed - reply_tokens - _SPARE_TOKENS,
    )
    rows, shortened, left_out = _told_turns(usable, conversation, room)
    repeated = len(fixed) + len(rows)
    # An example that an earlier turn was sent already need not be sent again.
    shown = set(rows)
    for question, answer in prompt.chosen_exchanges(request):
        if ("user", question) not in shown:
            rows += _rows(question, answer)
    return Context(
        instructions=prompt.system_text(),
        history=_messages(fixed + rows),
        prompt=asked,
        left_out=left_out,
        shortened=shortened,
        repeated=repeated,
    )


def _told_turns(
    usable: Sequence[TurnRecord], conversation: Conversation, room: int
) -> tuple[list[Row], int, int]:
    """Earlier turns as rows within `room` tokens; how many are told in short, and how many not."""
    short = {turn.turn_id: _short(turn) for turn in usable}
    whole = {
        turn.turn_id: [*said, *_outcome_rows(turn)]
        for turn in usable
        if (said := conversation.said.get(turn.turn_id))
    }

    def size(rows: Sequence[Row]) -> int:
        return sum(estimate_tokens(words) for _, words in rows)

    costs = [
        (turn_id, size(whole.get(turn_id, rows)), size(rows)) for turn_id, rows in short.items()
    ]
    forms = conversation.forms(costs, max(0, room))
    told: list[Row] = []
    for turn_id, form in forms.items():
        if form != "none":
            told += whole[turn_id] if form == "whole" else short[turn_id]
    kinds = list(forms.values())
    return told, kinds.count("short"), kinds.count("none")


def _called_turns(
    usable: Sequence[TurnRecord], budget_tokens: int
) -> tuple[list[ModelMessage], int]:
    """Earlier turns as calls, the latest that fit; and how many do not."""
    budget = budget_tokens * _CHARS_PER_TOKEN
    kept: list[TurnRecord] = []
    for turn in reversed(usable):
        budget -= len(turn.request) + len(program_of(turn)) + min(len(turn.answer), _RESULT_CHARS)
        if budget < 0:
            break
        kept.insert(0, turn)
    told: list[ModelMessage] = []
    for turn in kept:
        told += _called(turn) if program_of(turn) else _messages(_short(turn))
    return told, len(usable) - len(kept)


def declared_tools(request: str, tools: ToolSet) -> str:
    """The declarations of the functions that `request` most likely needs; usually none.

    They go with the request, not into the fixed beginning, which stays the same for every request.
    """
    likely = tools.likely(request, _LIKELY_TOOLS)
    if not likely:
        return "" if "run_command" in tools or not asks_for_shell(request) else _NO_SHELL
    declared = fenced(tools.declared(likely, _TOOLS_TOKENS))
    return f"{_TOOLS_INTRODUCED}\n{declared}"


def declared_by(way: Way, request: str, tools: ToolSet) -> str | None:
    """What is declared by a way of working; None: the functions that `request` likely needs."""
    match way:
        case "code":
            return None
        case "naive":
            return _declared_functions(request, tools)
        case "tools":
            return ""


def _declared_functions(request: str, tools: ToolSet) -> str:
    """The declarations for plain code mode: files as functions, and what `request` likely needs."""
    shown = [*FILE_TOOLS, *tools.likely(request, _LIKELY_TOOLS)]
    return f"{_FUNCTIONS_INTRODUCED}\n{fenced(tools.declared(shown))}"


def _rows(asked: str, reply: str) -> list[Row]:
    return [("user", asked), ("assistant", reply)]


def _short(turn: TurnRecord) -> list[Row]:
    """A turn without what was chosen for its request: what was asked, the program, its outcome."""
    reply = fenced(program_of(turn)) if program_of(turn) else turn.answer
    return [*_rows(turn.request, reply), *_outcome_rows(turn)]


def _outcome_rows(turn: TurnRecord) -> list[Row]:
    outcome = _outcome_of(turn)
    return _rows(f"Result: {outcome}", "Done.") if outcome else []


def _messages(rows: Sequence[Row]) -> list[ModelMessage]:
    from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart

    return [
        ModelRequest(parts=[UserPromptPart(content=words)])
        if role == "user"
        else ModelResponse(parts=[TextPart(content=words)])
        for role, words in rows
    ]


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
        tool_name="run_code", args={"source": program_of(turn)}, tool_call_id=call_id
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


def program_of(turn: TurnRecord) -> str:
    """The program that counts: the latest that worked; empty when none did."""
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
