"""Tools: finding one among a thousand, what they cost a program's start, and what each takes.

Run: ``python tests/benchmarks/bench_tools.py``. Prints a JSON line with milliseconds (median and
worst). Aims: ranking under 5 ms and prompt growth under 1,500 tokens with 1,000 tools.
"""

from __future__ import annotations

import csv
import io
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from sandbox.blobs import BlobStore  # noqa: E402
from sandbox.builtin_tools import builtin_tools  # noqa: E402
from sandbox.effects import Effect  # noqa: E402
from sandbox.limits import Limits  # noqa: E402
from sandbox.outcome import Outcome, StopToken  # noqa: E402
from sandbox.pool import SandboxPool  # noqa: E402
from sandbox.ports import Verdict  # noqa: E402
from sandbox.program import prepare  # noqa: E402
from sandbox.runner import Runner  # noqa: E402
from sandbox.stage import FolderGrant, Stage  # noqa: E402
from sandbox.tools import Tool, ToolSet, tool  # noqa: E402

TOOLS = 1_000
TIMES = 50
WORDS = Path(__file__).read_text(encoding="utf-8").split() + list(sys.stdlib_module_names)
CHARS_PER_TOKEN = 4
ROWS = 50_000
FILES = 2_000


def timed(work: Callable[[], object], times: int = TIMES) -> dict[str, float]:
    """Median and worst milliseconds of `work`."""
    taken: list[float] = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        taken.append((time.perf_counter() - began) * 1_000)
    return {"median": round(statistics.median(taken), 3), "worst": round(max(taken), 3)}


def crowd() -> ToolSet:
    """A thousand tools with random names and docstrings, and the built-in ones."""
    chance = random.Random(4)  # no secret

    def made(number: int) -> Tool:
        def function(identifier: str, amount: int = 0) -> str:
            return identifier * amount

        function.__doc__ = " ".join(chance.choices(WORDS, k=25))
        return tool(function, name=f"{chance.choice(sorted(sys.stdlib_module_names))}_{number}")

    return ToolSet([*builtin_tools(), *map(made, range(TOOLS))])


class AllowAll:
    """Allows."""

    def judge(self, effects: Sequence[Effect]) -> Verdict:
        """Allow."""
        del effects
        return Verdict(outcome="allow")


class NoJournal:
    """Keeps nothing."""

    def settle(self, program_id: str, effects: Sequence[Effect]) -> None:
        """Forget."""


def fill(folder: Path) -> None:
    """A large table and many small files."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["id", "region", "amount"])
    writer.writerows((n, f"region {n % 50}", n * 1.25) for n in range(ROWS))
    (folder / "sales.csv").write_text(text.getvalue(), encoding="utf-8")
    inner = folder / "notes"
    inner.mkdir()
    for number in range(FILES):
        word = "needle" if number % 100 == 0 else "hay"
        (inner / f"{number}.txt").write_text(f"line\n{word} {number}\n" * 20, encoding="utf-8")


PROGRAMS = {
    "no tool": "print(1)",
    "200 calls of search_tools": "for n in range(200):\n    search_tools('pdf text')",
    f"sql over {ROWS} rows": "sql('SELECT region, sum(amount) FROM sales GROUP BY region')",
    f"find_text in {FILES} files": "print(len(find_text('needle', 'notes')))",
    f"find_text by pattern in {FILES} files": (
        "print(len(find_text(r'need\\\\w+ 1?00', 'notes', regex=True)))"
    ),
    "a first document": "read_document('notes/1.txt')",
}


def main() -> int:
    """Measure and print."""
    tools = crowd()
    request = "Rename the photos by the date they were taken and write a summary of report.pdf"
    found: dict[str, object] = {
        "tools": len(tools),
        "index": timed(crowd, 3),
        "search": timed(lambda: tools.search("read the text of a pdf document")),
        "likely": timed(lambda: tools.likely(request)),
        "prompt_tokens": len(tools.declared(tools.likely(request))) // CHARS_PER_TOKEN,
        "prepare_with_1000": timed(lambda: prepare("x = frobnicate(1)\nprint(x)\n", tools)),
        "prepare_with_builtin": timed(lambda: prepare("x = frobnicate(1)\nprint(x)\n")),
    }
    with tempfile.TemporaryDirectory() as scratch, SandboxPool() as pool:
        folder = Path(scratch).resolve() / "work"
        folder.mkdir()
        fill(folder)
        runner = Runner(pool, Limits())

        def run(source: str) -> Outcome:
            stage = Stage([FolderGrant(path=folder)], BlobStore(Path(scratch) / "blobs"))
            stage.push()
            outcome = runner.run(
                prepare(source),
                program_id="p",
                stage=stage,
                gate=AllowAll(),
                journal=NoJournal(),
                listen=lambda _: None,
                stop=StopToken(),
            )
            assert outcome.status == "ok", outcome.fault
            return outcome

        found["programs"] = {name: timed(lambda s=s: run(s), 5) for name, s in PROGRAMS.items()}
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
