"""The words for sizes, times, calls and changes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from app.store.records import CallGroup, Folder, Usage
from app.ui import words
from sandbox.changeset import Change
from tests.app.ui import samples

NOW = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [
        (None, "unknown"),
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (12_400, "12 kB"),
        (999_499, "999 kB"),
        (999_600, "1.0 MB"),
        (1_117_320_768, "1.1 GB"),
        (5_000_000_000_000, "5,000 GB"),
    ],
)
def test_sizes_have_units(size_bytes: int | None, text: str) -> None:
    assert words.size(size_bytes) == text


@pytest.mark.parametrize(
    ("value_s", "text"), [(0.12, "0.1 s"), (12.4, "12 s"), (59.7, "1 min 0 s"), (125, "2 min 5 s")]
)
def test_durations_have_units(value_s: float, text: str) -> None:
    assert words.seconds(value_s) == text


@pytest.mark.parametrize(
    ("passed", "text"),
    [
        (timedelta(seconds=20), "just now"),
        (timedelta(minutes=2, seconds=10), "2 min ago"),
        (timedelta(hours=3), "3 h ago"),
    ],
)
def test_times_are_said_from_now(passed: timedelta, text: str) -> None:
    assert words.ago(NOW - passed, NOW) == text


def test_an_old_time_is_a_date() -> None:
    assert words.ago(NOW - timedelta(days=3), NOW).startswith("2026-03-0")


def test_the_sentence_says_what_happens_and_what_does_not() -> None:
    assert words.sentence(samples.changes(41).changes, samples.FOLDERS) == (
        "Moves 41 items in Downloads into 3 new folders. Creates 1 file. Changes 1 file. "
        "Deletes nothing. Sends nothing."
    )


def test_the_sentence_counts_deleted_files_and_folders() -> None:
    found = [
        Change(id="1", kind="delete", path="/a/x"),
        Change(id="2", kind="rmdir", path="/a/y"),
        Change(id="3", kind="rmdir", path="/a/z"),
    ]
    assert words.sentence(found, ()) == "Deletes 1 file and 2 folders. Sends nothing."


def test_no_change_is_said_so() -> None:
    assert words.sentence((), ()) == "Changes nothing."


@pytest.mark.parametrize(
    ("days", "mib", "text"),
    [
        (30, 10_240, "Undo is kept for 30 days, in at most 11 GB; the oldest goes first."),
        (1, 0, "Undo is kept for 1 day, however much space it takes."),
        (0, 512, "Undo is kept in at most 537 MB; the oldest goes first."),
        (0, 0, "Undo is kept for ever, however much space it takes."),
    ],
)
def test_the_bounds_of_undo_are_a_sentence(days: int, mib: int, text: str) -> None:
    assert words.undo_bounds(days, mib) == text


def test_names_hide_nothing() -> None:
    assert words.visible("in\u202evoice\n.pdf") == "in\\u202evoice\\u000a.pdf"
    assert words.visible("Größe 图.txt") == "Größe 图.txt"


def test_a_path_starts_at_its_folder() -> None:
    folders = (Folder(path="/home/ada/Downloads"), Folder(path="/home/ada/Invoices"))
    assert words.short_path("/home/ada/Downloads/a/b.txt", folders) == "Downloads/a/b.txt"
    assert words.short_path("/home/ada/Downloads/a/b.txt", folders[:1]) == "a/b.txt"
    assert words.short_path("/home/ada/Downloads", folders[:1]) == "Downloads"
    assert words.short_path("/home/ada/Downloads2/b.txt", folders) == "/home/ada/Downloads2/b.txt"


@pytest.mark.parametrize(
    ("group", "text"),
    [
        (("read", False, 41, 12_400), "read 41 files, 12 kB"),
        (("read", True, 1, 0), "listed 1 folder"),
        (("create", True, 2, 0), "created 2 folders"),
        (("delete", False, 1, 0), "deleted 1 file"),
        (("request", False, 2, 0), "sent 2 requests"),
    ],
)
def test_calls_are_grouped_in_words(group: tuple[str, bool, int, int], text: str) -> None:
    kind, folder, count, size_bytes = group
    made = CallGroup(
        kind=kind,  # type: ignore[arg-type]
        folder=folder,
        count=count,
        size_bytes=size_bytes,
        example="",
    )
    assert words.call_group(made) == text


def test_money_has_its_currency_and_is_not_said_of_local_models() -> None:
    usage = Usage(input_tokens=10, output_tokens=5, money="0.0123")
    remote = samples.turn(usage=usage, model_id="anthropic:x", seconds=1.0)
    assert words.meta(remote) == "1.0 s, 10 tokens read, 5 written, 0.0123 USD"
    local = samples.turn(usage=usage, seconds=1.0)
    assert words.meta(local) == "1.0 s, 10 tokens read, 5 written"
    unknown = samples.turn(usage=Usage(), model_id="anthropic:x", seconds=1.0)
    assert words.meta(unknown) == "1.0 s, cost unknown"
