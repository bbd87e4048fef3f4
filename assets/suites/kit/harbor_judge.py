"""The same verdict inside a Harbor container, where `tests/test.sh` calls it.

Harbor puts the task's `tests/` at ``/tests``, the agent works in ``/app``, and the reward is one
number in ``/logs/verifier/reward.txt``. There a run has no answer of its own, so the instruction
asks for it in ``/app/answer.txt``; that file is taken away before the folder is judged.
TASK_FOLDER, TASK_SEED and REWARD_FILE change the places.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from task_scripts import judge


def main() -> int:
    """Judge, and write the reward."""
    task = Path(__file__).resolve().parents[2]
    folder = Path(os.environ.get("TASK_FOLDER", "/app"))
    reward_file = Path(os.environ.get("REWARD_FILE", "/logs/verifier/reward.txt"))
    answer_file = folder / "answer.txt"
    answer = ""
    if answer_file.is_file():
        answer = answer_file.read_text(encoding="utf-8", errors="replace")
        answer_file.unlink()
    result = {"answer": answer, "effects": [], "status": "done"}
    reason = judge(task, folder, int(os.environ.get("TASK_SEED", "0")), result)
    reward_file.parent.mkdir(parents=True, exist_ok=True)
    reward_file.write_text("0" if reason else "1", encoding="utf-8")
    if reason:
        print(reason)
    return 0


if __name__ == "__main__":
    sys.exit(main())
