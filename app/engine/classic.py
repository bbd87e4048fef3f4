"""Classic tool calling over the same tools and the same stage, for the lab to compare with.

One call after the other instead of one program: each becomes a program of one line, so that stage,
gate, journal and budgets are those of any program. The model is shown the tools for files and those
that its request likely needs, and finds and calls the others as code mode does. Owns what it is
shown and the bounds of its way. Thread: the engine's.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from models.errors import ModelError
from sandbox.file_tools import FILE_TOOLS
from sandbox.secrets import Secret
from sandbox.tools import Tool, ToolSet

if TYPE_CHECKING:
    from pydantic_ai import Agent
    from pydantic_ai.models import Model

    from app.engine.toolbox import Way
    from app.engine.warm import ReadyModel

MOST_STEPS = 24
"""Requests in one turn."""
_LIKELY, _FOUND, _RETRIES = 4, 5, 8
_SAME_CALLS = 3
_SHELL = "run_command"

Calling = Callable[[str], Awaitable[str]]


def dressed(ready: ReadyModel, way: Way) -> ReadyModel:
    """A model as it works by this way."""
    from models.json_calls import JsonCallModel
    from models.prompt import load_prompt

    match way:
        case "code":
            return ready
        case "naive":
            return replace(ready, prompt=load_prompt("naive"))
        case "tools":
            # A model in the worker writes text alone; others make their provider's own calls.
            model = JsonCallModel(ready.model) if ready.one_program else ready.model
            return replace(ready, model=model, prompt=load_prompt("tools"), one_program=False)


@dataclass(slots=True)
class CallWatch:
    """Notices a model that makes the same call with the same result again and again."""

    last: tuple[str, str] = ("", "")
    times: int = 0

    def is_circling(self, call: str, result: str) -> bool:
        """Note a call and its result; whether it was the last allowed one of its kind."""
        self.times = self.times + 1 if (call, result) == self.last else 1
        self.last = (call, result)
        return self.times >= _SAME_CALLS


class CirclingError(Exception):
    """The same call came again and again."""


def is_end_of_calls(error: Exception) -> bool:
    """Whether a turn of calls ended by one of its bounds: steps, retries, circling, context."""
    from pydantic_ai.exceptions import UnexpectedModelBehavior, UsageLimitExceeded

    if isinstance(error, ModelError):
        return error.setting == "model.context_tokens"
    return isinstance(error, CirclingError | UsageLimitExceeded | UnexpectedModelBehavior)


def build_classic_agent(
    model: Model,
    instructions: str,
    *,
    toolset: ToolSet,
    request: str,
    run: Calling,
) -> Agent[None, str]:
    """The agent of a turn of calls. `run` gets a program of one call and gives what it printed."""
    from pydantic_ai import Agent

    shown = _shown(toolset, request)
    agent: Agent[None, str] = Agent(
        model, instructions=instructions, retries=_RETRIES, tools=[_tool(t, run) for t in shown]
    )

    @agent.tool_plain
    async def search_tools(query: str) -> str:  # pyright: ignore[reportUnusedFunction]  # registered
        """Find further tools; returns their declarations. Call them with call_tool.

        Args:
            query: What the tool should do, in a few words.
        """
        hidden = {item.name for item in shown} | {"search_tools"}
        found = toolset.search(query, _FOUND + len(hidden))
        texts = [item.stub.text for item in found if item.name not in hidden][:_FOUND]
        return "\n\n".join(texts) or "There is no such tool."

    @agent.tool_plain
    async def call_tool(name: str, arguments: dict[str, Any]) -> str:  # pyright: ignore[reportUnusedFunction]  # registered
        """Call a tool that search_tools found.

        Args:
            name: The tool's name.
            arguments: Its arguments by name.
        """
        found = toolset.get(name)
        if found is None:
            return f"Error: there is no tool {name}. {toolset.hint(name)}".strip()
        return await _called(found, arguments, run)

    return agent


def _shown(toolset: ToolSet, request: str) -> list[Tool]:
    likely = [item for item in toolset.likely(request, _LIKELY) if item.name != "search_tools"]
    shell = toolset.get(_SHELL)
    found = [*FILE_TOOLS, *likely, *([shell] if shell is not None else [])]
    return list({item.name: item for item in found}.values())


def _tool(item: Tool, run: Calling) -> Any:
    from pydantic_ai import Tool as AgentTool

    async def call(**arguments: Any) -> str:
        return await _called(item, arguments, run)

    return AgentTool.from_schema(
        call, name=item.name, description=item.doc, json_schema=schema_of(item)
    )


async def _called(item: Tool, arguments: Mapping[str, Any], run: Calling) -> str:
    try:
        named = item.bound((), arguments)
        return await run(source_of(item.name, named))
    except TypeError as error:
        return f"Error: {error}"


def source_of(name: str, arguments: Mapping[str, Any]) -> str:
    """The program that makes one call and prints its result, text as it is and all else as JSON."""
    words = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
    return (
        f"import json\nresult = await {name}({words})\n"
        'print("Done." if result is None else result if isinstance(result, str)'
        " else json.dumps(result, ensure_ascii=False, default=str))\n"
    )


def schema_of(item: Tool) -> dict[str, Any]:
    """A tool's arguments as JSON schema."""
    import inspect

    properties = {name: _type_schema(hint) for name, hint in item.types.items()}
    needed = [
        name
        for name, parameter in item.signature.parameters.items()
        if parameter.default is inspect.Parameter.empty
    ]
    return {"type": "object", "properties": properties, "required": needed}


def _type_schema(hint: Any) -> dict[str, Any]:
    from pydantic import TypeAdapter
    from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError

    if hint is Secret:
        return {"type": "string"}
    try:
        found = TypeAdapter[Any](hint).json_schema()
    except (PydanticSchemaGenerationError, PydanticUserError):
        return {}
    found.pop("title", None)
    return found
