"""Which functions a chat's programs can call, and by which way models work with them.

Owns the tool sets, made once each. A task of the lab lends its chat functions of its own; they are
gone with the process. Thread: engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from sandbox.builtin_tools import builtin_tools
from sandbox.file_tools import FILE_TOOLS
from sandbox.tools import Tool, ToolSet
from sandbox.workspace.shell_tools import tools_with_shell

Way = Literal["code", "tools", "naive"]
"""``code``: Drydock's own; ``tools``: one JSON call after the other; ``naive``: one program over
typed functions without bridge, examples, hints and votes. The last two are for comparison."""


class Toolbox:
    """The functions of each chat. `way`: how models work, the same for all turns of an engine."""

    def __init__(self, way: Way = "code") -> None:
        self.way: Way = way
        self._lent: dict[str, tuple[Tool, ...]] = {}

    def lend(self, chat_id: str, tools: Sequence[Tool]) -> None:
        """Let the programs of a chat call these as well. Raises: `ValueError` for a name twice."""
        ToolSet([*builtin_tools(), *FILE_TOOLS, *tools])
        self._lent[chat_id] = tuple(tools)

    def of(self, chat_id: str, *, shell: bool) -> ToolSet:
        """What programs of this chat can call; `shell`: whether commands can be run."""
        base = tools_with_shell() if shell else builtin_tools()
        more = self._lent.get(chat_id, ())
        files = () if self.way == "code" else FILE_TOOLS
        return ToolSet([*base, *files, *more]) if more or files else base
