"""Choosing tokens: sampling, a grammar that is switched on at the fence, and drafts by look-up.

Owns the loop from an evaluated prompt to a reply's tokens. What is drafted is only a guess at what
comes next: every token is sampled from the model's own output at its place, in order, so a reply is
the same with drafts and without. Runs in the worker process only. Thread: the worker's main thread.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import llama_cpp
import numpy as np

from models.evaluation import CountedLlama
from models.protocol import CommandError
from models.python_grammar import python_grammar

_TOP_K = 40
_MIN_P = 0.05
_LIKELY = 64
"""A choice that the grammar refuses is first sought among so many; then among all tokens."""

_MOST_REFUSALS = 100
"""A reply that the grammar refuses more often has nothing to do with a program."""

_FENCE = re.compile(rb"```(?:python|py|Python)?[ \t]*\r?\n")
_RUN_TOKENS = 4
"""So many tokens that are the same as before make what followed them a draft: fewer are too often
wrong, and checking a draft of three costs about as much as writing one and a half tokens."""

_SHORTEST_DRAFT, _LONGEST_DRAFT = 3, 5
_PATIENCE = 4


class Draft:
    """What followed the last few tokens the last time that they came.

    Programs quote the examples, the listing and themselves. Longer drafts after good ones; after
    `_PATIENCE` bad ones in a row it waits before it drafts again.
    """

    def __init__(self, tokens: Sequence[int]) -> None:
        self._tokens: list[int] = []
        self._after: dict[tuple[int, ...], int] = {}
        self._size = _SHORTEST_DRAFT
        self._bad = 0
        self._pause = 0
        for token in tokens:
            self.push(token)

    def push(self, token: int) -> None:
        """One more token is known."""
        if len(self._tokens) >= _RUN_TOKENS:
            self._after[tuple(self._tokens[-_RUN_TOKENS:])] = len(self._tokens)
        self._tokens.append(token)

    def next(self) -> list[int]:
        """What probably comes next; mostly nothing."""
        if self._pause:
            self._pause -= 1
            return []
        at = self._after.get(tuple(self._tokens[-_RUN_TOKENS:]))
        return [] if at is None else self._tokens[at : at + self._size]

    def judge(self, drafted: int, right: int) -> None:
        """`right` of `drafted` tokens were what the model wrote."""
        if not drafted:
            return
        if right == drafted:
            self._size, self._bad = _LONGEST_DRAFT, 0
        elif right * 2 < drafted:
            self._size = _SHORTEST_DRAFT
            self._bad += 1
            self._pause = 8 if self._bad >= _PATIENCE else 0


class Sampler:
    """llama.cpp's own samplers in the order that llama-cpp-python has them."""

    def __init__(self, llama: CountedLlama, *, temperature: float, top_p: float, seed: int) -> None:
        self._ctx = llama.ctx
        params = llama_cpp.llama_sampler_chain_default_params()
        self._chain = llama_cpp.llama_sampler_chain_init(params)
        if temperature <= 0:
            steps = [llama_cpp.llama_sampler_init_greedy()]
        else:
            steps = [
                llama_cpp.llama_sampler_init_top_k(_TOP_K),
                llama_cpp.llama_sampler_init_top_p(top_p, 1),
                llama_cpp.llama_sampler_init_min_p(_MIN_P, 1),
                llama_cpp.llama_sampler_init_temp(temperature),
                llama_cpp.llama_sampler_init_dist(seed),
            ]
        for step in steps:
            llama_cpp.llama_sampler_chain_add(self._chain, cast("Any", step))

    def at(self, index: int) -> int:
        """A token from output `index` of the latest evaluation; -1 is the last."""
        return int(llama_cpp.llama_sampler_sample(cast("Any", self._chain), self._ctx, index))

    def among(self, choices: ctypes.Array[Any]) -> int:
        """A token of `choices`, by their logits."""
        array = _array(choices)
        llama_cpp.llama_sampler_apply(cast("Any", self._chain), cast("Any", ctypes.byref(array)))
        return int(choices[array.selected].id)

    def close(self) -> None:
        """Free it."""
        llama_cpp.llama_sampler_free(cast("Any", self._chain))


