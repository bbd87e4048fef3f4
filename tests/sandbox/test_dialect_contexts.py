"""Context managers written as generators: which are bridged, and which are refused."""

from __future__ import annotations

import pytest

from sandbox.errors import ProgramFaultError
from sandbox.program import prepare


def test_a_context_manager_that_handles_what_its_with_raises_is_bridged() -> None:
    source = """
from contextlib import contextmanager
@contextmanager
def whole(log):
    try:
        yield log
    except ValueError as error:
        log.append(str(error))
    else:
        log.append("well")
log = []
with whole(log):
    raise ValueError("odd")
"""
    program = prepare(source)
    assert "__dd_Handled" in program.repaired
    with pytest.raises(ProgramFaultError):
        prepare(source.replace("        yield log", "        log.clear()\n        yield log"))
