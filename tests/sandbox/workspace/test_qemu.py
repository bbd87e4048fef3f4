"""The QEMU microVM for real, through the contract that every workspace passes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sandbox.workspace.qemu import QemuMachine
from tests.sandbox.workspace.contract import Conformance, WorkspaceContract
from tests.sandbox.workspace.images import workspace_image

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def make_machine(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], QemuMachine]:
    image = workspace_image()
    folder = tmp_path_factory.mktemp("qemu")
    return lambda name: QemuMachine(folder / name, image)


class TestConformance(Conformance):
    pass


class TestContract(WorkspaceContract):
    pass
