"""Reads the header of a GGUF file defensively: what a model is, before anything native opens it.

Owns the checks: every count and length is bounded and every read stays inside the file, so that a
truncated, damaged or hostile file is a `ModelError` and never an endless loop or a full memory. It
reads no weights. Source: the GGUF specification, ggml/docs/gguf.md, versions 2 and 3. Thread: any;
some milliseconds, most of it for the vocabulary, which is skipped over.
"""

from __future__ import annotations

import math
import os
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from models.errors import ModelError

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_MOST_KEYS = 10_000
_MOST_TENSORS = 100_000
_MOST_ITEMS = 4_000_000
_LONGEST_TEXT = 4_000_000
_KEPT_TEXT = 200_000
_MOST_DIMENSIONS = 4
_DEEPEST = 2
_HEADER_BYTES = 1 << 28
_CHUNK_BYTES = 1 << 22
_TEXT, _LIST = 8, 9
_SCALARS = {
    0: "<B",
    1: "<b",
    2: "<H",
    3: "<h",
    4: "<I",
    5: "<i",
    6: "<f",
    7: "<?",
    10: "<Q",
    11: "<q",
    12: "<d",
}

# Elements and bytes of a block, by ggml type. Source: ggml.h and ggml-common.h.
_BLOCKS = {
    0: (1, 4),
    1: (1, 2),
    2: (32, 18),
    3: (32, 20),
    6: (32, 22),
    7: (32, 24),
    8: (32, 34),
    9: (32, 36),
    10: (256, 84),
    11: (256, 110),
    12: (256, 144),
    13: (256, 176),
    14: (256, 210),
    15: (256, 292),
    16: (256, 66),
    17: (256, 74),
    18: (256, 98),
    19: (256, 50),
    20: (32, 18),
    21: (256, 110),
    22: (256, 82),
    23: (256, 136),
    24: (1, 1),
    25: (1, 2),
    26: (1, 4),
    27: (1, 8),
    28: (1, 8),
    29: (256, 56),
    30: (1, 2),
    34: (256, 54),
    35: (256, 66),
    39: (32, 17),
}
_SPLIT = re.compile(r"-(\d{5})-of-(\d{5})\.gguf\Z")

type Value = int | float | bool | str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """One tensor's entry: its shape, its ggml type, and its bytes in the file."""

    name: str
    shape: tuple[int, ...]
    kind: int
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GgufHeader:
    """What the header says. `metadata`: single values; a list is kept as its count."""

    version: int
    metadata: Mapping[str, Value]
    list_counts: Mapping[str, int]
    tensors: tuple[Tensor, ...]
    file_bytes: int

    @property
    def architecture(self) -> str:
        """Such as ``qwen2``; empty when it is not said."""
        return str(self.metadata.get("general.architecture") or "")

    @property
    def chat_template(self) -> str:
        """The Jinja text, or empty: a base model, which continues texts and answers nothing."""
        return str(self.metadata.get("tokenizer.chat_template") or "")

    def number(self, key: str, default: int = 0) -> int:
        """An integer of this architecture, such as ``block_count``."""
        value = self.metadata.get(f"{self.architecture}.{key}")
        return int(value) if isinstance(value, int | float) else default


def read_gguf(path: Path) -> GgufHeader:
    """The header of the file. Raises: `ModelError` naming what is wrong with it."""
    try:
        with path.open("rb") as file:
            return _Reader(file, path.name).header()
    except OSError as error:
        raise ModelError(
            f"{path.name} cannot be read: {error.strerror or error}.",
            hint="Check that the file is there and readable.",
        ) from error


def split_parts(path: Path) -> tuple[Path, ...]:
    """All parts of a split model, in order; only `path` when it is whole.

    Raises: `ModelError` when a part is missing.
    """
    found = _SPLIT.search(path.name)
    if found is None:
        return (path,)
    total = int(found[2])
    if not 0 < int(found[1]) <= total <= 1000:
        raise ModelError(f"{path.name} has an impossible part number.", hint="Check the file name.")
    stem = path.name[: found.start()]
    parts = tuple(path.with_name(f"{stem}-{n:05}-of-{total:05}.gguf") for n in range(1, total + 1))
    missing = [part.name for part in parts if not part.is_file()]
    if missing:
        raise ModelError(
            f"The model is in {total} parts and {missing[0]} is missing.",
            hint="Put all parts into one folder.",
        )
    return parts


