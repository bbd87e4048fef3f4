"""Durable turns: what the record costs, and every place where a turn can die.

Run: ``python tests/benchmarks/bench_durable.py [share|lives] [SCENARIO]``. `share` prints a JSON
line: for a program that reads 2,000 small files and one that also writes them, the seconds without
and with its record on the disk, and the record's share (aim: under 0.1); `share_by_calls` is what
the record of one call costs times the calls, to be looked at when the machine is busy. `lives`
kills a turn of several programs at every journal write, goes on with it, and prints how many came
to the same end with each request sent once, and how many had to ask. Lives take some minutes.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from app.engine.turn_tape import TurnTape  # noqa: E402
from app.paths import Paths  # noqa: E402
from sandbox import fingerprint  # noqa: E402
from sandbox.blobs import BlobStore  # noqa: E402
from sandbox.limits import Limits  # noqa: E402
from sandbox.outcome import StopToken  # noqa: E402
from sandbox.pool import SandboxPool  # noqa: E402
from sandbox.program import prepare  # noqa: E402
from sandbox.runner import Runner  # noqa: E402
from sandbox.stage import FolderGrant, Stage  # noqa: E402
from sandbox.tape import Tape  # noqa: E402
from tests.app.engine.test_durable import check, sent, stories  # noqa: E402
from tests.sandbox.loopback import serve  # noqa: E402
from tests.sandbox.running import AllowAll, ListJournal, run_here  # noqa: E402

FILES = 2_000
ROUNDS = 5
LIMITS = Limits(interpreter_s=60.0)
WAYS = {
    "reads": """
from pathlib import Path
n = 0
for p in sorted(Path('.').glob('*.txt')):
    with open(p) as f:
        n += len(f.read())
print(n)
""",
    "writes": """
from pathlib import Path
for p in sorted(Path('.').glob('*.txt')):
    Path('copy', p.name).write_text(p.read_text().upper())
""",
}


@contextmanager
def _unrecorded() -> Iterator[None]:
    """Programs run as if there were no record at all."""
    kept = fingerprint.of_call, fingerprint.of_value, fingerprint.digest
    nothing = bytes(fingerprint.DIGEST_BYTES)
    fingerprint.of_call = lambda *_: nothing
    fingerprint.of_value = lambda *_: nothing
    fingerprint.digest = lambda *_: nothing
    try:
        yield
    finally:
        fingerprint.of_call, fingerprint.of_value, fingerprint.digest = kept


def _per_call_s() -> float:
    """What the record of one call costs the runner's thread: its identity, digest and mark."""
    tape = Tape(_Nowhere())
    args, answer = (
        (PurePosixPath("/home/ada/files/0001.txt"), "r"),
        ("0001.txt", "r", "text\n" * 10),
    )
    best = 1.0
    for _ in range(ROUNDS * 4):
        began = time.thread_time()
        for _ in range(500):
            call = fingerprint.of_call("open", args, {})
            tape.did(fingerprint.digest(call, fingerprint.of_value(answer)), 1)
        best = min(best, (time.thread_time() - began) / 500)
    return best


class _Nowhere:
    def append(self, mark: bytes, *, sync: bool) -> None:
        """Keep nothing."""


def _run_calls(source: str, folder: Path, pool: SandboxPool) -> int:
    """How many calls at the host the program makes."""
    return run_here(source, folder, pool).outcome.file_calls


def _run(source: str, folder: Path, pool: SandboxPool, tape: Tape | None) -> float:
    with tempfile.TemporaryDirectory() as blobs:
        stage = Stage([FolderGrant(path=folder.resolve())], BlobStore(Path(blobs)))
        outcome = Runner(pool, LIMITS).run(
            prepare(source),
            program_id="p1",
            stage=stage,
            gate=AllowAll(),
            journal=ListJournal(),
            listen=lambda _: None,
            stop=StopToken(),
            tape=tape,
        )
    assert outcome.status == "ok", outcome.fault
    return outcome.wall_s


def measure_share(base: Path) -> dict[str, dict[str, float]]:
    """Seconds without and with the record, the best of some rounds each, and the share."""
    folder = base / "files"
    folder.mkdir()
    for number in range(FILES):
        (folder / f"{number:04}.txt").write_text(f"hello {number}\n" * 5, encoding="utf-8")
    found: dict[str, dict[str, float]] = {}
    with SandboxPool(LIMITS) as pool:
        for name, source in WAYS.items():
            without: list[float] = []
            recorded: list[float] = []
            for number in range(ROUNDS):
                with _unrecorded():
                    without.append(_run(source, folder, pool, None))
                tape = TurnTape.new(Paths(home=base), f"{name}{number}", {})
                recorded.append(_run(source, folder, pool, tape.program(1, source)))
                tape.close()
            less, more = min(without), min(recorded)
            calls = _run_calls(source, folder, pool)
            found[name] = {
                "without_s": round(less, 3),
                "recorded_s": round(more, 3),
                "share": round((more - less) / more, 3),
                "share_by_calls": round(calls * _per_call_s() / less, 3),
                "tape_bytes": (base / "tapes" / f"{name}0").stat().st_size,
            }
    return found


def measure_lives(base: Path, scenario: str) -> dict[str, object]:
    """Every place of death; `wrong`: where the end is not the same, with what came of it."""
    wrong: list[dict[str, object]] = []
    with serve() as server:
        whole, *others = stories(base / "lives", server, scenario, 1, 1, 10_000, timeout_s=3_600)
        for story in others:
            posts = sent(server, scenario, story["at"])
            try:
                check(story, whole, posts)
            except AssertionError:
                wrong.append({**story, "sent": [name for name, _ in posts]})
    return {
        "places": len(others),
        "killed": sum(bool(story["died"]) for story in others),
        "asked_whether_sent": sum(story["status"] == "unknown" for story in others),
        "wrong": wrong,
    }


def main(arguments: list[str]) -> None:
    """Measure what is named."""
    with tempfile.TemporaryDirectory() as name:
        if arguments[:1] == ["lives"]:
            for scenario in arguments[1:] or ["files", "sends"]:
                print(json.dumps({scenario: measure_lives(Path(name), scenario)}), flush=True)
        else:
            print(json.dumps(measure_share(Path(name))))


if __name__ == "__main__":
    main(sys.argv[1:])
