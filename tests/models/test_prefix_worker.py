"""The fixed beginning with the real llama.cpp: evaluated once, over chats and over processes."""

from __future__ import annotations

import asyncio
import hashlib
import struct
from collections.abc import Iterable
from pathlib import Path

import pytest

from models.client import GenerateRequest, WorkerClient, WorkerSettings
from models.protocol import ChatMessage, Done, Evaluating

pytestmark = pytest.mark.real_model

RULES = " ".join(f"Thing {number} goes into box {number * 3}." for number in range(1, 13))
FIXED = (
    ChatMessage(role="system", content=f"You sort things. {RULES}"),
    ChatMessage(role="user", content="Where does thing 1 go?"),
    ChatMessage(role="assistant", content="Into box 3."),
)
QUESTIONS = ("Where does thing 7 go?", "Name the box of thing 9.")


def ask(*texts: str) -> GenerateRequest:
    """A chat: the person's words, then the model's, and so on."""
    roles = ("user", "assistant")
    rows = (ChatMessage(role=roles[number % 2], content=text) for number, text in enumerate(texts))
    return GenerateRequest(messages=(*FIXED, *rows), max_tokens=12, temperature=0)


def in_one_process(
    model: Path, folder: Path | None, *requests: GenerateRequest, context_tokens: int = 2048
) -> list[tuple[str, Done]]:
    """The replies of a fresh worker that has nothing but what is in `folder`."""

    async def scenario(client: WorkerClient) -> list[tuple[str, Done]]:
        return [await client.complete(request) for request in requests]

    return run(scenario, model, folder, context_tokens=context_tokens)


def run(scenario, model: Path, folder: Path | None, *, context_tokens: int = 2048, fixed=FIXED):
    """Run `scenario(client)` with a fresh worker."""

    async def guarded():
        client = WorkerClient(
            WorkerSettings(
                path=model,
                threads=1,
                context_tokens=context_tokens,
                fixed_messages=fixed,
                prefix_folder=folder,
            )
        )
        try:
            async with asyncio.timeout(100):
                return await scenario(client)
        finally:
            await client.close()

    return asyncio.run(guarded())


def only_state(folder: Path) -> Path:
    (path,) = folder.iterdir()
    return path


def with_state(content: bytes, state: bytes | None) -> bytes:
    """A file in order, of another state, as from a build that writes states differently.

    None: the first half of the state that it had.
    """
    layout = struct.Struct("<16s32s32sIQ")
    magic, key, _, count, size = layout.unpack_from(content)
    packed = content[layout.size : layout.size + 4 * count]
    if state is None:
        state = content[layout.size + 4 * count :][: size // 2]
    checksum = hashlib.blake2b(packed + state, digest_size=32).digest()
    return layout.pack(magic, key, checksum, count, len(state)) + packed + state


def words(replies: Iterable[tuple[str, Done]]) -> list[str]:
    return [text for text, _ in replies]


@pytest.fixture(scope="module")
def plain(real_model) -> list[tuple[str, Done]]:
    """Each question to a process of its own, with no folder."""
    return [in_one_process(real_model, None, ask(question))[0] for question in QUESTIONS]


@pytest.fixture
def folder(real_model, tmp_path) -> Path:
    """A folder in which an earlier process has left the state."""
    place = tmp_path / "prefix"
    in_one_process(real_model, place, ask(QUESTIONS[0]))
    return place


def test_the_first_process_evaluates_everything_and_a_second_one_only_the_rest(
    real_model, tmp_path, plain
):
    first = in_one_process(real_model, tmp_path / "prefix", ask(QUESTIONS[0]))
    second = in_one_process(real_model, tmp_path / "prefix", ask(QUESTIONS[1]))
    assert words([*first, *second]) == words(plain)
    assert (first[0][1].restored_tokens, first[0][1].cached_tokens) == (0, 0)
    done = second[0][1]
    assert done.restored_tokens > 100
    assert done.cached_tokens == done.restored_tokens
    assert done.evaluated_tokens == done.prompt_tokens - done.restored_tokens
    assert done.evaluated_tokens < 25


def test_a_second_message_evaluates_only_its_new_tokens(real_model, folder):
    async def scenario(client):
        text, first = await client.complete(ask(QUESTIONS[0]))
        grown = ask(QUESTIONS[0], text, QUESTIONS[1])
        _, second = await client.complete(grown)
        return first, second, await client.count_tokens(messages=grown.messages)

    first, second, prompt_tokens = run(scenario, real_model, folder)
    assert second.prompt_tokens == prompt_tokens
    assert second.restored_tokens == 0
    # The reply's last token was sampled and not yet evaluated.
    known = first.prompt_tokens + first.completion_tokens - 1
    assert second.evaluated_tokens <= prompt_tokens - known
    assert second.cached_tokens + second.evaluated_tokens == prompt_tokens


def test_a_new_chat_in_the_same_process_reads_nothing_and_evaluates_only_the_rest(
    real_model, tmp_path, plain
):
    replies = in_one_process(real_model, tmp_path / "prefix", *map(ask, QUESTIONS))
    assert words(replies) == words(plain)
    assert replies[1][1].restored_tokens == 0
    assert replies[1][1].evaluated_tokens < 25


def test_another_prompt_in_between_costs_no_second_evaluation(real_model, folder, plain):
    other = GenerateRequest(prompt="One, two, three,", max_tokens=3, temperature=0)
    *_, last = in_one_process(real_model, folder, ask(QUESTIONS[0]), other, ask(QUESTIONS[1]))
    assert last[0] == plain[1][0]
    assert last[1].restored_tokens > 100


def test_a_corrupted_state_is_evaluated_afresh_and_saved_again(real_model, folder, plain):
    path = only_state(folder)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)
    spoilt, mended = (
        in_one_process(real_model, folder, ask(question))[0] for question in QUESTIONS
    )
    assert words([spoilt, mended]) == words(plain)
    assert spoilt[1].restored_tokens == 0
    assert mended[1].restored_tokens > 100


