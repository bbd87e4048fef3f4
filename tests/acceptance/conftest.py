"""A job's folders, in a home of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.job import Job


@pytest.fixture
def job(tmp_path: Path, drydock_home: Path, capsys: pytest.CaptureFixture[str]) -> Job:
    """An empty granted folder whose name has a space, an umlaut and Chinese."""
    return Job(tmp_path, capsys)
