"""The text of a tool's declaration: one for the type check, the prompt and `search_tools`.

Owns how a typed Python function becomes `async def name(...) -> Type: ...` with the TypedDicts that
it speaks of. Pure; any thread.
"""

from __future__ import annotations

import inspect
import textwrap
import typing
from collections.abc import Iterable
from dataclasses import dataclass

from sandbox.secrets import Secret

_LINE = 88


@dataclass(frozen=True, slots=True, kw_only=True)
class Stub:
    """A declaration. `structures`: TypedDict classes by name, in the order to declare them."""

    structures: tuple[tuple[str, str], ...]
    head: str
    function: str

    @property
    def text(self) -> str:
        """All of it, as Python."""
        return joined([self])


def joined(stubs: Iterable[Stub]) -> str:
    """Declarations as one text, each structure once."""
    stubs = list(stubs)
    structures = dict(pair for stub in stubs for pair in stub.structures)
    return "\n".join([*structures.values(), *(stub.function for stub in stubs)])


def stub_of(
    name: str,
    signature: inspect.Signature,
    doc: str,
    hints: typing.Mapping[str, object],
) -> Stub:
    """The declaration of a function. `hints`: its types, resolved, `return` among them."""
    structures: dict[str, str] = {}
    for hint in hints.values():
        _collect(hint, structures)
    head = _head(name, signature)
    quoted = textwrap.indent(f'"""{doc.strip()}"""', "    ")
    return Stub(
        structures=tuple(structures.items()), head=head, function=f"{head}\n{quoted}\n    ..."
    )


def type_text(annotation: object) -> str:
    """An annotation as it is written."""
    if isinstance(annotation, str):
        return annotation
    return inspect.formatannotation(annotation)


def _head(name: str, signature: inspect.Signature) -> str:
    parts: list[str] = []
    keyword_only = False
    for parameter in signature.parameters.values():
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            parts.append("*")
        parts.append(_parameter(parameter))
    result = type_text(signature.return_annotation)
    line = f"async def {name}({', '.join(parts)}) -> {result}:"
    if len(line) <= _LINE:
        return line
    inner = "".join(f"    {part},\n" for part in parts)
    return f"async def {name}(\n{inner}) -> {result}:"


def _parameter(parameter: inspect.Parameter) -> str:
    text = parameter.name
    if parameter.annotation is not inspect.Parameter.empty:
        text += f": {type_text(parameter.annotation)}"
    if parameter.default is inspect.Parameter.empty:
        return text
    return f"{text} = {parameter.default!r}"


def _collect(hint: object, structures: dict[str, str]) -> None:
    """Add the TypedDicts in a type, those that others are made of first, and opaque types."""
    if hint is Secret:
        structures[Secret.__name__] = "class Secret:\n    ...\n"
        return
    if typing.is_typeddict(hint):
        assert isinstance(hint, type)
        if hint.__name__ in structures:
            return
        fields = typing.get_type_hints(hint)
        for inner in fields.values():
            _collect(inner, structures)
        written = hint.__annotations__
        lines = [f"    {name}: {_written(written[name], fields[name])}\n" for name in fields]
        structures[hint.__name__] = f"class {hint.__name__}(TypedDict):\n{''.join(lines)}"
    for inner in typing.get_args(hint):
        _collect(inner, structures)


def _written(annotation: object, resolved: object) -> str:
    if isinstance(annotation, typing.ForwardRef):
        return annotation.__forward_arg__
    return type_text(annotation if isinstance(annotation, str) else resolved)
