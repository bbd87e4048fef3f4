"""The local models of the fake engine: statuses in, calls out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from app.engine.model_status import ModelStatus
from app.engine.shelf import Elsewhere, Sample
from app.engine.warm import Probe


class FakeShelf:
    """Remembers what it was asked in the engine's `asked`."""

    def __init__(
        self, asked: list[tuple[str, object]], catalog: Callable[[], list[ModelStatus]]
    ) -> None:
        self.asked = asked
        self.found: list[Elsewhere] = []
        self.sampled = Sample(hello="Hello there.", program="print(1)", problem="", seconds=3.2)
        self._catalog = catalog

    @property
    def fetches(self) -> FakeShelf:
        """Its own queue."""
        return self

    async def models(self) -> list[ModelStatus]:
        return list(self._catalog())

    async def fetch(self, model_id: str) -> None:
        self.asked.append(("fetch", model_id))

    async def pause(self, model_id: str) -> None:
        self.asked.append(("pause_fetch", model_id))

    async def cancel(self, model_id: str) -> None:
        self.asked.append(("cancel_fetch", model_id))

    async def take_in(self, path: Path, name: str = "") -> None:
        self.asked.append(("import", str(path)))

    async def elsewhere(self) -> list[Elsewhere]:
        return self.found

    async def remove(self, model_id: str) -> int:
        self.asked.append(("remove", model_id))
        return 1_117_320_768

    async def probe(self, model_id: str) -> Probe:
        self.asked.append(("probe", model_id))
        return Probe(load_s=1.0, first_token_s=0.2, tokens_per_s=10.4, threads=1)

    async def sample(self, model_id: str) -> Sample:
        self.asked.append(("sample", model_id))
        return self.sampled
