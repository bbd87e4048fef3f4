"""This machine in a few words, so that results are not mistaken for another's. Thread: any."""

from __future__ import annotations

import platform
from functools import cache
from pathlib import Path

import psutil


@cache
def machine_name() -> str:
    """Processor, cores, memory and system, e.g. "AMD EPYC 7B13, 2 cores, 24 GB, Linux"."""
    cores = psutil.cpu_count(logical=False) or psutil.cpu_count() or 1
    memory_gb = round(psutil.virtual_memory().total / 1e9)
    return f"{_processor()}, {cores} cores, {memory_gb} GB, {platform.system()}"


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
