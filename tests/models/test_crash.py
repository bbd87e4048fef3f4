"""How an exit status becomes a cause, a hint and a setting."""

from __future__ import annotations

import pytest

from models.crash import crash_error


@pytest.mark.parametrize(
    ("status", "named"),
    [
        (-9, "SIGKILL"),
        (-11, "SIGSEGV"),
        (-4, "SIGILL"),
        (137, "SIGKILL"),
        (139, "SIGSEGV"),
        (0xC0000005, "SIGSEGV"),
        (-1073741795, "SIGILL"),
        (3, "exit status 3"),
        (None, "no exit status"),
    ],
)
def test_the_status_is_named(status, named):
    error = crash_error(status, "")
    assert named in error.message
    assert error.hint


def test_the_last_line_of_stderr_is_quoted_where_the_process_had_the_time_to_speak():
    assert "GGML_ASSERT failed" in crash_error(-6, "noise\nGGML_ASSERT failed\n\n").message


def test_unrelated_noise_is_not_quoted_for_a_kill():
    assert "noise" not in crash_error(-9, "noise\n").message


def test_memory_is_named_as_the_likely_cause_of_a_kill():
    error = crash_error(-9, "")
    assert "memory" in error.message
    assert error.setting == "model.context_tokens"
