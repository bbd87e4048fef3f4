"""What is sent to a model: a beginning that never changes, then earlier turns, then the request."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from pydantic_ai.messages import ModelMessage, ModelRequest, TextPart, UserPromptPart

from app.engine.context import Context, build_context
from app.store.records import ProgramRecord, TurnRecord, TurnStatus
from models.local import to_chat
from models.prompt import load_prompt

PROMPT = load_prompt("default")
NOW = datetime(2024, 5, 6, 7, 8, tzinfo=UTC)


def turn(request: str, source: str, *, status: TurnStatus = "done") -> TurnRecord:
    program = ProgramRecord(
        program_id=f"p-{request}", turn_id=request, index=1, source=source, status="ok"
    )
    return TurnRecord(
        turn_id=request,
        chat_id="c",
        request=request,
        model_id="local:m",
        status=status,
        started=NOW,
        answer="It is done.",
        programs=(program,),
    )


def context_of(
    request: str, *earlier: TurnRecord, context_tokens: int = 8192, now: datetime = NOW
) -> Context:
    return build_context(
        PROMPT,
        request=request,
        listing="Current folder: 1 file\n- a.txt  3 B",
        earlier=earlier,
        context_tokens=context_tokens,
        now=now,
    )


def words(messages: list[ModelMessage]) -> list[str]:
    return [
        str(part.content)
        for message in messages
        for part in message.parts
        if isinstance(part, UserPromptPart | TextPart)
    ]


def test_the_beginning_is_the_same_in_every_chat_and_on_every_day() -> None:
    one = context_of("Count the files.")
    other = context_of("Sort them.", now=NOW + timedelta(days=1))
    assert one.instructions == other.instructions
    count = len(PROMPT.fixed_messages()) - 1
    assert words(one.history)[:count] == words(other.history)[:count]
    assert "Monday, 2024-05-06" in one.prompt
    assert "Tuesday, 2024-05-07" in other.prompt


def test_a_local_model_is_sent_the_fixed_messages_first() -> None:
    context = context_of("Count the files.", turn("Sort them.", "print(1)"))
    asked = ModelRequest(parts=[UserPromptPart(content=context.prompt)])
    chat = to_chat([*context.history, asked], instructions=context.instructions)
    fixed = PROMPT.fixed_messages()
    assert chat[: len(fixed)] == fixed
    assert chat[-1].content == context.prompt


def test_each_worked_example_is_a_question_and_a_fenced_program() -> None:
    history = context_of("x").history
    assert len(history) == 2 * len(PROMPT.examples)
    history = context_of("Sort the rows of a table.").history
    assert len(history) == 2 * (len(PROMPT.examples) + PROMPT.recipes)
    for asked, replied in zip(history[::2], history[1::2], strict=True):
        assert isinstance(asked, ModelRequest)
        assert words([replied])[0].startswith("```python\n")
        compile(words([replied])[0].strip("`").removeprefix("python\n"), "example", "exec")


def test_the_request_comes_last_with_the_listing_and_the_reminder() -> None:
    prompt = context_of("Count the files in {listing}.").prompt
    assert prompt.index("- a.txt") < prompt.index("Count the files in {listing}.")
    assert prompt.endswith(PROMPT.reminder.strip())


def test_earlier_turns_follow_the_examples_with_what_came_of_them() -> None:
    context = context_of(
        "And now?", turn("first", "a = 1"), turn("second", "b = 2", status="undone")
    )
    texts = words(context.history)[2 * len(PROMPT.examples) :]
    assert texts[:2] == ["first", "```python\na = 1\n```"]
    assert any("undid the changes" in text for text in texts)
    assert context.left_out == 0


def test_earlier_turns_are_left_out_when_they_do_not_fit() -> None:
    turns = [turn(f"r{number}", "x = 1\n" * 800) for number in range(2)]
    context = context_of("And now?", *turns, context_tokens=4096)
    assert context.left_out == 2
    assert len(context.history) == 2 * len(PROMPT.examples)


def test_the_fixed_part_and_a_reply_leave_half_of_a_small_context_free() -> None:
    context = context_of("x")
    fixed_chars = len(context.instructions) + sum(map(len, words(context.history)))
    assert fixed_chars / 3 < 4096 * 0.4
