"""The words that models are given, from data files under ``assets/prompts``, one a family.

Owns loading and filling in. What goes in (listing, request) is the caller's. Thread: any.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from models.errors import ModelError

PROMPTS = Path(__file__).resolve().parent.parent / "assets" / "prompts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """The texts for one family; see ``assets/prompts/default.toml`` for each one's place."""

    system: str
    task: str
    example_listing: str
    example_request: str
    example_program: str
    example_result: str
    retry: str
    no_program: str

    def system_text(self, today: str) -> str:
        """The fixed beginning. `today` as ISO date with the weekday."""
        return _fill(self.system, today=today)

    def task_text(self, listing: str, request: str) -> str:
        """What the person asks, with the folders' listing."""
        return _fill(self.task, listing=listing.strip(), request=request.strip())

    def example_task(self) -> str:
        """The worked example's question."""
        return self.task_text(self.example_listing, self.example_request)

    def example_reply(self) -> str:
        """The worked example's answer, fenced."""
        return fenced(self.example_program)

    def retry_text(self, fault: str) -> str:
        """What a failed program is answered with. `fault`: one actionable line."""
        return _fill(self.retry, fault=fault)


def fenced(source: str) -> str:
    """A program as a Markdown block."""
    return f"```python\n{source.strip()}\n```"


@cache
def load_prompt(family: str, folder: Path = PROMPTS) -> Prompt:
    """The prompt of a family: its own file over the default one.

    Raises: `ModelError` when a file is missing a text or is not TOML.
    """
    texts: dict[str, str] = {}
    for name in ("default", family):
        file = folder / f"{name}.toml"
        if not file.exists():
            continue
        try:
            texts |= tomllib.loads(file.read_text(encoding="utf-8"))
        except (OSError, tomllib.TOMLDecodeError) as error:
            raise ModelError(f"The prompt file {file.name} cannot be read: {error}.") from error
    try:
        return Prompt(**texts)
    except TypeError as error:
        raise ModelError(f"The prompt files for {family} are not complete: {error}.") from error


def _fill(template: str, **values: str) -> str:
    """Replace ``{name}`` for the given names alone; other braces stay."""
    text = template.strip()
    for name, value in values.items():
        text = text.replace("{" + name + "}", value)
    return text
