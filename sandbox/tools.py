"""What a tool is, and the set of tools that programs can call.

Owns declaration (effects, roles, cost, labels, words that ask for it), binding of arguments with
corrections that have only one reading, and finding: by name, by query, by a request. It must not
run tools: `tool_calls.py` does. Thread: any; a set does not change.
"""

from __future__ import annotations

import inspect
import itertools
import re
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import PurePath
from typing import Any, Literal, cast

from sandbox.effects import Effect, EffectKind
from sandbox.search import Hit, Index, words_of
from sandbox.secrets import Secret, name_in
from sandbox.stubs import Stub, joined, stub_of, type_text

Role = Literal["path", "url", "query", "pattern", "data", "name", "option"]
"""What an argument is for: flow rules look at who decides on paths, URLs and data that is sent."""

Label = Literal["private", "untrusted"]
Cost = Literal["instant", "files", "network"]

_NAME_CUTOFF = 0.75
_ARGUMENT_CUTOFF = 0.6
_PLANNED = re.compile(r"(?:\w+\.)*Planned\[(.*)\]")
_NAME_WEIGHT, _CUE_WEIGHT, _TEXT_WEIGHT, _ARGUMENT_WEIGHT = 3.0, 3.0, 1.0, 1.0
_LIKELY_TERMS = 2
_TOKEN_CHARS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned[T]:
    """What a call of a tool would do, before it is judged.

    `effects`: what it would cause; `do`: carries it out and gives the program's value, plain data;
    `start`: the same without waiting, for what takes time and touches neither stage nor program;
    `exact`: what would leave the machine, or the question, as the person is shown it; `choices`:
    the answers offered; `asks_person`: the value is the person's answer, `do` is not called;
    `taken`: the value of such an answer, the text itself by default; raises what the program sees;
    `more`: filled while it is done, with effects that could not be foreseen.
    """

    do: Callable[[], T]
    effects: tuple[Effect, ...] = ()
    start: Callable[[], Future[T]] | None = None
    exact: str = ""
    choices: tuple[str, ...] = ()
    asks_person: bool = False
    taken: Callable[[str], T] | None = None
    more: Sequence[Effect] = ()


class UndeclaredEffectError(Exception):
    """A tool planned an effect that it does not declare: our bug, and the end of the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A typed function that programs can call.

    `plan`: takes the run and the call's arguments and says what would happen; `signature`: as a
    program sees it; `types`: of the arguments; `kinds`: every kind of effect that it may have;
    `roles`: what arguments are for; `labels`: where its results come from; `cues`: phrases of
    a request that alone call for it, of which "a + b" needs both; `again`: makes the stage what a
    call with this result made it, for a program that is played again; `result`: its type.
    """

    name: str
    plan: Callable[..., Planned[Any]]
    signature: inspect.Signature
    doc: str
    stub: Stub
    types: Mapping[str, object]
    kinds: frozenset[EffectKind]
    roles: Mapping[str, Role]
    labels: frozenset[Label]
    cost: Cost
    cues: frozenset[str]
    again: Callable[[Any, Any], None] | None = None
    result: object = None

    def unseen(self) -> object:
        """What a call gives that was made, but whose answer was lost: empty, of the same form."""
        return _empty(self.result)

    def bound(self, args: Sequence[object], kwargs: Mapping[str, object]) -> dict[str, Any]:
        """The arguments by name, a misspelt name corrected where one parameter alone is meant.

        Raises `TypeError` with the right signature for what cannot be bound.
        """
        named = self._by_name(args, kwargs)
        for given in [name for name in named if name not in self.signature.parameters]:
            meant = self._meant(given, named)
            if meant is None:
                raise TypeError(self._refusal(f"has no argument {given!r}", given))
            named = {meant if name == given else name: value for name, value in named.items()}
        missing = [
            name
            for name, parameter in self.signature.parameters.items()
            if parameter.default is inspect.Parameter.empty and name not in named
        ]
        if missing:
            raise TypeError(self._refusal(f"needs the argument {missing[0]!r}"))
        return named

    def checked(self, named: Mapping[str, object]) -> None:
        """Raises `TypeError` for an argument that is not of its type."""
        for name, value in named.items():
            if not _fits(value, self.types[name]):
                kind = type(value).__name__
                raise TypeError(self._refusal(f"cannot take {kind} as {name!r}"))

    @property
    def is_bounded(self) -> bool:
        """Whether calls count against the program's few: those that leave this machine, or may."""
        return self.cost == "network" or "tool" in self.kinds

    def accepts(self, count: int, names: Iterable[str]) -> bool:
        """Whether `count` positional arguments and these named ones fit."""
        try:
            self.bound([None] * count, dict.fromkeys(names))
        except TypeError:
            return False
        return True

    def planned(self, run: object, args: Sequence[object], kwargs: Mapping[str, object]) -> Any:
        """What this call would do.

        Raises what a program may see for wrong arguments, and `UndeclaredEffectError`.
        """
        named = self.bound(args, kwargs)
        self.checked(named)
        planned = self.plan(run, **named)
        undeclared = {effect.kind for effect in planned.effects} - self.kinds
        if undeclared:
            raise UndeclaredEffectError(f"{self.name} planned {', '.join(sorted(undeclared))}")
        return planned

    def _by_name(self, args: Sequence[object], kwargs: Mapping[str, object]) -> dict[str, Any]:
        """Positional arguments get their names, keyword-only ones as well."""
        names = list(self.signature.parameters)
        if len(args) > len(names):
            raise TypeError(self._refusal(f"takes at most {len(names)} arguments"))
        named = dict(zip(names, args, strict=False))
        twice = named.keys() & kwargs.keys()
        if twice:
            raise TypeError(self._refusal(f"got the argument {sorted(twice)[0]!r} twice"))
        return named | dict(kwargs)

    def _meant(self, given: str, named: Mapping[str, object]) -> str | None:
        """The one parameter that `given` can stand for: the only near one, or the only needed."""
        free = [name for name in self.signature.parameters if name not in named]
        near = get_close_matches(given, free, n=2, cutoff=_ARGUMENT_CUTOFF)
        if len(near) == 1:
            return near[0]
        needed = [
            name
            for name in free
            if self.signature.parameters[name].default is inspect.Parameter.empty
        ]
        return needed[0] if not near and len(needed) == 1 else None

    def _refusal(self, what: str, given: str = "") -> str:
        near = get_close_matches(given, self.signature.parameters, n=1, cutoff=_ARGUMENT_CUTOFF)
        meant = f" Did you mean {near[0]!r}?" if near else ""
        head = " ".join(self.stub.head.split())
        return f"{self.name}() {what}.{meant} It is declared as: {head.removesuffix(':')}"


