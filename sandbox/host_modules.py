"""The standard modules that the interpreter lacks and the host supplies.

Owns which there are, their type stubs, and their functions without side effects; the ones that
touch files are in `host_shutil.py`. Thread: the runner's.
"""

from __future__ import annotations

import calendar
import difflib
import fnmatch
import html
import mimetypes
import platform
import secrets
import shlex
import statistics
import string
import struct
import textwrap
import urllib.parse
import uuid
import zlib
from collections.abc import Callable, Mapping
from typing import Any

from pydantic_monty import ExternalModule

from sandbox.host_arguments import ARGUMENT_FUNCTIONS
from sandbox.host_library import LIBRARY_FUNCTIONS, MODULE_FUNCTIONS
from sandbox.host_stubs import STUBS

_Function = Callable[..., object]

_COMPARED_CHARS = 50_000
_TEXT_CHARS = 5_000_000
_SHORT = 1_000
_UNPACKED_BYTES = 64 * 1024 * 1024


def _uuid_text(function: Callable[..., uuid.UUID]) -> _Function:
    return lambda *args, **kwargs: str(function(*args, **kwargs))


def _quantiles(data: list[Any], *, n: int = 4, method: Any = "exclusive") -> list[Any]:
    return statistics.quantiles(data, n=min(n, 100_000), method=method)


def _monthrange(year: int, month: int) -> tuple[int, int]:
    weekday, days = calendar.monthrange(year, month)
    return int(weekday), days


def _guess_type(url: object) -> tuple[str | None, str | None]:
    return mimetypes.guess_type(str(url))


def _decompress(data: bytes, wbits: int = zlib.MAX_WBITS) -> bytes:
    decompressor = zlib.decompressobj(wbits)
    found = decompressor.decompress(data, _UNPACKED_BYTES)
    if decompressor.unconsumed_tail:
        raise ValueError("the data unpacks to too much")
    return found


def _bounded(function: Callable[..., Any]) -> _Function:
    """`function` for texts of a size that it can compare in a moment: its time is quadratic."""

    def call(first: Any, second: Any, *args: Any, **kwargs: Any) -> object:
        if sum(len(part) for part in (*first, *second)) > _COMPARED_CHARS:
            raise ValueError("the texts are too long to be compared; compare smaller parts")
        return list(function(first, second, *args, **kwargs))

    return call


def _sized(function: Callable[..., Any]) -> _Function:
    """`function` for arguments whose result cannot fill the host's memory."""

    def call(text: Any, *args: Any, **kwargs: Any) -> object:
        for value in (*args, *kwargs.values()):
            if (isinstance(value, str) and len(value) > _SHORT) or (
                isinstance(value, int) and abs(value) > _COMPARED_CHARS
            ):
                raise ValueError("an argument is too large")
        if isinstance(text, str) and len(text) > _TEXT_CHARS:
            raise ValueError("the text is too long; work on smaller parts")
        return function(text, *args, **kwargs)

    return call


def _pack(layout: str | bytes, *values: Any) -> bytes:
    if struct.calcsize(layout) > _TEXT_CHARS:
        raise ValueError("the record is too large")
    return struct.pack(layout, *values)


