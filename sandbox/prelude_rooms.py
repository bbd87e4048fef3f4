"""The parts of the prelude that only some programs need, found by the names a program uses.

Owns which part defines which name and their order. Pure; any thread.
"""

from __future__ import annotations

import re

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
    (text, frozenset(_DEFINED.findall(text)))
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


def rooms_for(program: str) -> str:
    """What is fed before a bridged program, beside the prelude; empty for most programs."""
    used = set(_NAME.findall(program))
    return "".join(text for text, defined in _ROOMS if defined & used)
