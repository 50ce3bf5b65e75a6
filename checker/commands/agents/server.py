"""The Model Context Protocol over standard input and output, by its official SDK."""

from __future__ import annotations

import os
import signal
from types import FrameType
from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    TextContent,
    Tool,
    ToolAnnotations,
)

from checker.commands.agents.answers import Answer, answer, error
from checker.commands.agents.calls import end_all, run
from checker.commands.agents.folder import Folder
from checker.commands.agents.limits import CallLimits
from checker.commands.agents.tools import Tool as Offered
from checker.commands.agents.tools import called, tools
from checker.core.exits import Exit
from checker.distribution import highwater_version
from model.language.errors import HighwaterError

INSTRUCTIONS = """\
Highwater checks models of Apache Kafka's replication, and protocols of one's own in Python. `list`
with `only` names protocols, settings, bounds and properties. `explore` searches every state, and
gives the shortest trace to a violation; with `trace_dir` it keeps the trace, which `explain` takes:
it says which settings prevent it. Try one by `set`. A verdict holds within the bounds alone:
`exhausted` is every state within them, `unknown` that a limit came first. `ask` says what a cluster
can lose, `affected` which known bugs concern it. Steps are events: neither time nor likelihood."""


def serve(folder: Folder, limits: CallLimits, calls: int) -> None:
    """Answer until standard input ends; so many calls at once, others wait for these."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _end)
    anyio.run(_serve, server(folder, limits, calls))


async def _serve(made: Server[Any]) -> None:
    async with stdio_server() as (reading, writing):
        await made.run(reading, writing, made.create_initialization_options())


def _end(number: int, _: FrameType | None) -> None:
    """End at once, whatever a thread waits for on standard input."""
    end_all()
    os._exit(Exit.INTERRUPTED if number == signal.SIGINT else 128 + number)


def server(folder: Folder, limits: CallLimits, calls: int) -> Server[Any]:
    """The server, to be run on two streams."""
    at_once = anyio.Semaphore(calls)

    async def list_tools(*_: Any) -> ListToolsResult:
        return ListToolsResult(tools=[_offered(tool, limits) for tool in tools().values()])

    async def call_tool(_: Any, asked: CallToolRequestParams) -> CallToolResult:
        async with at_once:
            found = await _answer(asked.name, dict(asked.arguments or {}), folder, limits)
        return CallToolResult(
            content=[TextContent(text=found.words)],
            structured_content=found.data,
            is_error=found.is_error,
        )

    return Server(
        "highwater",
        version=highwater_version(),
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _offered(tool: Offered, limits: CallLimits) -> Tool:
    return Tool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.input_schema(limits),
        output_schema=tool.output_schema(),
        annotations=ToolAnnotations(destructive_hint=False, open_world_hint=False),
    )


async def _answer(name: str, given: dict[str, Any], folder: Folder, most: CallLimits) -> Answer:
    """The answer to one call; what is wrong with it is an answer too."""
    try:
        tool = called(name)
        limits = most.asked(given)
        arguments = tool.arguments(given, folder, limits)
        ended = await run(arguments, folder, limits, tool.known)
    except HighwaterError as wrong:
        return error(name, str(wrong))
    except (OSError, ValueError) as wrong:
        return error(name, f"no arguments of a command: {wrong}")
    return answer(name, ended)
