"""A local model inside pydantic-ai's own agent loop, over the fake worker."""

from __future__ import annotations

import asyncio
import json

import pytest
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    PartStartEvent,
    SystemPromptPart,
    TextPart,
    TextPartDelta,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from models.errors import ModelCrashedError, ModelError
from models.local import REPEATED, LocalModel, to_chat
from models.protocol import ChatMessage

PROGRAM = "say Here:\n```python\nprint(1)\n```\nThat is it."
SOURCE = "print(1)\n"


def run(scenario, client):
    async def guarded():
        try:
            async with asyncio.timeout(100):
                return await scenario(LocalModel(client, "fake"))
        finally:
            await client.close()

    return asyncio.run(guarded())


def agent_with_run_code(model, calls, result="three files"):
    agent = Agent(model)

    @agent.tool_plain
    def run_code(source: str) -> str:
        calls.append(source)
        return result

    return agent


def test_a_reply_with_a_program_becomes_a_call_of_run_code(make_client):
    calls = []

    async def scenario(model):
        return await agent_with_run_code(model, calls).run(PROGRAM)

    result = run(scenario, make_client())
    assert calls == [SOURCE]
    assert result.output == "three files"
    reply = result.all_messages()[1]
    assert [type(part) for part in reply.parts] == [TextPart, ToolCallPart]
    assert reply.parts[0].content == PROGRAM.removeprefix("say ")
    assert reply.model_name == "local:fake"


def test_the_nodes_of_a_run_stream_text_first_and_the_call_last(make_client):
    async def scenario(model):
        events = []
        async with agent_with_run_code(model, []).iter(PROGRAM) as agent_run:
            async for node in agent_run:
                if Agent.is_model_request_node(node):
                    async with node.stream(agent_run.ctx) as stream:
                        events.append([event async for event in stream])
        return events, agent_run.result

    (first, _second), result = run(scenario, make_client())
    deltas = [e.delta for e in first if hasattr(e, "delta") and isinstance(e.delta, TextPartDelta)]
    assert len(deltas) == 2
    starts = [event.part for event in first if isinstance(event, PartStartEvent)]
    assert [part.part_kind for part in starts] == ["text", "tool-call"]
    assert starts[1].args_as_dict() == {"source": SOURCE}
    assert result.usage.requests == 2


def test_without_the_tool_a_program_is_just_text(make_client):
    result = run(lambda model: Agent(model).run(PROGRAM), make_client())
    assert result.output == PROGRAM.removeprefix("say ")


def test_prose_is_the_answer(make_client):
    calls = []

    async def scenario(model):
        return await agent_with_run_code(model, calls).run("say All done.")

    assert run(scenario, make_client()).output == "All done."
    assert calls == []


def test_usage_and_finish_reason_are_those_of_the_worker(make_client):
    async def scenario(model):
        await Agent(model).run("say a b c")
        return await Agent(model).run("say a b d", model_settings=ModelSettings(max_tokens=2))

    result = run(scenario, make_client())
    response = result.all_messages()[-1]
    assert response.finish_reason == "length"
    assert response.usage.input_tokens == 4
    assert response.usage.cache_read_tokens == 3
    assert response.usage.output_tokens == 2


def test_settings_and_instructions_reach_the_worker(make_client):
    async def scenario(model):
        agent = Agent(model, system_prompt="Be terse.", instructions="Use Python.")
        settings = ModelSettings(temperature=0.7, seed=11, stop_sequences=["END"])
        return json.loads((await agent.run("echo please", model_settings=settings)).output)

    said = run(scenario, make_client())
    assert said["messages"] == [
        {"role": "system", "content": "Be terse.\n\nUse Python."},
        {"role": "user", "content": "echo please"},
    ]
    assert (said["temperature"], said["seed"], said["stop"]) == (0.7, 11, ["END"])


def test_a_failed_program_is_told_to_the_model_as_the_users_words(make_client):
    async def scenario(model):
        agent = Agent(model, retries=2)
        tries = []

        @agent.tool_plain
        def run_code(source: str) -> str:
            tries.append(source)
            if len(tries) == 1:
                raise ModelRetry(PROGRAM.removeprefix("say "))
            return "fine"

        result = await agent.run(PROGRAM)
        return tries, result

    tries, result = run(scenario, make_client())
    assert tries == [SOURCE, SOURCE]
    assert result.output.startswith("fine")


def test_a_request_that_does_not_fit_the_context_says_what_to_change(make_client):
    client = make_client(context_tokens=1030)
    with pytest.raises(ModelError) as caught:
        run(lambda model: Agent(model).run("say " + "a " * 40), client)
    assert caught.value.setting == "model.context_tokens"
    assert caught.value.hint


def test_a_crash_reaches_the_caller_and_the_next_run_works(make_client):
    async def scenario(model):
        with pytest.raises(ModelCrashedError):
            await Agent(model).run("die SIGSEGV")
        return (await Agent(model).run("say well")).output

    assert run(scenario, make_client()) == "well"


def test_cancelling_a_stream_ends_it_as_interrupted_without_a_call(make_client):
    async def scenario(model):
        parameters = ModelRequestParameters(
            function_tools=[ToolDefinition(name="run_code", parameters_json_schema={})]
        )
        messages = [ModelRequest(parts=[UserPromptPart("endless")])]
        async with model.request_stream(messages, None, parameters) as stream:
            count = 0
            async for _event in stream:
                count += 1
                if count == 5:
                    await asyncio.create_task(stream.cancel())
        return stream.get()

    response = run(scenario, make_client())
    assert response.state == "interrupted"
    assert [part.part_kind for part in response.parts] == ["text"]


