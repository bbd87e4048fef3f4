"""Files: 2,000 small ones against CPython, and one large log within the memory limit.

Run: ``python tests/benchmarks/bench_files.py [LOG_MIB]`` (300 unless told). Prints a JSON line: for
each way of reading the seconds here and in CPython and their ratio (aim: 5), and for the log the
seconds of reading by lines, by pieces and of writing, within 64 MiB of interpreter memory.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from sandbox.limits import Limits  # noqa: E402
from sandbox.pool import SandboxPool  # noqa: E402
from tests.sandbox.running import run_here  # noqa: E402

FILES = 2_000
ROUNDS = 3
MIB = 1024 * 1024
WAYS = {
    "with_open_read": """
from pathlib import Path
n = 0
for p in sorted(Path('.').glob('*.txt')):
    with open(p) as f:
        n += len(f.read())
print(n)
""",
    "read_text": """
from pathlib import Path
n = 0
for p in sorted(Path('.').glob('*.txt')):
    n += len(p.read_text())
print(n)
""",
    "lines": """
import os
n = 0
for name in sorted(os.listdir('.')):
    with open(os.path.join('.', name), encoding='utf-8') as f:
        for line in f:
            n += len(line)
print(n)
""",
}
LOG_WAYS = {
    "by_lines": """
errors = 0
with open('big.log') as f:
    for number, line in enumerate(f, 1):
        if 'ERROR' in line:
            errors += 1
print(number, errors)
""",
    "by_pieces": """
import hashlib
h = hashlib.sha256()
with open('big.log', 'rb') as f:
    while chunk := f.read(1024 * 1024):
        h.update(chunk)
print(h.hexdigest())
""",
    "filtered_copy": """
with open('big.log') as f, open('copy.log', 'w') as out:
    for line in f:
        out.write(line)
""",
}


def _in_cpython(source: str, folder: Path) -> float:
    timed = (
        f"import time\n_began = time.perf_counter()\n{source}\nprint(time.perf_counter() - _began)"
    )
    done = subprocess.run(
        [sys.executable, "-c", timed], cwd=folder, capture_output=True, text=True, check=True
    )
    return float(done.stdout.split()[-1])


def measure_small(pool: SandboxPool, folder: Path) -> dict[str, dict[str, float]]:
    """Seconds here and in CPython, the best of some rounds, and their ratio."""
    for number in range(FILES):
        (folder / f"{number:04}.txt").write_text(f"hello {number}\n" * 5, encoding="utf-8")
    found: dict[str, dict[str, float]] = {}
    for name, source in WAYS.items():
        theirs = min(_in_cpython(source, folder) for _ in range(ROUNDS))
        ours = min(run_here(source, folder, pool).outcome.wall_s for _ in range(ROUNDS))
        found[name] = {
            "here_s": round(ours, 3),
            "cpython_s": round(theirs, 3),
            "ratio": round(ours / theirs, 1),
        }
    return found


def measure_log(pool: SandboxPool, folder: Path, size_mib: int) -> dict[str, float]:
    """Seconds of each way over a log of `size_mib`, within 64 MiB of interpreter memory."""
    limits = Limits(memory_bytes=64 * MIB, interpreter_s=600.0)
    block = "".join(f"2024-01-01 10:00:00 INFO request {n} done\n" for n in range(25_000))
    block += "2024-01-01 10:00:01 ERROR disk full\n"
    with (folder / "big.log").open("w", encoding="utf-8") as log:
        for _ in range(size_mib * MIB // len(block) + 1):
            log.write(block)
    seconds: dict[str, float] = {}
    for name, source in LOG_WAYS.items():
        began = time.perf_counter()
        outcome = run_here(source, folder, pool, limits=limits).outcome
        if outcome.status != "ok":
            raise SystemExit(f"{name} failed: {outcome.fault}")
        seconds[name] = round(time.perf_counter() - began, 1)
    return seconds


def main(size_mib: int) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as scratch, SandboxPool() as pool:
        small, large = Path(scratch, "small"), Path(scratch, "large")
        small.mkdir()
        large.mkdir()
        result = {
            "benchmark": "files",
            "small_files": FILES,
            "ways": measure_small(pool, small),
            "aim_ratio": 5,
            "log_mib": size_mib,
            "log_s": measure_log(pool, large, size_mib),
        }
    print(json.dumps(result))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
