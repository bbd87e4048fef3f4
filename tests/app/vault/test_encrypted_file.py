"""The encrypted file: what is wrong with it is told apart, and a crash leaves a whole file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.vault import encrypted_file
from app.vault.encrypted_file import Cost, EncryptedFile
from app.vault.errors import VaultError
from app.vault.keepers import LONGEST_VALUE, Item

PASSPHRASE = "correct horse battery staple"
ITEM = Item(item_id="0123", name="github")
VALUE = "ghp_canary_0123456789"
CHEAP = Cost(iterations=1, lanes=1, memory_kib=64)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with one value."""
    file = tmp_path / "vault.sealed"
    vault = EncryptedFile(file, cost=CHEAP)
    vault.unlock(PASSPHRASE)
    vault.put(ITEM, VALUE)
    return file


def opened(path: Path) -> EncryptedFile:
    file = EncryptedFile(path, cost=CHEAP)
    file.unlock(PASSPHRASE)
    return file


def trouble_of(path: Path, passphrase: str = PASSPHRASE) -> str:
    with pytest.raises(VaultError) as caught:
        EncryptedFile(path).unlock(passphrase)
    assert caught.value.hint
    assert VALUE not in caught.value.message
    return caught.value.trouble


def test_a_value_comes_back_with_the_passphrase(path: Path) -> None:
    assert opened(path).get(ITEM) == VALUE


def test_nothing_in_the_file_shows_the_value_or_the_passphrase(path: Path) -> None:
    content = path.read_bytes()

    assert VALUE.encode() not in content
    assert ITEM.item_id.encode() not in content.partition(b"\n")[2]
    assert PASSPHRASE.encode() not in content
    assert path.stat().st_mode & 0o077 == 0


def test_a_wrong_passphrase_is_told(path: Path) -> None:
    assert trouble_of(path, "correct horse") == "wrong-passphrase"
    assert trouble_of(path, "") == "wrong-passphrase"


def test_every_truncation_is_told(path: Path) -> None:
    content = path.read_bytes()
    for length in range(len(content)):
        path.write_bytes(content[:length])
        assert trouble_of(path) == "truncated", length


def test_every_changed_byte_is_told(path: Path) -> None:
    content = path.read_bytes()
    for at in range(len(content)):
        changed = bytearray(content)
        changed[at] ^= 0x01
        path.write_bytes(changed)
        assert trouble_of(path) in {"tampered", "truncated"}, at
        body = content.index(b"\n") + 1
        if at >= body:
            assert trouble_of(path) == "tampered", at


def test_an_appended_byte_is_told(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"x")

    assert trouble_of(path) == "tampered"


def test_a_header_made_up_with_a_right_sum_does_not_open_it(path: Path) -> None:
    line, _, body = path.read_bytes().partition(b"\n")
    fields = json.loads(line)
    fields["iterations"] = 2
    fields["sum"] = encrypted_file._sum(fields)
    path.write_bytes(json.dumps(fields).encode() + b"\n" + body)
    assert trouble_of(path) == "wrong-passphrase"

    fields["memory_kib"] = 2**40
    fields["sum"] = encrypted_file._sum(fields)
    path.write_bytes(json.dumps(fields).encode() + b"\n" + body)
    assert trouble_of(path) == "tampered"


def test_a_body_of_an_older_file_is_told(path: Path) -> None:
    old = path.read_bytes().partition(b"\n")[2]
    opened(path).put(ITEM, VALUE[::-1])
    header = path.read_bytes().partition(b"\n")[0]
    path.write_bytes(header + b"\n" + old)

    assert trouble_of(path) == "tampered"


def test_a_newer_format_is_told(path: Path) -> None:
    line, _, body = path.read_bytes().partition(b"\n")
    fields = json.loads(line)
    fields["version"] = 2
    fields["sum"] = encrypted_file._sum(fields)
    path.write_bytes(json.dumps(fields).encode() + b"\n" + body)

    assert trouble_of(path) == "failed"


def test_without_a_passphrase_it_is_locked_and_without_a_file_missing(
    path: Path, tmp_path: Path
) -> None:
    locked, missing = EncryptedFile(path), EncryptedFile(tmp_path / "none")

    assert locked.standing().trouble == "locked"
    assert missing.standing().trouble == "missing"
    for file, trouble in ((locked, "locked"), (missing, "missing")):
        with pytest.raises(VaultError) as caught:
            file.put(ITEM, VALUE)
        assert caught.value.trouble == trouble


def test_it_is_written_anew_with_another_nonce_each_time(path: Path) -> None:
    before = path.read_bytes()
    opened(path).put(ITEM, VALUE)

    assert path.read_bytes() != before
    assert opened(path).get(ITEM) == VALUE


def test_a_fault_in_the_middle_of_writing_leaves_the_old_file(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = opened(path)
    before = path.read_bytes()

    def full(_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(encrypted_file.os, "fsync", full)
    with pytest.raises(VaultError) as caught:
        file.put(ITEM, "another value")

    assert caught.value.trouble == "full"
    assert path.read_bytes() == before
    assert sorted(each.name for each in path.parent.iterdir()) == ["vault.lock", "vault.sealed"]


def test_two_processes_that_write_lose_nothing(path: Path) -> None:
    first, second = opened(path), opened(path)
    first.put(Item(item_id="a", name="a"), "value of a")
    second.put(Item(item_id="b", name="b"), "value of b")

    third = opened(path)
    assert third.get(Item(item_id="a", name="a")) == "value of a"
    assert third.get(Item(item_id="b", name="b")) == "value of b"
    assert third.get(ITEM) == VALUE


def test_another_passphrase_locks_out_who_knew_the_old_one(path: Path) -> None:
    other = opened(path)
    opened(path).change_passphrase("another passphrase")

    assert trouble_of(path) == "wrong-passphrase"
    with pytest.raises(VaultError) as caught:
        other.get(ITEM)
    assert caught.value.trouble == "locked"
    file = EncryptedFile(path)
    file.unlock("another passphrase")
    assert file.get(ITEM) == VALUE


def test_a_value_that_is_too_long_is_refused_and_nothing_is_written(path: Path) -> None:
    file = opened(path)
    before = path.read_bytes()
    with pytest.raises(VaultError) as caught:
        file.put(ITEM, "x" * (LONGEST_VALUE + 1))

    assert caught.value.trouble == "too-long"
    assert "65,536" in caught.value.message
    assert path.read_bytes() == before
