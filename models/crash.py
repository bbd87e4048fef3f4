"""Names why the worker process ended, what that means, and which setting helps.

Pure functions over an exit status and the last lines of standard error. Thread: any.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass

from models.errors import ModelCrashedError

_WINDOWS_CAUSES = {
    0xC0000005: "SIGSEGV",
    0xC000001D: "SIGILL",
    0xC0000017: "SIGKILL",
    0xC0000409: "SIGABRT",
}
"""Windows exit statuses and the signal with the same meaning.
Source: the NTSTATUS values of the Windows protocols (MS-ERREF 2.3.1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cause:
    """What to tell the person about one way for the worker to end."""

    message: str
    hint: str
    setting: str


_MEMORY = _Cause(
    message="The model's process was killed, most likely because memory ran out",
    hint="Choose a smaller model, close other programs, or lower model.context_tokens.",
    setting="model.context_tokens",
)
_CAUSES = {
    "SIGKILL": _MEMORY,
    "SIGSEGV": _Cause(
        message="The model's process crashed (invalid memory access)",
        hint="Send the request again; if it happens again, set model.threads to 1.",
        setting="model.threads",
    ),
    "SIGBUS": _Cause(
        message="The model's process crashed (its file could not be read from the disk)",
        hint="Check that the disk works and has room, then fetch the model again.",
        setting="",
    ),
    "SIGILL": _Cause(
        message="This processor lacks an instruction that llama.cpp was built with",
        hint="Reinstall llama-cpp-python so that it is built on this machine.",
        setting="",
    ),
    "SIGABRT": _Cause(
        message="llama.cpp gave up",
        hint="Lower model.context_tokens or choose another model.",
        setting="model.context_tokens",
    ),
}
_SILENT = frozenset({"SIGKILL", "SIGSEGV", "SIGBUS", "SIGILL"})
"""Ends that come without a last word: the last line of stderr is about something else."""
_OTHER = _Cause(
    message="The model's process ended unexpectedly",
    hint="Send the request again; a fresh process is started for it.",
    setting="model.threads",
)


def crash_error(exit_status: int | None, stderr_tail: str) -> ModelCrashedError:
    """The error for a worker that ended with `exit_status` (negative: a signal, as in subprocess).

    The last line of standard error is quoted: it is llama.cpp's own and holds no prompt.
    """
    name = _cause_name(exit_status)
    cause = _CAUSES.get(name, _OTHER)
    detail = name or ("no exit status" if exit_status is None else f"exit status {exit_status}")
    said = "" if name in _SILENT else _last_words(stderr_tail)
    return ModelCrashedError(
        f"{cause.message} ({detail}).{said}", hint=cause.hint, setting=cause.setting
    )


def _last_words(stderr_tail: str) -> str:
    lines = [line.strip() for line in stderr_tail.splitlines() if line.strip()]
    return f" It said: {lines[-1][:300]}" if lines else ""


def _cause_name(exit_status: int | None) -> str:
    """The signal's name, also for Windows statuses and shells' 128+n; empty when there is none."""
    if exit_status is None:
        return ""
    if -64 < exit_status < 0 or 128 < exit_status < 160:
        number = -exit_status if exit_status < 0 else exit_status - 128
        try:
            return signal.Signals(number).name
        except ValueError:
            return ""
    return _WINDOWS_CAUSES.get(exit_status & 0xFFFFFFFF, "")
