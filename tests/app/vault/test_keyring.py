"""The system's keyring, a real one: used, locked, gone, hanging; and those that are refused."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from keyring.errors import InitError, KeyringError, KeyringLocked

from app.vault.errors import VaultError
from app.vault.keepers import LONGEST_VALUE, Item
from app.vault.keyring_backend import KeyringKeeper
from tests.app.vault.secret_service import in_session, needs_secret_service

ITEM = Item(item_id="0123", name="github")
_BEGIN = """
import json, time
from app.vault.errors import VaultError
from app.vault.keepers import Item
from app.vault.keyring_backend import KeyringKeeper
keeper = KeyringKeeper(timeout_s=TIMEOUT)
item = Item(item_id="0123", name="github")
def tried(work):
    try:
        return work()
    except VaultError as error:
        return error.trouble
"""


def run(program: str, folder: Path, *, state: str, timeout_s: float = 20.0) -> Any:
    begin = _BEGIN.replace("TIMEOUT", str(timeout_s))
    return in_session(begin + program, folder, state=state)


@needs_secret_service
def test_a_real_keyring_keeps_changes_and_forgets_values(tmp_path: Path) -> None:
    found = run(
        """
standing = keeper.standing()
before = keeper.get(item)
keeper.put(item, "first value äöü")
first = KeyringKeeper().get(item)
keeper.put(item, "second value\\nof two lines")
second = keeper.get(item)
other = keeper.get(Item(item_id="4567", name="github"))
keeper.delete(item)
keeper.delete(item)
after = keeper.get(item)
print(json.dumps([standing.label, standing.trouble, before, first, second, other, after]))
""",
        tmp_path,
        state="unlocked",
    )

    assert found == [
        "the Secret Service keyring",
        None,
        None,
        "first value äöü",
        "second value\nof two lines",
        None,
        None,
    ]


@needs_secret_service
def test_a_real_keyring_that_is_locked_is_told_and_nobody_is_asked(tmp_path: Path) -> None:
    found = run(
        """
print(json.dumps([
    keeper.standing().trouble,
    keeper.standing().hint,
    tried(lambda: keeper.get(item)),
    tried(lambda: keeper.put(item, "some value")),
    tried(lambda: keeper.delete(item)),
]))
""",
        tmp_path,
        state="locked",
    )

    assert found[0] == "locked"
    assert "Unlock it" in found[1]
    assert found[2:] == ["locked", "locked", "locked"]


@needs_secret_service
def test_a_real_keyring_that_hangs_is_told_in_time(tmp_path: Path) -> None:
    found = run(
        """
print(json.dumps([keeper.standing().trouble, tried(lambda: keeper.get(item))]), flush=True)
import os
os._exit(0)
""",
        tmp_path,
        state="stopped",
        timeout_s=1.0,
    )

    assert found == ["slow", "slow"]


def test_without_a_session_the_keyring_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/nowhere")
    standing = KeyringKeeper().standing()

    assert standing.trouble == "missing"
    assert "encrypted file" in standing.hint


@pytest.mark.parametrize("name", ["null", "fail"])
def test_a_keyring_that_is_switched_off_is_missing(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", f"keyring.backends.{name}.Keyring")
    standing = KeyringKeeper().standing()

    assert standing.trouble == "missing"
    assert "no keyring" in standing.message


def test_a_keyring_that_may_write_plain_text_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", f"{__name__}.PlainKeyring")
    monkeypatch.setattr("keyring.core.load_env", PlainKeyring)
    keeper = KeyringKeeper()

    assert "plain text" in keeper.standing().message
    with pytest.raises(VaultError):
        keeper.put(ITEM, "some value")
    assert PlainKeyring.values == {}


class PlainKeyring:
    """A backend as others may install one."""

    values: dict[str, str] = {}  # noqa: RUF012  # shared on purpose
    priority = 9.0

    def __init__(self, fault: Exception | None = None, *, cut: int | None = None) -> None:
        self._fault = fault
        self._cut = cut
        self.own: dict[str, str] = {}

    def _checked(self) -> None:
        if self._fault is not None:
            raise self._fault

    def get_password(self, service: str, username: str) -> str | None:
        self._checked()
        return self.own.get(service)

    def set_password(self, service: str, username: str, password: str) -> None:
        self._checked()
        self.own[service] = password[: self._cut]

    def delete_password(self, service: str, username: str) -> None:
        self.own.pop(service, None)


def keeper_of(backend: Any, name: str = "keyring.backends.kwallet.DBusKeyring") -> KeyringKeeper:
    return KeyringKeeper(timeout_s=10.0, find=lambda: (backend, name))


class AccessDeniedError(Exception):
    """As jeepney raises it."""

    name = "org.freedesktop.DBus.Error.AccessDenied"


@pytest.mark.parametrize(
    ("fault", "trouble"),
    [
        (KeyringLocked("Failed to unlock the keyring!"), "locked"),
        (KeyringLocked("Can't get password from keychain: KeychainDenied"), "denied"),
        (AccessDeniedError("no"), "denied"),
        (InitError("Failed to open keyring"), "missing"),
        (ConnectionResetError("gone"), "missing"),
        (KeyringError("(-25299, 'hunter2-in-the-text')"), "failed"),
    ],
)
def test_what_a_backend_says_is_told_apart(fault: Exception, trouble: str) -> None:
    keeper = keeper_of(PlainKeyring(fault))
    for work in (lambda: keeper.get(ITEM), lambda: keeper.put(ITEM, "some value")):
        with pytest.raises(VaultError) as caught:
            work()
        assert caught.value.trouble == trouble
        assert caught.value.hint
        assert "hunter2" not in f"{caught.value.message} {caught.value.hint}"


def test_a_value_that_is_not_kept_whole_is_not_kept() -> None:
    backend = PlainKeyring(cut=4)
    with pytest.raises(VaultError, match="did not keep the value"):
        keeper_of(backend).put(ITEM, "some value")

    assert backend.own == {}


@pytest.mark.parametrize(
    ("name", "length"),
    [
        ("keyring.backends.Windows.WinVaultKeyring", 1281),
        ("keyring.backends.kwallet.DBusKeyring", LONGEST_VALUE + 1),
    ],
)
def test_a_value_that_is_too_long_is_told_with_both_lengths(name: str, length: int) -> None:
    backend = PlainKeyring()
    with pytest.raises(VaultError) as caught:
        keeper_of(backend, name).put(ITEM, "x" * length)

    assert caught.value.trouble == "too-long"
    assert "holds" in caught.value.message
    assert backend.own == {}


def test_while_a_call_hangs_the_next_one_does_not_wait_longer_than_it_may() -> None:
    release, entered = threading.Event(), threading.Event()

    class Hanging(PlainKeyring):
        def get_password(self, service: str, username: str) -> str | None:
            entered.set()
            release.wait()
            return "late"

    keeper = KeyringKeeper(
        timeout_s=0.05, find=lambda: (Hanging(), "keyring.backends.kwallet.DBusKeyring")
    )
    try:
        for _ in range(3):
            with pytest.raises(VaultError) as caught:
                keeper.get(ITEM)
            assert caught.value.trouble == "slow"
        assert entered.is_set()
        hanging = [each for each in threading.enumerate() if each.name == "keyring"]
        assert len(hanging) == 1
    finally:
        release.set()
