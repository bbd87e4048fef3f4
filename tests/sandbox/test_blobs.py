"""The blob store: content by digest, written once, and tails that only grow."""

from __future__ import annotations

import hashlib
import io
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.blobs import BlobStore


@pytest.fixture
def blobs(tmp_path: Path) -> BlobStore:
    return BlobStore(tmp_path / "blobs")


def test_a_blob_comes_back_by_its_digest(blobs: BlobStore) -> None:
    sha256, size_bytes = blobs.put(b"hello")
    assert (sha256, size_bytes) == (hashlib.sha256(b"hello").hexdigest(), 5)
    with blobs.open(sha256) as stream:
        assert stream.read() == b"hello"


def test_equal_contents_are_kept_once_whichever_way_they_came(blobs: BlobStore) -> None:
    assert blobs.put(b"same") == blobs.put_stream(io.BytesIO(b"same"))
    assert len(list(blobs.folder.glob("??/*"))) == 1
    assert list((blobs.folder / "scratch").iterdir()) == []


def test_a_stream_that_breaks_leaves_nothing_behind(blobs: BlobStore) -> None:
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise OSError("unplugged")

    with pytest.raises(OSError, match="unplugged"):
        blobs.put_stream(Broken())
    assert [path for path in blobs.folder.rglob("*") if path.is_file()] == []


def test_collecting_keeps_what_is_named(blobs: BlobStore) -> None:
    kept, _ = blobs.put(b"kept")
    gone, _ = blobs.put(b"gone!")
    assert blobs.collect(keep=[kept]) == 5
    assert blobs.path_of(kept).exists()
    assert not blobs.path_of(gone).exists()
    blobs.delete(kept)
    blobs.delete(kept)
    with pytest.raises(FileNotFoundError):
        blobs.open(kept)


@given(
    st.lists(st.binary(max_size=400_000), max_size=8),
    st.integers(0, 2_000_000),
    st.integers(0, 2_000_000),
)
def test_a_tail_reads_back_any_part_of_what_was_appended(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes], start: int, length: int
) -> None:
    tail = BlobStore(tmp_path_factory.getbasetemp() / "tails").tail(owner=None)
    for part in [*parts, b"x" * 600_000, b"y" * 600_000, *parts]:
        tail.append(part)
    whole = b"".join([*parts, b"x" * 600_000, b"y" * 600_000, *parts])
    assert tail.size_bytes == len(whole)
    end = min(len(whole), start + length)
    assert tail.read(min(start, end), end) == whole[min(start, end) : end]


def test_sealing_makes_the_named_blobs_and_their_folders_durable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = BlobStore(tmp_path / "blobs")
    digest, _ = store.put(b"content")
    store.put(b"not needed")
    synced: list[str] = []
    real = os.fsync
    monkeypatch.setattr(
        os,
        "fsync",
        lambda fd: (synced.append(str(Path(f"/proc/self/fd/{fd}").readlink())), real(fd)),
    )
    store.seal([digest])
    place = store.path_of(digest)
    assert synced == [str(p) for p in (place, place.parent, store.folder, tmp_path)]
    with pytest.raises(FileNotFoundError):
        store.seal(["0" * 64])


def test_more_than_may_be_staged_is_refused_with_the_next_step(tmp_path: Path) -> None:
    blobs = BlobStore(tmp_path / "blobs", limit_bytes=1024)
    blobs.put(b"a" * 1000)
    blobs.put(b"a" * 1000)  # the same content takes nothing
    tail = blobs.tail(object())
    tail.append(b"b" * 20)
    for attempt in (
        lambda: blobs.put(b"c" * 5),
        lambda: blobs.put_stream(io.BytesIO(b"c" * 5)),
        lambda: tail.append(b"c" * 5),
    ):
        with pytest.raises(OSError, match="raise the bound of staged content in the settings"):
            attempt()
    assert tail.size_bytes == 20
    assert blobs.put_stream(io.BytesIO(tail.read(0, 20)), is_staged=True)[1] == 20
