"""What programs of a chat leave for the next one: their names, and what is known of them.

Owns the state between programs as data, and the front: the text that stands before a program when
it is bridged, checked and analysed, so that helpers and variables of earlier programs are known
there. The front is never run: the session holds what it declares. It must not start a session.
Pure; any thread.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sandbox.flow_names import bound_in
from sandbox.origins import Origin

KEPT = "__dd_kept_"
FRONT, PROGRAM = "__dd_front\n", "__dd_program\n"
_Defining = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """A variable. `plain`: it holds values alone, nothing that can be called; `held`: where the
    data in it came from; `led`: what else decided on it."""

    plain: bool = False
    held: tuple[Origin, ...] = ()
    led: tuple[Origin, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A function or class. `source`: as written; `bridged`: as run, in `file` from byte `start`."""

    source: str
    bridged: str
    file: str
    start: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """The state between programs. `session`: the interpreter's dump, empty for a fresh one;
    `feeds`: texts that it was fed so far, `helpers` those of the bridge's own, `rooms` which of
    them it has; `names`: its variables; `imports`: by name, the statement that brought it."""

    session: bytes = b""
    feeds: int = 0
    helpers: tuple[int, ...] = ()
    rooms: tuple[str, ...] = ()
    names: Mapping[str, Variable] = field(default_factory=dict[str, Variable])
    definitions: Mapping[str, Definition] = field(default_factory=dict[str, Definition])
    imports: Mapping[str, str] = field(default_factory=dict[str, str])

    def with_origins(
        self, of: Callable[[str], tuple[tuple[Origin, ...], tuple[Origin, ...]]]
    ) -> SessionState:
        """The same with where its variables came from: what is in each, and what else decided."""
        names: dict[str, Variable] = {}
        for name, variable in self.names.items():
            held, led = of(name)
            names[name] = replace(variable, held=held, led=led)
        return replace(self, names=names)

    def origins(self) -> tuple[Origin, ...]:
        """Where all that is kept came from."""
        found = dict.fromkeys(one for n in self.names.values() for one in (*n.held, *n.led))
        return tuple(found)


FRESH = SessionState()


@dataclass(frozen=True, slots=True, kw_only=True)
class Front:
    """What stands before a program. `text`: with the marker that ends it; `definitions`: those in
    it, in their order."""

    text: str = ""
    definitions: tuple[Definition, ...] = ()


def front_of(state: SessionState, tree: ast.Module) -> Front:
    """The front of a program: what it can reach of what is kept; empty when it uses none."""
    if not state.session:
        return Front()
    own = _imported(tree)
    wanted = _exposed(tree, {*state.names, *state.definitions, *state.imports}) - own.keys()
    defined, variables, imports = _reached(state, wanted)
    rebound = bound_in(tree.body)
    stubs = [n for n in state.names if n in variables]
    stubs += [n for n in state.definitions if n in defined and n in rebound]
    chosen = {n: d for n, d in state.definitions.items() if n in defined and n not in rebound}
    if not (stubs or chosen or imports):
        return Front()
    lines = [f"{name} = {KEPT}{name}\n" for name in stubs]
    lines += [f"{item.source}\n" for item in chosen.values()]
    brought = dict.fromkeys(state.imports[name] for name in sorted(imports - own.keys()))
    text = "".join([FRONT, *lines, PROGRAM, *(f"{line}\n" for line in brought)])
    return Front(text=text, definitions=tuple(chosen.values()))


def _reached(state: SessionState, wanted: Iterable[str]) -> tuple[set[str], set[str], set[str]]:
    """Of the definitions, variables and imports those that the wanted ones need in turn."""
    defined: set[str] = set()
    variables: set[str] = set()
    imports: set[str] = set()
    waiting = list(wanted)
    while waiting:
        name = waiting.pop()
        if name in state.definitions:
            if name not in defined:
                defined.add(name)
                waiting += _loaded(ast.parse(state.definitions[name].source))
        elif name in state.names:
            variables.add(name)
        elif name in state.imports:
            imports.add(name)
    return defined, variables, imports


def _loaded(tree: ast.AST) -> set[str]:
    """Names that are read, or changed in place."""
    found = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and _reads(n)}
    for node in ast.walk(tree):
        match node:
            case ast.AugAssign(target=ast.Name(id=name)):
                found.add(name)
            case ast.Global(names=names):
                found.update(names)
            case _:
                pass
    return found


def _reads(node: ast.Name) -> bool:
    return not isinstance(node.ctx, ast.Store)


def _exposed(tree: ast.Module, known: set[str]) -> set[str]:
    """The known names that may be read before the program itself binds them."""
    loaded = _loaded(tree) & known
    found: set[str] = set()
    for name in loaded:
        place = next((i for i, s in enumerate(tree.body) if _binds(s, name)), None)
        if place is None or _read_before(tree.body[: place + 1], name):
            found.add(name)
    return found


