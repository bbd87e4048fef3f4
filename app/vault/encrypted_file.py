"""The encrypted file: all values under one passphrase, for machines without a keyring.

Owns the file's format and its atomic rewriting; the cryptography is the `cryptography` package's.
The key is Argon2id of the passphrase; the values are sealed with AES-256-GCM, the header being
authenticated with them. The passphrase is not kept, the key is, until `lock`. Threats met: somebody
who gets or changes the file. Not met: an older copy put in its place, or who reads this process.
Thread: any; blocks for about 0.2 s a key.

Format, in order: one line of ASCII JSON (the header, its own SHA-256 in `sum`), then the sealed
values. A header whose sum is wrong was damaged; one whose `check` does not fit the key belongs to
another passphrase; a body that is shorter than the header says was cut off; one that does not open
was changed.
Source: RFC 9106 (Argon2id, second recommended choice), NIST SP 800-38D (GCM).
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import json
import os
import tempfile
import threading
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from app.vault.errors import VaultError
from app.vault.keepers import LONGEST_VALUE, Item, Standing, check_length

_FORMAT = "drydock-vault"
_VERSION = 1
_ITERATIONS, _LANES, _MEMORY_KIB = 3, 4, 64 * 1024
_MOST_ITERATIONS, _MOST_LANES, _MOST_MEMORY_KIB = 16, 16, 1024 * 1024
_NONCE_BYTES, _SALT_BYTES, _KEY_BYTES = 12, 16, 32
_MOST_HEADER_BYTES = 4_096
_LABEL = "the encrypted file"
_WAIT_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a try of a passphrase costs, with Argon2id. It stands in the file."""

    iterations: int = _ITERATIONS
    lanes: int = _LANES
    memory_kib: int = _MEMORY_KIB


NEW_COST = Cost()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """A file taken apart. `header`: the line as it stands there, which the body is bound to."""

    header: bytes
    salt: bytes
    cost: Cost
    check: bytes
    nonce: bytes
    body: bytes


