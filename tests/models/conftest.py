"""Fixtures for the models' tests: the fake worker as a child, and a small real model."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from models.catalog import load_catalog
from models.client import WorkerClient, WorkerSettings
from models.fetch import fetch

FAKE_WORKER = Path(__file__).with_name("fake_worker.py")


@pytest.fixture
def make_client():
    """Makes a client over the fake worker; `arguments` are the fake's own."""

    def make(*arguments: str, **settings) -> WorkerClient:
        values = {"path": Path("fake.gguf"), "threads": 1, **settings}
        return WorkerClient(
            WorkerSettings(**values), command=(sys.executable, str(FAKE_WORKER), *arguments)
        )

    return make


@pytest.fixture(scope="session")
def real_model() -> Path:
    """SmolLM2-135M, fetched once into a cache that is reused by later runs."""
    folder = Path(
        os.environ.get("DRYDOCK_TEST_MODELS", Path.home() / ".cache" / "drydock-tests" / "models")
    )
    folder.mkdir(parents=True, exist_ok=True)
    entry = load_catalog().get("smollm2-135m")
    return asyncio.run(fetch(entry, folder, lambda progress: None))
