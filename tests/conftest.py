"""Every test has a home of its own and no window on the screen."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")


@pytest.fixture(autouse=True)
def drydock_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh `DRYDOCK_HOME` a test."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("DRYDOCK_HOME", str(home))
    return home
