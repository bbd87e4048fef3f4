"""What is measured of the machine."""

from __future__ import annotations

import pytest

from models.hardware import Hardware, measure_hardware


@pytest.mark.parametrize(("cores", "threads"), [(1, 1), (2, 1), (8, 7)])
def test_one_core_is_left_to_the_rest_of_the_machine(cores, threads):
    hardware = Hardware(physical_cores=cores, total_memory_bytes=1, free_memory_bytes=1)
    assert hardware.default_threads == threads


def test_a_model_needs_room_besides_its_file():
    hardware = Hardware(physical_cores=1, total_memory_bytes=4 << 30, free_memory_bytes=1)
    assert hardware.fits(3 << 30)
    assert not hardware.fits((3 << 30) + 1)


def test_this_machine_has_a_core_and_memory():
    hardware = measure_hardware()
    assert hardware.physical_cores >= 1
    assert 0 < hardware.free_memory_bytes <= hardware.total_memory_bytes
