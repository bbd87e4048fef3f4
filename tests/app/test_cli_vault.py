"""`drydock vault`: values come from standard input, are kept, used by programs, and never shown."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.cli import run
from app.vault.encrypted_file import EncryptedFile
from app.vault.keepers import Item
from tests.app.vault.canaries import TOKEN, files_below, leaks_in
from tests.sandbox.loopback import Loopback, serve

PASSPHRASE = "correct horse battery"


@pytest.fixture(autouse=True)
def no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without a keyring, and a passphrase in the environment."""
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    monkeypatch.setenv("DRYDOCK_VAULT_PASSPHRASE", PASSPHRASE)
    monkeypatch.setattr("app.cli_vault._has_terminal", lambda: False)


@pytest.fixture
def server() -> Iterator[Loopback]:
    with serve() as loopback:
        yield loopback


def given(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))


def last_json(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    return json.loads(capsys.readouterr().out.splitlines()[-1])


def test_a_secret_is_set_listed_used_and_removed_and_never_shown(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    drydock_home: Path,
    tmp_path: Path,
    server: Loopback,
) -> None:
    given(monkeypatch, f"{TOKEN}\n")
    host = f"127.0.0.1:{server.port}"
    assert run(["vault", "set", "github", "--host", host, "--method", "get", "--json"]) == 0
    assert last_json(capsys)["keep"] == "file"

    assert run(["vault", "list", "--json"]) == 0
    (row,) = last_json(capsys)["secrets"]
    assert (row["name"], row["kind"], row["hosts"]) == ("github", "token", [host])
    assert (row["methods"], row["state"], row["uses"]) == (["GET"], "ready", 0)

    folder = tmp_path / "folder"
    folder.mkdir()
    url = server.page("/", f"you sent {TOKEN}")
    program = tmp_path / "program.py"
    program.write_text(
        f"print(http_request('GET', {url!r}, auth=secret('github'))['text'])\n"
        f"print(http_request('POST', {url!r}, auth=secret('github')))"
    )
    code = run(["exec", str(program), "--folder", str(folder), "--grant", f"host:{host}", "--json"])
    found = last_json(capsys)
    assert code == 1
    assert found["programs"][0]["printed"] == "you sent [secret:github]\n"
    assert "not with POST" in found["programs"][0]["error"]["message"]
    assert [seen[2]["authorization"] for seen in server.seen] == [f"Bearer {TOKEN}"]

    assert run(["vault", "test", "github"]) == 0
    assert run(["vault", "list"]) == 0
    assert "used 1 times" in capsys.readouterr().out
    assert run(["vault", "remove", "github", "--json"]) == 0
    assert run(["vault", "list", "--json"]) == 0
    assert last_json(capsys)["secrets"] == []
    assert leaks_in(files_below(drydock_home)) == []


def test_changing_a_value_keeps_what_is_not_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], drydock_home: Path
) -> None:
    given(monkeypatch, "first-value")
    run(
        ["vault", "set", "mail", "--host", "mail.example.com", "--kind", "password", "--user", "me"]
    )
    given(monkeypatch, "second-value")
    run(["vault", "set", "mail", "--method", "post"])
    capsys.readouterr()

    assert run(["vault", "list", "--json"]) == 0
    (row,) = last_json(capsys)["secrets"]
    assert (row["kind"], row["hosts"], row["methods"]) == (
        "password",
        ["mail.example.com"],
        ["POST"],
    )
    file = EncryptedFile(drydock_home / "vault.sealed")
    file.unlock(PASSPHRASE)
    assert set(file._read().values()) == {"second-value"}
    assert file.get(Item(item_id="none", name="mail")) is None


@pytest.mark.parametrize(
    ("arguments", "value", "said"),
    [
        (["github"], TOKEN, "Say which host"),
        (["github", "--host", "*"], TOKEN, "is no host"),
        (["github", "--host", "h", "--kind", "cookie"], TOKEN, "is no kind"),
        (["github", "--host", "h", "--method", "TRACE"], TOKEN, "is no method"),
        (["git hub", "--host", "h"], TOKEN, "is no name"),
        (["github", "--host", "h"], "", "no value on standard input"),
        (["github", "--host", "h"], "abc", "too short"),
        (["github", "--host", "h"], "x" * 70_000, "too long"),
    ],
)
def test_what_cannot_be_a_secret_is_refused_with_the_reason(
    arguments: list[str],
    value: str,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given(monkeypatch, value)

    assert run(["vault", "set", *arguments]) in {1, 2}
    assert said in capsys.readouterr().err


def test_a_value_is_never_an_argument(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given(monkeypatch, TOKEN)

    assert run(["vault", "set", "github", TOKEN, "--host", "h"]) == 2


def test_without_keyring_passphrase_and_terminal_it_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("DRYDOCK_VAULT_PASSPHRASE")
    given(monkeypatch, TOKEN)

    assert run(["vault", "set", "github", "--host", "h"]) == 1
    assert "DRYDOCK_VAULT_PASSPHRASE" in capsys.readouterr().err


def test_the_passphrase_does_not_stay_in_the_environment_of_child_processes(
    monkeypatch: pytest.MonkeyPatch, drydock_home: Path
) -> None:
    given(monkeypatch, TOKEN)

    assert run(["vault", "set", "github", "--host", "h"]) == 0
    assert "DRYDOCK_VAULT_PASSPHRASE" not in os.environ
    assert not [
        name for name, content in files_below(drydock_home) if PASSPHRASE.encode() in content
    ]
    assert run(["vault", "remove", "github"]) == 0


def test_a_locked_file_is_listed_as_locked_and_a_wrong_passphrase_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given(monkeypatch, TOKEN)
    run(["vault", "set", "github", "--host", "h"])
    monkeypatch.setenv("DRYDOCK_VAULT_PASSPHRASE", "another one")
    capsys.readouterr()

    assert run(["vault", "list", "--json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["secrets"][0]["state"] == "locked"
    assert "not the passphrase" in captured.err
    given(monkeypatch, TOKEN)
    assert run(["vault", "set", "github"]) == 1
    assert run(["vault", "remove", "github"]) == 1
    assert run(["vault", "remove", "gitlab"]) == 1


def test_a_locked_vault_is_told_only_by_what_needs_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    given(monkeypatch, f"{TOKEN}\n")
    assert run(["vault", "set", "github", "--host", "api.github.com"]) == 0
    monkeypatch.setattr("app.engine.secret_desk._given", {})  # another process
    capsys.readouterr()
    for argv in (["models", "list"], ["runs", "list"], ["costs"], ["grants", "list"]):
        assert run(argv) == 0
        assert "secrets" not in capsys.readouterr().err, argv
    program = tmp_path / "program.py"
    program.write_text("print(1)")
    assert run(["exec", str(program), "--folder", str(tmp_path), "--approve", "never"]) == 0
    assert capsys.readouterr().err.count("Your secrets cannot be used now.") == 1
