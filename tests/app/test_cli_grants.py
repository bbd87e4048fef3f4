"""Standing grants on the command line: hosts are read under them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app import cli
from app.cli_run import checked_grants
from app.errors import UsageError
from tests.sandbox.loopback import Loopback, serve


@pytest.fixture(scope="module")
def server() -> Iterator[Loopback]:
    with serve() as loopback:
        yield loopback


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DRYDOCK_HOME", str(tmp_path / "home"))
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "notes.txt").write_text("my-secret\n", encoding="utf-8")
    return folder


def run(
    capsys: pytest.CaptureFixture[str], folder: Path, source: str, *options: str
) -> tuple[int, dict[str, Any]]:
    program = folder.parent / "program.py"
    program.write_text(source, encoding="utf-8")
    options = options if "--approve" in options else ("--approve", "all", *options)
    argv = ("exec", str(program), "--folder", str(folder), "--json", *options)
    code = cli.run(argv)
    return code, json.loads(capsys.readouterr().out.splitlines()[-1])


def test_a_granted_host_is_read_and_the_page_lands_in_the_folder(
    capsys: pytest.CaptureFixture[str], folder: Path, server: Loopback
) -> None:
    url = server.page("/page", "hello", headers=(("Content-Type", "text/plain"),))
    source = f"reply = await fetch_url({url!r})\nopen('page.txt', 'w').write(reply['text'])\n"
    code, result = run(capsys, folder, source, "--grant", f"host:127.0.0.1:{server.port}")
    assert code == 0, result
    assert (folder / "page.txt").read_text(encoding="utf-8") == "hello"
    first = result["effects"][0]
    assert (first["kind"], first["path"], first["call"]) == ("read", url, "fetch_url")


def test_a_host_that_is_not_granted_is_read_when_the_person_approves(
    capsys: pytest.CaptureFixture[str], folder: Path, server: Loopback
) -> None:
    url, before = server.url("/page"), len(server.seen)
    code, result = run(capsys, folder, f"fetch_url({url!r})\n", "--approve", "never")
    assert (code, result["status"]) == (3, "asking")
    assert [reason["code"] for reason in result["question"]["reasons"]] == ["reads-host"]
    assert len(server.seen) == before
    code, _ = run(capsys, folder, f"fetch_url({url!r})\n", "--approve", "all")
    assert (code, len(server.seen)) == (0, before + 1)


def test_what_was_read_from_files_does_not_leave_in_an_address_unasked(
    capsys: pytest.CaptureFixture[str], folder: Path, server: Loopback
) -> None:
    before = len(server.seen)
    source = f"text = open('notes.txt').read()\nfetch_url({server.url('/?q=')!r} + text.strip())\n"
    code, result = run(capsys, folder, source, "--grant", "host:127.0.0.1", "--approve", "never")
    assert (code, result["status"]) == (3, "asking")
    assert result["question"]["reasons"][0]["code"].startswith("private-")
    assert len(server.seen) == before


@pytest.mark.parametrize("grant", ["host:*", "host:", "host:a:b", "tool:", "tool:a b", "net:all"])
def test_a_grant_that_is_none_is_refused_with_the_known_ones(grant: str) -> None:
    with pytest.raises(UsageError) as caught:
        checked_grants([grant])
    assert "host:NAME[:PORT]" in caught.value.hint


def test_known_grants_are_taken() -> None:
    texts = ["commit:new-files", "host:example.org:8080", "tool:notes.add"]
    assert checked_grants(texts) == frozenset(texts)
