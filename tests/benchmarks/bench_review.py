"""How fast the review of a large change set is: opening it, scrolling through it, switching rows.

    python -m tests.benchmarks.bench_review [--changes 10000] [--rounds 5]

Prints a JSON object a line. `review_open`: milliseconds from the request to the first paint of a
review of so many changes, median and best (aim: under 300). `review_scroll`: the longest time in
milliseconds that one step of scrolling, with its painting, takes from the first row to the last and
back (aim: under 50), and that of switching all changes off and on. Each also as the processor time
of the window's thread, which is the same on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import time
from dataclasses import dataclass

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication

from app.ui.review_dialog import ReviewDialog
from app.ui.theme import Theme
from sandbox.changeset import Base, Change, ChangeSet, Evidence
from tests.app.ui import samples

ROOT = samples.FOLDERS[0].path


def change_set(count: int) -> ChangeSet:
    """Moves into folders that are made for them, with an edit or a removal now and then."""
    base = Base(kind="file", size_bytes=2048, mtime_ns=1, mode=0o100644, inode=1, device=1)
    evidence = (Evidence(program_id="p", line=3, call="shutil.move"),)
    folders = [f"{ROOT}/sorted/{number:03}" for number in range(100)]
    changes = [Change(id=f"mkdir:{path}", kind="mkdir", path=path) for path in folders]
    for number in range(count - len(changes)):
        path = f"{ROOT}/photo-{number:05}.jpg"
        folder = folders[number % 100]
        kind = "move" if number % 10 else "modify" if number % 20 else "delete"
        changes.append(
            Change(
                id=f"{kind}:{path}",
                kind=kind,
                path=path,
                target=f"{folder}/photo-{number:05}.jpg" if kind == "move" else None,
                size_before=2048,
                size_after=2048 + number if kind != "delete" else None,
                base=base,
                depends_on=(f"mkdir:{folder}",) if kind == "move" else (),
                evidence=evidence,
            )
        )
    return ChangeSet(changes=tuple(changes))


class _Paints(QObject):
    """When the tree was last painted, in seconds."""

    at_s = 0.0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            self.at_s = time.perf_counter()
        return False


@dataclass(frozen=True)
class Taken:
    """Milliseconds by the clock and of this thread's work."""

    wall_ms: float
    cpu_ms: float


class Watch:
    """Measures from its making on."""

    def __init__(self) -> None:
        self._began = time.perf_counter(), time.thread_time()

    def taken(self) -> Taken:
        wall_s, cpu_s = self._began
        now = time.perf_counter(), time.thread_time()
        return Taken((now[0] - wall_s) * 1000, (now[1] - cpu_s) * 1000)


def opened(app: QApplication, changes: ChangeSet) -> tuple[ReviewDialog, Taken]:
    """A review on the screen, and what it took to get there."""
    turn = samples.turn("waiting", changes=changes)
    gc.collect()
    gc.freeze()  # as the app does once its heavy imports are there
    watch = Watch()
    dialog = ReviewDialog(turn, samples.FOLDERS)
    paints = _Paints(dialog)
    dialog.tree.viewport().installEventFilter(paints)
    dialog.show()
    while not paints.at_s:
        app.processEvents()
    return dialog, watch.taken()


def steps(app: QApplication, dialog: ReviewDialog) -> list[Taken]:
    """Each step down and up again, by half a page at first and in leaps then."""
    bar = dialog.tree.verticalScrollBar()
    page = max(1, bar.pageStep() // 2)
    stops = [*range(0, min(bar.maximum(), page * 120), page)]
    stops += [bar.maximum() * part // 40 for part in (*range(41), *reversed(range(41)))]
    found: list[Taken] = []
    for stop in stops:
        watch = Watch()
        bar.setValue(stop)
        app.processEvents()
        found.append(watch.taken())
    return found


def switched(app: QApplication, dialog: ReviewDialog) -> list[Taken]:
    """Switching everything off and on again."""
    found: list[Taken] = []
    for wanted in (False, True):
        watch = Watch()
        dialog.model.choose_all(wanted)
        app.processEvents()
        found.append(watch.taken())
    return found


def main() -> None:
    """Run all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--changes", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    found = QApplication.instance() or QApplication(["bench"])
    assert isinstance(found, QApplication)
    Theme(found, "light")
    changes = change_set(options.changes)
    opened(found, change_set(200))[0].close()  # fonts and styles are there once a window is
    opens: list[Taken] = []
    longest: list[Taken] = []
    switches: list[Taken] = []
    for _ in range(options.rounds):
        dialog, taken = opened(found, changes)
        opens.append(taken)
        times = steps(found, dialog)
        longest.append(Taken(max(t.wall_ms for t in times), max(t.cpu_ms for t in times)))
        switches.extend(switched(found, dialog))
        dialog.close()
        found.processEvents()
    print(json.dumps({"benchmark": "review_open", "changes": options.changes, **row(opens, 300)}))
    print(json.dumps({"benchmark": "review_scroll_step", **row(longest, 50)}))
    print(json.dumps({"benchmark": "review_switch_all", **row(switches, 300)}))


def row(taken: list[Taken], aim_ms: int) -> dict[str, float]:
    """The figures of one line."""
    return {
        "median_ms": round(statistics.median(t.wall_ms for t in taken), 1),
        "best_ms": round(min(t.wall_ms for t in taken), 1),
        "cpu_median_ms": round(statistics.median(t.cpu_ms for t in taken), 1),
        "cpu_worst_ms": round(max(t.cpu_ms for t in taken), 1),
        "aim_ms": aim_ms,
    }


if __name__ == "__main__":
    main()
