"""What secrets are and where they may go, and how often they were used; never a value.

Owns the table `secrets`. Thread: engine.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal

from app.store.codec import dump
from app.store.database import Tables
from sandbox.secrets import Binding, bound_host


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretRecord:
    """A secret without its value. `keep`: the place of the value; `changed`: the value, last."""

    secret_id: str
    binding: Binding
    keep: Literal["keyring", "file", "memory"]
    created: datetime
    changed: datetime
    used: datetime | None = None
    uses: int = 0

    @property
    def name(self) -> str:
        """Its name, unique in this home."""
        return self.binding.name


class SecretStore:
    """Reads and writes the records."""

    def __init__(self, tables: Tables) -> None:
        self._db = tables

    def all(self) -> list[SecretRecord]:
        """All records by name."""
        return [_from(row) for row in self._db.rows("SELECT * FROM secrets ORDER BY name")]

    def find(self, name: str) -> SecretRecord | None:
        """The record of that name."""
        rows = self._db.rows("SELECT * FROM secrets WHERE name = ?", [name])
        return _from(rows[0]) if rows else None

    def save(self, record: SecretRecord) -> None:
        """Write a record, new or changed."""
        binding = record.binding
        self._db.upsert(
            "secrets",
            {
                "id": record.secret_id,
                "name": binding.name,
                "kind": binding.kind,
                "hosts": dump([host.text for host in binding.hosts]),
                "methods": dump(list(binding.methods)),
                "header": binding.header,
                "user": binding.user,
                "keep": record.keep,
                "created": record.created.isoformat(),
                "changed": record.changed.isoformat(),
                "used": record.used.isoformat() if record.used else None,
                "uses": record.uses,
            },
        )

    def delete(self, secret_id: str) -> None:
        """Remove a record."""
        self._db.delete("secrets", secret_id)

    def count_use(self, name: str) -> None:
        """Count one use, now."""
        found = self.find(name)
        if found is not None:
            self.save(replace(found, used=datetime.now(UTC), uses=found.uses + 1))


def _from(row: Mapping[str, Any]) -> SecretRecord:
    used = row["used"]
    return SecretRecord(
        secret_id=row["id"],
        binding=Binding(
            name=row["name"],
            kind=row["kind"],
            hosts=tuple(bound_host(text) for text in json.loads(row["hosts"])),
            methods=tuple(json.loads(row["methods"])),
            header=row["header"],
            user=row["user"],
        ),
        keep=row["keep"],
        created=datetime.fromisoformat(row["created"]),
        changed=datetime.fromisoformat(row["changed"]),
        used=datetime.fromisoformat(used) if used else None,
        uses=row["uses"],
    )
