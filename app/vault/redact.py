"""Takes known secret values out of whatever is stored, shown, logged or sent to a model.

Owns which values are known and the search for all their forms at once. A value is replaced by
`[secret:NAME]`, in bytes by as many asterisks. It must not know where values are kept. Thread: any;
what is known is one immutable state, replaced as a whole.

Not in reach: the memory of child processes, forms that a program makes up for itself, and the
person's own files, in their folders or staged from them.
"""

from __future__ import annotations

import bisect
import json
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, cast

from ahocorasick_rs import AhoCorasick, BytesAhoCorasick, MatchKind

from app.vault.encodings import forms_of

SHORTEST_VALUE = 6
"""A shorter value stands in too many texts by chance."""

_WRAPPED = re.compile(
    r"(?<![A-Za-z0-9+/_=-])"
    r"(?:[A-Za-z0-9+/_-]{16,}+(?:\\r)?(?:\\n|\r?\n)[ \t]*+)++"
    r"[A-Za-z0-9+/_-]*+={0,2}"
)
"""A run of what tokens are made of, broken into lines, or into lines as JSON has them."""
_BREAK = re.compile(r"(?:\\r)?(?:\\n|\r?\n)[ \t]*")
_HEAD = 4


@dataclass(frozen=True, slots=True)
class _Known:
    """The forms of all known values, ready to be searched for. `names`: of the form's value."""

    forms: tuple[str, ...]
    names: tuple[str, ...]
    texts: AhoCorasick
    datas: BytesAhoCorasick
    data_lengths: tuple[int, ...]
    heads: tuple[str, ...]
    by_head: Mapping[str, tuple[str, ...]]


def _known(values: Mapping[str, str]) -> _Known | None:
    by_form: dict[str, str] = {}
    for name, value in values.items():
        for form in forms_of(value):
            by_form.setdefault(form, name)
    if not by_form:
        return None
    forms = tuple(by_form)
    datas = {form.encode("utf-8", "surrogatepass") for form in forms}
    for value in values.values():
        datas |= {value.encode(code, "surrogatepass") for code in ("utf-16-le", "utf-16-be")}
    sound = [_sound(form) for form in forms]
    by_head: dict[str, list[str]] = {}
    for form in forms:
        by_head.setdefault(form[:_HEAD], []).append(form)
    ordered = tuple(sorted(datas))
    return _Known(
        forms=forms,
        names=tuple(by_form[form] for form in forms),
        texts=AhoCorasick(sound, matchkind=MatchKind.LeftmostLongest),
        datas=BytesAhoCorasick(ordered, matchkind=MatchKind.LeftmostLongest),
        data_lengths=tuple(map(len, ordered)),
        heads=tuple(sorted(by_head)),
        by_head={head: tuple(found) for head, found in by_head.items()},
    )


