"""A whole reply out of a stream: models that stream everything answer `request` with it.

Thread: the engine's.
"""

from __future__ import annotations

from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings


async def whole_reply(
    model: Model,
    messages: list[ModelMessage],
    model_settings: ModelSettings | None,
    model_request_parameters: ModelRequestParameters,
) -> ModelResponse:
    """Stream a reply to its end and return it; it can be stopped like every stream."""
    async with model.request_stream(messages, model_settings, model_request_parameters) as response:
        async for _event in response:
            pass
        return response.get()
