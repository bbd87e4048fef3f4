"""Which functions a request declares to the model: few, and only where they are likely needed."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.engine.context import Context, build_context, declared_tools
from app.lab.suite import SUITES
from models.prompt import load_prompt
from sandbox.builtin_tools import builtin_tools

PROMPT = load_prompt("default")
TASKS = SUITES / "everyday"
LISTING = "Current folder: 1 file\n- a.jpg  3 B"


def context_of(request: str) -> Context:
    return build_context(
        PROMPT,
        request=request,
        listing=LISTING,
        earlier=(),
        context_tokens=8192,
        now=datetime(2024, 5, 6, tzinfo=UTC),
    )


def test_a_likely_function_is_declared_with_the_request_and_not_before() -> None:
    context = context_of("Rename the photos by the date taken.")
    assert "async def image_info(path: str | Path) -> ImageInfo:" in context.prompt
    assert context.prompt.index(LISTING) < context.prompt.index("image_info")
    assert context.prompt.index("image_info") < context.prompt.index("Task: Rename")
    assert "image_info" not in context.instructions
    assert context.instructions == context_of("Hello").instructions


def test_a_request_that_needs_none_is_sent_as_before() -> None:
    request = "Sort Downloads by type."
    assert context_of(request).prompt == PROMPT.task_text(
        LISTING, request, today="Monday, 2024-05-06"
    )


def test_declarations_stay_small() -> None:
    everything = "sql grep http webhook exif pdf text"
    assert 0 < len(declared_tools(everything, builtin_tools())) < 1_500


@pytest.mark.parametrize(
    "task", sorted(TASKS.glob("*/instruction.md")), ids=lambda p: p.parent.name
)
def test_an_everyday_file_task_declares_nothing(task: Path) -> None:
    assert declared_tools(task.read_text(encoding="utf-8"), builtin_tools()) == ""
