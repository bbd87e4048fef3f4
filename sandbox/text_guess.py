"""Text of unknown encoding: a byte order mark, then UTF-8, then what is most likely.

Owns the guess. It must not touch files. Pure; any thread.
"""

from __future__ import annotations

import codecs

_SAMPLE_BYTES = 65_536
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def guess(data: bytes, named: str | None = None) -> str:
    """Decode `data`, which never fails; `named`: the encoding that its sender names."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    if named is not None:
        try:
            return data.decode(named, "replace")
        except LookupError:
            pass
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode(_likely(data[:_SAMPLE_BYTES]), "replace")


def _likely(sample: bytes) -> str:
    """The likely encoding of text that is not UTF-8; cp1252, the usual one, in doubt."""
    from charset_normalizer import from_bytes

    best = from_bytes(sample, cp_isolation=_CANDIDATES).best()
    return best.encoding if best is not None else "cp1252"


_CANDIDATES = [
    "cp1252",
    "cp1250",
    "cp1251",
    "cp1253",
    "cp437",
    "cp932",
    "shift_jis",
    "euc_jp",
    "gb18030",
    "big5",
    "euc_kr",
    "koi8_r",
    "utf_16",
]