class ProgramGrammar:
    """Lets through only tokens that go on with one Python program, from the opening fence on.

    Raises: `CommandError` (`grammar_failed`) when it cannot be made or nothing fits; a reply never
    goes on without it.
    """

    def __init__(
        self,
        llama: CountedLlama,
        vocab: Any,
        piece: Callable[[int], bytes],
        tokenize: Callable[[str], list[int]],
    ) -> None:
        self._llama = llama
        self._vocab = vocab
        self._piece = piece
        self._tokenize = tokenize
        self._said = b""
        self._sampler: Any = None
        self._refusals = 0
        self._ends = [
            token for token in range(llama.n_vocab()) if llama_cpp.llama_vocab_is_eog(vocab, token)
        ]

    def checked(self, token: int, index: int, sampler: Sampler) -> int:
        """`token`, or the choice in its place when the program cannot go on with it."""
        if self._sampler is None or self._fits(token):
            return token
        self._refusals += 1
        if self._refusals > _MOST_REFUSALS:
            raise CommandError("grammar_failed", "The reply would not become a program.")
        return sampler.among(self._allowed(index))

    def accept(self, token: int) -> None:
        """`token` is part of the reply."""
        if token in self._ends:
            return
        if self._sampler is not None:
            llama_cpp.llama_sampler_accept(self._sampler, token)
            return
        self._said += self._piece(token)
        found = _FENCE.search(self._said)
        if found is not None:
            self._begin(self._said[found.end() :])
        elif b"```" not in self._said:
            self._said = self._said[-2:]

    def _begin(self, already: bytes) -> None:
        """Switch it on. `already`: what came with the fence."""
        made = llama_cpp.llama_sampler_init_grammar(self._vocab, python_grammar().encode(), b"root")
        if not made:
            raise CommandError("grammar_failed", "The grammar of programs cannot be used.")
        self._sampler = made
        for token in self._tokenize(already.decode("utf-8", "replace")) if already else ():
            if not self._fits(token):
                raise CommandError("grammar_failed", "The reply does not begin with a program.")
            llama_cpp.llama_sampler_accept(self._sampler, token)

    def _fits(self, token: int) -> bool:
        choices = _choices([token], [0.0])
        self._apply(choices)
        return bool(np.isfinite(choices[0].logit))

    def _allowed(self, index: int) -> ctypes.Array[Any]:
        """What may come instead, likely tokens first."""
        count = self._llama.n_vocab()
        row = llama_cpp.llama_get_logits_ith(self._llama.ctx, index)
        logits: Any = np.ctypeslib.as_array(row, shape=(count,))
        likely: Any = np.argpartition(logits, count - _LIKELY)[count - _LIKELY :]
        for tokens in ([*likely.tolist(), *self._ends], range(count)):
            unique = list(dict.fromkeys(tokens))
            choices = _choices(unique, logits[unique].tolist())
            self._apply(choices)
            fit = [choice for choice in choices if np.isfinite(choice.logit)]
            if fit:
                return _choices([one.id for one in fit], [one.logit for one in fit])
        raise CommandError("grammar_failed", "No program goes on from here.")

    def _apply(self, choices: ctypes.Array[Any]) -> None:
        array = _array(choices)
        llama_cpp.llama_sampler_apply(self._sampler, cast("Any", ctypes.byref(array)))

    def close(self) -> None:
        """Free it."""
        if self._sampler is not None:
            llama_cpp.llama_sampler_free(self._sampler)
            self._sampler = None


class Decoding:
    """Makes the tokens of one reply; `close` frees what it holds."""

    def __init__(
        self,
        llama: CountedLlama,
        sampler: Sampler,
        *,
        grammar: ProgramGrammar | None = None,
        drafts: bool = True,
    ) -> None:
        self._llama = llama
        self._sampler = sampler
        self._grammar = grammar
        self._drafts = drafts

    def tokens(self, prompt: Sequence[int]) -> Iterator[int]:
        """The tokens of a reply to `prompt`, of which the context may hold a part; without an end.

        Raises: `StoppedError`; `CommandError` of the grammar.
        """
        llama = self._llama
        _begin(llama, prompt)
        draft = Draft(prompt) if self._drafts else None
        token = self._choose(-1)
        yield token
        while True:
            guess: list[int] = []
            if draft is not None:
                draft.push(token)
                guess = draft.next()[: max(0, llama.n_ctx() - llama.n_tokens - 1)]
            if draft is None or not guess:
                llama.eval([token])
                token = self._choose(-1)
                yield token
                continue
            llama.eval_all([token, *guess])
            known, right = llama.n_tokens - len(guess), 0
            try:
                while True:
                    token = self._choose(right)
                    yield token
                    if right == len(guess) or token != guess[right]:
                        break
                    right += 1
                    draft.push(token)
            finally:
                # Also when nobody wants more: the context holds what was said, and no guesses.
                if right < len(guess):
                    llama.cut(known + right)
            draft.judge(len(guess), right)

    def _choose(self, index: int) -> int:
        """A token from output `index` of the latest evaluation."""
        token = self._sampler.at(index)
        grammar = self._grammar
        if grammar is not None:
            token = grammar.checked(token, index, self._sampler)
            grammar.accept(token)
        return token

    def close(self) -> None:
        """Free what it holds."""
        self._sampler.close()
        if self._grammar is not None:
            self._grammar.close()


def _begin(llama: CountedLlama, prompt: Sequence[int]) -> None:
    """Have all of `prompt` evaluated, and its last token just now."""
    shared = min(llama.shared_tokens(prompt), len(prompt) - 1)
    if shared < llama.n_tokens and not llama.cut(shared):
        shared = 0
    llama.eval(prompt[shared:])


def _choices(tokens: Sequence[int], logits: Sequence[float]) -> ctypes.Array[Any]:
    made = (llama_cpp.llama_token_data * len(tokens))()
    for place, (token, logit) in enumerate(zip(tokens, logits, strict=True)):
        made[place].id, made[place].logit = token, logit
    return made


def _array(choices: ctypes.Array[Any]) -> Any:
    return llama_cpp.llama_token_data_array(
        data=cast("Any", choices), size=len(choices), selected=-1, sorted=False
    )
