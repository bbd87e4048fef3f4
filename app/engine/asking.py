"""What a model is asked with: agent, tools and settings, the same for a turn and for its preview.

Owns the declarations of the tools that models call, which are part of what is sent and so the same
bytes for every request. Runs nothing. Thread: the engine's.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from sandbox.builtin_tools import builtin_tools
from sandbox.tools import ToolSet

if TYPE_CHECKING:
    from pydantic_ai import Agent
    from pydantic_ai.models import Model
    from pydantic_ai.settings import ModelSettings

    from app.engine.warm import ReadyModel

_FOUND = 5


def build_agent(
    ready: ReadyModel,
    instructions: str,
    *,
    tries: int,
    run_code: Callable[[str], Awaitable[Any]],
    model: Model | None = None,
    tools: ToolSet | None = None,
    shell: bool = False,
) -> Agent[None, str]:
    """The agent of a turn. `run_code` gets the source and gives what the model is told; `model`:
    what `ready` holds, wrapped; `tools`: what programs can call; `shell`: commands can be run.

    A model that calls tools itself can also look for functions; a small one has the likely ones in
    its request already.
    """
    from pydantic_ai import Agent

    agent: Agent[None, str] = Agent(
        model or ready.model, instructions=instructions, retries=tries + 1
    )
    run = run_code

    @agent.tool_plain(name="run_code")
    async def run_program(source: str) -> Any:  # pyright: ignore[reportUnusedFunction]  # registered
        """Run one Python program over the person's folders and return what it printed.

        Names that it defines (variables, functions, imports) are there in the next program.

        Args:
            source: The whole program.
        """
        return await run(source)

    if not ready.one_program:

        @agent.tool_plain
        async def search_tools(query: str) -> str:  # pyright: ignore[reportUnusedFunction]  # registered
            """Find functions that programs can call besides Python's own; returns declarations.

            Args:
                query: What the function should do, in a few words.
            """
            found = (tools or builtin_tools()).search(query, _FOUND + 1)
            texts = [one.stub.text for one in found if one.name != "search_tools"][:_FOUND]
            return "\n\n".join(texts) or "There is no such function. Use Python's own means."

        if shell:
            _add_shell(agent, run_code)
    return agent


def settings_of(
    ready: ReadyModel, *, reply_tokens: int, temperature: float, seed: int | None
) -> ModelSettings:
    """What the requests of a turn are sent with."""
    from pydantic_ai.settings import ModelSettings

    if ready.settings is not None:
        return ready.settings
    settings = ModelSettings(max_tokens=reply_tokens, temperature=temperature)
    if seed is not None:
        settings["seed"] = seed
    return settings


def _add_shell(agent: Agent[None, str], run_code: Callable[[str], Awaitable[Any]]) -> None:
    """A tool for one shell command: it becomes a program of one line."""

    @agent.tool_plain
    async def run_command(command: str) -> Any:  # pyright: ignore[reportUnusedFunction]  # registered
        """Run one shell command (git, pytest, make, ...) over the person's folders.

        Args:
            command: As in a shell; it starts in the first folder.
        """
        return await run_code(f"print(run_command({command!r}))")
