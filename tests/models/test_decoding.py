"""Tokens chosen: drafts change nothing, the grammar holds, the context stays what was said."""

from __future__ import annotations

import asyncio
from itertools import islice
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.client import GenerateRequest, WorkerClient, WorkerSettings
from models.decoding import Decoding, Draft
from models.errors import ModelError
from models.extract import extract_program
from models.protocol import ChatMessage, Done


def replies(model: Path, *requests: GenerateRequest) -> list[tuple[str, Done]]:
    async def work() -> list[tuple[str, Done]]:
        client = WorkerClient(WorkerSettings(path=model, threads=1, context_tokens=4096))
        try:
            return [await client.complete(request) for request in requests]
        finally:
            await client.close()

    return asyncio.run(work())


class FakeContext:
    """A context whose model writes `text` after the prompt, and of which every output is known."""

    def __init__(self, text: list[int], prompt: list[int]) -> None:
        self.written = [*prompt, *text]
        self.held: list[int] = []
        self.outputs: list[int] = []
        self.evaluations = 0

    @property
    def n_tokens(self) -> int:
        return len(self.held)

    def n_ctx(self) -> int:
        return len(self.written)

    def shared_tokens(self, tokens: list[int]) -> int:
        pairs = zip(self.held, tokens, strict=False)
        return next(
            (n for n, (a, b) in enumerate(pairs) if a != b), min(len(self.held), len(tokens))
        )

    def eval(self, tokens: list[int]) -> None:
        self.evaluations += 1
        for token in tokens:
            self.held.append(token)
            right = self.held == self.written[: len(self.held)]
            # After a wrong token nobody may look: what would come of it is not the reply.
            more = len(self.held) < len(self.written)
            self.outputs.append(self.written[len(self.held)] if right and more else -1)
        self.outputs = self.outputs[-len(tokens) :]

    eval_all = eval

    def cut(self, count: int) -> bool:
        del self.held[count:]
        return True


class FakeSampler:
    def __init__(self, context: FakeContext) -> None:
        self.context = context

    def at(self, index: int) -> int:
        return self.context.outputs[index]

    def close(self) -> None:
        """There is nothing to free."""


def written(context: FakeContext, prompt: list[int], count: int, *, drafts: bool) -> list[int]:
    decoding: Any = Decoding(cast("Any", context), cast("Any", FakeSampler(context)), drafts=drafts)
    tokens = decoding.tokens(prompt)
    said = list(islice(tokens, count))
    tokens.close()
    decoding.close()
    return said


SMALL = st.integers(0, 3)


@given(
    st.lists(SMALL, min_size=1, max_size=40), st.lists(SMALL, min_size=1, max_size=60), st.data()
)
def test_a_reply_is_the_same_with_drafts_and_without(prompt, text, data) -> None:
    count = data.draw(st.integers(1, len(text)))
    for drafts in (False, True):
        context = FakeContext(text, prompt)
        assert written(context, prompt, count, drafts=drafts) == text[:count]
        # What it holds is what was said but for the last token, which nobody evaluated, at most.
        assert context.held == [*prompt, *text][: len(context.held)]
        assert len(prompt) + count - 1 <= len(context.held) <= len(prompt) + count


def test_drafts_save_evaluations_where_the_reply_quotes() -> None:
    prompt = list(range(100))
    quoting = FakeContext(prompt[10:60], prompt)
    assert written(quoting, prompt, 50, drafts=True) == prompt[10:60]
    assert quoting.evaluations < 20
    plain = FakeContext(prompt[10:60], prompt)
    assert written(plain, prompt, 50, drafts=False) == prompt[10:60]
    assert plain.evaluations == 50


@pytest.mark.real_model
@pytest.mark.timeout(600)
def test_with_the_grammar_a_reply_ends_with_its_program(real_model: Path) -> None:
    # Warm, so that this small model goes wrong often; it begins where a program must follow.
    opened = [
        GenerateRequest(
            messages=(ChatMessage(role="user", content="Repeat: ```python\nprint(1)\n```"),),
            temperature=1.0,
            seed=seed,
            max_tokens=80,
            grammar=True,
        )
        for seed in range(3)
    ]
    whole = 0
    for text, done in replies(real_model, *opened):
        if "```python\n" in text and done.finish != "length":
            whole += 1
            compile(extract_program(text).source, "program", "exec")
            assert text.rstrip().endswith("```")
    assert whole


def test_a_grammar_that_fails_is_told_with_its_setting(make_client) -> None:
    async def work() -> ModelError:
        client = make_client()
        try:
            await client.complete(
                GenerateRequest(
                    messages=(ChatMessage(role="user", content="fail grammar_failed"),),
                    grammar=True,
                )
            )
        except ModelError as error:
            return error
        finally:
            await client.close()
        raise AssertionError("it did not fail")

    error = asyncio.run(work())
    assert error.setting == "model.grammar"


def test_drafts_are_what_followed_the_same_words_before() -> None:
    draft = Draft([1, 2, 3, 4, 5, 6, 7, 8])
    for token in (1, 2, 3):
        draft.push(token)
        assert draft.next() == []
    draft.push(4)
    assert draft.next() == [5, 6, 7]
    draft.judge(3, 3)
    assert draft.next() == [5, 6, 7, 8, 1]
    for _ in range(4):
        draft.judge(5, 0)
    assert [len(draft.next()) for _ in range(9)] == [*[0] * 8, 3]
