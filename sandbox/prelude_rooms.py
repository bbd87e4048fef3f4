"""The parts of the prelude that only some programs need, found by the names a program uses.

Owns which part defines which name and their order. Pure; any thread.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection

from sandbox.prelude import PRELUDE
from sandbox.prelude_archives import ARCHIVES_PRELUDE
from sandbox.prelude_arguments import ARGUMENTS_PRELUDE
from sandbox.prelude_bases import BASES_PRELUDE
from sandbox.prelude_formats import FORMATS_PRELUDE
from sandbox.prelude_holders import HOLDERS_PRELUDE
from sandbox.prelude_library import LIBRARY_PRELUDE
from sandbox.prelude_logging import LOGGING_PRELUDE
from sandbox.prelude_texts import TEXTS_PRELUDE
from sandbox.prelude_xml import XML_PRELUDE
from sandbox.prelude_zones import ZONES_PRELUDE

ROOM_MODULES = frozenset(
    [
        "zipfile",
        "tarfile",
        "gzip",
        "tempfile",
        "xml.etree.ElementTree",
        "configparser",
        "email",
        "email.policy",
        "email.parser",
        "email.utils",
        "sqlite3",
        "fractions",
        "argparse",
        "logging",
        "html.parser",
        "concurrent.futures",
        "email.message",
        "codecs",
        "zoneinfo",
        "traceback",
        "filecmp",
        "queue",
    ]
)
_NAME = re.compile(r"__dd_\w+")
_DEFINED = re.compile(r"^(?:def |class )?(__dd_\w+)", re.MULTILINE)
_ROOMS = tuple(
    (_DEFINED.findall(text)[0], text, frozenset(_DEFINED.findall(text)))
    for text in (
        ARCHIVES_PRELUDE,
        XML_PRELUDE,
        TEXTS_PRELUDE,
        FORMATS_PRELUDE,
        ARGUMENTS_PRELUDE,
        LOGGING_PRELUDE,
        BASES_PRELUDE,
        LIBRARY_PRELUDE,
        ZONES_PRELUDE,
        HOLDERS_PRELUDE,
    )
)


def rooms_for(program: str, had: Collection[str] = ()) -> tuple[str, tuple[str, ...]]:
    """What is fed before a bridged program, beside the prelude, and the names of these parts.

    `had`: the parts that the session has from earlier programs. Empty for most programs.
    """
    used = set(_NAME.findall(program))
    found = [(name, text) for name, text, defined in _ROOMS if defined & used and name not in had]
    return "".join(text for _, text in found), tuple(name for name, _ in found)


def library_mark() -> str:
    """A mark of all that sessions are fed by the bridge: another one, another library."""
    text = "\0".join([PRELUDE, *(text for _, text, _ in _ROOMS)])
    return hashlib.sha256(text.encode()).hexdigest()[:16]
