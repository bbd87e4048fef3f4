"""The secrets of this home: what they are, from the store, joined with their values, in the vault.

Owns adding, changing, testing and removing, and that values are known to the redactor before a turn
begins. Values go in and out here alone. Thread: engine; the vault is asked on worker threads.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from app.engine.events import Notice
from app.engine.mailbox import Mailbox
from app.engine.offline import HINT, is_offline
from app.engine.secret_trial import Trial, try_secret
from app.engine.turn_secrets import TurnSecrets, item_of
from app.errors import NotFoundError, UsageError
from app.paths import Paths
from app.settings import Settings
from app.store.database import Tables
from app.store.journal import TurnJournal
from app.store.secrets import SecretRecord, SecretStore
from app.store.state_file import StateFiles
from app.store.tape_file import scrub_tapes
from app.vault.errors import Trouble, VaultError
from app.vault.keepers import KEEPS, Item, Keep, Keeper, Standing
from app.vault.redact import Redactor
from app.vault.vault import Vault, check_value
from models.errors import ModelError
from sandbox.secrets import Binding

_log = logging.getLogger(__name__)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")
PASSPHRASE_VARIABLE = "DRYDOCK_VAULT_PASSPHRASE"  # noqa: S105  # a name
_SCRUB_ROWS = 200
_given: dict[Path, str] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretView:
    """A secret as it is shown. `trouble` None: its value is there."""

    record: SecretRecord
    trouble: Trouble | None = None
    message: str = ""
    hint: str = ""


class SecretDesk:
    """All secrets of this process. `keyring`: a keyring of the tests."""

    def __init__(
        self,
        *,
        paths: Paths,
        tables: Tables,
        journal: TurnJournal,
        mailbox: Mailbox,
        redactor: Redactor,
        settings: Callable[[], Settings],
        keyring: Keeper | None = None,
    ) -> None:
        self._tables = tables
        self._store = SecretStore(tables)
        self._journal = journal
        self._mailbox = mailbox
        self._settings = settings
        self._home = paths.home
        self._logs, self._tapes = paths.logs, paths.tapes
        self.states = StateFiles(paths.states, paths.artifacts / "handles.key", self.mark)
        self._memory: dict[str, SecretRecord] = {}
        self._problems: dict[str, VaultError] = {}
        self._wrong: VaultError | None = None
        self._reading: asyncio.Task[None] | None = None
        timeout_s = settings().vault.keyring_timeout_s
        self.vault = Vault(paths.vault, redactor, keyring=keyring, timeout_s=timeout_s)

    # beginning and end

    def begin(self) -> None:
        """Start to read the values, so that they are known; `ready` waits for it."""
        passphrase = given_passphrase(self._home)
        self.vault.redactor.learn("vault-passphrase", passphrase)
        if self._reading is None:
            self._reading = asyncio.create_task(self._read(passphrase), name="vault")

    async def ready(self) -> None:
        """Wait until every value that can be had without asking the person is known.

        Whoever waits needs them, so what is wrong is told now, once.
        """
        self.begin()
        assert self._reading is not None
        await asyncio.shield(self._reading)
        wrong, self._wrong = self._wrong, None
        if wrong is not None:
            self._notify(wrong)

    async def close(self) -> None:
        """Forget the values."""
        if self._reading is not None:
            await asyncio.wait([self._reading])
        self.vault.close()

    async def _read(self, passphrase: str = "") -> None:
        self._wrong = None
        records = self._store.all()
        if any(record.keep == "file" for record in records) and passphrase:
            try:
                await asyncio.to_thread(self.vault.file.unlock, passphrase)
            except VaultError as error:
                self._wrong = error
        items: list[tuple[Keep, Item]] = [(each.keep, item_of(each)) for each in records]
        self._problems = await asyncio.to_thread(self.vault.read, items)
        if self._problems and self._wrong is None:
            self._wrong = next(iter(self._problems.values()))

    def _notify(self, error: VaultError) -> None:
        _log.warning("the vault is not open: %s", error.trouble)
        message = f"Your secrets cannot be used now. {error.message}"
        self._mailbox.post(Notice(severity="caution", message=message, hint=error.hint))

    # what there is

    async def all(self) -> list[SecretView]:
        """All secrets by name, and whether their values can be had."""
        await self.ready()
        views: list[SecretView] = []
        for record in sorted((*self._store.all(), *self._memory.values()), key=lambda r: r.name):
            error = self._problems.get(record.secret_id)
            views.append(
                SecretView(
                    record=record,
                    trouble=error.trouble if error else None,
                    message=error.message if error else "",
                    hint=error.hint if error else "",
                )
            )
        return views

    async def standings(self) -> dict[Keep, Standing]:
        """How each place stands."""
        found = await asyncio.gather(
            *(asyncio.to_thread(self.vault.standing, keep) for keep in KEEPS)
        )
        return dict(zip(KEEPS, found, strict=True))

    def find(self, name: str) -> SecretRecord | None:
        """A secret by name."""
        return self._memory.get(name) or self._store.find(name)

    def for_turn(self, turn_id: str) -> TurnSecrets:
        """What the programs of a turn may use."""

        def used(name: str, method: str, host: str) -> None:
            self._journal.add(turn_id, "secret-used", secret=name, method=method, host=host)
            record = self._memory.get(name)
            if record is None:
                self._store.count_use(name)
            else:
                now = datetime.now(UTC)
                self._memory[name] = replace(record, used=now, uses=record.uses + 1)

        records = {record.name: record for record in (*self._store.all(), *self._memory.values())}
        return TurnSecrets(self.vault, records, asyncio.get_running_loop(), used)

    def mark(self, mark: bytes) -> bytes:
        """What a turn's tape may keep of `mark`; of the same length."""
        return self.vault.redactor.mark(mark)

    # changing

    async def choose_keep(self) -> Keep:
        """Where a new secret goes when nobody says: the keyring, or else the encrypted file.

        Raises: `VaultError` when the keyring is there and cannot be used: that is for the person.
        """
        wanted = self._settings().vault.keep
        if wanted != "automatic":
            return wanted
        standing = await asyncio.to_thread(self.vault.standing, "keyring")
        if standing.trouble is None:
            return "keyring"
        if standing.trouble == "missing" or given_passphrase(self._home):
            return "file"
        raise VaultError(standing.trouble, standing.message, hint=standing.hint)

    async def add(self, binding: Binding, value: str, keep: Keep) -> SecretRecord:
        """Add a secret, or give the one of that name this value, binding and place.

        Raises: `AppError` for what cannot be a secret, `VaultError` when it cannot be kept.
        """
        value = value.strip("\r\n")
        check_binding(binding)
        check_value(value)
        if value in binding.name or value == binding.user:
            raise UsageError("The value is the name.", hint="Give the secret a name of its own.")
        former = self.find(binding.name)
        now = datetime.now(UTC)
        record = SecretRecord(
            secret_id=former.secret_id if former else uuid.uuid4().hex,
            binding=binding,
            keep=keep,
            created=former.created if former else now,
            changed=now,
            used=former.used if former else None,
            uses=former.uses if former else 0,
        )
        await asyncio.to_thread(self.vault.put, keep, item_of(record), value)
        self._save(record)
        self._problems.pop(record.secret_id, None)
        if former is not None and former.keep != keep:
            await self._drop_value(former)
        await self.scrub()
        return record

    async def rotate(self, name: str, value: str) -> SecretRecord:
        """Give a secret a new value; everything else stays. Raises: as `add`, `NotFoundError`."""
        record = self.require(name)
        return await self.add(record.binding, value, record.keep)

    async def rebind(self, binding: Binding) -> SecretRecord:
        """Change hosts, methods, kind; the value stays. Raises: `NotFoundError`, `AppError`."""
        check_binding(binding)
        record = replace(self.require(binding.name), binding=binding)
        self._save(record)
        return record

    async def remove(self, name: str) -> None:
        """Forget a secret and its value. Raises: `NotFoundError`, `VaultError`."""
        record = self.require(name)
        await asyncio.to_thread(self.vault.delete, record.keep, item_of(record))
        if self._memory.pop(name, None) is None:
            self._store.delete(record.secret_id)
        self._problems.pop(record.secret_id, None)

    async def reveal(self, name: str) -> str:
        """The value, for a person who asked to see it."""
        record = self.require(name)
        return await asyncio.to_thread(self.vault.value, record.keep, item_of(record))

    def key(self, provider: str) -> str | None:
        """The key of a model's provider, if there is a model key of that name; never blocks.

        Raises: `ModelError` when there is one and its value could not be read.
        """
        record = self.find(provider)
        if record is None or record.binding.kind != "model-key":
            return None
        value = self.vault.known(item_of(record))
        if value is None:
            error = self._problems.get(record.secret_id)
            raise ModelError(
                f"The key {provider} cannot be had: {error.message if error else 'not read yet.'}",
                hint=error.hint if error else "Try again.",
            )
        return value

    async def trial(self, name: str) -> Trial:
        """Whether the value is there and its host takes it. Sends it to the first bound host."""
        record = self.require(name)
        value = await asyncio.to_thread(self.vault.value, record.keep, item_of(record))
        if is_offline(self._settings()):
            return Trial(
                works=None,
                message="The value is there. Drydock is offline, so it was not tried.",
                hint=HINT,
            )
        return await try_secret(record.binding, value)

    def wants_passphrase(self) -> bool:
        """Whether there are secrets in the encrypted file and it is locked."""
        return self.vault.file.is_locked and any(each.keep == "file" for each in self._store.all())

    def given_passphrase(self) -> str:
        """What the environment gave for the encrypted file."""
        return given_passphrase(self._home)

    async def unlock_file(self, passphrase: str) -> None:
        """Open the encrypted file, or choose its passphrase when there is none yet."""
        self.vault.redactor.learn("vault-passphrase", passphrase)
        await asyncio.to_thread(self.vault.file.unlock, passphrase)
        await self._read()

    async def unlock_keyring(self) -> None:
        """Have the system ask the person to unlock the keyring, then read the values."""
        unlock = getattr(self.vault.keyring, "unlock", None)
        if unlock is not None:
            await asyncio.to_thread(unlock)
        await self._read()

    def require(self, name: str) -> SecretRecord:
        """The record of that name. Raises: `NotFoundError`."""
        record = self.find(name)
        if record is None:
            raise NotFoundError(
                f"There is no secret named {name}.",
                hint="drydock vault list shows those there are.",
            )
        return record

    def _save(self, record: SecretRecord) -> None:
        """Keep a record where it belongs: one for this run only leaves nothing behind."""
        if record.keep == "memory":
            self._memory[record.name] = record
            if self._store.find(record.name) is not None:
                self._store.delete(record.secret_id)
        else:
            self._memory.pop(record.name, None)
            self._store.save(record)

    async def _drop_value(self, former: SecretRecord) -> None:
        try:
            await asyncio.to_thread(self.vault.keeper(former.keep).delete, item_of(former))
        except VaultError as error:
            message = f"The former value of {former.name} is still in its old place."
            self._mailbox.post(Notice(severity="caution", message=message, hint=error.message))

    async def scrub(self) -> None:
        """Take what has become known out of what was written before it was known."""
        changed = 0
        for table in self._tables.names():
            row = 0
            while row is not None:
                row, cells = self._tables.scrub_rows(table, row, _SCRUB_ROWS)
                changed += cells
                await asyncio.sleep(0)
        if changed:
            self._tables.forget_freed()
        await asyncio.to_thread(self._scrub_logs)
        await asyncio.to_thread(scrub_tapes, self._tapes, self.mark)
        await asyncio.to_thread(self.states.scrub)

    def _scrub_logs(self) -> None:
        """Overwrite values in the logs, in place: they are open for writing at their ends."""
        for path in self._logs.glob("*.log*"):
            content = path.read_bytes()
            clean = self.vault.redactor.data(content)
            if clean != content:
                with path.open("r+b") as file:
                    file.write(clean)


def given_passphrase(home: Path) -> str:
    """The passphrase that the environment gave for this home; empty when it gave none.

    It is taken out of the environment, so that no child process inherits it.
    """
    given = os.environ.pop(PASSPHRASE_VARIABLE, "")
    if given:
        _given[home] = given
    return _given.get(home, "")


def check_binding(binding: Binding) -> None:
    """Raises `AppError` for a binding with which nothing could be done."""
    if not _NAME.fullmatch(binding.name):
        raise UsageError(
            f"{binding.name!r} is no name for a secret.",
            hint="A name has letters, digits, '.', '_' and '-', and begins with a letter.",
        )
    if not binding.hosts and binding.kind != "model-key":
        raise UsageError(
            f"Say which host {binding.name} is for.",
            hint="--host api.example.com, as often as needed; it goes to no other.",
        )
