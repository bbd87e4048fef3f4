"""How much energy this machine takes, where its system tells: RAPL counters, else the battery.

Of the whole machine, not of one process: an upper bound for a model that has it to itself.
Source: https://www.kernel.org/doc/html/latest/power/powercap/powercap.html. Thread: engine.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

_POWERCAP = Path("/sys/class/powercap")
_SUPPLY = Path("/sys/class/power_supply")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The counters at one moment: microjoules by domain, watts drawn from batteries."""

    at_s: float
    counters: dict[str, int]
    battery_w: float | None


class EnergyGauge:
    """Reads the counters; two readings make a span."""

    def __init__(self, powercap: Path = _POWERCAP, supply: Path = _SUPPLY) -> None:
        self._powercap = powercap
        self._supply = supply

    def read(self) -> Reading:
        """The counters now. Files that cannot be read are as if they were not there."""
        counters: dict[str, int] = {}
        # Packages only: their sub-domains are counted in them already.
        for folder in sorted(self._powercap.glob("intel-rapl:*")):
            if folder.name.count(":") == 1:
                value = _number(folder / "energy_uj")
                if value is not None:
                    counters[str(folder)] = value
        return Reading(
            at_s=time.monotonic(), counters=counters, battery_w=None if counters else self._watts()
        )

    def between(self, before: Reading, after: Reading) -> float | None:
        """Joules between two readings; None: the system does not tell."""
        shared = before.counters.keys() & after.counters.keys()
        if shared:
            return sum(self._joules(name, before, after) for name in shared)
        powers = [one for one in (before.battery_w, after.battery_w) if one is not None]
        if len(powers) < 2:
            return None
        return sum(powers) / len(powers) * (after.at_s - before.at_s)

    def _joules(self, name: str, before: Reading, after: Reading) -> float:
        difference = after.counters[name] - before.counters[name]
        if difference < 0:  # the counter began again
            difference += _number(Path(name) / "max_energy_range_uj") or 0
        return max(0, difference) / 1_000_000

    def _watts(self) -> float | None:
        """Drawn from batteries that are being emptied."""
        found: list[float] = []
        for folder in sorted(self._supply.glob("BAT*")):
            try:
                status = (folder / "status").read_text(encoding="ascii").strip()
            except OSError:
                continue
            power = _number(folder / "power_now")
            if status == "Discharging" and power is not None:
                found.append(power / 1_000_000)
        return sum(found) if found else None


def _number(file: Path) -> int | None:
    try:
        return int(file.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
