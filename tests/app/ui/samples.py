"""Records as the engine makes them, for tests, benchmarks and pictures of the window."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from app.store.records import (
    CallGroup,
    ChatRecord,
    ConflictRecord,
    Folder,
    Problem,
    ProgramRecord,
    TurnRecord,
    TurnStatus,
    Usage,
)
from app.store.trials import CAPABILITIES, TrialRecord
from sandbox.changeset import Base, Change, ChangeSet
from sandbox.errors import Fault

ROOT = "/home/ada/Downloads"
FOLDERS = (Folder(path=ROOT), Folder(path="/home/ada/Invoices", rights="read"))
MODEL = "local:qwen2.5-coder-1.5b"
NOW = datetime.now(UTC)

SOURCE = """from pathlib import Path
import shutil

# Sort everything by what it is.
KINDS = {".jpg": "Photos", ".pdf": "Documents", ".csv": "Tables"}
moved = 0
for path in sorted(Path("/home/ada/Downloads").iterdir()):
    if path.is_file() and path.suffix in KINDS:
        target = path.parent / KINDS[path.suffix]
        target.mkdir(exist_ok=True)
        shutil.move(path, target / path.name)
        moved += 1
print(f"Moved {moved} files")
"""


def changes(moves: int = 41, deletes: int = 0) -> ChangeSet:
    """`moves` files into new folders, `deletes` deleted ones, one new and one changed file."""
    names = ("Photos", "Documents", "Tables")
    found = [
        Change(id=f"d{number}", kind="mkdir", path=f"{ROOT}/{name}")
        for number, name in enumerate(names)
    ]
    found += [
        Change(
            id=f"m{number}",
            kind="move",
            path=f"{ROOT}/scan {number:04d}.pdf",
            target=f"{ROOT}/{names[number % 3]}/scan {number:04d}.pdf",
            size_before=1000 * number + 812,
            size_after=1000 * number + 812,
            depends_on=(f"d{number % 3}",),
        )
        for number in range(moves)
    ]
    found += [
        Change(
            id=f"x{number}", kind="delete", path=f"{ROOT}/copy {number}.jpg", size_before=2_400_000
        )
        for number in range(deletes)
    ]
    found.append(
        Change(
            id="n0", kind="create", path=f"{ROOT}/Tables/summary.csv", size_after=812,
            depends_on=("d2",),
        )
    )  # fmt: skip
    found.append(
        Change(id="c0", kind="modify", path=f"{ROOT}/notes.txt", size_before=1200, size_after=1312)
    )
    return ChangeSet(changes=tuple(found))


def marked_changes() -> ChangeSet:
    """Changes that deserve a second look, each for its own reason."""
    linked = Base(
        kind="file", size_bytes=812, mtime_ns=0, mode=0o100644, inode=1, device=1, links=2
    )
    return ChangeSet(
        changes=(
            Change(
                id="o0", kind="move", path=f"{ROOT}/letter.txt", target=f"{ROOT}/final.txt",
                overwrites=True, size_before=900, size_after=900,
            ),
            Change(
                id="l0", kind="move", path=f"{ROOT}/bill.pdf", target="/home/ada/Invoices/bill.pdf",
                size_before=90_000, size_after=90_000,
            ),
            Change(id="s0", kind="create", path=f"{ROOT}/start.sh", size_after=60),
            Change(id="h0", kind="create", path=f"{ROOT}/.cache", size_after=60),
            Change(
                id="k0", kind="modify", path=f"{ROOT}/shared.txt", size_before=812, size_after=900,
                base=linked,
            ),
        )
    )  # fmt: skip


def conflicts() -> tuple[ConflictRecord, ...]:
    """Conflicts of `changes`: with all choices, with one, and of what hangs on another."""
    return (
        ConflictRecord(
            change_id="c0",
            path=f"{ROOT}/notes.txt",
            reason="It was changed by something else meanwhile.",
            choices=("theirs", "ours", "both"),
        ),
        ConflictRecord(
            change_id="d2",
            path=f"{ROOT}/Tables",
            reason="Something else is there now.",
            choices=("theirs", "ours"),
        ),
        ConflictRecord(
            change_id="n0",
            path=f"{ROOT}/Tables/summary.csv",
            reason="It depends on another change that could not be made.",
            choices=("theirs",),
        ),
        ConflictRecord(
            change_id="m0",
            path=f"{ROOT}/Photos/scan 0000.pdf",
            reason="This disk does not take the name: a reserved word, a character or its length.",
            choices=("theirs",),
        ),
    )


def program(**values: Any) -> ProgramRecord:
    """A program that ran."""
    base: dict[str, Any] = {
        "program_id": "p1",
        "turn_id": "t1",
        "index": 1,
        "source": SOURCE,
        "status": "ok",
        "printed": "Moved 41 files\n",
        "wall_s": 0.12,
        "notes": ("added the missing import of shutil",),
        "calls": (
            CallGroup(kind="read", folder=True, count=1, size_bytes=0, example=ROOT),
            CallGroup(kind="read", folder=False, count=41, size_bytes=12_400, example=f"{ROOT}/a"),
            CallGroup(kind="move", folder=False, count=41, size_bytes=0, example=f"{ROOT}/a"),
        ),
    }
    return ProgramRecord(**{**base, **values})


FAULT = Fault(
    type="FileNotFoundError",
    message="No such file: /home/ada/Downloads/Fotos",
    line=9,
    hint="List the folder first; the names are in it.",
)


def turn(status: TurnStatus = "done", turn_id: str = "t1", **values: Any) -> TurnRecord:
    """A turn in a state, with what belongs to that state."""
    base: dict[str, Any] = {
        "turn_id": turn_id,
        "chat_id": "c1",
        "request": "Sort Downloads into folders by type",
        "model_id": MODEL,
        "status": status,
        "started": NOW - timedelta(minutes=2),
        "usage": Usage(input_tokens=812, output_tokens=143, model_s=6.2),
        "seconds": 6.9,
    }
    mine = {"program_id": f"{turn_id}-p1", "turn_id": turn_id}
    match status:
        case "writing":
            base["reply"] = ""
        case "running":
            base["programs"] = (program(status="running", printed="", **mine),)
        case "waiting":
            base |= {
                "programs": (program(**mine),),
                "answer": "Moved 41 files into 3 folders and wrote a summary.",
                "changes": changes(),
            }
        case "done":
            base |= {
                "programs": (program(**mine),),
                "answer": "Moved 41 files into 3 folders and wrote a summary.",
                "changes": changes(),
                "approved": tuple(change.id for change in changes().changes),
                "committed": True,
            }
        case "undone":
            base |= {
                "programs": (program(**mine),),
                "answer": "Moved 41 files into 3 folders and wrote a summary.",
                "changes": changes(),
                "approved": tuple(change.id for change in changes().changes),
            }
        case "failed":
            base |= {
                "programs": (program(status="error", fault=FAULT, printed="", **mine),),
                "problem": Problem(
                    message="The program failed three times.",
                    hint="Say which folder the photos are in, or choose a larger model.",
                    details=FAULT.brief(),
                ),
            }
        case _:
            pass
    return TurnRecord(**{**base, **values})


def chat(chat_id: str = "c1", title: str = "Sort my downloads", **values: Any) -> ChatRecord:
    """A chat."""
    base: dict[str, Any] = {
        "chat_id": chat_id,
        "title": title,
        "folders": FOLDERS,
        "model_id": MODEL,
        "created": NOW,
        "updated": NOW,
    }
    return ChatRecord(**{**base, **values})


def chats() -> list[ChatRecord]:
    """Chats of several days, newest first."""
    return [
        chat(),
        chat("c2", "Merge the CSV files of the first quarter into one", status="waiting"),
        chat("c3", "Rename photos by date", updated=NOW - timedelta(days=1)),
        chat("c4", "Find duplicate invoices", updated=NOW - timedelta(days=1)),
        chat("c5", "Clean up notes", updated=NOW - timedelta(days=4)),
        chat("c6", "Total of last year's receipts", updated=NOW - timedelta(days=70)),
    ]


def trials(models: dict[str, float], *, per_kind: int = 9, kinds: int = 9) -> list[TrialRecord]:
    """Made-up trials: each model passes about its share, less on each further kind."""
    made: list[TrialRecord] = []
    for order, (model_id, share) in enumerate(models.items()):
        for number, kind in enumerate(CAPABILITIES[:kinds]):
            passed = round(per_kind * max(0.0, share - 0.04 * number))
            made += [
                TrialRecord(
                    run_id="r1",
                    suite="everyday",
                    task=f"{kind}_{at}",
                    capability=kind,
                    difficulty="medium",
                    model_id=model_id,
                    mode="code",
                    seed=1,
                    reward=float(at < passed),
                    reason="" if at < passed else "'all.csv' is missing (1 in all)",
                    programs=1,
                    valid=1,
                    input_tokens=700 + 90 * order,
                    output_tokens=90,
                    seconds=4.0 + 7.5 * order,
                    machine="Two-core laptop, 16 GB, Linux",
                    at="2026-11-28T10:00:00+00:00",
                )
                for at in range(per_kind)
            ]
    return made
