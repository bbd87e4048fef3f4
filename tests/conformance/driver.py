"""Runs one script in CPython: its printed text on standard output, its last value in a file.

Started as ``python driver.py SCRIPT ANSWER`` in the script's folder. Folders are listed in the
order of names, as the stage lists them: the order of a disk is nobody's to compare.
"""

from __future__ import annotations

import ast
import os
import sys
from pathlib import Path

_listdir, _scandir = os.listdir, os.scandir


class _Sorted:
    def __init__(self, path: object) -> None:
        with _scandir(path) as entries:  # type: ignore[call-overload]
            self._entries = iter(sorted(entries, key=lambda entry: entry.name))

    def __iter__(self) -> _Sorted:
        return self

    def __next__(self) -> object:
        return next(self._entries)

    def __enter__(self) -> _Sorted:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def close(self) -> None:
        pass


def _is_by_product(value: ast.expr) -> bool:
    """The count that `file.write(...)` returns is no answer, here as there."""
    return (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr == "write"
    )


def main(script: str, answer: str) -> None:
    os.listdir = lambda path=".": sorted(_listdir(path))  # type: ignore[assignment]
    os.scandir = lambda path=".": _Sorted(path)  # type: ignore[assignment]
    tree = ast.parse(Path(script).read_text(encoding="utf-8"))
    last = tree.body[-1]
    sys.argv = [script]
    names: dict[str, object] = {"__name__": "__main__", "__file__": script}
    if isinstance(last, ast.Expr) and not _is_by_product(last.value):
        tree.body[-1] = ast.copy_location(
            ast.Assign(targets=[ast.Name("__answer__", ast.Store())], value=last.value), last
        )
        ast.fix_missing_locations(tree)
    exec(compile(tree, script, "exec"), names)
    value = names.get("__answer__")
    Path(answer).write_text("" if value is None else f"={value}", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
