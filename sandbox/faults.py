"""Turns the interpreter's errors into faults a model can act on: what, which line, what to do.

Owns lines and the messages of limits; hints that need the stage are in `hints.py`.
Thread: the runner's.
"""

from __future__ import annotations

import re

from pydantic_monty import MontyError, MontyRuntimeError, MontySyntaxError

from sandbox.errors import Fault
from sandbox.hints import Hints
from sandbox.limits import Limits
from sandbox.program import Program

_INTERNAL_NAME = re.compile(r"pydantic_monty[\w.]*\.(\w+)")
# Between the name of an exception of the program's own and its text.
CARRIED = "\x1f"
_UNSUPPORTED = "does not yet support "
_UNSUPPORTED_HINTS = {
    "decorator": "Write plain methods and functions without that decorator.",
    "inheritance": "Write one class without a base, or plain functions and dicts.",
    "yield": "Collect the values in a list and return the list.",
    "exception group": "Use a plain except.",
    "type": "Leave the type statement out.",
}


def fault_of(error: MontyError, program: Program, file: str, limits: Limits, hints: Hints) -> Fault:
    """The fault of a program, run from `file`, that ended with `error`."""
    name, message = _name_and_message(error)
    line = _line(error, program, file)
    if name == "TimeoutError" and "limit exceeded" in message:
        return Fault(
            type="TimeLimitError",
            message=f"the program computed for more than {limits.interpreter_s:g} seconds",
            line=line,
            hint="Look for a loop that never ends, or do less work.",
        )
    if name == "MemoryError":
        mebibytes = limits.memory_bytes // (1024 * 1024)
        return Fault(
            type="MemoryError",
            message=f"the program needs more than {mebibytes} MiB of memory",
            line=line,
            hint="Work on one file or one line at a time instead of keeping everything.",
        )
    if _UNSUPPORTED in message:
        return _unsupported(message, line)
    return Fault(type=name, message=message, line=line, hint=hints.hint(name, message))


def _unsupported(message: str, line: int | None) -> Fault:
    what = message.partition(_UNSUPPORTED)[2]
    hint = next((h for word, h in _UNSUPPORTED_HINTS.items() if word in what), "")
    return Fault(
        type="NotSupportedError",
        message=f"{what} is not supported here",
        line=line,
        hint=hint or "Write it in a simpler way.",
    )


def _name_and_message(error: MontyError) -> tuple[str, str]:
    if not isinstance(error, MontyRuntimeError | MontySyntaxError):
        return type(error.exception()).__name__, str(error)
    message = error.display("msg")
    name = error.display("type-msg").removesuffix(message).rstrip(": ").rpartition(".")[2]
    own, carried, text = message.partition(CARRIED)
    if carried:  # an exception of the program's own
        return own, text
    return name or "Error", _INTERNAL_NAME.sub(r"\1", message).strip()


def _line(error: MontyError, program: Program, file: str) -> int | None:
    """The innermost line of the program itself, in the original source."""
    if not isinstance(error, MontyRuntimeError | MontySyntaxError):
        return None
    for frame in reversed(error.traceback()):
        if frame.filename == file:
            return program.original_line(frame.line, frame.column)
    return None
