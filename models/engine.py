"""llama.cpp as the worker uses it: load, render, count, generate. Runs in the worker process only.

Owns the native model and what of a prompt it has evaluated; a fixed beginning is restored from the
disk (`prefix.py`) where that saves evaluating it. Must not touch standard input or output; the
worker (`worker.py`) does. Never imported by the app's own process, because a crash in here ends
the process that it is in. Thread: the worker's main thread; `StopFlag` may be set from another.
"""

from __future__ import annotations

import ctypes
import re
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any, cast

import llama_cpp
from jinja2 import TemplateError

from models.chat_template import ChatTemplate
from models.decoding import Decoding, ProgramGrammar, Sampler
from models.evaluation import BATCH_TOKENS, CountedLlama, StoppedError, common_tokens
from models.prefix import PrefixStore
from models.protocol import (
    ChatMessage,
    CommandError,
    Done,
    Evaluating,
    FailureCode,
    Finish,
    Generate,
    Load,
)
from models.text_pieces import TextPieces

_PROGRESS_INTERVAL_S = 0.25
_PREFIX_TOKENS = 64
"""A shorter beginning is evaluated about as fast as it is read from the disk."""


class LlamaEngine:
    """One loaded model with the prefix that it has already evaluated."""

    def __init__(self, load: Load, stopping: Event) -> None:
        """Load the file. Raises `CommandError` (`load_failed`, `no_memory`)."""
        if not Path(load.path).is_file():
            raise CommandError("load_failed", f"There is no file at {load.path}.")
        try:
            self._llama = CountedLlama(
                model_path=load.path,
                n_ctx=load.context_tokens,
                n_threads=load.threads,
                n_threads_batch=load.threads,
                n_batch=BATCH_TOKENS,
                n_ubatch=BATCH_TOKENS,
                n_gpu_layers=load.gpu_layers,
                verbose=False,
            )
        except ValueError as error:
            code: FailureCode = "no_memory" if "llama_context" in str(error) else "load_failed"
            raise CommandError(code, str(error)) from error
        except MemoryError as error:
            raise CommandError("no_memory", "Not enough memory for this model.") from error
        self._stopping = stopping
        self._llama.stopping = stopping

        # The callback object must outlive the context: llama.cpp keeps only its address.
        def aborted(_data: object) -> bool:
            return stopping.is_set()

        self._abort = llama_cpp.ggml_abort_callback(aborted)
        set_abort = cast("Callable[[Any, Any, Any], None]", llama_cpp.llama_set_abort_callback)
        set_abort(self._llama.ctx, self._abort, None)
        vocab = llama_cpp.llama_model_get_vocab(self._llama.model)
        if vocab is None:
            raise CommandError("load_failed", "The file has no vocabulary.")
        self._vocab = vocab
        self._bos = self._token_text(self._llama.token_bos())
        self._template = self._chat_template()
        self._control = self._control_pattern()
        self._prefixes = self._prefix_store(load)
        self._fixed: tuple[tuple[ChatMessage, ...], list[int]] = ((), [])

    @property
    def context_tokens(self) -> int:
        """The size of the loaded context."""
        return self._llama.n_ctx()

    @property
    def trained_context_tokens(self) -> int:
        """What the model's makers trained it for."""
        return int(llama_cpp.llama_model_n_ctx_train(self._llama.model))

    @property
    def description(self) -> str:
        """Name of the model as its file gives it."""
        return str(self._llama.metadata.get("general.name", ""))

    def close(self) -> None:
        """Free the model's memory."""
        self._llama.close()

    def tokenize(self, text: str, *, special: bool = False) -> list[int]:
        """Tokens of `text`; `special`: control tokens in it are tokens, not characters."""
        add_bos = special and not (self._bos and text.startswith(self._bos))
        return self._llama.tokenize(text.encode(), add_bos=add_bos, special=special)

    def render(self, messages: Sequence[ChatMessage]) -> str:
        """The prompt for `messages` by the model's own template.

        Control tokens inside contents are broken up, so that a file's text cannot end a message.
        A template without a system role gets the system text in the first user message.
        """
        rows = [
            {"role": m.role, "content": self._control.sub(_broken_up, m.content)} for m in messages
        ]
        try:
            return self._template.render(rows)
        except (TemplateError, ValueError) as error:
            folded = _fold_system(rows)
            if folded == rows:
                raise CommandError("bad_request", f"The chat template failed: {error}") from error
        try:
            return self._template.render(folded)
        except (TemplateError, ValueError) as error:
            raise CommandError("bad_request", f"The chat template failed: {error}") from error

    def generate(
        self,
        request: Generate,
        *,
        on_text: Callable[[str], None],
        on_progress: Callable[[Evaluating], None],
    ) -> Done:
        """Generate until the model ends, the limit is met or the stop flag is set.

        Raises `CommandError("context_full")` when the prompt leaves no room for a reply.
        """
        started = time.monotonic()
        text = self.render(request.messages) if request.messages else request.prompt
        prompt = self.tokenize(text, special=True)
        room = self.context_tokens - len(prompt)
        if room < 1:
            raise CommandError(
                "context_full",
                f"The request has {len(prompt)} tokens; the context holds {self.context_tokens}.",
            )
        self._llama.evaluated_tokens = 0
        self._llama.report = _progress_reporter(request.id, len(prompt), on_progress)
        run = _Run(started=started, limit=min(request.max_tokens, room), stop=request.stop)
        finish = self._reply(run, prompt, request, on_text)
        evaluated = run.prompt_evaluated
        if evaluated is None:
            evaluated = self._llama.evaluated_tokens
        return Done(
            id=request.id,
            finish=finish,
            prompt_tokens=len(prompt),
            cached_tokens=max(0, len(prompt) - evaluated) if run.first_token_s is not None else 0,
            evaluated_tokens=evaluated,
            completion_tokens=run.tokens,
            first_token_s=run.first_token_s,
            total_s=time.monotonic() - started,
            restored_tokens=run.restored_tokens,
        )

    def _reply(
        self, run: _Run, prompt: list[int], request: Generate, on_text: Callable[[str], None]
    ) -> Finish:
        """Stream one reply into `on_text` and say how it ended."""
        pieces = TextPieces(request.stop)
        finish: Finish = "stop"
        try:
            for token in self._tokens(run, prompt, request):
                self._note_first(run)
                if (ended := self._ending(token)) is not None:
                    finish = ended
                    break
                run.tokens += 1
                if text := pieces.push(self._piece(token)):
                    on_text(text)
                if pieces.stopped:
                    break
                if run.tokens >= run.limit:
                    finish = "length"
                    break
        except StoppedError:
            finish = "stopped"
            if self._keeps_no_history:
                # A recurrent state cannot be cut back to the last whole batch.
                self._llama.reset()
        if text := pieces.flush():
            on_text(text)
        return finish

    def _note_first(self, run: _Run) -> None:
        """At the first token: how long it took, and how much of the prompt was evaluated."""
        if run.first_token_s is None:
            run.first_token_s = time.monotonic() - run.started
            run.prompt_evaluated = self._llama.evaluated_tokens
            self._llama.report = None

    def _ending(self, token: int) -> Finish | None:
        """Why the reply ends before `token`, or None when it goes on."""
        if self._stopping.is_set():
            return "stopped"
        return "stop" if llama_cpp.llama_vocab_is_eog(self._vocab, token) else None

    def _tokens(self, run: _Run, prompt: list[int], request: Generate) -> Iterator[int]:
        """Sampled tokens; reuses what the context shares with the previous call."""
        run.restored_tokens = self._begin(prompt, request)
        seed = secrets.randbits(31) if request.seed is None else request.seed & 0x7FFFFFFF
        sampler = Sampler(
            self._llama, temperature=request.temperature, top_p=request.top_p, seed=seed
        )
        grammar = None
        if request.grammar:
            grammar = ProgramGrammar(self._llama, self._vocab, self._piece, self.tokenize)
        # A running state cannot take back a guess.
        drafts = request.drafts and not self._keeps_no_history
        decoding = Decoding(self._llama, sampler, grammar=grammar, drafts=drafts)
        with closing(decoding):
            yield from decoding.tokens(prompt)

    def _begin(self, prompt: list[int], request: Generate) -> int:
        """Have the fixed beginning in the context. Returns how many tokens came from the disk.

        Evaluated here, it is saved for the next process before the rest is evaluated: then the
        context holds the beginning alone.
        """
        store = self._prefixes
        if store is None or not 0 < request.prefix_messages < len(request.messages):
            return 0
        fixed = self._fixed_tokens(request.messages, request.prefix_messages)
        if len(fixed) < _PREFIX_TOKENS or prompt[: len(fixed)] != fixed:
            return 0
        if self._llama.shared_tokens(fixed) == len(fixed):
            return 0
        state = store.load(fixed)
        if state is not None:
            if self._llama.put_state(fixed, state):
                return len(fixed)
            store.forget(fixed)
        self._llama.eval_alone(fixed)
        store.save(fixed, self._llama.copy_state())
        return 0

    def _fixed_tokens(self, messages: Sequence[ChatMessage], count: int) -> list[int]:
        """The tokens that every prompt shares which begins with `count` of `messages`.

        Found by rendering two that go on differently, which holds for any template.
        """
        fixed, role = tuple(messages[:count]), messages[count].role
        key = (*fixed, ChatMessage(role=role, content=""))
        if self._fixed[0] != key:
            first, second = (
                self.tokenize(
                    self.render((*fixed, ChatMessage(role=role, content=content))), special=True
                )
                for content in ("a", "1")
            )
            self._fixed = (key, first[: common_tokens(first, second)])
        return self._fixed[1]

    def _prefix_store(self, load: Load) -> PrefixStore | None:
        """Where evaluated beginnings are kept; None: nowhere."""
        if not load.prefix_folder:
            return None
        runtime = (
            f"{llama_cpp.__version__}/{llama_cpp.LLAMA_STATE_SEQ_VERSION}/{self.context_tokens}"
        )
        try:
            return PrefixStore(Path(load.prefix_folder), Path(load.path), runtime=runtime)
        except OSError:
            return None

    @property
    def _keeps_no_history(self) -> bool:
        """Whether the model's memory is a running state and not a cache of every token."""
        model = self._llama.model
        return bool(
            llama_cpp.llama_model_is_recurrent(model) or llama_cpp.llama_model_is_hybrid(model)
        )

    def _chat_template(self) -> ChatTemplate:
        text = str(self._llama.metadata.get("tokenizer.chat_template", ""))
        return ChatTemplate(text, bos=self._bos, eos=self._token_text(self._llama.token_eos()))

    def _control_pattern(self) -> re.Pattern[str]:
        """Matches every control token of the vocabulary, as text."""
        control = int(llama_cpp.LLAMA_TOKEN_ATTR_CONTROL)
        texts: set[str] = set()
        for token in range(self._llama.n_vocab()):
            if int(llama_cpp.llama_vocab_get_attr(self._vocab, token)) & control:
                texts.add(self._token_text(token))
        known = sorted((text for text in texts if len(text) > 1), key=len, reverse=True)
        return re.compile("|".join(map(re.escape, known)) or r"(?!)")

    def _token_text(self, token: int) -> str:
        if token < 0:
            return ""
        return bytes(llama_cpp.llama_vocab_get_text(self._vocab, token)).decode(errors="replace")

    def _piece(self, token: int) -> bytes:
        """The bytes of one token, of any length (the binding's own cuts at 32)."""
        for size in (64, 4096):
            buffer = ctypes.create_string_buffer(size)
            written = llama_cpp.llama_token_to_piece(
                self._vocab, llama_cpp.llama_token(token), buffer, size, 0, False
            )
            if written >= 0:
                return buffer.raw[:written]
        return b""


