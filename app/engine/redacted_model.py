"""Models that never see a known secret value: every request goes through the redactor first.

Owns the one place that all requests to models pass, whichever model, tool or retry they come from.
Thread: engine.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from app.engine.warm import ModelSource, ReadyModel
from app.vault.redact import Redactor

if TYPE_CHECKING:
    from pydantic_ai.models import Model


class RedactedModels:
    """The models of `source`, each behind the redactor."""

    def __init__(self, source: ModelSource, redactor: Redactor) -> None:
        self._source = source
        self._redactor = redactor

    async def ready(self, model_id: str) -> ReadyModel:
        """Load and return a model. Raises: `ModelError`."""
        ready = await self._source.ready(model_id)
        return replace(ready, model=redacted(ready.model, self._redactor))

    async def close(self) -> None:
        """End what was started."""
        await self._source.close()


def redacted(model: Model, redactor: Redactor) -> Model:
    """`model` behind the redactor. Here, since pydantic-ai is imported late."""
    from pydantic_ai.models.wrapper import WrapperModel

    class RedactedModel(WrapperModel):
        """Cleans the messages of each request; everything else is the wrapped model's."""

        async def request(self, messages: Any, *rest: Any, **options: Any) -> Any:
            """One reply, to cleaned messages."""
            return await super().request(redactor.value(messages), *rest, **options)

        async def count_tokens(self, messages: Any, *rest: Any, **options: Any) -> Any:
            """The size of the cleaned messages."""
            return await super().count_tokens(redactor.value(messages), *rest, **options)

        @asynccontextmanager
        async def request_stream(
            self, messages: Any, *rest: Any, **options: Any
        ) -> AsyncGenerator[Any]:
            """A reply as it comes, to cleaned messages."""
            clean = redactor.value(messages)
            async with super().request_stream(clean, *rest, **options) as stream:
                yield stream

    return RedactedModel(model)