_MODULE_FUNCTIONS: dict[str, _Function] = {
    **{
        f"statistics.{name}": getattr(statistics, name)
        for name in [
            "mean",
            "fmean",
            "geometric_mean",
            "harmonic_mean",
            "median",
            "median_low",
            "median_high",
            "mode",
            "multimode",
            "pstdev",
            "pvariance",
            "stdev",
            "variance",
            "correlation",
            "covariance",
        ]
    },
    "statistics.quantiles": _quantiles,
    "string.capwords": string.capwords,
    "textwrap.wrap": _sized(textwrap.wrap),
    "textwrap.fill": _sized(textwrap.fill),
    "textwrap.shorten": _sized(textwrap.shorten),
    "textwrap.dedent": _sized(textwrap.dedent),
    "textwrap.indent": _sized(textwrap.indent),
    "fnmatch.fnmatch": fnmatch.fnmatch,
    "fnmatch.fnmatchcase": fnmatch.fnmatchcase,
    "fnmatch.filter": fnmatch.filter,
    "fnmatch.translate": fnmatch.translate,
    "uuid.uuid4": _uuid_text(uuid.uuid4),
    "uuid.uuid1": _uuid_text(uuid.uuid1),
    "difflib.get_close_matches": _bounded(difflib.get_close_matches),
    "difflib.unified_diff": _bounded(difflib.unified_diff),
    "difflib.ndiff": _bounded(difflib.ndiff),
    "html.escape": html.escape,
    "html.unescape": html.unescape,
    "urllib.parse.quote": urllib.parse.quote,
    "urllib.parse.quote_plus": urllib.parse.quote_plus,
    "urllib.parse.unquote": urllib.parse.unquote,
    "urllib.parse.unquote_plus": urllib.parse.unquote_plus,
    "urllib.parse.urlencode": urllib.parse.urlencode,
    "urllib.parse.parse_qs": urllib.parse.parse_qs,
    "urllib.parse.urljoin": urllib.parse.urljoin,
    "struct.pack": _pack,
    "struct.unpack": struct.unpack,
    "struct.unpack_from": struct.unpack_from,
    "struct.calcsize": struct.calcsize,
    "zlib.crc32": zlib.crc32,
    "zlib.adler32": zlib.adler32,
    "zlib.compress": zlib.compress,
    "zlib.decompress": _decompress,
    "shlex.split": shlex.split,
    "shlex.quote": shlex.quote,
    "shlex.join": shlex.join,
    "mimetypes.guess_type": _guess_type,
    "mimetypes.guess_extension": mimetypes.guess_extension,
    "secrets.token_hex": _sized(secrets.token_hex),
    "secrets.token_urlsafe": _sized(secrets.token_urlsafe),
    "secrets.token_bytes": _sized(secrets.token_bytes),
    "secrets.randbelow": secrets.randbelow,
    "secrets.choice": secrets.choice,
    "platform.system": platform.system,
    "platform.machine": platform.machine,
    "platform.python_version": platform.python_version,
    "platform.platform": platform.platform,
    "platform.node": lambda: "localhost",
    "calendar.monthrange": _monthrange,
    "calendar.isleap": calendar.isleap,
    "calendar.month": _sized(calendar.TextCalendar().formatmonth),
}

PURE_FUNCTIONS: dict[str, _Function] = _MODULE_FUNCTIONS | MODULE_FUNCTIONS
"""Of modules, by dotted name."""

HELPER_FUNCTIONS: dict[str, _Function] = (
    LIBRARY_FUNCTIONS
    | ARGUMENT_FUNCTIONS
    | {
        "__dd_struct_pack": _pack,
        "__dd_struct_unpack": struct.unpack,
        "__dd_struct_size": struct.calcsize,
    }
)
"""Of the prelude, by name."""

_CONSTANTS: dict[str, dict[str, object]] = {
    "string": {
        name: getattr(string, name)
        for name in [
            "ascii_letters",
            "ascii_lowercase",
            "ascii_uppercase",
            "digits",
            "hexdigits",
            "octdigits",
            "punctuation",
            "printable",
            "whitespace",
        ]
    },
    "calendar": {
        "month_name": list(calendar.month_name),
        "month_abbr": list(calendar.month_abbr),
        "day_name": list(calendar.day_name),
        "day_abbr": list(calendar.day_abbr),
    },
}

FILE_FUNCTION_NAMES: dict[str, tuple[str, ...]] = {
    "shutil": ("copy", "copy2", "copyfile", "copytree", "move", "rmtree", "copymode", "copystat"),
    "glob": ("glob", "iglob", "escape"),
}

HOST_MODULE_NAMES = frozenset(
    {name.rpartition(".")[0] for name in PURE_FUNCTIONS}
    | FILE_FUNCTION_NAMES.keys()
    | _CONSTANTS.keys()
    | {"urllib"}
)


def _suspended(*_args: object, **_kwargs: object) -> object:
    """Stands for a function that the runner answers itself."""
    raise RuntimeError("a host function was called outside of the runner")


def external_modules() -> Mapping[str, ExternalModule]:
    """The modules of a session, each function answered by the runner."""
    attrs: dict[str, dict[str, object]] = {}
    for dotted in PURE_FUNCTIONS:
        module, _, function = dotted.rpartition(".")
        attrs.setdefault(module, dict(_CONSTANTS.get(module, {})))[function] = _suspended
    for module, functions in FILE_FUNCTION_NAMES.items():
        attrs[module] = dict.fromkeys(functions, _suspended)
    parse = ExternalModule(attrs.pop("urllib.parse"), stubs=STUBS.get("urllib.parse"))
    modules = {
        name: ExternalModule(values, stubs=STUBS.get(name)) for name, values in attrs.items()
    }
    modules["urllib"] = ExternalModule({"parse": parse})
    return modules
