"""The review at a real terminal: what a person types decides."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

pty = pytest.importorskip("pty", reason="there are no pseudo-terminals on this system")
ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
from pathlib import Path
for name in ("one.txt", "two.txt"):
    Path(name).write_text(name, encoding="utf-8")
"""


def decide(folder: Path, *answers: str) -> tuple[int, str]:
    """Run the program with these lines typed at the prompts; the exit code and the screen."""
    program = folder.parent / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "app", "exec", str(program), "--folder", str(folder)],
        cwd=ROOT,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
    )
    os.close(terminal)
    screen = ""
    waiting = list(answers)
    try:
        while True:
            ready, _, _ = select.select([controller], [], [], 60)
            assert ready, f"nothing came for a minute: {screen}"
            try:
                data = os.read(controller, 65536)
            except OSError:  # Linux: the other side is closed
                break
            if not data:
                break
            screen += data.decode("utf-8", "replace")
            if screen.endswith("Approve? ") and waiting:
                os.write(controller, (waiting.pop(0) + "\n").encode())
        return process.wait(timeout=30), screen
    finally:
        process.kill()
        process.wait()
        os.close(controller)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "folder"
    folder.mkdir()
    return folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_yes_applies_everything(folder: Path) -> None:
    code, screen = decide(folder, "y")
    assert code == 0
    assert "Creates 2 files. Deletes nothing. Sends nothing." in screen
    assert names(folder) == ["one.txt", "two.txt"]


def test_numbers_leave_items_out(folder: Path) -> None:
    code, screen = decide(folder, "9", "1")
    assert code == 0
    assert "not one of the choices" in screen
    assert names(folder) == ["two.txt"]


def test_no_rejects(folder: Path) -> None:
    code, screen = decide(folder, "n")
    assert code == 1
    assert "Rejected. Nothing was changed." in screen
    assert names(folder) == []


def test_an_empty_answer_decides_nothing(folder: Path) -> None:
    code, screen = decide(folder, "")
    assert code == 3
    assert "drydock runs resume" in screen
    assert names(folder) == []


def test_sigterm_ends_a_run_in_order(folder: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "app", "exec", "-", "--folder", str(folder)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stderr is not None
    process.stdin.write("while True:\n    pass\n")
    process.stdin.close()
    for line in process.stderr:
        if "runs" in line:
            break
    children = psutil.Process(process.pid).children(recursive=True)
    process.terminate()
    assert process.wait(timeout=20) == 130
    _, alive = psutil.wait_procs(children, timeout=5)
    assert alive == []