class Redactor:
    """Knows values by their secrets' names and takes them out."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values: dict[str, tuple[str, ...]] = {}
        self._built: _Known | None = None
        self._stale = False

    @property
    def _state(self) -> _Known | None:
        """What is known, made ready at the first use after a change."""
        if self._stale:
            with self._lock:
                if self._stale:
                    self._built = self._build()
                    self._stale = False
        return self._built

    @property
    def is_empty(self) -> bool:
        """Whether nothing is known, so that nothing is looked at."""
        return self._state is None

    def learn(self, name: str, *values: str) -> None:
        """Know these values by `name` too; earlier ones stay known until `forget`."""
        with self._lock:
            former = self._values.get(name, ())
            wanted = [value for value in values if len(value) >= SHORTEST_VALUE]
            self._values[name] = tuple(dict.fromkeys((*former, *wanted)))
            self._stale = True

    def forget(self, name: str) -> None:
        """Know nothing by this name any more."""
        with self._lock:
            if self._values.pop(name, None) is not None:
                self._stale = True

    def _build(self) -> _Known | None:
        flat = {
            f"{name}\0{number}": value
            for name, values in self._values.items()
            for number, value in enumerate(values)
        }
        return _known(flat)

    def holds(self, text: str | bytes) -> bool:
        """Whether a known value is in there, in any form."""
        known = self._state
        if known is None:
            return False
        if isinstance(text, bytes):
            return bool(known.datas.find_matches_as_indexes(text)) or self._in_wrapped(
                known, text.decode("utf-8", "replace")
            )
        return bool(known.texts.find_matches_as_indexes(_sound(text))) or self._in_wrapped(
            known, text
        )

    def text(self, text: str) -> str:
        """`text` with every known value replaced by `[secret:NAME]`."""
        known = self._state
        if known is None or not text:
            return text
        sound = _sound(text)
        parts: list[str] = []
        at = 0
        for index, start, end in known.texts.find_matches_as_indexes(sound):
            parts += [text[at:start], _mark(known.names[index])]
            at = end
        if parts:
            text = "".join([*parts, text[at:]])
        return self._unwrapped(known, text)

    def data(self, data: bytes, fill: bytes = b"*") -> bytes:
        """`data` with known values overwritten, so that its length and framing stay."""
        known = self._state
        if known is None or not data:
            return data
        found = known.datas.find_matches_as_indexes(data)
        if not found:
            return data
        out = bytearray(data)
        for _, start, end in found:
            out[start:end] = fill * (end - start)
        return bytes(out)

    def mark(self, mark: bytes) -> bytes:
        """The same for what is read back as JSON with base64 in it, which it stays."""
        return self.data(mark, b"x")

    def column(self, value: Any) -> Any:
        """A value for the store: text that is JSON stays JSON."""
        if isinstance(value, bytes):
            return self.data(value)
        if not isinstance(value, str) or not self.holds(value):
            return value
        if value[:1] in '[{"':
            try:
                return json.dumps(self.value(json.loads(value)), separators=(",", ":"))
            except ValueError:
                pass
        return self.text(value)

    def value[T](self, value: T) -> T:
        """A record, list or dict with every text in it cleaned; itself when there is none to be."""
        return value if self._state is None else cast("T", self._cleaned(value))

    def stream(self) -> Stream:
        """For a text that comes in pieces."""
        return Stream(self)

    def _cleaned(self, value: Any) -> Any:
        match value:
            case str():
                return self.text(value)
            case bytes():
                return self.data(value)
            case list() | tuple() | set() | frozenset():
                return self._cleaned_items(cast("Any", value))
            case dict():
                pairs = cast("dict[Any, Any]", value)
                cleaned = {self._cleaned(key): self._cleaned(item) for key, item in pairs.items()}
                return pairs if cleaned == pairs else cleaned
            case _ if is_dataclass(value) and not isinstance(value, type):
                return self._cleaned_record(value)
            case _:
                return value

    def _cleaned_items(self, items: Any) -> Any:
        cleaned = [self._cleaned(item) for item in items]
        if all(new is old for new, old in zip(cleaned, items, strict=True)):
            return items
        make = cast("Any", type(items))
        return make(*cleaned) if hasattr(items, "_fields") else make(cleaned)

    def _cleaned_record(self, record: Any) -> Any:
        changed: dict[str, Any] = {}
        for field in fields(record):
            former = getattr(record, field.name)
            new = self._cleaned(former)
            if new is not former and field.init and new != former:
                changed[field.name] = new
        return replace(record, **changed) if changed else record

    def _in_wrapped(self, known: _Known, text: str) -> bool:
        return any(
            known.texts.find_matches_as_indexes(_sound(_BREAK.sub("", found.group())))
            for found in _WRAPPED.finditer(text)
        )

    def _unwrapped(self, known: _Known, text: str) -> str:
        """Replace what is a value once its line breaks are taken out, as base64 in mail has."""
        if "\n" not in text and "\\n" not in text:
            return text

        def clean(found: re.Match[str]) -> str:
            joined = _BREAK.sub("", found.group())
            hits = known.texts.find_matches_as_indexes(_sound(joined))
            return _mark(known.names[hits[0][0]]) if hits else found.group()

        return _WRAPPED.sub(clean, text)

    def split(self, text: str) -> int:
        """How much of `text` is certain: from there on it may be the beginning of a value."""
        known = self._state
        if known is None:
            return len(text)
        at = _pending(known, text)
        for _, start, end in known.texts.find_matches_as_indexes(_sound(text)):
            if start < at < end:
                return start
        return at


class Stream:
    """Cleans a text in pieces; what may be the beginning of a value is held back."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._held = ""

    def feed(self, piece: str) -> str:
        """The text that is certain by now."""
        if self._redactor.is_empty and not self._held:
            return piece
        text = self._held + piece
        at = self._redactor.split(text)
        self._held = text[at:]
        return self._redactor.text(text[:at])

    def end(self) -> str:
        """What was held back, when nothing more comes."""
        held, self._held = self._held, ""
        return self._redactor.text(held)


def _pending(known: _Known, text: str) -> int:
    """The first place from which on the whole rest of `text` begins a longer form."""
    for at in range(len(text)):
        head = text[at : at + _HEAD]
        if len(head) < _HEAD:
            place = bisect.bisect_left(known.heads, head)
            if place < len(known.heads) and known.heads[place].startswith(head):
                return at
            continue
        rest = len(text) - at
        for form in known.by_head.get(head, ()):
            if len(form) > rest and form.startswith(text[at:]):
                return at
    return len(text)


def _sound(text: str) -> str:
    """`text` as valid Unicode of the same length: the search takes no lone surrogates."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return re.sub("[\ud800-\udfff]", "\ufffd", text)
    return text


def _mark(name: str) -> str:
    return f"[secret:{name.partition(chr(0))[0]}]"