class EncryptedFile:
    """Values in one file. Locked until `unlock`; the first `unlock` of no file chooses its key."""

    def __init__(self, path: Path, *, cost: Cost = NEW_COST) -> None:
        """`cost`: of the passphrase of a new file."""
        self._path = path
        self._new_cost = cost
        self._turn = threading.RLock()
        self._key: bytes | None = None
        self._salt = b""
        self._cost = cost

    @property
    def exists(self) -> bool:
        """Whether there is a file."""
        return self._path.exists()

    @property
    def is_locked(self) -> bool:
        """Whether the passphrase is still to be given."""
        return self._key is None

    def standing(self) -> Standing:
        """Missing while there is no file and no passphrase was chosen."""
        if self._key is not None:
            return Standing(label=_LABEL)
        if not self.exists:
            return Standing(
                label=_LABEL,
                trouble="missing",
                message="There is no encrypted file yet.",
                hint="Choose a passphrase for it.",
            )
        return Standing(
            label=_LABEL,
            trouble="locked",
            message="The encrypted file is locked.",
            hint="Give its passphrase, or set DRYDOCK_VAULT_PASSPHRASE where there is no terminal.",
        )

    def unlock(self, passphrase: str) -> None:
        """Open the file with its passphrase, or choose the one of a new file.

        Raises: `VaultError` ("wrong-passphrase", "truncated", "tampered").
        """
        if not passphrase:
            raise VaultError("wrong-passphrase", "The passphrase is empty.", hint="Give another.")
        with self._turn:
            parts = self._parts()
            salt = parts.salt if parts else os.urandom(_SALT_BYTES)
            cost = parts.cost if parts else self._new_cost
            key = _derive(passphrase, salt, cost)
            if parts is not None:
                if not hmac.compare_digest(parts.check, _check(key)):
                    raise VaultError(
                        "wrong-passphrase",
                        "This is not the passphrase of the encrypted file.",
                        hint="Try again. Without it the values cannot be had by anybody.",
                    )
                _opened(parts, key, self._path)
            self._key, self._salt, self._cost = key, salt, cost

    def lock(self) -> None:
        """Forget the key."""
        with self._turn:
            self._key = None

    def change_passphrase(self, passphrase: str) -> None:
        """Seal everything under another passphrase. The file must be unlocked."""
        if not passphrase:
            raise VaultError("wrong-passphrase", "The passphrase is empty.", hint="Give another.")
        with self._writing() as values:
            self._salt, self._cost = os.urandom(_SALT_BYTES), self._new_cost
            self._key = _derive(passphrase, self._salt, self._cost)
            self._write(values)

    def get(self, item: Item, *, may_ask: bool = False) -> str | None:
        """The value."""
        return self._read().get(item.item_id)

    def put(self, item: Item, value: str) -> None:
        """Keep a value; the file is written anew, whole or not at all."""
        check_length(value, LONGEST_VALUE, _LABEL)
        with self._writing() as values:
            values[item.item_id] = value
            self._write(values)

    def delete(self, item: Item) -> None:
        """Forget a value."""
        if not self.exists:
            return
        with self._writing() as values:
            if values.pop(item.item_id, None) is not None:
                self._write(values)

    @contextlib.contextmanager
    def _writing(self) -> Generator[dict[str, str]]:
        """What is in the file now; nobody else writes it while the block runs."""
        with self._turn, _held(self._path.with_suffix(".lock")):
            yield self._read()

    def _read(self) -> dict[str, str]:
        with self._turn:
            if self._key is None:
                found = self.standing()
                raise VaultError(found.trouble or "locked", found.message, hint=found.hint)
            parts = self._parts()
            if parts is None:
                return {}
            if not hmac.compare_digest(parts.check, _check(self._key)):
                self._key = None
                raise VaultError(
                    "locked",
                    "The passphrase of the encrypted file was changed.",
                    hint="Give the new passphrase.",
                )
            return _opened(parts, self._key, self._path)

    def _parts(self) -> _Parts | None:
        try:
            raw = self._path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise VaultError(
                "denied",
                f"The encrypted file cannot be read: {self._path} ({error.strerror}).",
                hint="Change its permissions so that you may read and write it.",
            ) from error
        return _taken_apart(raw, self._path)

    def _write(self, values: dict[str, str]) -> None:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        assert self._key is not None
        text = json.dumps(values, ensure_ascii=True, sort_keys=True).encode("ascii")
        nonce = os.urandom(_NONCE_BYTES)
        header = _header(self._salt, self._cost, _check(self._key), nonce, len(text) + 16)
        sealed = AESGCM(_sealing(self._key)).encrypt(nonce, text, header)
        try:
            _replace(self._path, header + sealed)
        except OSError as error:
            raise VaultError(
                "full",
                f"The encrypted file could not be written: {error.strerror}. It is as before.",
                hint="Free some space on its disk, or check the permissions of its folder.",
            ) from error


def _derive(passphrase: str, salt: bytes, cost: Cost) -> bytes:
    from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

    raw = passphrase.encode("utf-8", "surrogatepass")
    return Argon2id(
        salt=salt,
        length=_KEY_BYTES,
        iterations=cost.iterations,
        lanes=cost.lanes,
        memory_cost=cost.memory_kib,
    ).derive(raw)


def _check(key: bytes) -> bytes:
    """Tells the right key from another one, and says nothing about the key that seals."""
    return hmac.digest(key, b"drydock-vault check", "sha256")[:16]


def _sealing(key: bytes) -> bytes:
    return hmac.digest(key, b"drydock-vault values", "sha256")


def _header(salt: bytes, cost: Cost, check: bytes, nonce: bytes, size_bytes: int) -> bytes:
    fields: dict[str, str | int] = {
        "format": _FORMAT,
        "version": _VERSION,
        "salt": _text(salt),
        "iterations": cost.iterations,
        "lanes": cost.lanes,
        "memory_kib": cost.memory_kib,
        "check": _text(check),
        "nonce": _text(nonce),
        "bytes": size_bytes,
    }
    fields["sum"] = _sum(fields)
    return json.dumps(fields).encode("ascii") + b"\n"


