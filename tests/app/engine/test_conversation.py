"""A chat with a local model: what was sent once is sent again as it was, and is evaluated once."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from app.engine.conversation import Conversation, Conversations, Form
from app.store.records import Folder, TurnRecord
from models.client import GenerateRequest, WorkerClient, WorkerSettings
from models.protocol import ChatMessage, Done
from tests.fakes import ScriptedModels, program_reply
from tests.turns import engine_with, run

COUNT = 'from pathlib import Path\nprint(len(list(Path(".").iterdir())), "files")'
FAILS = "print(1 / 0)"
REQUESTS = (
    "How many files are here?",
    "How many pictures are here?",
    "What are the largest files?",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "desk"
    folder.mkdir()
    for name in ("a.png", "b.png"):
        (folder / name).write_text(name, encoding="utf-8")
    return folder


def chat_of(
    home: Path, folder: Path, *replies: str, requests: tuple[str, ...] = REQUESTS[:2]
) -> tuple[list[GenerateRequest], list[TurnRecord]]:
    """All that a model is sent in one chat with these requests."""
    models = ScriptedModels(*replies)
    turns: list[TurnRecord] = []

    async def work() -> None:
        async with engine_with(home, models) as engine:
            chat = await engine.new_chat([Folder(path=str(folder))])
            for request in requests:
                turn = await engine.send(chat.chat_id, request)
                turns.append(await engine.wait(turn.turn_id))

    run(work)
    return models.script.seen, turns


def test_a_second_request_begins_with_all_of_the_first_and_its_reply(
    drydock_home: Path, folder: Path
) -> None:
    reply = f"Here it is.\n\n{program_reply(COUNT)}"
    seen, turns = chat_of(drydock_home, folder, reply, reply, reply, requests=REQUESTS)
    assert [turn.status for turn in turns] == ["done"] * 3
    for before, after in pairwise(seen):
        known = (*before.messages, ChatMessage(role="assistant", content=reply))
        assert after.messages[: len(known)] == known


def test_a_failed_try_does_not_change_what_was_sent_before(
    drydock_home: Path, folder: Path
) -> None:
    good = program_reply(COUNT)
    seen, turns = chat_of(drydock_home, folder, program_reply(FAILS), good, good)
    assert [len(turn.programs) for turn in turns] == [2, 1]
    known = (*seen[1].messages, ChatMessage(role="assistant", content=good))
    assert seen[2].messages[: len(known)] == known
    assert seen[2].temperature == seen[0].temperature


def test_an_example_is_sent_once_in_a_chat(drydock_home: Path, folder: Path) -> None:
    good = program_reply(COUNT)
    seen, _ = chat_of(drydock_home, folder, good, good, requests=(REQUESTS[0], REQUESTS[0]))
    questions = [m.content for m in seen[1].messages if m.role == "user"]
    examples = [text for text in questions if "Task:" in text and "Current folder" not in text]
    assert len(examples) == len(set(examples)) > 0


@pytest.mark.real_model
def test_a_second_message_evaluates_only_new_tokens(
    drydock_home: Path, folder: Path, real_model: Path
) -> None:
    good = program_reply(COUNT)
    seen, _ = chat_of(drydock_home, folder, good, good)
    first, second = (replace(request, max_tokens=1) for request in seen)

    async def work() -> tuple[Done, Done, int]:
        client = WorkerClient(WorkerSettings(path=real_model, threads=1))
        try:
            _, one = await client.complete(first)
            _, two = await client.complete(second)
            new = second.messages[len(first.messages) :]
            return one, two, await client.count_tokens(messages=new)
        finally:
            await client.close()

    one, two, new_tokens = asyncio.run(work())
    assert one.evaluated_tokens == one.prompt_tokens
    assert two.cached_tokens >= one.prompt_tokens - 4
    assert two.evaluated_tokens == two.prompt_tokens - two.cached_tokens
    assert two.evaluated_tokens <= new_tokens + 4


def costs(*sizes: tuple[int, int]) -> list[tuple[str, int, int]]:
    return [(str(number), whole, short) for number, (whole, short) in enumerate(sizes)]


def said(count: int) -> Conversation:
    conversation = Conversation()
    for number in range(count):
        conversation.keep(str(number), [("user", "a"), ("assistant", "b")])
    return conversation


def forms(conversation: Conversation, count: int, room: int) -> list[Form]:
    return list(conversation.forms(costs(*[(100, 20)] * count), room).values())


def test_turns_are_whole_while_there_is_room() -> None:
    assert forms(said(3), 3, 300) == ["whole"] * 3


def test_the_oldest_are_told_in_short_first_and_stay_so() -> None:
    conversation = said(4)
    assert forms(conversation, 4, 350) == ["short", "short", "short", "whole"]
    # There is room again, but what was changed once would be evaluated once more.
    assert forms(conversation, 4, 1000) == ["short", "short", "short", "whole"]


def test_the_oldest_are_not_told_when_even_short_is_too_long() -> None:
    conversation = said(4)
    assert forms(conversation, 4, 70) == ["none", "none", "short", "short"]
    assert forms(conversation, 4, 10) == ["none"] * 4


def test_turns_of_before_the_start_are_told_in_short() -> None:
    assert forms(Conversation(), 2, 300) == ["short", "short"]


def test_a_long_chat_keeps_its_beginning_for_several_turns() -> None:
    conversation, changes, before = Conversation(), 0, []
    for count in range(1, 41):
        now = forms(conversation, count - 1, 2000)
        changes += now[: len(before)] != before
        before = [*now, "whole"]
        conversation.keep(str(count - 1), [("user", "a"), ("assistant", "b")])
        assert sum(form != "none" for form in now) <= 8
    assert changes <= 12


def test_another_model_or_chat_is_another_conversation() -> None:
    all_of_them = Conversations()
    assert all_of_them.of("a", "m") is all_of_them.of("a", "m")
    assert all_of_them.of("a", "m") is not all_of_them.of("a", "n")
    kept = all_of_them.of("old", "m")
    for number in range(40):
        all_of_them.of(str(number), "m")
    assert all_of_them.of("old", "m") is not kept