def tool(
    function: Callable[..., Any],
    *,
    kinds: Iterable[EffectKind] = (),
    roles: Mapping[str, Role] | None = None,
    labels: Iterable[Label] = (),
    cost: Cost = "instant",
    cues: Iterable[str] = (),
    name: str = "",
    again: Callable[[Any, Any], None] | None = None,
) -> Tool:
    """A tool of a typed function. `again`: see `Tool`.

    A function that returns `Planned[T]` takes the run as its first argument and says itself what it
    would do. Any other is done as it is: it counts as one effect of kind `tool` when it changes or
    sends anything, that is, when it declares a kind beside `read`.
    """
    signature = inspect.signature(function)
    result = signature.return_annotation
    hints = typing.get_type_hints(function, localns={"ToolRun": object})
    found = _PLANNED.fullmatch(type_text(result))
    given = hints.get("return")
    name = name or function.__name__.strip("_")
    declared: set[EffectKind] = set(kinds)
    if found is not None:
        parameters = list(signature.parameters.values())[1:]
        hints.pop(next(iter(signature.parameters)), None)
        signature = signature.replace(parameters=parameters, return_annotation=found.group(1))
        plan = function
    else:
        plan = _outright(name, function, asks=any(kind != "read" for kind in declared))
        declared.add("tool")
    doc = inspect.getdoc(function) or name.replace("_", " ")
    unknown = (roles or {}).keys() - signature.parameters.keys()
    if unknown:
        raise ValueError(f"{name} has no argument {sorted(unknown)[0]!r}")
    return Tool(
        name=name,
        plan=plan,
        signature=signature,
        doc=doc,
        stub=stub_of(name, signature, doc, hints),
        types={key: hints.get(key, Any) for key in signature.parameters},
        kinds=frozenset(declared),
        roles=dict(roles or {}),
        labels=frozenset(labels),
        cost=cost,
        cues=frozenset(cues),
        again=again,
        result=typing.get_args(given)[0] if found is not None else given,
    )


def _empty(hint: object) -> object:
    if typing.is_typeddict(hint):
        parts = typing.get_type_hints(hint)
        return {name: _empty(part) for name, part in parts.items()}
    origin = typing.get_origin(hint) or hint
    made = _EMPTY.get(origin)
    return None if made is None else made()


_EMPTY: dict[object, Callable[[], object]] = {
    kind: kind for kind in (str, bytes, int, float, bool, list, dict, tuple, set)
}


def _fits(value: object, hint: object) -> bool:
    """Whether a plain value is of a type, as deep as it can be told cheaply."""
    if hint is None or hint is types.NoneType:
        return value is None
    origin = typing.get_origin(hint) or hint
    inner = typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return any(_fits(value, option) for option in inner)
    if origin is Literal:
        return value in inner
    if not isinstance(origin, type) or typing.is_typeddict(origin):
        return True
    if not _is_of(value, origin):
        return False
    return all(
        _fits(item, part) for item, part in zip(_items(value), itertools.cycle(inner), strict=False)
    )