def _sum(fields: dict[str, Any]) -> str:
    known = {name: value for name, value in fields.items() if name != "sum"}
    return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()


def _taken_apart(raw: bytes, path: Path) -> _Parts:
    line, end, body = raw.partition(b"\n")
    if not end:
        if len(raw) < _MOST_HEADER_BYTES:
            raise _truncated(path)
        raise _tampered(path)
    fields = _fields(line, path)
    if fields.get("version", 0) != _VERSION:
        raise VaultError(
            "failed",
            f"The encrypted file was written by a newer Drydock: {path}.",
            hint="Use that version.",
        )
    try:
        cost = Cost(
            iterations=int(fields["iterations"]),
            lanes=int(fields["lanes"]),
            memory_kib=int(fields["memory_kib"]),
        )
        parts = _Parts(
            header=line + end,
            salt=_bytes(fields["salt"]),
            cost=cost,
            check=_bytes(fields["check"]),
            nonce=_bytes(fields["nonce"]),
            body=body,
        )
        size_bytes = int(fields["bytes"])
    except (KeyError, TypeError, ValueError) as error:
        raise _tampered(path) from error
    if not _is_bearable(cost):
        raise _tampered(path)
    if len(body) < size_bytes:
        raise _truncated(path)
    if len(body) > size_bytes:
        raise _tampered(path)
    return parts


def _fields(line: bytes, path: Path) -> dict[str, Any]:
    """The header's fields, whose sum is right."""
    try:
        found: object = json.loads(line)
    except ValueError as error:
        raise _tampered(path) from error
    if not isinstance(found, dict):
        raise _tampered(path)
    fields = cast("dict[str, Any]", found)
    if fields.get("format") != _FORMAT or fields.get("sum") != _sum(fields):
        raise _tampered(path)
    return fields


def _is_bearable(cost: Cost) -> bool:
    """Whether a key costs what this machine can give: a made-up header must not stop it."""
    return (
        1 <= cost.iterations <= _MOST_ITERATIONS
        and 1 <= cost.lanes <= _MOST_LANES
        and 8 * cost.lanes <= cost.memory_kib <= _MOST_MEMORY_KIB
    )


def _opened(parts: _Parts, key: bytes, path: Path) -> dict[str, str]:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        text = AESGCM(_sealing(key)).decrypt(parts.nonce, parts.body, parts.header)
        return cast("dict[str, str]", json.loads(text))
    except (InvalidTag, ValueError) as error:
        raise _tampered(path) from error


def _truncated(path: Path) -> VaultError:
    return VaultError(
        "truncated",
        f"The encrypted file ends too early: {path}.",
        hint="Put a backup in its place, or move it away and enter the secrets again.",
    )


def _tampered(path: Path) -> VaultError:
    return VaultError(
        "tampered",
        f"The encrypted file was changed by something else than Drydock: {path}.",
        hint="Put a backup in its place, or move it away and enter the secrets again. "
        "If nobody of yours did that, change the secrets where they were issued.",
    )


def _replace(path: Path, content: bytes) -> None:
    """Write beside it, then put in place, so that a crash leaves the old file or the new one."""
    handle, name = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
    with contextlib.suppress(OSError):  # a folder cannot be opened on Windows
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@contextlib.contextmanager
def _held(path: Path) -> Generator[None]:
    """One writer at a time among all processes."""
    import filelock

    lock = filelock.FileLock(path, timeout=_WAIT_S)
    try:
        lock.acquire()
    except filelock.Timeout as error:
        raise VaultError(
            "slow",
            "Another Drydock is writing the encrypted file just now.",
            hint="Wait until it is done, then try again.",
        ) from error
    try:
        yield
    finally:
        lock.release()


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
