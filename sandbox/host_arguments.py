"""Takes a program's command line apart with Python's own `argparse`.

Owns the host's side of the prelude's `argparse`: types, defaults and choices stay the program's.
It must not end the process. Thread: the runner's.
"""

from __future__ import annotations

import argparse
import contextlib
import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

_Spec = Sequence[Any]


def argument_dest(spec: _Spec) -> tuple[str, str]:
    """The name under which an argument's value is kept, and how messages name it."""
    parser = argparse.ArgumentParser(add_help=False)
    action = _add(parser, spec)
    return action.dest, "/".join(action.option_strings) or str(action.metavar or action.dest)


def argument_text(prog: str, words: Mapping[str, Any], specs: Sequence[_Spec], whole: bool) -> str:
    """The help of a parser, or only its usage."""
    parser = _parser(prog, words, specs)
    return parser.format_help() if whole else parser.format_usage()


def argument_parse(
    prog: str,
    words: Mapping[str, Any],
    specs: Sequence[_Spec],
    args: Sequence[str],
    branch: Sequence[Any] | None,
) -> tuple[dict[str, Any], list[str], str, int | None, str | None]:
    """Values that were given, the rest, what was printed, the exit code, the sub-command."""
    parser = _parser(prog, words, specs)
    chosen: str | None = None
    head, tail = list(args), list[str]()
    if branch is not None:
        place = next((i for i, word in enumerate(head) if word in branch[2]), None)
        if place is not None:
            chosen, tail, head = head[place], head[place + 1 :], head[:place]
        elif branch[1]:
            shown = parser.format_usage()
            name = branch[0] or f"{{{','.join(branch[2])}}}"
            return (
                {},
                [],
                f"{shown}{prog}: error: the following arguments are required: {name}\n",
                2,
                None,
            )
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            found, rest = parser.parse_known_args(head)
    except SystemExit as error:
        return {}, [], printed.getvalue(), int(cast("int", error.code or 0)), None
    values = dict(vars(found))
    return values, [*rest, *tail], printed.getvalue(), None, chosen


def _parser(prog: str, words: Mapping[str, Any], specs: Sequence[_Spec]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=prog, **{k: v for k, v in words.items() if v})
    for spec in specs:
        _add(parser, spec)
    return parser


def _add(parser: argparse.ArgumentParser, spec: _Spec) -> argparse.Action:
    names, options, shown, kind = spec
    given: dict[str, Any] = dict(options)
    if given.get("action") == "boolean":
        given["action"] = argparse.BooleanOptionalAction
    if kind is not None and "choices" in given:
        given["metavar"] = given.get("metavar") or f"{{{','.join(map(str, given['choices']))}}}"
        del given["choices"]
    if isinstance(given.get("help"), str):
        given["help"] = (
            given["help"].replace("%(default)s", str(shown)).replace("%(type)s", str(kind))
        )
    if given.get("action") not in ("version", "help"):
        given["default"] = argparse.SUPPRESS
    if given.get("action") == "count":
        given["default"] = shown or 0
    return parser.add_argument(*names, **given)


ARGUMENT_FUNCTIONS: dict[str, Callable[..., object]] = {
    "__dd_argument_dest": argument_dest,
    "__dd_argument_text": argument_text,
    "__dd_argument_parse": argument_parse,
}
