"""What the tests of workspaces share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.sandbox.workspace.contract import Machines, Maker


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="class")
def machines(make_machine: Maker) -> Iterator[Machines]:
    """Machines of a class of tests; all are gone at its end."""
    machines = Machines(make_machine)
    yield machines
    machines.end()
