"""Hints for faults: the nearest file, name, column or attribute, and what to use instead.

Owns the words that help a model to repair its program. Reads the stage, changes nothing.
Thread: the runner's.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from pathlib import Path

from sandbox.dialect_imports import NATIVE_MODULES, SUPPLIED_MODULES
from sandbox.dialect_refusals import REFUSED_MODULES
from sandbox.host_files import HostPaths
from sandbox.host_modules import HOST_MODULE_NAMES
from sandbox.names import real, shown

_SHOWN_NAMES = 12
_LISTED_NAMES = 2_000
_QUOTED = re.compile(r"'([^']+)'")
_TYPES: dict[str, type] = {
    "str": str,
    "list": list,
    "dict": dict,
    "set": set,
    "tuple": tuple,
    "bytes": bytes,
    "int": int,
    "float": float,
    "PosixPath": Path,
}


class Hints:
    """Finds a hint for an error of a program that ran on `paths`."""

    def __init__(
        self, paths: HostPaths, source: str, tool_hint: Callable[[str], str] = lambda _: ""
    ) -> None:
        """`tool_hint`: the tool that a name which is not defined may mean, or nothing."""
        self._paths = paths
        self._source = source
        self._tool_hint = tool_hint

    def hint(self, name: str, message: str) -> str:
        """One or two sentences, or empty."""
        match name:
            case "FileNotFoundError":
                return self._missing_file(message)
            case "KeyError":
                return self._missing_key(message)
            case "NameError" | "UnboundLocalError":
                return self._missing_name(message)
            case "AttributeError":
                return _missing_attribute(message)
            case "ModuleNotFoundError" | "ImportError":
                return _missing_module(message)
            case "IndexError" if "assignment" in message:
                return "The places of a list begin at 0: use list[i - 1] where you count from 1."
            case "IndexError" if "startswith(" in self._source or "re.match(" in self._source:
                return _NOT_AT_START
            case _:
                return _by_message(name, message)

    def _missing_file(self, message: str) -> str:
        found = _QUOTED.findall(message)
        if not found:
            return ""
        folder, _, wanted = real(found[-1] if "->" not in message else found[0]).rpartition("/")
        if not folder.startswith("/"):
            folder = f"{self._paths.cwd}/{folder}".rstrip("/")
        try:
            names = [shown(name) for name in self._paths.stage.listdir(folder)[:_LISTED_NAMES]]
        except OSError:
            return f"The folder {shown(folder)} does not exist; look at the folder listing."
        meant = _did_you_mean(shown(wanted), names)
        new = (
            "" if meant else f"If {shown(wanted)} is to be made, do not read it: open it with 'w'."
        )
        return " ".join((meant, _contents(names), new)).strip()

    def _missing_key(self, message: str) -> str:
        header = self._paths.csv_header
        key = message.strip("'\"")
        if header is None:
            return ""
        file, mark, columns = header
        meant = "" if key in columns else _did_you_mean(key, columns)
        listed = ", ".join(repr(column) for column in columns[:30])
        return f"{meant} The columns of {file}, separated by {mark!r}, are: {listed}.".strip()

    def _missing_name(self, message: str) -> str:
        found = _QUOTED.search(message)
        if found is None:
            return ""
        known = {*re.findall(r"\b[A-Za-z_]\w*\b", self._source), *dir(builtins)}
        known.discard(found.group(1))
        meant = self._tool_hint(found.group(1)) or _did_you_mean(found.group(1), sorted(known))
        return meant or "Define it before using it."


_NOT_AT_START = (
    "Nothing was found, because startswith and re.match only look at the beginning of a text: "
    "use `in` or re.search."
)
_NOTHING_THERE = (
    "Nothing was found there: compare the condition with the first lines in the listing, and skip "
    "what is too short."
)
_NO_NUMBER = (
    "The text holds more than a number: take the number out first, as in "
    "re.search(r'-?[0-9]+(?:[.][0-9]+)?', text).group()."
)
_MESSAGES: tuple[tuple[str, re.Pattern[str], str], ...] = (
    ("ValueError", re.compile("is empty|empty sequence"), _NOTHING_THERE),
    ("ValueError", re.compile(r"string to float|for int\(\)"), _NO_NUMBER),
    (
        "TypeError",
        re.compile("'(float|int)'.*datetime|datetime.*'(float|int)'"),
        "Make a date of the file's time: datetime.fromtimestamp(path.stat().st_mtime).",
    ),
    (
        "TypeError",
        re.compile("'module' object is not callable"),
        "A module cannot be called: name the function in it, as in datetime.datetime(2020, 1, 31) "
        "after import datetime.",
    ),
    (
        "OSError",
        re.compile("not (writable|readable)"),
        "Two open files have the same name, or the mode is wrong: give each open file a name of "
        "its own, and open a file with 'w' to write it.",
    ),
    (
        "ValueError",
        re.compile("fields not in fieldnames"),
        "Give DictWriter all keys of the rows as fieldnames: collect the rows in a list first, "
        "then fieldnames=list(rows[0]); a key of None means that the rows were read with the "
        "wrong delimiter.",
    ),
    (
        "ValueError",
        re.compile("Unknown format code"),
        "A text cannot be formatted as a number: make it one first, as in int(text) or "
        "float(text).",
    ),
    (
        "TypeError",
        re.compile("'fieldnames'"),
        "csv.writer has no fieldnames: write the header with writer.writerow(columns), or use "
        "csv.DictWriter for rows that are dicts.",
    ),
)
_FIXED = {
    "UnicodeDecodeError": "The file is not UTF-8 text; try open(path, encoding='latin-1') or "
    "'utf-8-sig', or open(path, 'rb') for a binary file.",
    "IndexError": _NOTHING_THERE,
    "RecursionError": "The function calls itself without end; use a loop.",
    "IsADirectoryError": "That is a folder; skip it with path.is_file().",
    "NotADirectoryError": "That is a file, not a folder; check with path.is_dir(). "
    "A file is deleted with path.unlink().",
    "FileExistsError": "It exists already; use exist_ok=True or another name.",
    "JSONDecodeError": "The text is not valid JSON; look at what is in the file first.",
    "ZeroDivisionError": "Check that there is something to divide by.",
}


def _by_message(name: str, message: str) -> str:
    """What is known of an error by its words, else by its kind alone."""
    for kind, pattern, text in _MESSAGES:
        if kind == name and pattern.search(message):
            return text
    return _FIXED.get(name, "")


def _did_you_mean(wanted: str, names: Iterable[str]) -> str:
    names = list(names)
    by_case = [name for name in names if name.casefold() == wanted.casefold()]
    close = by_case or get_close_matches(wanted, names, n=1, cutoff=0.6)
    return f"Did you mean {close[0]!r}?" if close else ""


def _contents(names: list[str]) -> str:
    if not names:
        return "The folder is empty."
    more = f" and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else ""
    return f"The folder contains: {', '.join(names[:_SHOWN_NAMES])}{more}."


def _missing_attribute(message: str) -> str:
    found = _QUOTED.findall(message)
    if len(found) < 2:
        return ""
    kind, attribute = found[0], found[-1]
    if attribute == "writeheader":
        return "Only csv.DictWriter has writeheader; use writer.writerow(columns)."
    if attribute in ("timestamp", "strftime", "year", "month", "day", "isoformat"):
        return "A date is datetime(2020, 1, 31), or datetime.fromtimestamp(path.stat().st_mtime)."
    if kind.endswith("Path") and attribute in (
        "write",
        "writelines",
        "read",
        "readlines",
        "append",
    ):
        return (
            "A Path is no open file: open(path, 'a') and then f.write(text) adds to it, "
            "path.write_text(text) replaces it, path.read_text().splitlines() gives its lines."
        )
    if attribute == "most_common":
        return "Only collections.Counter has most_common: use Counter() and counts[key] += 1."
    if kind in _TYPES:
        names = [name for name in dir(_TYPES[kind]) if not name.startswith("_")]
        return _did_you_mean(attribute, names)
    if message.startswith("module"):
        return f"{kind}.{attribute} is not available here; use another function."
    return ""


def _missing_module(message: str) -> str:
    found = _QUOTED.findall(message)
    if found and found[0] in REFUSED_MODULES:
        return REFUSED_MODULES[found[0]]
    if message.startswith("cannot import name"):
        return "That name is not available here; write it yourself or use another."
    known = sorted(NATIVE_MODULES | HOST_MODULE_NAMES | SUPPLIED_MODULES)
    return f"Available modules: {', '.join(known)}."
