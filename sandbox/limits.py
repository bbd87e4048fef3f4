"""The bounds of one program. Pure data; any thread."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of one program; all are settings.

    `interpreter_s`: seconds the interpreter itself may compute (waiting on the host is free);
    `memory_bytes`: interpreter heap; `file_calls`, `tool_calls`: calls at the host;
    `printed_chars`: printed text that is kept; `read_bytes`: largest file that is read whole;
    `state_bytes`: the largest state that is kept for the next program.
    """

    interpreter_s: float = 30.0
    memory_bytes: int = 256 * 1024 * 1024
    file_calls: int = 100_000
    tool_calls: int = 100
    printed_chars: int = 1_000_000
    read_bytes: int = 64 * 1024 * 1024
    state_bytes: int = 32 * 1024 * 1024