def test_cancelling_the_task_of_a_run_frees_the_model(make_client):
    async def scenario(model):
        begun = asyncio.Event()

        async def consume():
            async with Agent(model).iter("endless") as agent_run:
                async for node in agent_run:
                    if Agent.is_model_request_node(node):
                        async with node.stream(agent_run.ctx) as stream:
                            async for _event in stream:
                                begun.set()

        task = asyncio.create_task(consume())
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return (await Agent(model).run("say next")).output

    assert run(scenario, make_client()) == "next"


def test_tokens_are_counted_by_the_model(make_client):
    assert run(lambda model: model.count("one two three"), make_client()) == 3


def test_history_becomes_alternating_messages_with_one_system_message():
    history = [
        ModelRequest(parts=[SystemPromptPart("S1"), UserPromptPart("first")]),
        ModelResponse(
            parts=[TextPart("text"), ToolCallPart("run_code", {"source": SOURCE}, "id1")]
        ),
        ModelRequest(parts=[ToolReturnPart("run_code", "42", "id1"), UserPromptPart("second")]),
        ModelResponse(parts=[TextPart("answer")]),
        ModelRequest(parts=[UserPromptPart(["third", "more"])]),
    ]
    assert to_chat(history, instructions="I") == (
        ChatMessage(role="system", content="S1\n\nI"),
        ChatMessage(role="user", content="first"),
        ChatMessage(role="assistant", content="text"),
        ChatMessage(role="user", content="42\n\nsecond"),
        ChatMessage(role="assistant", content="answer"),
        ChatMessage(role="user", content="third\n\nmore"),
    )


def test_a_call_that_another_model_made_without_words_is_told_as_its_program():
    history = [
        ModelRequest(parts=[UserPromptPart("do")]),
        ModelResponse(parts=[ToolCallPart("run_code", {"source": SOURCE}, "id1")]),
        ModelRequest(parts=[ToolReturnPart("run_code", {"n": 1}, "id1")]),
    ]
    chat = to_chat(history)
    assert chat[1] == ChatMessage(role="assistant", content="```python\nprint(1)\n```")
    assert chat[2].content == '{"n":1}'


def retried(text):
    return ToolReturnPart(tool_name="run_code", content=text, tool_call_id="1", outcome="retried")


def test_a_failed_try_is_taken_out_of_what_the_model_sees():
    chat = to_chat(
        [
            ModelRequest(parts=[UserPromptPart(content="Do it.")]),
            ModelResponse(parts=[TextPart(content="```python\nbad()\n```")]),
            ModelRequest(parts=[retried("NameError: bad")]),
            ModelResponse(parts=[TextPart(content="```python\nworse()\n```")]),
            ModelRequest(parts=[retried("NameError: worse")]),
        ]
    )
    assert chat == (
        ChatMessage(role="user", content="Do it.\n\nNameError: bad\n\nNameError: worse"),
    )


def test_each_further_try_is_sampled_more_freely(make_client):
    async def scenario(model):
        async def ask(tries: int) -> float:
            again = [ModelRequest(parts=[retried("again")]) for _ in range(tries)]
            messages = [ModelRequest(parts=[UserPromptPart(content="echo this")]), *again]
            settings = ModelSettings(temperature=0.2)
            response = await model.request(messages, settings, ModelRequestParameters())
            return json.loads(response.parts[0].content)["temperature"]

        return [await ask(tries) for tries in range(4)]

    first, *further = run(scenario, make_client())
    assert first == 0.2
    assert further == sorted(further)
    assert first < further[0] < further[-1]


def test_feedback_on_a_reply_without_a_program_is_told_in_plain_words(make_client):
    async def scenario(model):
        agent = Agent(model, retries=2)
        seen = []

        @agent.output_validator
        def check(text: str) -> str:
            seen.append(text)
            if len(seen) == 1:
                raise ModelRetry("Write a program.")
            return text

        await agent.run("say nothing")
        return seen

    assert run(scenario, make_client()) == ["nothing", "nothing\n\nWrite a program."]


def test_a_reply_that_goes_round_in_circles_is_ended_and_calls_nothing(make_client):
    calls = []

    async def scenario(model):
        loop = '".txt", ".csv", ' * 60
        return await agent_with_run_code(model, calls).run(f"say ```python\nx = [{loop}]\n```")

    result = run(scenario, make_client())
    assert calls == []
    assert result.all_messages()[-1].provider_details[REPEATED] is True


def test_a_loop_in_the_last_print_leaves_the_program_before_it(make_client):
    calls = []

    async def scenario(model):
        text = "x = 1\nprint(" + "len(x) - len(" * 90
        await agent_with_run_code(model, calls).run(f"say ```python\n{text}")

    run(scenario, make_client())
    assert calls == ["x = 1\n"]


def test_with_the_grammar_a_program_that_was_cut_off_calls_nothing(make_client):
    calls = []

    async def work():
        client = make_client()
        try:
            model = LocalModel(client, "fake", grammar=True)
            agent = agent_with_run_code(model, calls)
            whole = await agent.run(PROGRAM)
            cut = await agent.run(PROGRAM, model_settings=ModelSettings(max_tokens=2))
            return whole.output, cut.output
        finally:
            await client.close()

    _, cut = asyncio.run(work())
    assert calls == [SOURCE]
    assert cut.endswith("That is")
