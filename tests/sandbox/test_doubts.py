"""Signs of a misread file: each has a case that is told and one that is not."""

from __future__ import annotations

from sandbox.doubts import misread_tables, own_files_read
from sandbox.effects import Effect, EffectKind


def effect(kind: EffectKind, path: str, *, folder: bool = False) -> Effect:
    return Effect(kind=kind, path=path, folder=folder)


def test_a_table_is_misread_when_its_separator_is_nowhere_in_the_program() -> None:
    tables = {"d.csv": "\t"}
    assert list(misread_tables("csv.reader(f)", tables)) != []
    assert list(misread_tables("csv.reader(f, delimiter='\\t')", tables)) == []
    assert list(misread_tables("open('d.csv').read()".replace("csv", "tsv"), {})) == []


def test_a_new_file_that_is_listed_and_read_again_is_told_once() -> None:
    doubts = list(
        own_files_read(
            [
                effect("create", "/w/all.csv"),
                effect("read", "/w", folder=True),
                effect("read", "/w/a.csv"),
                effect("read", "/w/all.csv"),
                effect("read", "/w/all.csv"),
            ]
        )
    )
    assert len(doubts) == 1
    assert "all.csv" in doubts[0]


def test_a_new_file_that_is_read_back_by_its_name_is_no_sign() -> None:
    effects = [
        effect("read", "/w", folder=True),
        effect("create", "/w/all.csv"),
        effect("read", "/w/all.csv"),
    ]
    assert list(own_files_read(effects)) == []
