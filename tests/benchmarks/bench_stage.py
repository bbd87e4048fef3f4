"""The stage on a large folder: walking 100,000 entries, and appending to a file of 4 GB.

Run: ``python tests/benchmarks/bench_stage.py [ENTRIES]``. Prints a JSON line: the walk's seconds
against `os.walk` in the same run (median of alternating rounds; aim: at most 2 times), the memory
that the stage holds per untouched entry afterwards and at the peak of the walk (aim: under 200
bytes), and what appending to a sparse 4 GB file takes in time and in the blob store.
"""

from __future__ import annotations

import gc
import json
import os
import statistics
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from sandbox.blobs import BlobStore  # noqa: E402
from sandbox.stage import FolderGrant, Stage  # noqa: E402

ENTRIES = 100_000
FILES_A_FOLDER = 99
ROUNDS = 5
LARGE_BYTES = 4 * 1024**3


def make(folder: Path, entries: int) -> int:
    """Folders of a hundred entries each; returns how many entries there are."""
    made = 0
    while made < entries:
        inner = folder / f"{made // 10_000:03}" / f"{made:06}"
        inner.mkdir(parents=True)
        for number in range(FILES_A_FOLDER):
            (inner / f"file-{number:03}.txt").touch()
        made += FILES_A_FOLDER + 1
    return sum(len(folders) + len(files) for _, folders, files in os.walk(folder))


def walk_disk(folder: Path) -> int:
    return sum(len(folders) + len(files) for _, folders, files in os.walk(folder))


def walk_stage(stage: Stage) -> int:
    return sum(1 for _ in stage.scan(".", max_depth=None)) - 1


def bench_walk(scratch: Path, entries: int) -> dict[str, float]:
    """Seconds and bytes of a walk over untouched entries."""
    folder = scratch / "folder"
    folder.mkdir()
    count = make(folder, entries)
    blobs = BlobStore(scratch / "blobs")
    disk_s: list[float] = []
    stage_s: list[float] = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        assert walk_disk(folder) == count
        disk_s.append(time.perf_counter() - began)
        stage = Stage([FolderGrant(path=folder)], blobs)
        began = time.perf_counter()
        assert walk_stage(stage) == count
        stage_s.append(time.perf_counter() - began)
    ratios = [ours / theirs for ours, theirs in zip(stage_s, disk_s, strict=True)]
    gc.collect()
    tracemalloc.start()
    stage = Stage([FolderGrant(path=folder)], blobs)
    before, _ = tracemalloc.get_traced_memory()
    walk_stage(stage)
    gc.collect()
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    began = time.perf_counter()
    stage.rename("000", "moved")
    rename_s = time.perf_counter() - began
    return {
        "entries": count,
        "os_walk_s": round(statistics.median(disk_s), 3),
        "stage_walk_s": round(statistics.median(stage_s), 3),
        "walk_ratio": round(statistics.median(ratios), 2),
        "walk_ratio_aim": 2,
        "held_bytes_per_entry": round((held - before) / count, 2),
        "peak_bytes_per_entry": round((peak - before) / count, 2),
        "bytes_aim": 200,
        "rename_folder_of_10000_ms": round(rename_s * 1000, 3),
    }


def bench_append(scratch: Path) -> dict[str, float]:
    """What appending to a large sparse file takes, staged and committed."""
    from sandbox.commit import commit

    folder = scratch / "large"
    folder.mkdir()
    with (folder / "large.bin").open("wb") as out:
        out.truncate(LARGE_BYTES)
    blobs = BlobStore(scratch / "large-blobs")
    stage = Stage([FolderGrant(path=folder)], blobs)
    began = time.perf_counter()
    for _ in range(1000):
        stage.append_bytes("large.bin", b"one more line\n")
    with stage.open_reader("large.bin") as stream:
        stream.seek(-28, os.SEEK_END)
        assert stream.read() == b"one more line\n" * 2
    appended_s = time.perf_counter() - began
    began = time.perf_counter()
    changes = stage.changes()
    changes_s = time.perf_counter() - began
    kept = sum(path.stat().st_size for path in blobs.folder.rglob("*") if path.is_file())
    began = time.perf_counter()
    commit(changes, blobs=blobs, undo_folder=scratch / "undo", grants=stage.grants)
    return {
        "file_bytes": LARGE_BYTES,
        "appends": 1000,
        "append_s": round(appended_s, 3),
        "change_set_s": round(changes_s, 3),
        "blob_bytes": kept,
        "commit_s": round(time.perf_counter() - began, 3),
        "disk_bytes_after": (folder / "large.bin").stat().st_blocks * 512,
    }


def main() -> None:
    entries = int(sys.argv[1]) if len(sys.argv) > 1 else ENTRIES
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name).resolve()
        print(json.dumps({"benchmark": "stage_walk"} | bench_walk(scratch, entries)))
        print(json.dumps({"benchmark": "stage_append"} | bench_append(scratch)))


if __name__ == "__main__":
    main()
