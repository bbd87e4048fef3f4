"""The microVM's image for tests: built once a machine, by the script that everybody uses."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from sandbox.workspace.errors import WorkspaceMissingError
from sandbox.workspace.image import Image, open_image
from sandbox.workspace.qemu import qemu_program

_PACKAGING = Path(__file__).resolve().parents[3] / "packaging"
_SOURCES = (_PACKAGING / "workspace_image.py", _PACKAGING / "workspace" / "agent.c")
_NEEDED = ("apt-get", "dpkg-deb", "gcc")


@cache
def workspace_image() -> Image:
    """The image of these very sources; skips where it cannot be built."""
    if qemu_program() is None:
        pytest.skip("QEMU is not installed")
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in _SOURCES)).hexdigest()[:16]
    cache_home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache_home / "drydock" / f"workspace-image-{digest}"
    try:
        return open_image(folder)
    except WorkspaceMissingError:
        pass
    missing = [name for name in _NEEDED if shutil.which(name) is None]
    if missing:
        pytest.skip(f"the image cannot be built without {missing[0]}")
    done = subprocess.run(
        [sys.executable, _SOURCES[0], folder], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return open_image(folder)
