"""The header of a model file, read defensively: sound, cut off anywhere, damaged, hostile."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest

from models.errors import ModelError
from models.gguf import read_gguf, split_parts


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def gguf(
    *,
    version: int = 3,
    tensors: int = 1,
    keys: int | None = None,
    dimensions: tuple[int, ...] = (32, 2),
    kind: int = 8,
    tail: int = 68,
    template: str = "{{ messages }}",
) -> bytes:
    entries = [
        text("general.architecture") + struct.pack("<I", 8) + text("llama"),
        text("llama.block_count") + struct.pack("<II", 4, 30),
        text("tokenizer.chat_template") + struct.pack("<I", 8) + text(template),
        text("tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, 2) + text("a") + text("bc"),
        text("tokenizer.ggml.scores") + struct.pack("<IIQ2f", 9, 6, 2, 0.5, 1.0),
    ]
    count = len(entries) if keys is None else keys
    head = b"GGUF" + struct.pack("<IQQ", version, tensors, count) + b"".join(entries)
    head += text("blk.0.weight") + struct.pack("<I", len(dimensions))
    head += struct.pack(f"<{len(dimensions)}QIQ", *dimensions, kind, 0)
    return head + b"\0" * (-len(head) % 32) + b"\0" * tail


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.gguf"


def test_a_sound_file_tells_what_it_is(path: Path) -> None:
    path.write_bytes(gguf())
    header = read_gguf(path)
    assert header.architecture == "llama"
    assert header.number("block_count") == 30
    assert header.chat_template == "{{ messages }}"
    assert header.list_counts == {"tokenizer.ggml.tokens": 2, "tokenizer.ggml.scores": 2}
    assert [(t.name, t.shape, t.size_bytes) for t in header.tensors] == [
        ("blk.0.weight", (32, 2), 68)
    ]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "too early"),
        (b"PK\3\4" + b"\0" * 100, "does not begin"),
        (gguf(version=77), "unknown version"),
        (gguf(tensors=1 << 60), "claims to hold"),
        (gguf(keys=1 << 60), "claims to hold"),
        (gguf(tail=67), "cut off"),
        (gguf(dimensions=(1 << 62, 4)), "impossible size"),
        (gguf(dimensions=(31, 2)), "impossible size"),
        (gguf(kind=250), "unknown type"),
    ],
)
def test_what_is_wrong_is_named(path: Path, data: bytes, reason: str) -> None:
    path.write_bytes(data)
    with pytest.raises(ModelError, match=reason):
        read_gguf(path)


def test_a_file_cut_off_at_any_byte_is_an_error(path: Path) -> None:
    whole = gguf()
    for end in range(len(whole)):
        path.write_bytes(whole[:end])
        with pytest.raises(ModelError):
            read_gguf(path)


def test_damaged_bytes_are_an_error_or_harmless_and_never_anything_else(path: Path) -> None:
    whole, chance = gguf(), random.Random(7)
    for _ in range(400):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 6)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        path.write_bytes(data)
        try:
            read_gguf(path)
        except ModelError:
            continue


def test_a_missing_file_is_an_error(path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be read"):
        read_gguf(path)


def test_the_parts_of_a_split_model_are_found_and_missed(tmp_path: Path) -> None:
    parts = [tmp_path / f"big-{n:05}-of-00003.gguf" for n in (1, 2, 3)]
    for part in parts:
        part.write_bytes(b"GGUF")
    assert split_parts(parts[1]) == tuple(parts)
    assert split_parts(tmp_path / "one.gguf") == (tmp_path / "one.gguf",)
    parts[2].unlink()
    with pytest.raises(ModelError, match="00003-of-00003"):
        split_parts(parts[0])
