"""How a turn's end is told: what was sent is never passed over."""

from __future__ import annotations

from app.engine.problems import with_sent
from app.store.records import Problem
from sandbox.effects import Effect

FAILED = Problem(message="The program failed. Nothing was changed.", hint="Try again.")


def request(host: str) -> Effect:
    """A request that was sent."""
    return Effect(kind="request", path=f"https://{host}/in", call="http_request")


def test_without_a_request_the_words_stay() -> None:
    read = Effect(kind="read", path="/home/ann/notes.txt")
    assert with_sent(FAILED, [read]) == FAILED
    assert with_sent(None, [request("a.org")]) is None


def test_what_was_sent_is_said_with_its_hosts() -> None:
    told = with_sent(FAILED, [request("a.org"), request("b.org"), request("a.org")])
    assert told is not None
    assert "Nothing was changed" not in told.message
    assert told.message == (
        "The program failed. No file was changed. 3 requests were sent to a.org, b.org before, "
        "for good."
    )
    assert told.hint == FAILED.hint
