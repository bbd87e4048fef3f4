"""`drydock models` where a file under a model's name is not the model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app import cli
from models.catalog import load_catalog
from models.library import model_path

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
