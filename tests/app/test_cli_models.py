"""`drydock models` where a file under a model's name is not the model."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from app import cli
from models.catalog import Catalog, load_catalog
from models.library import model_path
from tests.models import fetching
from tests.models.hub import Hub, serve

ENTRY = load_catalog().get("qwen2.5-coder-0.5b")


@pytest.fixture
def truncated(drydock_home: Path) -> Path:
    """A file under the model's name of which four bytes arrived."""
    folder = drydock_home / "models"
    folder.mkdir()
    path = model_path(folder, ENTRY.id)
    path.write_bytes(b"GGUF")
    return path


@pytest.mark.usefixtures("truncated")
def test_a_truncated_model_is_listed_as_damaged_and_not_as_present(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.run(["models", "list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out.splitlines()[-1])["models"]
    assert [row["id"] for row in rows if row["damaged"]] == [f"local:{ENTRY.id}"]
    assert not any(row["present"] for row in rows)
    assert cli.run(["models", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines if "damaged, fetch again" in line] == [
        f"local:{ENTRY.id}"
    ]


def test_a_truncated_model_can_be_removed(
    truncated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["models", "remove", ENTRY.id, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (answer["removed"], answer["bytes"]) == (True, 4)
    assert not truncated.exists()
    assert cli.run(["models", "remove", ENTRY.id]) == 1
    assert cli.run(["models", "remove", "nope"]) == 4
    assert "no model named nope" in capsys.readouterr().err


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A catalog of two small models."""
    entries = tuple(replace(fetching.entry(fetching.HUB), id=name, name=name) for name in "ab")
    monkeypatch.setattr("app.engine.engine.load_catalog", lambda: Catalog(entries=entries))
    monkeypatch.setattr("models.fetch._MARGIN_BYTES", 0)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("small")
def test_several_models_are_pulled_and_one_that_fails_does_not_stop_the_next(
    drydock_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with serve(Hub(fetching.CONTENT, answers=[(403, {})])) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        assert cli.run(["models", "pull", "a", "b", "--json"]) == 4
        answer = json.loads(capsys.readouterr().out.splitlines()[-1])
        assert [row["status"] for row in answer["models"]] == ["failed", "done"]
        assert answer["status"] == "failed"
        assert "403" in answer["models"][0]["error"]["message"]
        assert cli.run(["models", "pull", "a", "b", "--json"]) == 0
        answer = json.loads(capsys.readouterr().out.splitlines()[-1])
        assert [row["sha256"] for row in answer["models"]] == [fetching.SHA256] * 2
        assert cli.run(["models", "pull", "local:a", "--json"]) == 0
        answer = json.loads(capsys.readouterr().out.splitlines()[-1])
        assert (answer["status"], answer["id"]) == ("done", "local:a")
    assert len(hub.paths) == 3