def _binds(node: ast.stmt, name: str) -> bool:
    """Whether a statement certainly binds a name."""
    match node:
        case ast.FunctionDef(name=own) | ast.AsyncFunctionDef(name=own) | ast.ClassDef(name=own):
            return own == name
        case ast.Assign(targets=targets):
            return any(isinstance(t, ast.Name) and t.id == name for t in targets)
        case ast.AnnAssign(target=ast.Name(id=own), value=ast.expr()):
            return own == name
        case _:
            return False


def _read_before(body: Sequence[ast.stmt], name: str) -> bool:
    """Whether these statements, of which the last binds the name, may read it from before."""
    in_function = False
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            outside = [*node.decorator_list, *node.args.defaults]
            outside += [item for item in node.args.kw_defaults if item is not None]
            if any(name in _loaded(item) for item in outside):
                return True
            in_function = in_function or (node.name != name and name in _loaded(node))
            continue
        if name in _loaded(node):
            return True
        if in_function and any(isinstance(item, ast.Call) for item in ast.walk(node)):
            return True
    return False


def _imported(tree: ast.Module) -> dict[str, str]:
    """Names that imports bind anywhere in a program, with one statement for each."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for item in node.names:
                found[item.asname or item.name.partition(".")[0]] = ast.unparse(
                    ast.Import(names=[item])
                )
        elif isinstance(node, ast.ImportFrom) and node.module not in (None, "__future__"):
            for item in node.names:
                alone = ast.ImportFrom(module=node.module, names=[item], level=node.level)
                found[item.asname or item.name] = ast.unparse(alone)
    found.pop("*", None)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What a program's text says it leaves: `defined`: plain definitions, from byte `start` to
    `end`, with the text; `variables`: all other names; `imports`: as in `SessionState`."""

    defined: Mapping[str, tuple[int, int, str]]
    variables: frozenset[str]
    imports: Mapping[str, str]


def left_by(text: str) -> Left:
    """What a program (after the repair of its syntax) leaves when it ran to its end."""
    tree = ast.parse(text)
    data = text.encode()
    starts = [0, *(i + 1 for i, byte in enumerate(data) if byte == 0x0A)]
    bound = bound_in(tree.body)
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            bound |= set(node.names)
    counts: dict[str, int] = {}
    for name in _bindings(tree):
        counts[name] = counts.get(name, 0) + 1
    defined: dict[str, tuple[int, int, str]] = {}
    for node in tree.body:
        if isinstance(node, _Defining) and counts.get(node.name) == 1:
            first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
            start = starts[first - 1]
            end = starts[(node.end_lineno or first) - 1] + (node.end_col_offset or 0)
            defined[node.name] = (start, end, data[start:end].decode())
    names = frozenset(n for n in bound - defined.keys() if not n.startswith("__"))
    return Left(defined=defined, variables=names, imports=_imported(tree))


def _bindings(tree: ast.Module) -> Iterable[str]:
    """Every binding at the level of the module, and by `global`, one name each time."""
    for node in tree.body:
        yield from bound_in([node])
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            yield from node.names


def names_query(names: Iterable[str]) -> str:
    """A text that is fed after a program: gives which names there are, and whether each is plain.

    Plain are values that hold nothing that can be called; what nests deep counts as not plain.
    """
    lines = [_PLAIN]
    for name in sorted(names):
        lines.append(f"try:\n    {_FOUND}[{name!r}] = {_IS_PLAIN}({name}, 0)\n")
        lines.append("except NameError:\n    pass\n")
    return "".join([*lines, _FOUND])


_IS_PLAIN, _FOUND = "__dd_is_plain", "__dd_names_found"
_MOST_ITEMS = 50_000
_PLAIN = f"""
{_FOUND} = {{}}
__dd_plain_items = [0]


def {_IS_PLAIN}(value, depth):
    if value is None or isinstance(value, (str, bytes, bool, int, float, __dd_Path)):
        return True
    if isinstance(value, (__dd_datetime.date, __dd_datetime.time, __dd_datetime.timedelta)):
        return True
    if depth > 8 or not isinstance(value, (dict, list, tuple, set, frozenset)):
        return False
    __dd_plain_items[0] += len(value)
    if __dd_plain_items[0] > {_MOST_ITEMS}:
        return False
    if hasattr(value, 'default_factory'):
        if value.default_factory not in (None, list, dict, set, int, float, str, bool):
            return False
    for item in value:
        if not {_IS_PLAIN}(item, depth + 1):
            return False
    if isinstance(value, dict):
        for item in value.values():
            if not {_IS_PLAIN}(item, depth + 1):
                return False
    return True


"""
