"""The words that models are given, from data files under ``assets/prompts``.

A file named after a model or its family gives what differs from the default one.

Owns loading and filling in. What goes in (listing, request) is the caller's. Thread: any.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from models.errors import ModelError
from models.protocol import ChatMessage
from models.recipes import nearest

PROMPTS = Path(__file__).resolve().parent.parent / "assets" / "prompts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A worked example. Without a `listing` it is a further request in the folder before it."""

    request: str
    program: str
    listing: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """The texts for one family; see ``assets/prompts/default.toml`` for each one's place.

    `recipes`: how many worked examples are chosen for a request, after the fixed `examples`.
    """

    system: str
    today: str
    task: str
    reminder: str
    examples: tuple[Example, ...]
    retry: str
    correct: str
    no_program: str
    recipes: int = 0

    def system_text(self) -> str:
        """The fixed beginning: the same on every day, so that its evaluation can be kept."""
        return self.system.strip()

    def task_text(self, listing: str, request: str, *, today: str = "") -> str:
        """What the person asks, with the folders' listing, and the reminder at the end.

        `today`: the ISO date with the weekday; examples are of no day.
        """
        date = _fill(self.today, today=today) if today else ""
        task = _fill(self.task, listing=listing.strip(), request=request.strip())
        return f"{date}\n{task}\n{self.reminder.strip()}".strip()

    def example_exchanges(self) -> tuple[tuple[str, str], ...]:
        """Question and fenced answer of each worked example."""
        return tuple(
            (self.task_text(example.listing, example.request), fenced(example.program))
            for example in self.examples
        )

    def chosen_exchanges(self, request: str) -> tuple[tuple[str, str], ...]:
        """Question and fenced answer of the examples that are nearest to `request`."""
        return tuple(
            (self.task_text("", recipe.request), fenced(recipe.program))
            for recipe in nearest(request, self.recipes)
        )

    def fixed_messages(self) -> tuple[ChatMessage, ...]:
        """What every chat begins with: system text and examples."""
        messages = [ChatMessage(role="system", content=self.system_text())]
        for asked, reply in self.example_exchanges():
            messages.append(ChatMessage(role="user", content=asked))
            messages.append(ChatMessage(role="assistant", content=reply))
        return tuple(messages)

    def retry_text(self, fault: str) -> str:
        """What a failed program is answered with. `fault`: one actionable line."""
        return _fill(self.retry, fault=fault)

    def correct_text(self, fault: str, program: str) -> str:
        """The same for a fault that one line of the program can be corrected of."""
        return _fill(self.correct, fault=fault, program=fenced(program))


def fenced(source: str) -> str:
    """A program as a Markdown block."""
    return f"```python\n{source.strip()}\n```"


@cache
def load_prompt(family: str, model_id: str = "", folder: Path = PROMPTS) -> Prompt:
    """The prompt of a model: its own file over its family's over the default one.

    Raises: `ModelError` when a file is missing a text or is not TOML.
    """
    texts: dict[str, Any] = {}
    for name in ("default", family, model_id or family):
        file = folder / f"{name}.toml"
        if not file.exists():
            continue
        try:
            texts |= tomllib.loads(file.read_text(encoding="utf-8"))
        except (OSError, tomllib.TOMLDecodeError) as error:
            raise ModelError(f"The prompt file {file.name} cannot be read: {error}.") from error
    try:
        examples = tuple(Example(**example) for example in texts.pop("examples", ()))
        return Prompt(**texts, examples=examples)
    except TypeError as error:
        raise ModelError(f"The prompt files for {family} are not complete: {error}.") from error


def _fill(template: str, **values: str) -> str:
    """Replace ``{name}`` for the given names alone; other braces stay."""
    # In one pass, so that a listing or request that holds a placeholder's name stays as it is.
    pattern = "|".join(re.escape("{" + name + "}") for name in values)
    return re.sub(pattern, lambda found: values[found.group()[1:-1]], template).strip()
