"""bubblewrap for real, through the contract that every workspace passes."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox.workspace.bounds import bound_in_force
from sandbox.workspace.bubblewrap import BubblewrapMachine
from sandbox.workspace.channel import Channel
from tests.sandbox.workspace.contract import Conformance, WorkspaceContract, run

pytestmark = [
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
    pytest.mark.skipif(bound_in_force().kind == "none", reason="root, and no control groups"),
]


@pytest.fixture(scope="module")
def make_machine(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], BubblewrapMachine]:
    folder = tmp_path_factory.mktemp("bubblewrap")
    return lambda name: BubblewrapMachine(folder / name)


class TestConformance(Conformance):
    pass


class TestContract(WorkspaceContract):
    def test_this_machine_can_only_be_read(self, channel: Channel, tmp_path: Path) -> None:
        (tmp_path / "secret").write_text("mine")
        tried = f"cat {tmp_path}/secret; echo x > /usr/x; ls /home; mount -o bind / /tmp"
        code, out, err = run(channel, tried)
        assert code != 0
        assert out == ""
        assert "mine" not in out + err

    def test_commands_cannot_reach_what_bounds_them(self, channel: Channel) -> None:
        tried = (
            "for end in /proc/1/fd/*; do ls $end/; readlink $end; done; "
            "cat /proc/1/environ; ls -d /sys/fs/cgroup"
        )
        code, out, err = run(channel, tried)
        assert code != 0
        assert out == ""
        assert err.count("Permission denied") >= 4

    def test_its_programs_have_no_rights_over_the_kernel(self, channel: Channel) -> None:
        code, out, _ = run(channel, "grep CapEff /proc/self/status; ls /dev")
        assert code == 0
        assert "CapEff:\t000000000000000a" in out  # over its own files, nothing else
        assert not {"vda", "sda", "kvm", "mem", "kmsg"} & set(out.split())
