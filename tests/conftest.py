"""Every test has a home of its own and no window on the screen."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, override

import pytest
from pytestqt.qtbot import QtBot

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")


@pytest.fixture(autouse=True)
def drydock_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh `DRYDOCK_HOME` a test."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("DRYDOCK_HOME", str(home))
    return home


def fetched(model_id: str) -> Path:
    """A real model's file, fetched once into a cache that later runs use again."""
    from models.catalog import load_catalog
    from models.fetch import fetch

    default = Path.home() / ".cache" / "drydock-tests" / "models"
    folder = Path(os.environ.get("DRYDOCK_TEST_MODELS", default))
    folder.mkdir(parents=True, exist_ok=True)
    return asyncio.run(fetch(load_catalog().get(model_id), folder, lambda progress: None))


@pytest.fixture(scope="session")
def real_model() -> Path:
    """SmolLM2-135M: small enough to be quick, real enough to crash."""
    return fetched("smollm2-135m")


@pytest.fixture(scope="session")
def starter_model() -> Path:
    """Qwen2.5-Coder 0.5B: small enough for every run of the tests, able to write programs."""
    return fetched("qwen2.5-coder-0.5b")


class PatientQtBot(QtBot):
    """Waits for what must come for as long as a busy machine may need, not five seconds."""

    @override
    def waitUntil(self, callback: Callable[[], bool | None], *, timeout: int = 60_000) -> None:
        super().waitUntil(callback, timeout=timeout)

    @override
    def waitSignal(self, signal: Any, *, timeout: int = 60_000, **options: Any) -> Any:
        return super().waitSignal(signal, timeout=timeout, **options)


@pytest.fixture
def qtbot(qapp: Any, request: pytest.FixtureRequest) -> QtBot:
    """pytest-qt's, patient."""
    return PatientQtBot(request)
