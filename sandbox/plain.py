"""Plain values as JSON text and back, exactly: what a program was answered, kept for another day.

Owns which values can be kept: those that tools answer with, built-in errors, and effects. What
comes back is built from known types alone, whatever the text says. Pure; any thread.
"""

from __future__ import annotations

import base64
import builtins
import datetime as dt
import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import PurePath, PurePosixPath
from typing import Any, cast

from pydantic_monty import ClassInstance

from sandbox.effects import Effect, Span
from sandbox.secrets import handle, name_in

_AS_IT_IS = (str, int, float, bool, type(None))


class NotPlainError(ValueError):
    """The value cannot be kept, or the text is none of ours."""


def to_text(value: object) -> str:
    """`value` as JSON with ASCII only. Raises `NotPlainError`."""
    return json.dumps(_packed(value), ensure_ascii=True, separators=(",", ":"))


def from_text(text: str | bytes) -> Any:
    """The value again. Raises `NotPlainError` for what is not such a text."""
    try:
        return _unpacked(json.loads(text))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise NotPlainError("the text does not hold a plain value") from error


def _packed(value: Any) -> Any:
    if isinstance(value, _AS_IT_IS):
        return value if type(value) in _AS_IT_IS else _base(value)
    if isinstance(value, list):
        return [_packed(item) for item in cast("list[Any]", value)]
    for kind, (known, pack, _) in _KINDS.items():
        if isinstance(value, known):
            return {"t": kind, "v": pack(value)}
    raise NotPlainError(f"a {type(value).__name__} cannot be kept")


def _base(value: Any) -> Any:
    """A value of a subclass as the built-in one."""
    return next(kind(value) for kind in (str, int, float) if isinstance(value, kind))


def _unpacked(found: Any) -> Any:
    if isinstance(found, list):
        return [_unpacked(item) for item in cast("list[Any]", found)]
    if isinstance(found, dict):
        tagged = cast("dict[str, Any]", found)
        return _KINDS[tagged["t"]][2](tagged["v"])
    return found


def _many(values: Any) -> list[Any]:
    return [_packed(item) for item in values]


def _dict(value: Mapping[Any, Any]) -> list[Any]:
    return [[_packed(key), _packed(inner)] for key, inner in value.items()]


def _error(error: BaseException) -> list[Any]:
    """A built-in error; one of another class as the built-in class that it derives from."""
    own = type(error)
    base = next(kind for kind in own.__mro__ if getattr(builtins, kind.__name__, None) is kind)
    if isinstance(error, OSError) and error.errno is not None:
        names = [None if n is None else str(n) for n in (error.filename, error.filename2)]
        return [base.__name__, [error.errno, error.strerror, names[0], None, names[1]]]
    try:
        arguments = _many(error.args) if base is own else [str(error)]
    except NotPlainError:
        arguments = [str(error)]
    return [base.__name__, arguments]


def _error_again(found: list[Any]) -> BaseException:
    kind = getattr(builtins, str(found[0]))
    if not (isinstance(kind, type) and issubclass(kind, Exception | SystemExit)):
        raise NotPlainError("that is no error of a program")
    return kind(*(_unpacked(item) for item in found[1]))


def _secret(value: ClassInstance) -> str:
    """A secret's handle as its name; other instances of the host cannot be kept."""
    name = name_in(value.value)
    if name is None:
        raise NotPlainError("an instance cannot be kept")
    return name


def _fields(value: Effect | Span) -> dict[str, Any]:
    return {item.name: _packed(getattr(value, item.name)) for item in fields(value)}


def _built(kind: Callable[..., Any]) -> Callable[[dict[str, Any]], Any]:
    return lambda found: kind(**{name: _unpacked(inner) for name, inner in found.items()})


_KINDS: dict[str, tuple[type | tuple[type, ...], Callable[[Any], Any], Callable[[Any], Any]]] = {
    "tuple": (tuple, _many, lambda found: tuple(_unpacked(item) for item in found)),
    "dict": (dict, _dict, lambda found: {_unpacked(k): _unpacked(v) for k, v in found}),
    "bytes": (
        (bytes, bytearray),
        lambda value: base64.b64encode(value).decode("ascii"),
        lambda found: base64.b64decode(found, validate=True),
    ),
    "set": (set, _many, lambda found: {_unpacked(item) for item in found}),
    "frozenset": (frozenset, _many, lambda found: frozenset(_unpacked(item) for item in found)),
    "datetime": (dt.datetime, dt.datetime.isoformat, dt.datetime.fromisoformat),
    "date": (dt.date, dt.date.isoformat, dt.date.fromisoformat),
    "time": (dt.time, dt.time.isoformat, dt.time.fromisoformat),
    "path": (PurePath, PurePath.as_posix, PurePosixPath),
    "secret": (ClassInstance, _secret, lambda found: handle(str(found))),
    "effect": (Effect, _fields, _built(Effect)),
    "span": (Span, _fields, _built(Span)),
    "error": (BaseException, _error, _error_again),
}
