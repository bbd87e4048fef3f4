"""The form of what a workspace says: what breaks it ends the connection, whatever it is."""

from __future__ import annotations

import os
import socket
import struct
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.workspace.channel import Channel
from sandbox.workspace.errors import WorkspaceLostError
from sandbox.workspace.frames import (
    MOST_BYTES,
    Batch,
    Frame,
    FrameError,
    Splitter,
    frame,
    pack_strings,
    records,
    unpack_string,
)


class _Pair:
    """A transport over one end of a socket pair; the test is the stranger at the other."""

    def __init__(self) -> None:
        self._ours, self.theirs = socket.socketpair()

    def read(self) -> bytes:
        return self._ours.recv(65_536)

    def write(self, data: bytes) -> None:
        self._ours.sendall(data)

    def close(self) -> None:
        self._ours.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def pair() -> Iterator[_Pair]:
    pair = _Pair()
    yield pair
    pair.theirs.close()


@given(st.lists(st.tuples(st.sampled_from("HoeXODEnbc"), st.integers(0, 2**32 - 1), st.binary())))
def test_frames_come_out_as_they_went_in_however_they_are_cut(
    items: list[tuple[str, int, bytes]],
) -> None:
    stream = b"".join(frame(*item) for item in items)
    splitter = Splitter()
    found = [got for at in range(len(stream)) for got in splitter.feed(stream[at : at + 1])]
    assert found == [Frame(*item) for item in items]


@given(st.binary(max_size=200))
def test_whatever_comes_is_a_frame_or_the_end(data: bytes) -> None:
    try:
        for got in Splitter().feed(data):
            assert got.kind in "HoeXODEnbc"
    except FrameError:
        pass


@given(st.binary(max_size=200))
def test_whatever_is_in_a_record_is_read_or_refused(data: bytes) -> None:
    try:
        for got in records(data):
            assert isinstance(got.path, str)
    except FrameError:
        pass


@pytest.mark.parametrize(
    "data",
    [
        struct.pack("<I", MOST_BYTES + 1),
        struct.pack("<I", 2**32 - 1) + b"H",
        struct.pack("<I", 0),
        struct.pack("<IBI", 5, ord("R"), 1),
        struct.pack("<IBI", 5, 0, 1),
    ],
)
def test_a_frame_without_measure_or_of_no_kind_is_refused(data: bytes) -> None:
    with pytest.raises(FrameError):
        list(Splitter().feed(data + b"\0" * 100))


def test_a_string_that_is_not_whole_is_refused() -> None:
    assert unpack_string(pack_strings(["caf\udce9"])) == "caf\udce9"
    for body in (b"", b"\1\0\0\0", b"\xff\xff\xff\xffx", b"\0\0\0\0x"):
        with pytest.raises(FrameError):
            unpack_string(body)


def test_a_frame_is_never_made_too_large() -> None:
    with pytest.raises(ValueError, match="too large"):
        frame("B", 1, b"x" * MOST_BYTES)
    batch = Batch()
    for number in range(40):
        batch.write(f"/{number}", 0, os.urandom(Batch.PIECE_BYTES // 8))
    bodies = list(batch.bodies())
    assert len(bodies) > 1
    assert all(len(frame("B", 1, body)) <= MOST_BYTES + 4 for body in bodies)


@pytest.mark.parametrize(
    "said",
    [
        struct.pack("<I", MOST_BYTES + 1) + b"x",
        frame("X", 1, b"12"),
        frame("H", 0, b"\xff\xff\xff\xff"),
        b"GET / HTTP/1.0\r\n\r\n",
        struct.pack("<IBI", 5, ord("K"), 1),
    ],
)
def test_a_stranger_that_breaks_the_form_is_not_spoken_with(pair: _Pair, said: bytes) -> None:
    channel = Channel(pair)
    pair.theirs.sendall(said)
    with pytest.raises(WorkspaceLostError):
        channel.greeting(10)
    assert channel.lost is not None
    with pytest.raises(WorkspaceLostError):
        channel.ping()


def test_answers_that_nobody_asked_for_are_dropped(pair: _Pair) -> None:
    channel = Channel(pair)
    for kind in "oeXOD":
        pair.theirs.sendall(frame(kind, 77, b"\0\0\0\0"))
    pair.theirs.sendall(frame("H", 0, pack_strings(["hello"])))
    assert channel.greeting(10) == "hello"
    channel.close()


def test_more_of_a_file_than_was_asked_for_ends_the_connection(pair: _Pair) -> None:
    channel = Channel(pair)

    def answer() -> None:
        head = pair.theirs.recv(65_536)
        number = struct.unpack_from("<I", head, 5)[0]
        pair.theirs.sendall(frame("O", number, b"x" * 100))

    stranger = threading.Thread(target=answer)
    stranger.start()
    with pytest.raises(WorkspaceLostError):
        channel.get("/x", lambda _: None, most=10)
    stranger.join()


def test_a_stranger_that_goes_away_fails_what_waits(pair: _Pair) -> None:
    channel = Channel(pair, why_lost=lambda: "It was ended from outside.")
    job = channel.start(["true"], cwd="/", env={})
    pair.theirs.shutdown(socket.SHUT_RDWR)
    with pytest.raises(WorkspaceLostError, match="from outside"):
        job.ended.result(60)
