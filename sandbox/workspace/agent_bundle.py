"""The agent as one file that any Python runs: what is carried into a workspace.

Owns the bundle's form, a zip with its modules under their own names. Thread: any.
"""

from __future__ import annotations

import io
import zipfile
from functools import cache
from pathlib import Path

_MODULES = ("agent.py", "agent_files.py", "agent_groups.py")
_MAIN = "from sandbox.workspace.agent import main\nmain()\n"


@cache
def agent_bundle() -> bytes:
    """The bytes of the bundle, the same for the same modules."""
    here = Path(__file__).parent
    texts = {f"sandbox/workspace/{name}": (here / name).read_text("utf-8") for name in _MODULES}
    texts |= {"sandbox/__init__.py": "", "sandbox/workspace/__init__.py": "", "__main__.py": _MAIN}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, text in sorted(texts.items()):
            bundle.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), text)
    return out.getvalue()
