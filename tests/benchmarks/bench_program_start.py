"""Program start: from the complete reply to the program's first call at the host, warm.

Run: ``python tests/benchmarks/bench_program_start.py``. Prints a JSON line with milliseconds
(median, 90th percentile, worst) over many starts of one ordinary program in one process, and the
shares that extraction with bridging and the check take. Aim: 15 ms,
check included.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from models.extract import extract_program  # noqa: E402
from sandbox.blobs import BlobStore  # noqa: E402
from sandbox.effects import Effect  # noqa: E402
from sandbox.limits import Limits  # noqa: E402
from sandbox.outcome import CallBatch, Printed, StopToken  # noqa: E402
from sandbox.pool import SandboxPool  # noqa: E402
from sandbox.ports import Verdict  # noqa: E402
from sandbox.program import prepare  # noqa: E402
from sandbox.runner import Runner  # noqa: E402
from sandbox.stage import FolderGrant, Stage  # noqa: E402

STARTS = 60
PAUSE_S = 0.1
REPLY = """Here is the program:

```python
import csv
from collections import defaultdict
from pathlib import Path

totals = defaultdict(float)
for path in sorted(Path(".").glob("*.csv")):
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            totals[row["name"]] += float(row["amount"])
with open("totals.csv", "w", newline="", encoding="utf-8") as file:
    writer = csv.writer(file)
    writer.writerow(["name", "total"])
    for name, total in sorted(totals.items(), key=lambda item: -item[1]):
        writer.writerow([name, f"{total:.2f}"])
print(f"Wrote {len(totals)} totals.")
```
"""


class _FirstCall:
    """A gate that notes when the first call came."""

    def __init__(self) -> None:
        self.at = 0.0

    def judge(self, effects: Sequence[Effect]) -> Verdict:
        self.at = self.at or time.perf_counter()
        return Verdict(outcome="allow")


class _NoJournal:
    def settle(self, program_id: str, effects: Sequence[Effect]) -> None:
        pass


def _ignore(_: CallBatch | Printed) -> None:
    pass


def measure(starts: int = STARTS) -> dict[str, float]:
    """Milliseconds from reply to first call."""
    total_ms: list[float] = []
    bridge_ms: list[float] = []
    check_ms: list[float] = []
    with tempfile.TemporaryDirectory() as scratch, SandboxPool() as pool:
        folder = Path(scratch, "folder")
        folder.mkdir()
        (folder / "a.csv").write_text("name,amount\nAnn,1\nBob,2\n", encoding="utf-8")
        runner = Runner(pool, Limits())
        for number in range(starts + 1):
            time.sleep(PAUSE_S)  # the pool warms its next session between turns, as in the app
            stage = Stage([FolderGrant(path=folder)], BlobStore(Path(scratch, "blobs")))
            stage.push()
            gate = _FirstCall()
            began = time.perf_counter()
            program = prepare(extract_program(REPLY).source)
            bridged = time.perf_counter()
            runner.check(program)
            checked = time.perf_counter()
            outcome = runner.run(
                program,
                program_id="p",
                stage=stage,
                gate=gate,
                journal=_NoJournal(),
                listen=_ignore,
                stop=StopToken(),
            )
            if outcome.status != "ok":
                raise SystemExit(f"the program failed: {outcome.fault}")
            if number:  # the first one is cold
                total_ms.append(1000 * (gate.at - began))
                bridge_ms.append(1000 * (bridged - began))
                check_ms.append(1000 * (checked - bridged))
    return {
        "starts": starts,
        "median_ms": round(statistics.median(total_ms), 2),
        "p90_ms": round(statistics.quantiles(total_ms, n=10)[8], 2),
        "worst_ms": round(max(total_ms), 2),
        "extract_and_bridge_median_ms": round(statistics.median(bridge_ms), 2),
        "check_median_ms": round(statistics.median(check_ms), 2),
        "aim_ms": 15,
    }


if __name__ == "__main__":
    print(json.dumps({"benchmark": "program_start"} | measure()))
