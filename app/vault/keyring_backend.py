"""The system's keyring: Secret Service, KWallet, macOS Keychain, Windows Credential Manager.

Owns which backends of the keyring library are trusted, how they are asked without disturbing the
person, and what their faults mean. A keyring lives in another process, which may be gone, locked,
refuse, or hang: each call is bounded, and each of these is told from the others. Thread: any;
blocks for at most the timeout.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from app.vault.calls import BoundedCalls
from app.vault.errors import VaultError
from app.vault.keepers import LONGEST_VALUE, Item, Standing, check_length

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

_SERVICE = "drydock"
_WINDOWS_BYTES = 2_560
"""Source: CRED_MAX_CREDENTIAL_BLOB_SIZE of wincred.h; values are kept there as UTF-16."""
_ASKED_S = 120.0
_UNLOCK = "Unlock it with your system's password manager, or log in to the desktop, and try again."
_OTHERWISE = (
    "Keep secrets in an encrypted file instead (drydock vault set NAME --keep file), "
    "or for this run only."
)
_LINUX_SERVICE = "keyring.backends.SecretService.Keyring"
_LABELS = {
    _LINUX_SERVICE: "the Secret Service keyring",
    "keyring.backends.kwallet.DBusKeyring": "KWallet",
    "keyring.backends.libsecret.Keyring": "the Secret Service keyring",
    "keyring.backends.macOS.Keyring": "the macOS Keychain",
    "keyring.backends.Windows.WinVaultKeyring": "the Windows Credential Manager",
}
"""The backends that encrypt what they keep; others may write plain text and are not used."""
_CANDIDATES = {
    "darwin": ("keyring.backends.macOS.Keyring",),
    "win32": ("keyring.backends.Windows.WinVaultKeyring",),
}
_LINUX = (
    _LINUX_SERVICE,
    "keyring.backends.kwallet.DBusKeyring",
    "keyring.backends.libsecret.Keyring",
)


class KeyringKeeper:
    """Values in the system's keyring. `timeout_s`: for one answer; `find`: where backends are from.

    Tests give a `find` of their own; it returns a backend and its name, or raises `VaultError`.
    """

    def __init__(
        self,
        *,
        timeout_s: float = 5.0,
        find: Callable[[], tuple[KeyringBackend, str]] | None = None,
    ) -> None:
        self._timeout_s = timeout_s
        self._find = find or _find_backend
        self._calls = BoundedCalls("keyring")

    def standing(self) -> Standing:
        """Whether the keyring can be used without a question to the person."""
        label = "the system's keyring"
        try:
            backend, name = self._bounded(self._find, self._timeout_s)
            label = _label(name)
            self._bounded(lambda: _check_open(backend, name), self._timeout_s)
        except VaultError as error:
            return Standing(
                label=label, trouble=error.trouble, message=error.message, hint=error.hint
            )
        return Standing(label=label)

    def get(self, item: Item, *, may_ask: bool = False) -> str | None:
        """The value; a locked keyring is unlocked by asking the person, if that is allowed."""

        def work() -> str | None:
            backend, name = self._find()
            if not may_ask:
                _check_open(backend, name)
            return backend.get_password(_service(item), item.name)

        return self._bounded(work, _ASKED_S if may_ask else self._timeout_s)

    def put(self, item: Item, value: str) -> None:
        """Keep a value, and read it back: what was not kept whole is not kept."""

        def work() -> None:
            backend, name = self._find()
            if "Windows" in name:
                check_length(value, _WINDOWS_BYTES, _label(name), encoding="utf-16-le")
            check_length(value, LONGEST_VALUE, _label(name))
            _check_open(backend, name)
            backend.set_password(_service(item), item.name, value)  # pyright: ignore[reportUnknownMemberType]  # untyped wrapper
            if backend.get_password(_service(item), item.name) != value:
                backend.delete_password(_service(item), item.name)
                raise VaultError(
                    "failed", f"{_begin(_label(name))} did not keep the value as it is.",
                    hint=_OTHERWISE,
                )  # fmt: skip

        self._bounded(work, self._timeout_s)

    def unlock(self) -> None:
        """Have the system ask the person to unlock the keyring."""
        self.get(Item(item_id="unlock", name="drydock"), may_ask=True)

    def delete(self, item: Item) -> None:
        """Forget a value."""

        def work() -> None:
            backend, name = self._find()
            _check_open(backend, name)
            if backend.get_password(_service(item), item.name) is not None:
                backend.delete_password(_service(item), item.name)

        self._bounded(work, self._timeout_s)

    def _bounded[T](self, work: Callable[[], T], timeout_s: float) -> T:
        """Do it in time; every fault as a `VaultError`."""
        try:
            return self._calls.run(work, timeout_s)
        except VaultError:
            raise
        except TimeoutError as error:
            raise VaultError(
                "slow",
                f"The system's keyring did not answer within {timeout_s:g} seconds.",
                hint="It may be waiting for you in another window. " + _OTHERWISE,
            ) from error
        except Exception as error:
            raise _explained(error) from error


def _service(item: Item) -> str:
    """One service an item: a backend that keeps one name a service mixes nothing up."""
    return f"{_SERVICE} {item.item_id}"


def _find_backend() -> tuple[KeyringBackend, str]:
    """The trusted backend with the highest priority here. Raises: `VaultError` ("missing")."""
    from keyring import core

    configured = core.load_env() or core.load_config()
    if configured is not None:
        name = f"{type(configured).__module__}.{type(configured).__qualname__}"
        if name in _LABELS:
            return configured, name
        if not name.startswith("keyring.backends.chainer."):
            raise _untrusted(name)
    found: list[tuple[float, KeyringBackend, str]] = []
    for name in _CANDIDATES.get(sys.platform, _LINUX):
        try:
            backend = core.load_keyring(name)
            found.append((float(backend.priority), backend, name))
        except Exception:  # noqa: S112  # a backend that cannot be had, in its own words
            continue
    if not found:
        raise VaultError(
            "missing", "There is no system keyring here, or it is not running.", hint=_OTHERWISE
        )
    _, backend, name = max(found, key=lambda each: each[0])
    return backend, name


def _untrusted(name: str) -> VaultError:
    if name.startswith(("keyring.backends.null.", "keyring.backends.fail.")):
        message = "The keyring library is set to use no keyring."
    else:
        message = f"The keyring library is set to {name}, which may keep secrets as plain text."
    return VaultError("missing", message, hint=_OTHERWISE)


def _check_open(backend: KeyringBackend, name: str) -> None:
    """Raises `VaultError` ("locked", "missing") when asking would put a question to the person."""
    if name == _LINUX_SERVICE:
        _check_secret_service()


def _check_secret_service() -> None:
    import secretstorage
    from secretstorage.exceptions import ItemNotFoundException

    connection = secretstorage.dbus_init()
    try:
        collection = secretstorage.Collection(connection)
        is_locked = collection.is_locked()
    except ItemNotFoundException as error:
        raise VaultError(
            "missing",
            "The Secret Service has no default keyring yet.",
            hint="Make one with your system's password manager. " + _OTHERWISE,
        ) from error
    finally:
        connection.close()
    if is_locked:
        raise VaultError("locked", "The system's keyring is locked.", hint=_UNLOCK)


def _explained(error: Exception) -> VaultError:
    """What a backend's error means, from its kind: its text may quote what it must not."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    text = f"{error} {getattr(error, 'name', '')}"
    if "KeychainDenied" in text or "AccessDenied" in text or "PromptDismissedException" in kinds:
        return _denied()
    if kinds & {"KeyringLocked", "LockedException"}:
        if sys.platform == "darwin":  # keyring calls a refusal of the Keychain so
            return _denied()
        return VaultError("locked", "The system's keyring was not unlocked.", hint=_UNLOCK)
    if kinds & {
        "InitError",
        "NoKeyringError",
        "SecretServiceNotAvailableException",
        "ItemNotFoundException",
        "OSError",
        "EOFError",
    }:
        return VaultError(
            "missing", "The system's keyring is gone or does not start.", hint=_OTHERWISE
        )
    if getattr(error, "winerror", None) == 1783:  # RPC_X_BAD_STUB_DATA: the value is too long
        return VaultError(
            "too-long", "The value is too long for the Windows Credential Manager.", hint=_OTHERWISE
        )
    return VaultError(
        "failed",
        f"The system's keyring could not do it ({type(error).__name__}).",
        hint=_OTHERWISE,
    )


def _denied() -> VaultError:
    return VaultError(
        "denied",
        "The system's keyring refused Drydock.",
        hint="Allow it when the system asks, or in the settings of the keyring. " + _OTHERWISE,
    )


def _label(name: str) -> str:
    return _LABELS.get(name, "the system's keyring")


def _begin(label: str) -> str:
    return label[0].upper() + label[1:]
