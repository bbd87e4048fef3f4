"""Signs that a program misread what it worked on, though no call failed.

Owns two that are common and nearly certain. Whether a doubtful program is tried again is the
turn's decision; a program that a person gave is never doubted. Pure; any thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sandbox.effects import Effect


def misread_tables(source: str, separators: Mapping[str, str]) -> Iterator[str]:
    """Tables without commas that were read as if they had commas.

    `separators`: by name, of the tables that `source` read and that have no comma in their header.
    """
    if "csv" not in source:
        return
    for name, mark in separators.items():
        if mark not in source and repr(mark)[1:-1] not in source:
            yield f"{name} is separated by {mark!r}: read it with delimiter={mark!r}."


def own_files_read(effects: Sequence[Effect]) -> Iterator[str]:
    """Files that the program made, then found in a listing and read as if they had been given."""
    made: set[str] = set()
    listed: set[str] = set()
    told: set[str] = set()
    for effect in effects:
        if effect.folder:
            if effect.kind == "read":
                listed |= made
        elif effect.kind == "create":
            made.add(effect.path)
        elif effect.kind == "read" and effect.path in listed - told:
            told.add(effect.path)
            name = effect.path.rpartition("/")[2]
            yield (
                f"The program read its own new file {name} as one of the given files: "
                "make the list of files before you open it, or leave it out."
            )
