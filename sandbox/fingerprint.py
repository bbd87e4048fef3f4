"""Short digests of calls and their answers, by which a program that is run again is recognised.

The same call with the same answer has the same digest in every process. Pure; any thread.
"""

from __future__ import annotations

import marshal
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from hashlib import blake2b
from pathlib import PurePath
from typing import Any, cast

from pydantic_monty import MontyClassProxy, MontyFileHandle

DIGEST_BYTES = 8
# Without references: whether an object is shared must not show.
_VERSION = 2


def of_call(name: str, args: Sequence[object], kwargs: Mapping[str, object]) -> bytes:
    """What identifies a call, to be given to `digest`."""
    plain: list[Any] = [name]
    plain += [arg.as_posix() if isinstance(arg, PurePath) else arg for arg in args]
    if kwargs:
        plain.append(dict(kwargs))
    return of_value(plain)


def of_value(value: Any) -> bytes:
    """What identifies an answer, to be given to `digest`."""
    try:
        return marshal.dumps(value, _VERSION)
    except ValueError:  # something in it is of another type
        return b"p" + marshal.dumps(_plain(value), _VERSION)


def digest(call: bytes, answer: bytes = b"") -> bytes:
    """The digest of a call, or of a call with its answer."""
    return blake2b(call + answer, digest_size=DIGEST_BYTES).digest()


def _plain(value: Any) -> Any:
    """`value` in types that have one spelling."""
    if isinstance(value, bytes | str | int | float | None):
        return value
    if isinstance(value, PurePath):
        return ("path", value.as_posix())
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast("Sequence[Any]", value)]
    if isinstance(value, Mapping):
        found = cast("Mapping[Any, Any]", value)
        return ("map", [(_plain(key), _plain(inner)) for key, inner in found.items()])
    if isinstance(value, AbstractSet):
        return ("set", sorted(repr(item) for item in cast("AbstractSet[Any]", value)))
    if isinstance(value, MontyFileHandle):
        return ("file", value.path, value.mode)
    if isinstance(value, MontyClassProxy):
        return ("class", value.name, _plain(value.attributes))
    if isinstance(value, BaseException):
        return ("error", type(value).__name__, str(value))
    return (type(value).__name__, repr(value))