def _is_of(value: object, kind: type) -> bool:
    if kind is Secret:
        return name_in(value) is not None
    if kind is int or kind is float:
        return isinstance(value, int | kind) and not isinstance(value, bool)
    return isinstance(value, PurePath if issubclass(kind, PurePath) else kind)


def _items(value: object) -> Iterator[object]:
    """What is in a list or dict, keys and values in turn, as the arguments of its type are."""
    if isinstance(value, dict):
        for pair in cast("dict[object, object]", value).items():
            yield from pair
    elif isinstance(value, list):
        yield from cast("list[object]", value)


def _outright(name: str, function: Callable[..., Any], *, asks: bool) -> Callable[..., Any]:
    effects = (Effect(kind="tool", path=name),) if asks else ()

    def plan(_run: object, **arguments: Any) -> Planned[Any]:
        return Planned(effects=effects, do=lambda: function(**arguments))

    return plan


class ToolSet:
    """Tools by name. Names are unique; a `ValueError` says which is not."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools: dict[str, Tool] = {}
        for item in tools:
            if item.name in self._tools:
                raise ValueError(f"there are two tools named {item.name}")
            self._tools[item.name] = item
        self._order = list(self._tools.values())
        self._index = Index([_parts(item) for item in self._order])
        self._cued = _cued(self._order)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._order)

    def __len__(self) -> int:
        return len(self._order)

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def get(self, name: str) -> Tool | None:
        """The tool of that name, or None."""
        return self._tools.get(name)

    def stub(self, name: str) -> str:
        """The declaration of a tool; `KeyError` with the nearest name when there is none."""
        found = self._tools.get(name)
        if found is None:
            raise KeyError(f"there is no tool {name}. {self.hint(name)}".strip())
        return found.stub.text

    def search(self, query: str, limit: int = 5) -> list[Tool]:
        """The tools that fit a query best; an exact name comes first."""
        exact = self._tools.get(query.strip())
        found = [self._order[hit.index] for hit in self._hits(query, limit)]
        if exact is None:
            return found
        return [exact, *(item for item in found if item is not exact)][:limit]

    def likely(self, request: str, limit: int = 3) -> list[Tool]:
        """The tools that a request most likely needs; none is the usual answer.

        A tool is likely when the request has one of its cues, or its name in full, or, for a tool
        without cues, at least two of its words. A wrong one costs a small model more than a
        missing one, which is a search away.
        """
        text = f"{request}\n{_spaced(request)}"
        cued = {number for cue, number in self._cued if all(part in text for part in cue)}
        found: list[Tool] = []
        for hit in self._hits(request, max(4 * limit, 20)):
            item = self._order[hit.index]
            spoken = not item.cues and hit.terms >= _LIKELY_TERMS
            if hit.index in cued or spoken or item.name in request:
                found.append(item)
        return found[:limit]

    def declared(self, tools: Iterable[Tool], budget_tokens: int = 1_200) -> str:
        """The declarations of `tools` as one text, the first ones that fit the budget."""
        stubs: list[Stub] = []
        for item in tools:
            if len(joined([*stubs, item.stub])) > budget_tokens * _TOKEN_CHARS:
                break
            stubs.append(item.stub)
        return joined(stubs)

    def nearest(self, name: str, count: int, names: Iterable[str]) -> Tool | None:
        """The one tool that a misspelt `name` can mean in a call with these arguments.

        None when no near name, or more than one, fits.
        """
        near = get_close_matches(name, self._tools, n=3, cutoff=_NAME_CUTOFF)
        names = list(names)
        fitting = [self._tools[item] for item in near if self._tools[item].accepts(count, names)]
        return fitting[0] if len(fitting) == 1 else None

    def hint(self, name: str) -> str:
        """The nearest tool's name as a question, or nothing."""
        near = get_close_matches(name, self._tools, n=1, cutoff=_NAME_CUTOFF)
        return f"Did you mean the tool {near[0]!r}?" if near else ""

    def _hits(self, query: str, limit: int) -> list[Hit]:
        return self._index.search(query, limit)


def _parts(item: Tool) -> dict[str, float]:
    """A tool's words with their weights; equal texts are kept apart by their place."""
    return {
        item.name: _NAME_WEIGHT,
        " ".join(sorted(item.cues)): _CUE_WEIGHT,
        f"{item.doc} ": _TEXT_WEIGHT,
        f"{' '.join(item.signature.parameters)}  ": _ARGUMENT_WEIGHT,
    }


def _spaced(text: str) -> str:
    """The words of a text, each with a space on both sides."""
    return f" {' '.join(words_of(text))} "


def _cued(tools: Sequence[Tool]) -> list[tuple[tuple[str, ...], int]]:
    """The phrases of every cue, with the tool's place; one without a word is taken as it is."""
    return [
        (tuple(_spaced(p) if words_of(p) else p.strip() for p in cue.split("+")), number)
        for number, item in enumerate(tools)
        for cue in sorted(item.cues)
    ]
