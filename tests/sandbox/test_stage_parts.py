"""Parts of staged files: written, cut and copied without loading the rest; committed and undone."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.changeset import from_json, to_json
from sandbox.undo import undo
from tests.sandbox.trees import Yard, make_yard


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    return make_yard(tmp_path, {"docs/a.txt": "alpha"})


def test_parts_of_a_very_large_file_are_replaced_without_reading_or_copying_it(
    yard: Yard,
) -> None:
    size = 4 * 1024**3
    large = yard.folder / "large.bin"
    with large.open("wb") as out:
        out.truncate(size)
        out.seek(size - 4)
        out.write(b"last")
    yard.stage.write_at("large.bin", size // 2, b"middle")
    yard.stage.write_at("large.bin", size // 2 + 3, b"DLE")
    yard.stage.truncate("large.bin", size + 10)
    with yard.stage.open_reader("large.bin") as stream:
        stream.seek(size // 2 - 1)
        assert stream.read(8) == b"\0midDLE\0"
        stream.seek(size - 4)
        assert stream.read() == b"last" + bytes(10)
    changes = yard.stage.changes()
    (change,) = changes.changes
    assert [(p.of, p.size_bytes) for p in change.pieces] == [
        ("source", size // 2), ("blob", 3), ("blob", 3), ("source", size // 2 - 6), ("zeros", 10),
    ]  # fmt: skip
    kept = sum(p.stat().st_size for p in yard.blobs.folder.rglob("*") if p.is_file())
    assert kept == 6
    assert from_json(to_json(changes)) == changes
    yard.commit(changes)
    st = large.stat()
    assert st.st_size == size + 10
    assert st.st_blocks * 512 < 64 * 1024 * 1024
    with large.open("rb") as stream:
        stream.seek(size // 2 - 1)
        assert stream.read(8) == b"\0midDLE\0"
        stream.seek(size - 4)
        assert stream.read() == b"last" + bytes(10)
    undo(yard.undo_folder)
    assert large.stat().st_size == size


def test_parts_written_out_of_order_and_copies_of_them_stay_apart(yard: Yard) -> None:
    expected = bytearray(b"alpha")
    for at, data in ((3, b"XY"), (0, b"zz"), (9, b"end"), (4, b"1234"), (2, b"")):
        yard.stage.write_at("docs/a.txt", at, data)
        expected.extend(bytes(max(0, at - len(expected)) if data else 0))
        expected[at : at + len(data)] = data
    yard.stage.copy_file("docs/a.txt", "copy.txt", metadata=False)
    yard.stage.write_at("copy.txt", 0, b"COPY")
    yard.stage.truncate("docs/a.txt", 6)
    assert yard.stage.read_bytes("docs/a.txt") == bytes(expected[:6])
    assert yard.stage.read_bytes("copy.txt") == b"COPY" + bytes(expected[4:])
    yard.commit(yard.stage.changes())
    assert (yard.folder / "docs/a.txt").read_bytes() == bytes(expected[:6])
    assert (yard.folder / "copy.txt").read_bytes() == b"COPY" + bytes(expected[4:])


def test_a_dropped_layer_takes_its_partial_writes_with_it(yard: Yard) -> None:
    yard.stage.write_at("docs/a.txt", 0, b"1")
    yard.stage.push()
    yard.stage.write_at("docs/a.txt", 1, b"2222")
    fork = yard.stage.fork()
    fork.write_at("docs/a.txt", 0, b"F")
    assert fork.read_bytes("docs/a.txt") == b"F2222"
    yard.stage.drop()
    assert yard.stage.read_bytes("docs/a.txt") == b"1lpha"
    with pytest.raises(FileNotFoundError):
        yard.stage.write_at("missing.txt", 0, b"x")
    with pytest.raises(OSError, match="Invalid argument"):
        yard.stage.truncate("docs/a.txt", -1)
