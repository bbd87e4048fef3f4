"""Fixtures for the models' tests: the fake worker as a child, and a small real model."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from models.client import WorkerClient, WorkerSettings

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


@pytest.fixture
def patient_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop waits for the worker's own end, however slow the machine is just now."""
    monkeypatch.setattr("models.client._STOP_GRACE_S", 60.0)
