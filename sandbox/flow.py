"""Which data can reach which argument of which call: the flow of one program, before it runs.

Owns the result of the analysis: for every call, by its place in the source, what goes into it and
what decides on it, as marks of other calls. What those calls yielded is known when they are done;
the turn's ledger joins the two. Sound for the dialect: where it cannot know, it assumes the flow.
Whether a program gets as far as a call is looked at where it says so (`if`, `raise`, `assert`,
leaving early); that a built-in operation fails on a value is not. Pure; any thread.

Source: the approach of flow-insensitive information flow with control dependence, as in Denning,
"A Lattice Model of Secure Information Flow" (1976); aliases as classes, as in Steensgaard (1996).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sandbox.effects import Span
from sandbox.flow_graph import Graph
from sandbox.flow_names import outline
from sandbox.flow_state import FoundVariables
from sandbox.flow_walk import Walk
from sandbox.labels import Marks, joined
from sandbox.program import Program
from sandbox.session_state import KEPT

_ROUNDS = 40

Place = tuple[int, int]
"""Where a call is in the original source: start and end in UTF-8 bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One call of a program.

    `callee`: as in `CallSite`; `where`, `what`: marks of what says where it acts and of the rest
    that goes in; `led`: of what decides on whether it happens; `number`: as a source in marks.
    """

    number: int
    span: Span
    callee: str
    where: int
    what: int
    led: int

    @property
    def given(self) -> int:
        """The mark of everything that goes in, and of what decides on the call."""
        return self.where | self.what | self.led

    def may_be(self, call: str) -> bool:
        """Whether this can be a call of the host's function `call` itself."""
        name = self.callee.removeprefix("__dd_later_").removeprefix("__dd_")
        return not name or name.startswith(".") or name in (call, f"later_{call}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """The flow of one program.

    `sites`: by place; several calls of the rewritten program may stand for one of the original;
    `shown`: the number of the source that is what the model had been shown; `marks`: arithmetic;
    `found`: for variables of earlier programs, the numbers of the sources that are what they held
    and what had decided on them; `left`: the mark of what each variable holds at the end.
    """

    sites: Mapping[Place, tuple[Site, ...]]
    shown: int
    marks: Marks
    spans: Mapping[int, Span] = field(default_factory=dict[int, Span], repr=False)
    found: Mapping[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    left: Mapping[str, int] = field(default_factory=dict[str, int], repr=False)

    def at(self, span: Span | None) -> tuple[Site, ...]:
        """The calls at a place; none where it was not analysed."""
        return () if span is None else self.sites.get((span.start, span.end), ())


def analyse(program: Program, words: Callable[[str], bool] | None = None) -> Flow:
    """The flow of a program made ready to run.

    `words`: whether a constant (its text) may hold what the model was shown; never, by default.
    """
    tree = ast.parse(program.analysed)
    graph = Graph()
    facts = outline(tree)
    walk = Walk(graph, facts, words or _nothing)
    variables = FoundVariables(walk, program.state)
    walk.module(tree)
    variables.open_world(_declared(tree))
    walk.finish()
    marks = Marks(graph.sources)
    for _ in range(_ROUNDS):
        graph.solve(marks)
        if not walk.calls.connect():
            break
    else:
        facts = None  # did not settle: everything may be everywhere
    opaque = facts is None or facts.opaque
    return _result(program, walk, marks, variables, opaque=opaque)


def _nothing(_text: str) -> bool:
    return False


def _result(
    program: Program, walk: Walk, marks: Marks, variables: FoundVariables, *, opaque: bool
) -> Flow:
    graph = walk.graph
    found: dict[Place, list[Site]] = {}
    spans: dict[int, Span] = {}
    for call in walk.sites:
        span = _span(program, call.node)
        site = Site(
            number=call.number,
            span=span,
            callee=call.callee,
            where=marks.everything if opaque else graph.mark(call.where),
            what=marks.everything if opaque else graph.mark(call.what),
            led=marks.as_influence(marks.everything if opaque else graph.mark(call.pc)),
        )
        spans[call.number] = span
        found.setdefault((span.start, span.end), []).append(site)
    return Flow(
        sites={place: tuple(sites) for place, sites in found.items()},
        shown=walk.shown_number,
        marks=marks,
        spans=spans,
        found={name: (found.held, found.led) for name, found in variables.found.items()},
        left=dict.fromkeys(variables.marks(), marks.everything) if opaque else variables.marks(),
    )


def _declared(tree: ast.Module) -> set[str]:
    """The variables of earlier programs that the front declares."""
    return {
        node.id.removeprefix(KEPT)
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and node.id.startswith(KEPT)
    }


def _span(program: Program, node: ast.expr) -> Span:
    starts = program.analysed_line_starts
    end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
    return program.analysed_span(
        starts[node.lineno - 1] + node.col_offset, starts[end_line - 1] + end_column
    )


def joined_sites(sites: tuple[Site, ...], part: str = "given") -> int:
    """One mark of several calls at one place."""
    return joined(int(getattr(site, part)) for site in sites)
