"""The tools that come with the sandbox, and `search_tools`, which finds any.

Owns the list. Thread: any.
"""

from __future__ import annotations

from functools import cache

from sandbox.artifact_tools import ARTIFACT_TOOLS
from sandbox.document_process import DOCUMENT_TOOLS
from sandbox.find_text import FIND_TOOLS
from sandbox.images import IMAGE_TOOLS
from sandbox.panel_tools import PANEL_TOOLS
from sandbox.person import PERSON_TOOLS
from sandbox.sql import SQL_TOOLS
from sandbox.tool_run import ToolRun
from sandbox.tools import Planned, ToolSet, tool
from sandbox.web import WEB_TOOLS

_MOST_FOUND = 20


def search_tools(run: ToolRun, query: str, limit: int = 5) -> Planned[list[str]]:
    """Find functions that can be called here; gives their declarations."""
    limit = max(1, min(limit, _MOST_FOUND))
    found = [item for item in run.tools.search(query, limit + 1) if item.name != "search_tools"]
    return Planned(do=lambda: [item.stub.text for item in found[:limit]])


@cache
def builtin_tools() -> ToolSet:
    """All tools that come with the sandbox."""
    return ToolSet(
        (
            *SQL_TOOLS,
            *FIND_TOOLS,
            *DOCUMENT_TOOLS,
            *IMAGE_TOOLS,
            *ARTIFACT_TOOLS,
            *WEB_TOOLS,
            *PERSON_TOOLS,
            *PANEL_TOOLS,
            tool(
                search_tools,
                roles={"query": "query", "limit": "option"},
                cues=["search tools"],
            ),
        )
    )
