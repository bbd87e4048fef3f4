"""The secrets of one turn, as the sandbox asks for them.

Owns the last check before a value goes out, and the record of each use. Thread: the runner's worker
and the network's; uses are recorded on the engine's.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence

from app.store.secrets import SecretRecord
from app.vault.errors import VaultError
from app.vault.keepers import Item
from app.vault.redact import Redactor
from app.vault.vault import Vault
from sandbox.addresses import Target
from sandbox.ports import TextPieces
from sandbox.secrets import Binding

_log = logging.getLogger(__name__)

OnUse = Callable[[str, str, str], None]
"""Called on the engine's thread with the secret's name, the method and the host."""


class TurnSecrets:
    """`sandbox.ports.Secrets` over the vault, with the secrets there were when the turn began."""

    def __init__(
        self,
        vault: Vault,
        records: Mapping[str, SecretRecord],
        loop: asyncio.AbstractEventLoop,
        on_use: OnUse,
    ) -> None:
        self._vault = vault
        self._redactor: Redactor = vault.redactor
        self._records = records
        self._loop = loop
        self._on_use = on_use

    def names(self) -> Sequence[str]:
        """All that programs may use."""
        return [name for name, each in self._records.items() if each.binding.kind != "model-key"]

    def binding(self, name: str) -> Binding | None:
        """What a secret is bound to."""
        record = self._records.get(name)
        return None if record is None else record.binding

    def headers(self, name: str, method: str, target: Target) -> tuple[tuple[str, bytes], ...]:
        """The headers for the request that is sent now."""
        record = self._records.get(name)
        if record is None:
            raise PermissionError(f"there is no secret {name}")
        problem = record.binding.refusal(method, target)
        if problem:
            raise PermissionError(problem)
        try:
            value = self._vault.value(record.keep, item_of(record))
        except VaultError as error:
            _log.warning("secret %s could not be had: %s", record.secret_id, error.trouble)
            raise PermissionError(
                f"the secret {name} cannot be had: {error.message} {error.hint}".strip()
            ) from None
        headers = record.binding.headers(value)
        self._loop.call_soon_threadsafe(self._on_use, name, method, f"{target.name}:{target.port}")
        return headers

    def holds(self, text: str | bytes) -> bool:
        """Whether a known value is in there."""
        return self._redactor.holds(text)

    def text(self, text: str) -> str:
        """`text` without known values."""
        return self._redactor.text(text)

    def data(self, data: bytes) -> bytes:
        """`data` without known values."""
        return self._redactor.data(data)

    def pieces(self) -> TextPieces:
        """For a text in pieces."""
        return self._redactor.stream()


def item_of(record: SecretRecord) -> Item:
    """Where a record's value is."""
    return Item(item_id=record.secret_id, name=record.name)
