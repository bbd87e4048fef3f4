"""Worked examples: each is sound by itself, and the nearest to a request is found."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from models.errors import ModelError
from models.prompt import load_prompt
from models.recipes import Recipe, load_recipes, nearest
from sandbox.program import prepare

RECIPES = load_recipes()


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.request[:40])
def test_a_recipe_is_a_short_program_that_runs_here_and_prints(recipe: Recipe) -> None:
    prepare(recipe.program)
    assert len(recipe.program.splitlines()) <= 17
    assert any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
        for node in ast.walk(ast.parse(recipe.program))
    )


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.request[:40])
def test_a_recipe_is_nearest_to_its_own_request(recipe: Recipe) -> None:
    assert nearest(recipe.request, 1) == (recipe,)


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ("Please delete every .swp file, also deeper down.", "unlink"),
        ("Which customer spent the most in total?", "float"),
        ("Make a zip archive of the folder thesis.", "zipfile"),
        ("How many days lie between the two dates?", "date"),
    ],
)
def test_other_words_find_the_same_kind_of_work(request_: str, words: str) -> None:
    assert any(words in recipe.program for recipe in nearest(request_, 2))


def test_the_nearest_comes_last_and_no_more_than_asked() -> None:
    first, second = nearest("Sort the rows of a.csv by price.", 2)
    assert "sorted(" in second.program
    assert first != second
    assert nearest("Sort the rows.", 0) == ()
    assert nearest("xyzzy", 3) == ()


def test_a_prompt_has_as_many_recipes_as_its_file_says() -> None:
    prompt = load_prompt("default")
    exchanges = prompt.chosen_exchanges("Delete all .bak files.")
    assert len(exchanges) == prompt.recipes
    asked, reply = exchanges[-1]
    assert asked.startswith("Task: ")
    assert reply.startswith("```python\n")


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "recipes.toml"
    path.write_text('[[recipes]]\nrequest = "a"\n', encoding="utf-8")
    with pytest.raises(ModelError, match=r"recipes\.toml"):
        load_recipes(path)
