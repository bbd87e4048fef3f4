"""What this machine offers a local model: cores and memory. Measures, decides nothing else.

Thread: any; each call takes well under a millisecond.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import psutil


@dataclass(frozen=True, slots=True, kw_only=True)
class Hardware:
    """Cores and memory as the operating system reports them (bytes)."""

    physical_cores: int
    total_memory_bytes: int
    free_memory_bytes: int

    @property
    def default_threads(self) -> int:
        """Physical cores minus one, at least one: a busy core slows every thread down."""
        return max(1, self.physical_cores - 1)

    def fits(self, file_bytes: int, *, overhead_bytes: int = 1 << 30) -> bool:
        """Whether a model file of this size, with context and working memory, fits in memory."""
        return file_bytes + overhead_bytes <= self.total_memory_bytes


def measure_hardware() -> Hardware:
    """Measure now. Free memory is what can be had without swapping."""
    memory = psutil.virtual_memory()
    cores = psutil.cpu_count(logical=False) or psutil.cpu_count(logical=True) or 1
    return Hardware(
        physical_cores=cores,
        total_memory_bytes=memory.total,
        free_memory_bytes=memory.available,
    )


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
