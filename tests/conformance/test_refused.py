"""Scripts that are refused before they run, each with what to write instead."""

from __future__ import annotations

import pytest

from sandbox.errors import ProgramFaultError
from sandbox.program import prepare
from tests.conformance.comparing import HERE, load

SCRIPTS = load(HERE / "refused")


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_that_cannot_be_the_same_here_is_refused_with_a_next_step(name: str) -> None:
    with pytest.raises(ProgramFaultError) as caught:
        prepare(SCRIPTS[name])
    assert caught.value.fault.hint
    assert caught.value.fault.line
