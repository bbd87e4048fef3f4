"""A model whose replies are kept: those of the tape first, then the model's own.

Owns the order of replies alone: a turn asks its model one thing after the other. Thread: engine.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse
from pydantic_ai.models import (
    CompletedStreamedResponse,
    Model,
    ModelRequestParameters,
    StreamedResponse,
)
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from app.engine.turn_tape import TurnTape


class TapedModel(WrapperModel):
    """`model` with its replies on `tape`; a reply that was cut off is asked for again."""

    def __init__(self, model: Model[Any], tape: TurnTape) -> None:
        super().__init__(model)
        self._tape = tape
        self._asked = 0

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """One whole reply."""
        recorded = self._recorded()
        if recorded is not None:
            return recorded
        reply = await super().request(messages, model_settings, model_request_parameters)
        self._keep(reply)
        return reply

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """A reply as it is made, or at once when it is known."""
        recorded = self._recorded()
        if recorded is not None:
            yield CompletedStreamedResponse(
                recorded, model_request_parameters=model_request_parameters, replay_events=True
            )
            return
        async with super().request_stream(
            messages, model_settings, model_request_parameters, run_context
        ) as stream:
            yield stream
        self._keep(stream.get())

    def _recorded(self) -> ModelResponse | None:
        number, self._asked = self._asked, self._asked + 1
        if number >= len(self._tape.replies):
            return None
        (found,) = ModelMessagesTypeAdapter.validate_json(self._tape.replies[number])
        return found if isinstance(found, ModelResponse) else None

    def _keep(self, reply: ModelResponse) -> None:
        self._tape.add_reply(ModelMessagesTypeAdapter.dump_json([reply]).decode("utf-8"))
