"""What is printed by `mcp --tools`."""

from __future__ import annotations

from typing import Literal, TypedDict


class Mcp(TypedDict):
    """The tools that agents are offered."""

    command: Literal["mcp"]
    tools: list[McpTool]


class McpTool(TypedDict):
    """A tool, as the Model Context Protocol describes one."""

    name: str
    description: str
    inputSchema: dict[str, object]
    outputSchema: dict[str, object]
