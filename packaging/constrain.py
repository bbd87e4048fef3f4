"""Writes the versions of the whole dependency tree into `pyproject.toml`.

Run after `uv lock`: ``python packaging/constrain.py``. The lock file itself stays out of the
repository, since it names the registry it was made against; versions and markers do not.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
_EXPORT = [
    "--frozen",
    "--no-hashes",
    "--no-emit-project",
    "--all-groups",
    "--no-header",
    "--no-annotate",
]
_BEGIN = "constraint-dependencies = [\n"


def main() -> int:
    """Replace the list of constraints with what the lock file holds."""
    exported = subprocess.run(  # fixed arguments
        ["uv", "export", *_EXPORT],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    lines = sorted(line.strip() for line in exported.splitlines() if "==" in line)
    body = "".join(f"    {_quoted(line)},\n" for line in lines)
    file = _ROOT / "pyproject.toml"
    text = file.read_text(encoding="utf-8")
    pattern = re.compile(re.escape(_BEGIN) + r".*?\]\n", re.DOTALL)
    if not pattern.search(text):
        print("pyproject.toml has no constraint-dependencies", file=sys.stderr)
        return 1
    file.write_text(pattern.sub(lambda _: f"{_BEGIN}{body}]\n", text), encoding="utf-8")
    return 0


def _quoted(line: str) -> str:
    return '"' + line.replace('"', "'") + '"'


if __name__ == "__main__":
    sys.exit(main())
