"""The process that reads documents and pictures: bytes in, bounded in memory and time.

Owns its protocol with `document_process.py`: a line of JSON (`name`, `size`, and `limit_chars` for
text or `most_px` for a small picture) and the file's bytes come in, a line of JSON (`text`, or
`png` in base64 with `width` and `height`, or `problem`) goes out. Thread: its only one.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import sys
from typing import Any

from sandbox.documents import DocumentError, text_of
from sandbox.thumbnails import thumbnail_of

_MEMORY_BYTES = 2 * 1024 * 1024 * 1024


def main() -> int:
    """Answer until the input ends."""
    _bound_memory()
    # Libraries print warnings; the answers have the real standard output for themselves.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while True:
        line = sys.stdin.buffer.readline()
        if not line:
            return 0
        asked: dict[str, Any] = json.loads(line)
        data = sys.stdin.buffer.read(asked["size"])
        answers.write(json.dumps(_answer(asked, data)).encode("ascii") + b"\n")
        answers.flush()


def _answer(asked: dict[str, Any], data: bytes) -> dict[str, Any]:
    try:
        if "most_px" in asked:
            small = thumbnail_of(data, asked["most_px"])
            png = base64.b64encode(small.png).decode("ascii")
            return {"png": png, "width": small.width, "height": small.height}
        return {"text": text_of(asked["name"], data, asked["limit_chars"])}
    except ValueError as error:
        is_ours = isinstance(error, DocumentError) or "most_px" in asked
        return {"problem": str(error) if is_ours else "it cannot be read (ValueError)"}
    except (MemoryError, RecursionError):
        return {"problem": "it needs more memory than it may have"}
    except Exception as error:  # the process edge: a document can break a parser in any way
        return {"problem": f"it cannot be read ({type(error).__name__})"}


def _bound_memory() -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    sys.exit(main())
