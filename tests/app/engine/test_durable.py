"""A turn whose process is killed at a journal write goes on at the very call, and sends once.

A sample of the places where it can die; `tests/benchmarks/bench_durable.py` goes through all.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox.loopback import Loopback, serve

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="lives are forked")

SENT = {"once": b"once", "one": b"1", "two": b"2"}
PLAIN = (("Content-Type", "text/plain"),)
SEEN = ("status", "answer", "problem", "programs", "changes")


@pytest.fixture(scope="module")
def server() -> Iterator[Loopback]:
    with serve() as loopback:
        yield loopback


def stories(
    base: Path,
    server: Loopback,
    scenario: str,
    first: int,
    stride: int,
    last: int,
    *,
    timeout_s: float = 600,
) -> list[dict[str, Any]]:
    """The undisturbed turn, then one for each place of death."""
    for at in (0, *range(first, last + 1, stride)):
        for name, answer in (
            ("page", "page"),
            *((n, f"got {b.decode()}") for n, b in SENT.items()),
        ):
            server.page(
                f"/{scenario}-{at}/{name}", answer, headers=(("Content-Type", "text/plain"),)
            )
    places = [str(base), str(server.port), scenario, str(first), str(stride), str(last)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.app.engine.killing", *places],
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout_s,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def sent(server: Loopback, scenario: str, at: int) -> list[tuple[str, bytes]]:
    start = f"/{scenario}-{at}/"
    found = [(path, body) for method, path, _, body in server.seen if method == "POST"]
    return sorted((path.removeprefix(start), body) for path, body in found if start in path)


def check(story: dict[str, Any], whole: dict[str, Any], posts: list[tuple[str, bytes]]) -> None:
    """What came of it is what came of the undisturbed one, or the person was asked."""
    if story["status"] == "unknown":
        assert len(set(posts)) == len(posts), "nothing is sent twice without being asked"
        assert story["asked"][-1] == "unknown http_request"
        return
    assert {key: story[key] for key in SEEN} == {key: whole[key] for key in SEEN}
    wanted = {name: text for name, text in whole["tree"].items() if name != "log.txt"}
    assert {name: text for name, text in story["tree"].items() if name != "log.txt"} == wanted
    assert len(story["tree"]["log.txt"].split()) == 3


@pytest.mark.parametrize(
    ("scenario", "first", "stride", "last"), [("files", 9, 23, 60), ("sends", 31, 47, 200)]
)
def test_a_killed_turn_goes_on_at_the_very_call(
    tmp_path: Path, server: Loopback, scenario: str, first: int, stride: int, last: int
) -> None:
    whole, *others = stories(tmp_path / "lives", server, scenario, first, stride, last)
    assert whole["status"] == "done"
    assert whole["answer"] == "All done."
    assert len(others) >= 2
    assert any(story["died"] for story in others)
    for story in (whole, *others):
        posts = sent(server, scenario, story["at"])
        check(story, whole, posts)
        if story["status"] != "unknown" and scenario == "sends":
            assert posts == sorted(SENT.items())
