"""Canary secrets for tests: values that must turn up nowhere, and the search for them."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote

from app.vault.keepers import Item, Standing

TOKEN = "ghp_Canary7f3k9/Q+z81mD"
PASSWORD = 'pass word"ä\\canary=42'
CANARIES = (TOKEN, PASSWORD)


class DictKeyring:
    """A keyring in memory, for engines in tests; `values` by item id."""

    def __init__(self, values: dict[str, str] | None = None) -> None:
        self.values = values if values is not None else {}

    def standing(self) -> Standing:
        return Standing(label="the keyring of the tests")

    def get(self, item: Item, *, may_ask: bool = False) -> str | None:
        return self.values.get(item.item_id)

    def put(self, item: Item, value: str) -> None:
        self.values[item.item_id] = value

    def delete(self, item: Item) -> None:
        self.values.pop(item.item_id, None)


def traces(value: str) -> list[bytes]:
    """What a search finds a value by, in every encoding and place."""
    raw = value.encode()
    found = [raw, raw.hex().encode(), raw.hex().upper().encode()]
    for before in (b"", b"x", b"xx"):
        coded = base64.b64encode(before + raw)[4 if before else 0 : -4]
        found += [coded, base64.urlsafe_b64encode(before + raw)[4 if before else 0 : -4]]
    found += [quote(value, safe="").encode(), quote(value).encode()]
    found += [json.dumps(value)[1:-1].encode(), json.dumps(json.dumps(value))[3:-3].encode()]
    found += [value.encode("utf-16-le"), repr(raw)[2:-1].encode()]
    return found


def leaks_in(texts: Iterable[tuple[str, bytes]]) -> list[str]:
    """Where a canary is, and in which form."""
    searched = [(value, trace) for value in CANARIES for trace in traces(value)]
    return [
        f"{name}: {trace!r}" for name, content in texts for _, trace in searched if trace in content
    ]


def files_below(folder: Path) -> list[tuple[str, bytes]]:
    """Every byte of every file."""
    return [
        (str(Path(base) / name), (Path(base) / name).read_bytes())
        for base, _, names in os.walk(folder)
        for name in names
    ]
