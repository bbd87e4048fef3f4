"""What Drydock ships beside code is complete: the demo folder, the notices, the licence.

Reads files of the repository only.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
DEMO = REPOSITORY / "assets" / "demo"
FILES = DEMO / "files"

EXIF_DATE = re.compile(rb"\d{4}:\d\d:\d\d \d\d:\d\d:\d\d\0")
PICTURES = {".jpg": b"\xff\xd8\xff", ".jpeg": b"\xff\xd8\xff", ".png": b"\x89PNG\r\n\x1a\n"}


def _toml(*names: str) -> Mapping[str, Any]:
    return tomllib.loads(REPOSITORY.joinpath(*names).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def demo() -> dict[str, bytes]:
    return {
        path.relative_to(FILES).as_posix(): path.read_bytes()
        for path in FILES.rglob("*")
        if path.is_file()
    }


@pytest.fixture(scope="module")
def notices() -> str:
    return (REPOSITORY / "NOTICES.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def readme() -> str:
    return (REPOSITORY / "README.md").read_text(encoding="utf-8")


class TestDemo:
    def test_it_has_a_task_in_plain_words(self) -> None:
        task = _toml("assets", "demo", "demo.toml")["task"]
        assert 20 < len(task) < 400
        assert "\n" not in task

    def test_it_is_a_mess_of_a_size_that_can_be_shipped(self, demo: dict[str, bytes]) -> None:
        assert len(demo) > 30
        assert sum(map(len, demo.values())) < 1_000_000
        kinds = Counter(Path(name).suffix.lower() for name in demo)
        assert kinds[".jpg"] >= 5
        assert min(kinds[".png"], kinds[".txt"], kinds[".csv"], kinds[".md"]) >= 3

    def test_pictures_are_pictures_and_some_know_when_they_were_taken(
        self, demo: dict[str, bytes]
    ) -> None:
        for name, content in demo.items():
            head = PICTURES.get(Path(name).suffix.lower(), b"")
            assert content.startswith(head), name
        dated = [name for name, content in demo.items() if EXIF_DATE.search(content[:1000])]
        assert len(dated) >= 3
        assert not all(name in dated for name in demo if name.lower().endswith(".jpg"))

    def test_it_has_exact_duplicates(self, demo: dict[str, bytes]) -> None:
        copies = Counter(content for content in demo.values() if content)
        assert sum(count > 1 for count in copies.values()) >= 2

    def test_it_has_the_names_that_trip_programs(self, demo: dict[str, bytes]) -> None:
        names = [Path(name).name for name in demo]
        assert any(name.startswith(".") for name in names)
        assert any("ü" in name and " " in name for name in names)
        assert any(any("\u4e00" <= letter <= "\u9fff" for letter in name) for name in names)
        assert any("/" in name for name in demo)
        assert any(name != name.lower() and name.endswith(".JPG") for name in names)

    def test_it_has_the_contents_that_trip_programs(self, demo: dict[str, bytes]) -> None:
        assert b"" in demo.values()
        old = demo["kunden_alt.csv"]
        with pytest.raises(UnicodeDecodeError):
            old.decode("utf-8")
        assert "Köln" in old.decode("cp1252")
        assert old.count(b";") > old.count(b",")
        assert b"\r\n" in demo["expenses 2024.csv"]

    def test_git_leaves_its_bytes_alone(self) -> None:
        assert "files/** -text" in (DEMO / ".gitattributes").read_text(encoding="utf-8")


class TestNotices:
    def test_every_direct_dependency_is_named(self, notices: str) -> None:
        wanted = _toml("pyproject.toml")["project"]["dependencies"]
        names = [re.split(r"[\[<>=~! ]", item, maxsplit=1)[0] for item in wanted]
        assert [name for name in names if not re.search(rf"\b{re.escape(name)}\b", notices)] == []

    def test_every_model_is_named_with_its_licence(self, notices: str) -> None:
        rows = [line.split("|")[1:3] for line in notices.splitlines() if line.startswith("|")]
        licence_of = {
            name.strip(): licence.strip() for names, licence in rows for name in names.split(",")
        }
        for model in _toml("assets", "models.toml")["model"]:
            assert licence_of.get(model["id"]) == model["licence"], model["id"]

    def test_the_licence_is_the_one_that_the_package_names(self) -> None:
        assert _toml("pyproject.toml")["project"]["license"] == "MIT"
        assert (REPOSITORY / "LICENSE").read_text(encoding="utf-8").startswith("MIT License")


class TestReadme:
    def test_it_has_the_two_commands_and_the_headless_twin(self, readme: str) -> None:
        for command in (
            "pip install uv && uv run drydock",
            "pip install uv && uv run pytest",
            "uv run drydock run --demo",
        ):
            assert command in readme, command

    def test_the_gate_runs_its_test_command_word_for_word(self) -> None:
        gate = (REPOSITORY / ".ci" / "run").read_text(encoding="utf-8")
        assert "pip install uv && uv run pytest" in gate

    def test_every_link_to_a_file_leads_somewhere(self, readme: str) -> None:
        links = re.findall(r"\]\((?!https?:|#)([^)#]+)", readme)
        assert links
        assert [link for link in links if not (REPOSITORY / link).exists()] == []

    def test_every_command_it_shows_is_one(self, readme: str) -> None:
        from app.cli import build_parser

        known = build_parser().format_help()
        shown = set(re.findall(r"^ *(?:uv run )?drydock ([a-z]+)\b", readme, re.MULTILINE))
        assert shown
        assert [name for name in shown if name not in known] == []