@dataclass(slots=True, kw_only=True)
class _Run:
    """What one generation has done so far."""

    started: float
    limit: int
    stop: tuple[str, ...]
    tokens: int = 0
    first_token_s: float | None = None
    prompt_evaluated: int | None = None
    restored_tokens: int = 0


def _broken_up(match: re.Match[str]) -> str:
    """A control token's text with a space after its first character: text, not a token."""
    text = match.group()
    return f"{text[0]} {text[1:]}"


def _fold_system(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """The same conversation with the system text inside the first user message."""
    if not rows or rows[0]["role"] != "system":
        return rows
    system, rest = rows[0]["content"], rows[1:]
    if rest and rest[0]["role"] == "user":
        first = {"role": "user", "content": f"{system}\n\n{rest[0]['content']}"}
        return [first, *rest[1:]]
    return [{"role": "user", "content": system}, *rest]


def _progress_reporter(
    request_id: int, total: int, on_progress: Callable[[Evaluating], None]
) -> Callable[[int], None]:
    """Reports evaluated tokens, at most one event per `_PROGRESS_INTERVAL_S`."""
    last = time.monotonic()

    def report(done: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _PROGRESS_INTERVAL_S and done < total:
            last = now
            on_progress(Evaluating(id=request_id, done_tokens=done, total_tokens=total))

    return report
