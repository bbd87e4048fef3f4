"""The client against a fake worker: streaming, Stop, crashes, timeouts."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from contextlib import aclosing, suppress

import pytest

from models.client import GenerateRequest, WorkerClient, default_command
from models.errors import ModelCrashedError, ModelError, ModelStoppedError
from models.protocol import ChatMessage, Delta, Done

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are tested as on Unix")


def ask(text: str, **values) -> GenerateRequest:
    return GenerateRequest(messages=(ChatMessage(role="user", content=text),), **values)


def run(scenario, client: WorkerClient):
    """Run `scenario(client)` and close the client, whatever happens."""

    async def guarded():
        try:
            async with asyncio.timeout(100):
                return await scenario(client)
        finally:
            await client.close()

    return asyncio.run(guarded())


def exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_reply_is_streamed_in_pieces_and_ends_with_its_cost(make_client):
    async def scenario(client):
        return [event async for event in client.generate(ask("say one two three"))]

    *deltas, done = run(scenario, make_client())
    assert [delta.text for delta in deltas] == ["one", " two", " three"]
    assert isinstance(done, Done)
    assert (done.finish, done.prompt_tokens, done.completion_tokens) == ("stop", 4, 3)


def test_the_worker_starts_at_the_first_use_and_is_kept(make_client):
    async def scenario(client):
        before = client.pid
        await client.complete(ask("say hi"))
        first = client.pid
        await client.complete(ask("say hi"))
        return before, first, client.pid

    before, first, second = run(scenario, make_client())
    assert before is None
    assert first is not None
    assert first == second


def test_threads_and_context_of_the_settings_reach_the_worker(make_client):
    client = make_client(threads=3, context_tokens=512)
    loaded = run(lambda c: c.load(), client)
    assert loaded.description == "fake with 3 threads"
    assert loaded.context_tokens == 512


def test_the_token_limit_ends_a_reply_with_length(make_client):
    text, done = run(lambda c: c.complete(ask("say a b c d", max_tokens=2)), make_client())
    assert (text, done.finish) == ("a b", "length")


def test_stop_ends_the_generation_and_keeps_the_worker(make_client):
    async def scenario(client):
        texts = []
        async for event in client.generate(ask("endless")):
            if isinstance(event, Delta):
                texts.append(event.text)
                if len(texts) == 5:
                    stopping = asyncio.create_task(client.stop())
            else:
                done = event
        await stopping
        pid = client.pid
        await client.complete(ask("say on"))
        return done, pid == client.pid

    done, same_worker = run(scenario, make_client())
    assert done.finish == "stopped"
    assert same_worker


def test_stop_without_a_generation_does_nothing(make_client):
    async def scenario(client):
        await client.stop()
        await client.load()
        await client.stop()
        return (await client.complete(ask("say on")))[0]

    assert run(scenario, make_client()) == "on"


def test_a_worker_that_does_not_stop_is_ended(make_client):
    async def scenario(client):
        events = client.generate(ask("deaf"))
        await anext(events)
        pid = client.pid
        await client.stop()
        with pytest.raises(ModelStoppedError):
            async for _event in events:
                pass
        return exists(pid), (await client.complete(ask("say again")))[0]

    still_there, again = run(scenario, make_client())
    assert not still_there
    assert again == "again"


def test_leaving_the_stream_early_stops_the_generation(make_client):
    async def scenario(client):
        async with aclosing(client.generate(ask("endless"))) as events:
            await anext(events)
        pid = client.pid
        text, _ = await client.complete(ask("say next"))
        return text, pid == client.pid

    assert run(scenario, make_client()) == ("next", True)


@pytest.mark.parametrize("behaviour", ["endless", "deaf"])
def test_cancelling_the_task_stops_the_generation(make_client, behaviour):
    async def scenario(client):
        begun = asyncio.Event()

        async def consume():
            async with aclosing(client.generate(ask(behaviour))) as events:
                async for _event in events:
                    begun.set()

        task = asyncio.create_task(consume())
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return (await client.complete(ask("say next")))[0]

    assert run(scenario, make_client()) == "next"


@pytest.mark.parametrize(
    ("how", "name", "setting"),
    [
        ("die SIGKILL", "SIGKILL", "model.context_tokens"),
        ("die SIGSEGV", "SIGSEGV", "model.threads"),
        ("die SIGILL", "SIGILL", ""),
        ("die SIGABRT", "SIGABRT", "model.context_tokens"),
        ("exit 3", "exit status 3", "model.threads"),
    ],
)
def test_a_crash_in_mid_generation_names_its_cause_and_the_next_request_works(
    make_client, how, name, setting
):
    async def scenario(client):
        await client.load()
        first = client.pid
        with pytest.raises(ModelCrashedError) as caught:
            await client.complete(ask(how))
        text, _ = await client.complete(ask("say well again"))
        return caught.value, text, first != client.pid

    error, text, fresh = run(scenario, make_client())
    assert name in error.message
    assert error.hint
    assert error.setting == setting
    assert text == "well again"
    assert fresh


def test_a_worker_killed_from_outside_between_requests_is_replaced(make_client):
    async def scenario(client):
        await client.load()
        pid = client.pid
        os.kill(pid, signal.SIGKILL)
        with suppress(ModelCrashedError):
            # Where the kill was not noticed yet, this request notices it.
            await client.complete(ask("say hi"))
        return (await client.complete(ask("say hi")))[0], client.pid != pid

    assert run(scenario, make_client()) == ("hi", True)


@pytest.mark.parametrize(
    ("code", "setting"),
    [
        ("no_memory", "model.context_tokens"),
        ("load_failed", "model.id"),
        ("engine_missing", ""),
    ],
)
def test_a_failed_load_says_what_to_do(make_client, code, setting):
    with pytest.raises(ModelError) as caught:
        run(lambda c: c.load(), make_client("--fail-load", code))
    assert caught.value.hint
    assert caught.value.setting == setting


def test_a_load_that_takes_too_long_is_given_up_and_the_child_ended(make_client):
    client = make_client("--hang-load", load_timeout_s=0.2)
    with pytest.raises(ModelError, match="not loaded within"):
        run(lambda c: c.load(), client)
    assert client.pid is None


def test_a_worker_of_another_protocol_version_is_refused(make_client):
    with pytest.raises(ModelError, match="version 99"):
        run(lambda c: c.load(), make_client("--protocol", "99"))


def test_a_command_that_cannot_be_started_is_an_error_with_a_hint(make_client):
    client = WorkerClient(make_client().settings, command=("/no/such/program",))
    with pytest.raises(ModelError) as caught:
        run(lambda c: c.load(), client)
    assert caught.value.hint


def test_a_failure_is_reported_and_the_worker_kept(make_client):
    async def scenario(client):
        await client.load()
        pid = client.pid
        with pytest.raises(ModelError) as caught:
            await client.complete(ask("fail context_full"))
        await client.complete(ask("say hi"))
        return caught.value, client.pid == pid

    error, kept = run(scenario, make_client())
    assert error.setting == "model.context_tokens"
    assert kept


def test_closing_in_mid_generation_ends_the_child_and_tells_the_reader(make_client):
    async def scenario(client):
        events = client.generate(ask("endless"))
        await anext(events)
        pid = client.pid
        await client.close()
        with pytest.raises(ModelStoppedError):
            async for _event in events:
                pass
        return exists(pid)

    assert run(scenario, make_client()) is False


def test_requests_at_the_same_time_are_answered_one_after_the_other(make_client):
    async def scenario(client):
        return await asyncio.gather(
            *(client.complete(ask(f"say number {n}")) for n in range(5)), client.count_tokens("a b")
        )

    *replies, count = run(scenario, make_client())
    assert [text for text, _ in replies] == [f"number {n}" for n in range(5)]
    assert count == 2


def test_the_default_command_imports_nothing_from_the_current_folder():
    assert "-P" in default_command()


FIXED = (
    ChatMessage(role="system", content="Be brief."),
    ChatMessage(role="user", content="Hello?"),
    ChatMessage(role="assistant", content="Hello."),
)
ECHO = ChatMessage(role="user", content="echo")
OTHER_REPLY = ChatMessage(role="assistant", content="Hi.")


@pytest.mark.parametrize(
    ("messages", "marked"),
    [
        ((*FIXED, ECHO), 3),
        ((FIXED[0], ECHO), 0),
        ((*FIXED[:2], OTHER_REPLY, ECHO), 0),
        ((ECHO,), 0),
    ],
)
def test_only_a_request_that_begins_with_all_fixed_messages_is_marked(
    make_client, messages, marked
):
    client = make_client(fixed_messages=FIXED)
    text, _ = run(lambda c: c.complete(GenerateRequest(messages=messages)), client)
    assert json.loads(text)["prefix_messages"] == marked


def test_without_fixed_messages_nothing_is_marked(make_client):
    text, _ = run(lambda c: c.complete(ask("echo")), make_client())
    assert json.loads(text)["prefix_messages"] == 0