@pytest.mark.parametrize(
    "foreign", [b"", b"\x07\x00\x00\x00" * 64, None], ids=["empty", "other format", "cut"]
)
def test_a_state_that_llama_cpp_does_not_take_is_evaluated_afresh_and_saved_again(
    real_model, folder, plain, foreign
):
    path = only_state(folder)
    good = path.read_bytes()
    path.write_bytes(with_state(good, foreign))
    text, done = in_one_process(real_model, folder, ask(QUESTIONS[0]))[0]
    assert (text, done.restored_tokens) == (plain[0][0], 0)
    assert path.read_bytes() == good


def test_the_state_of_another_context_size_is_not_used(real_model, folder):
    ((_, done),) = in_one_process(real_model, folder, ask(QUESTIONS[0]), context_tokens=1024)
    assert done.restored_tokens == 0


def test_a_place_where_nothing_can_be_saved_harms_nothing(real_model, tmp_path, plain):
    (tmp_path / "file").write_bytes(b"not a folder")
    text, done = in_one_process(real_model, tmp_path / "file" / "prefix", ask(QUESTIONS[0]))[0]
    assert (text, done.restored_tokens) == (plain[0][0], 0)


def test_stop_while_the_beginning_is_evaluated_saves_nothing(real_model, tmp_path, patient_stop):
    long = (ChatMessage(role="system", content=RULES * 10),)

    async def scenario(client):
        request = GenerateRequest(messages=(*long, FIXED[1]), max_tokens=5)
        stopping = None
        async for event in client.generate(request):
            if isinstance(event, Evaluating) and stopping is None:
                stopping = asyncio.create_task(client.stop())
        assert stopping is not None
        await stopping
        text, _ = await client.complete(GenerateRequest(prompt="One, two,", max_tokens=3))
        return event, text

    done, text = run(scenario, real_model, tmp_path / "prefix", context_tokens=4096, fixed=long)
    assert (done.finish, done.first_token_s) == ("stopped", None)
    assert text
    assert not (tmp_path / "prefix").exists()


def test_what_is_saved_holds_nothing_that_a_person_wrote(real_model, folder):
    # The tokens of the file decide what its state is of: they end before the question.
    before = only_state(folder).name
    in_one_process(real_model, folder, ask("Quite another question, about my secret garden."))
    assert only_state(folder).name == before
