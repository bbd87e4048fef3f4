"""A folder and a program that makes every kind of change in it, many in each other's way.

Shared by the tests that end a commit at some of its calls and the benchmark that does so at all.
"""

from __future__ import annotations

from sandbox.stage import Stage

SINGLES: dict[str, bytes | str | None] = {
    "a/x": "ax",
    "a/in/y": "ay",
    "b/x": "bx",
    "one": "1",
    "two": "2",
    "over": "o",
    "shut/s": "s",
}


def everything_in(many: int) -> dict[str, bytes | str | None]:
    """The files that `everything` works on; `many` of them are treated alike, in threes."""
    return {**SINGLES, **{f"many/{number:03}": f"{number}" for number in range(many)}}


def everything(stage: Stage, many: int = 0) -> None:
    """Swap, move with change, replace by another kind, close a folder, and all the rest."""
    stage.rename("one", "aside")
    stage.rename("two", "one")
    stage.rename("aside", "two")
    stage.append_bytes("two", b"+")
    stage.rename("a", "new/a")
    stage.write_bytes("new/a/x", b"edited")
    stage.rename("new/a/in/y", "over")
    stage.rmtree("b")
    stage.write_bytes("b", b"a file now")
    stage.chmod("new", 0o500)
    stage.utime("one", 77)
    stage.chmod("shut", 0o555)
    for number in range(0, many - 2, 3):
        stage.rename(f"many/{number:03}", f"sorted/{number % 2}/{number:03}")
        stage.write_bytes(f"many/{number + 1:03}", b"edited")
        stage.unlink(f"many/{number + 2:03}")
