"""The texts for models: complete, filled in once, and of one family over those of all."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from models.errors import ModelError
from models.prompt import PROMPTS, load_prompt

SMALL = "qwen2.5-coder-0.5b"


def test_a_family_without_a_file_of_its_own_has_the_default_texts() -> None:
    assert load_prompt("no such family") == load_prompt("default")


def test_the_texts_of_a_family_replace_those_that_it_names(tmp_path: Path) -> None:
    default = (PROMPTS / "default.toml").read_text(encoding="utf-8")
    (tmp_path / "default.toml").write_text(default, encoding="utf-8")
    (tmp_path / "tiny.toml").write_text('reminder = "Python only."\n', encoding="utf-8")
    prompt = load_prompt("tiny", folder=tmp_path)
    assert prompt.task_text("a.txt", "Count.").endswith("Task: Count.\nPython only.")
    assert prompt.examples == load_prompt("default").examples


def test_the_texts_of_a_model_replace_those_of_its_family(tmp_path: Path) -> None:
    default = (PROMPTS / "default.toml").read_text(encoding="utf-8")
    (tmp_path / "default.toml").write_text(default, encoding="utf-8")
    (tmp_path / "tiny.toml").write_text('reminder = "Family."\n', encoding="utf-8")
    (tmp_path / "tiny-1b.toml").write_text('reminder = "Model."\n', encoding="utf-8")
    assert load_prompt("tiny", "tiny-1b", tmp_path).reminder == "Model."
    assert load_prompt("tiny", "tiny-7b", tmp_path).reminder == "Family."


def test_a_file_that_lacks_a_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "default.toml").write_text('system = "Hello"\n', encoding="utf-8")
    with pytest.raises(ModelError, match="not complete"):
        load_prompt("default", folder=tmp_path)


def test_placeholders_in_what_is_filled_in_stay_as_they_are() -> None:
    text = load_prompt("default").task_text("- {request}.txt", "Rename {listing}.")
    assert "- {request}.txt" in text
    assert "Task: Rename {listing}." in text


def test_every_example_is_a_program_that_ends_with_a_print() -> None:
    for example in (*load_prompt("default").examples, *load_prompt("", SMALL).examples):
        last = ast.parse(example.program).body[-1]
        assert ast.unparse(last).startswith("print(")


def test_a_program_to_correct_is_shown_with_its_fault() -> None:
    text = load_prompt("default").correct_text("NameError: x", "print(x)")
    assert "```python\nprint(x)\n```" in text
    assert "NameError: x" in text