class _Reader:
    """Reads one header; every step is checked against the file's real size."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file = file
        self._name = name
        self._size = os.fstat(file.fileno()).st_size
        self._at = 0
        # Read and not mapped: a mapped file that is cut off meanwhile would end the process.
        self._buffer = bytearray()

    def header(self) -> GgufHeader:
        if self._take(4) != _MAGIC:
            raise self._wrong("it does not begin as a GGUF file")
        version = self._number("<I")
        if version not in _VERSIONS:
            raise self._wrong(f"it has the unknown version {version & 0xFFFF}")
        tensor_count = self._count(_MOST_TENSORS, "tensors")
        key_count = self._count(_MOST_KEYS, "entries")
        metadata: dict[str, Value] = {}
        counts: dict[str, int] = {}
        for _ in range(key_count):
            key = self._text(256)
            kind = self._number("<I")
            if kind == _LIST:
                counts[key] = self._skip_list(0)
            else:
                metadata[key] = self._value(kind)
        alignment = metadata.get("general.alignment", 32)
        if not isinstance(alignment, int) or not 0 < alignment <= 1 << 16:
            raise self._wrong("its alignment is impossible")
        found = [self._tensor() for _ in range(tensor_count)]
        data = -(-self._at // alignment) * alignment
        for tensor, offset in found:
            if offset % alignment or data + offset + tensor.size_bytes > self._size:
                raise self._wrong(f"the weights {tensor.name[:60]} lie outside it: it is cut off")
        return GgufHeader(
            version=version,
            metadata=metadata,
            list_counts=counts,
            tensors=tuple(tensor for tensor, _ in found),
            file_bytes=self._size,
        )

    def _tensor(self) -> tuple[Tensor, int]:
        name = self._text(256)
        dimensions = self._number("<I")
        if not 0 < dimensions <= _MOST_DIMENSIONS:
            raise self._wrong(f"the weights {name[:60]} have {dimensions} dimensions")
        shape = tuple(self._number("<Q") for _ in range(dimensions))
        kind = self._number("<I")
        offset = self._number("<Q")
        if kind not in _BLOCKS:
            raise self._wrong(f"the weights {name[:60]} are of the unknown type {kind}")
        elements, block_bytes = _BLOCKS[kind]
        count = math.prod(shape)
        if count > self._size * 64 or (shape[0] % elements and count):
            raise self._wrong(f"the weights {name[:60]} have an impossible size")
        size = count // elements * block_bytes
        return Tensor(name=name, shape=shape, kind=kind, size_bytes=size), offset

    def _value(self, kind: int) -> Value:
        if kind == _TEXT:
            return self._text(_LONGEST_TEXT)[:_KEPT_TEXT]
        if kind not in _SCALARS:
            raise self._wrong(f"it holds a value of the unknown type {kind & 0xFFFF}")
        code = _SCALARS[kind]
        return struct.unpack(code, self._take(struct.calcsize(code)))[0]

    def _skip_list(self, depth: int) -> int:
        kind = self._number("<I")
        count = self._count(_MOST_ITEMS, "items in a list")
        if kind in _SCALARS:
            self._skip(count * struct.calcsize(_SCALARS[kind]))
        elif kind == _TEXT:
            self._skip_texts(count)
        elif kind == _LIST and depth < _DEEPEST:
            for _ in range(count):
                self._skip_list(depth + 1)
        else:
            raise self._wrong(f"it holds a list of the unknown type {kind & 0xFFFF}")
        return count

    def _text(self, longest: int) -> str:
        return self._take(self._length(longest)).decode("utf-8", "replace")

    def _length(self, longest: int) -> int:
        length = self._number("<Q")
        if length > longest:
            raise self._wrong("it holds a text of impossible length")
        return length

    def _count(self, most: int, what: str) -> int:
        count = self._number("<Q")
        if count > most:
            raise self._wrong(f"it claims to hold {count:,} {what}")
        return count

    def _number(self, code: str) -> int:
        return struct.unpack(code, self._take(struct.calcsize(code)))[0]

    def _skip_texts(self, count: int) -> None:
        # A vocabulary has hundreds of thousands: without a call for each.
        unpack = struct.Struct("<Q").unpack_from
        at, have, buffer = self._at, len(self._buffer), self._buffer
        for _ in range(count):
            if at + 8 > have:
                self._have(at + 8)
                have = len(buffer)
            length = unpack(buffer, at)[0]
            if length > _LONGEST_TEXT:
                raise self._wrong("it holds a text of impossible length")
            at += 8 + length
        self._have(at)
        self._at = at

    def _take(self, count: int) -> bytes:
        end = self._at + count
        self._have(end)
        data = bytes(self._buffer[self._at : end])
        self._at = end
        return data

    def _skip(self, count: int) -> None:
        self._have(self._at + count)
        self._at += count

    def _have(self, end: int) -> None:
        """Have the file's first `end` bytes at hand, or say that it is cut off."""
        if end > min(self._size, _HEADER_BYTES):
            raise self._wrong("it ends too early")
        while len(self._buffer) < end:
            more = self._file.read(max(_CHUNK_BYTES, end - len(self._buffer)))
            if not more:
                raise self._wrong("it ends too early")
            self._buffer += more

    def _wrong(self, reason: str) -> ModelError:
        return ModelError(
            f"{self._name} is no usable model file: {reason}.",
            hint="Fetch or copy it again, or choose another file.",
        )
