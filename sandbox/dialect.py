"""The bridge from ordinary Python to the interpreter's dialect, in one readable order.

Owns the order of the rewrites and the result. Every rewrite keeps the program's meaning under a
condition that its room states; outside of it the program is refused with the reason. Works by text
edits at exact positions, so errors and calls still point at the original. Pure; any thread.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from sandbox.dialect_answer import keep_answer
from sandbox.dialect_calls import bridge_calls
from sandbox.dialect_classes import bridge_classes
from sandbox.dialect_containers import bridge_containers
from sandbox.dialect_context import Rewriting
from sandbox.dialect_contexts import bridge_contexts
from sandbox.dialect_decorators import bridge_decorators
from sandbox.dialect_exceptions import bridge_exceptions
from sandbox.dialect_functions import bridge_functions
from sandbox.dialect_generators import bridge_generators
from sandbox.dialect_imports import bridge_imports
from sandbox.dialect_listings import bridge_listings
from sandbox.dialect_methods import bridge_methods
from sandbox.dialect_orders import bridge_orders
from sandbox.dialect_shared import bridge_getattr
from sandbox.dialect_shows import bridge_shows
from sandbox.dialect_statements import bridge_statements
from sandbox.dialect_suffixes import bridge_suffixes
from sandbox.dialect_times import bridge_times
from sandbox.dialect_tools import bridge_tools
from sandbox.dialect_zones import bridge_zones
from sandbox.edits import OverlappingEditsError, PositionMap, apply_edits
from sandbox.errors import Fault, ProgramFaultError
from sandbox.tools import ToolSet


@dataclass(frozen=True, slots=True, kw_only=True)
class Bridged:
    """A rewritten program: `notes` are (byte offset in the input, text)."""

    text: str
    position_map: PositionMap
    notes: tuple[tuple[int, str], ...]


def bridge(text: str, tree: ast.Module, tools: ToolSet) -> Bridged:
    """Rewrite a parsed program; raises `ProgramFaultError` when it cannot be bridged."""
    rewriting = Rewriting(text, tree)
    bridge_imports(rewriting)
    bridge_shows(rewriting)
    bridge_contexts(rewriting)
    bridge_generators(rewriting)
    bridge_classes(rewriting)
    bridge_exceptions(rewriting)
    bridge_orders(rewriting)
    bridge_decorators(rewriting)
    bridge_statements(rewriting)
    bridge_containers(rewriting)
    bridge_functions(rewriting)
    bridge_suffixes(rewriting)
    bridge_zones(rewriting)
    bridge_times(rewriting)
    bridge_methods(rewriting)
    bridge_getattr(rewriting)
    bridge_listings(rewriting)
    bridge_tools(rewriting, tools)
    keep_answer(rewriting)
    bridge_calls(rewriting)
    try:
        result, position_map = apply_edits(rewriting.text, rewriting.edits)
        ast.parse(result)
    except (OverlappingEditsError, SyntaxError) as error:
        fault = Fault(
            type="NotSupportedError",
            message="the program combines constructs that cannot be translated together",
            hint="Write it in simpler steps, one construct per line.",
        )
        raise ProgramFaultError(fault) from error
    return Bridged(
        text=result.decode(),
        position_map=position_map,
        notes=tuple(rewriting.notes),
    )
