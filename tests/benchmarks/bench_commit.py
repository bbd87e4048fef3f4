"""Commit and undo: speed against a plain loop with the same fsyncs, and every kill point for real.

Run: ``python tests/benchmarks/bench_commit.py [speed|kills]``. Prints a JSON line each: 10,000
moves and 1,000 small edits (seconds, times the plain loop, aim 3; undo against commit, aim 1), and
the kill points: a child process commits, undoes and redoes, and is ended by SIGKILL before or after
every single call that changes the disk; the next process recovers, and the folder has to be as
before or as after, with modes, times and contents (aim: 2,000 points, no failure).
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from sandbox.commit import recover  # noqa: E402
from sandbox.redo import redo  # noqa: E402
from sandbox.reversal import latest  # noqa: E402
from sandbox.stage import Stage  # noqa: E402
from sandbox.transaction import FileSystem  # noqa: E402
from sandbox.undo import undo  # noqa: E402
from tests.sandbox.everything import everything, everything_in  # noqa: E402
from tests.sandbox.faults import FaultyFileSystem  # noqa: E402
from tests.sandbox.trees import Yard, make_yard, picture  # noqa: E402

MOVES = 10_000
EDITS = 1_000
ROUNDS = 3
MANY = 150
ASPECTS = ("commit", "undo", "redo")


@dataclass
class CountingFileSystem(FileSystem):
    """Counts what is made durable."""

    fsyncs: int = field(default=0)

    def fsync(self, handle: int) -> None:
        self.fsyncs += 1
        super().fsync(handle)


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def sync_folder(path: Path, times: int = 1) -> None:
    handle = os.open(path, os.O_RDONLY)
    for _ in range(times):
        os.fsync(handle)
    os.close(handle)


def plain_moves(folder: Path, fsyncs: int) -> None:
    """The same moves as anybody would write them, and as many fsyncs."""
    (folder / "target").mkdir()
    for number in range(MOVES):
        (folder / f"{number:05}.txt").rename(folder / "target" / f"{number:05}.txt")
    for number in range(fsyncs):
        sync_folder(folder if number % 2 else folder / "target")


def plain_edits(folder: Path, fsyncs: int) -> None:
    """Write aside, make durable, replace: the careful way to edit one file, a thousand times."""
    for number in range(EDITS):
        path = folder / f"{number:05}.txt"
        aside = path.with_suffix(".part")
        with aside.open("wb") as out:
            out.write(b"edited %d\n" % number)
            out.flush()
            os.fsync(out.fileno())
        aside.replace(path)
    sync_folder(folder, max(1, fsyncs - EDITS))


def stage_moves(stage: Stage) -> None:
    for number in range(MOVES):
        stage.rename(f"{number:05}.txt", f"target/{number:05}.txt")


def stage_edits(stage: Stage) -> None:
    for number in range(EDITS):
        stage.write_bytes(f"{number:05}.txt", b"edited %d\n" % number)


def bench_speed(
    scratch: Path,
    name: str,
    count: int,
    program: Callable[[Stage], None],
    plain: Callable[[Path, int], None],
) -> dict[str, object]:
    """Medians of alternating rounds, each on fresh folders."""
    commit_s: list[float] = []
    undo_s: list[float] = []
    plain_s: list[float] = []
    counting = CountingFileSystem()
    files: dict[str, bytes | str | None] = {f"{n:05}.txt": f"file {n}\n" for n in range(count)}
    for round_ in range(ROUNDS):
        yard = make_yard(scratch / f"{name}{round_}", files)
        program(yard.stage)
        changes = yard.stage.changes()
        yard.blobs.seal(change.blob for change in changes.changes if change.blob is not None)
        os.sync()
        counting = CountingFileSystem()
        fs = counting
        commit_s.append(timed(lambda y=yard, c=changes, fs=fs: y.commit(c, fs=fs)))
        os.sync()
        undo_s.append(timed(lambda y=yard: undo(y.undo_folder)))
        other = make_yard(scratch / f"{name}{round_}-plain", files).folder
        os.sync()
        plain_s.append(timed(lambda o=other, fs=fs: plain(o, fs.fsyncs)))
    return {
        "changes": count,
        "fsyncs": counting.fsyncs,
        "plain_s": round(statistics.median(plain_s), 3),
        "commit_s": round(statistics.median(commit_s), 3),
        "undo_s": round(statistics.median(undo_s), 3),
        "commit_ratio": ratio(commit_s, plain_s),
        "commit_ratio_aim": 3,
        "undo_to_commit": ratio(undo_s, commit_s),
        "undo_to_commit_aim": 1,
    }


def ratio(ours: list[float], theirs: list[float]) -> float:
    pairs = (a / b for a, b in zip(ours, theirs, strict=True))
    return round(statistics.median(pairs), 2)


@dataclass
class DeadlyFileSystem(FaultyFileSystem):
    """Ends its own process by SIGKILL, before or after call number `at`."""

    def _call(self, name: str, real: Callable[[], object]) -> object:
        number = len(self.calls)
        self.calls.append(name)
        if number != self.at:
            return real()
        if self.after:
            real()
        os.kill(os.getpid(), signal.SIGKILL)
        return None


def act(yard: Yard, aspect: str, fs: FileSystem) -> None:
    match aspect:
        case "commit":
            yard.commit(fs=fs)
        case "undo":
            undo(yard.undo_folder, fs=fs)
        case _:
            redo(yard.undo_folder, grants=yard.stage.grants, fs=fs)


def ready(home: Path, aspect: str) -> Yard:
    """A yard in the state in which `aspect` is next."""
    yard = make_yard(home, everything_in(MANY))
    everything(yard.stage, MANY)
    for step in ASPECTS[: ASPECTS.index(aspect)]:
        act(yard, step, FileSystem())
    return yard


def shape(folder: Path) -> dict[str, tuple[int, bytes | str | None]]:
    return {name: (mode, content) for name, (mode, _, content) in picture(folder).items()}


def killed(yard: Yard, aspect: str, at: int, after: bool) -> None:
    """A child process does it and is killed at that call."""
    pid = os.fork()
    if pid == 0:
        act(yard, aspect, DeadlyFileSystem(at=at, after=after))
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    if not os.WIFSIGNALED(status) or os.WTERMSIG(status) != signal.SIGKILL:
        raise SystemExit(f"{aspect} was not killed at call {at}")


def bench_kills(scratch: Path) -> dict[str, object]:
    """Every call of commit, undo and redo, before and after it takes effect."""
    points = 0
    failures: list[str] = []
    for aspect in ASPECTS:
        yard = ready(scratch / f"count-{aspect}", aspect)
        before = shape(yard.folder)
        counting = FaultyFileSystem()
        act(yard, aspect, counting)
        done = shape(yard.folder)
        for at in range(len(counting.calls)):
            for after in (False, True):
                home = scratch / f"{aspect}-{at}-{after}"
                yard = ready(home, aspect)
                exact = picture(yard.folder)
                killed(yard, aspect, at, after)
                recover(yard.undo_folder)
                now = shape(yard.folder)
                is_before = now == before and picture(yard.folder) == exact
                state = latest(yard.undo_folder)
                is_applied = state is not None and not state.is_undo
                agrees = is_applied == ((aspect != "undo") != is_before)
                if not (is_before or now == done) or not agrees:
                    failures.append(f"{aspect} at {at} after={after}")
                points += 1
                for path in home.rglob("*"):
                    if path.is_dir() and not path.is_symlink():
                        path.chmod(0o700)
                shutil.rmtree(home)
    return {"kill_points": points, "aim": 2000, "failures": len(failures), "first": failures[:5]}


def main() -> None:
    what = sys.argv[1] if len(sys.argv) > 1 else "all"
    if what in ("all", "speed"):
        with tempfile.TemporaryDirectory() as name:
            scratch = Path(name).resolve()
            moves = bench_speed(scratch, "moves", MOVES, stage_moves, plain_moves)
            print(json.dumps({"benchmark": "commit_moves"} | moves))
            edits = bench_speed(scratch, "edits", EDITS, stage_edits, plain_edits)
            print(json.dumps({"benchmark": "commit_edits"} | edits))
    if what in ("all", "kills"):
        memory = Path("/dev/shm")  # a killed process leaves the same there, only sooner
        with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name:
            kills = bench_kills(Path(name).resolve())
        print(json.dumps({"benchmark": "commit_kills"} | kills))
        if kills["failures"]:
            raise SystemExit(1)


if __name__ == "__main__":
    main()
