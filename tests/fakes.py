"""Fakes over mocks: a model that answers from a script, behind the real `LocalModel`.

Everything above the worker process is the real thing: streaming, extraction, tool calls, history.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app.engine.warm import ReadyModel
from models.client import GenerateRequest, WorkerClient, WorkerSettings
from models.errors import ModelError
from models.local import LocalModel
from models.prompt import load_prompt
from models.protocol import ChatMessage, Delta, Done, Evaluating, Loaded


def program_reply(source: str) -> str:
    """A reply as a small model writes it: one fenced program."""
    return f"```python\n{source.strip()}\n```"


@dataclass
class Script:
    """What the model will say, in order. An exception in place of a text is raised.

    `pace_s`: pause between pieces of `piece_chars`; `hold`: when set, the reply stops after its
    first piece until the event is set (or the generation is stopped).
    """

    replies: list[str | Exception]
    pace_s: float = 0.0
    piece_chars: int = 12
    hold: asyncio.Event | None = None
    seen: list[GenerateRequest] = field(default_factory=list)
    stopped: int = 0
    begun: asyncio.Event = field(default_factory=asyncio.Event)


class ScriptedClient(WorkerClient):
    """A worker client without a worker."""

    def __init__(self, script: Script) -> None:
        super().__init__(WorkerSettings(path=Path("scripted.gguf")))
        self._script = script

    async def load(self) -> Loaded:
        """There is nothing to load."""
        return Loaded(
            id=0, context_tokens=8192, trained_context_tokens=8192, description="", seconds=0.0
        )

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[Evaluating | Delta | Done]:
        """Stream the next reply of the script."""
        script = self._script
        script.seen.append(request)
        script.begun.set()
        if not script.replies:
            raise ModelError("The script has no more replies.")
        reply = script.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        pieces = [
            reply[at : at + script.piece_chars] for at in range(0, len(reply), script.piece_chars)
        ]
        ended = False
        try:
            for number, piece in enumerate(pieces):
                if number == 1 and script.hold is not None:
                    await script.hold.wait()
                await asyncio.sleep(script.pace_s)
                yield Delta(id=1, text=piece)
            ended = True
        finally:
            script.stopped += not ended
        yield Done(
            id=1,
            finish="stop",
            prompt_tokens=100,
            cached_tokens=80,
            evaluated_tokens=20,
            completion_tokens=len(pieces),
            first_token_s=0.01,
            total_s=0.1,
        )

    async def stop(self) -> None:
        """Leaving `generate` is all there is to stop."""

    async def count_tokens(self, text: str = "", *, messages: Sequence[ChatMessage] = ()) -> int:
        """About four characters a token."""
        return (len(text) + sum(len(message.content) for message in messages)) // 4

    async def close(self) -> None:
        """There is nothing to end."""


class ScriptedModels:
    """A `ModelSource` whose every model follows one script."""

    def __init__(self, *replies: str | Exception, script: Script | None = None) -> None:
        self.script = script or Script(list(replies))

    async def ready(self, model_id: str) -> ReadyModel:
        """The scripted model under any id."""
        return ReadyModel(
            model=LocalModel(ScriptedClient(self.script), model_id),
            prompt=load_prompt("default"),
            context_tokens=8192,
            one_program=True,
        )

    async def close(self) -> None:
        """There is nothing to end."""
