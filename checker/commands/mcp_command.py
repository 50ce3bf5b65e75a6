"""`mcp`: the questions of other commands, for agents and editors."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from checker.commands.common import HELP, seconds, size, write_told
from checker.distribution import require
from model.language.errors import UsageError

if TYPE_CHECKING:
    from checker.commands.agents.limits import CallLimits
    from checker.commands.outputs.agents import Mcp


@click.command(context_settings=HELP)
@click.option(
    "--folder", type=click.Path(file_okay=False, exists=True, path_type=Path), metavar="DIR",
    help="what agents may read, and write traces to",
)  # fmt: skip
@click.option(
    "--max-seconds", "call_seconds", type=seconds, default=50.0, show_default=True,
    help="end each call after this time; a call may ask for less",
)  # fmt: skip
@click.option(
    "--max-memory", "call_memory", type=size, default="2GB", show_default=True,
    help="end each call at this much memory; a call may ask for less",
)  # fmt: skip
@click.option(
    "--calls", type=click.IntRange(1, 64), default=2, show_default=True,
    help="answer so many calls at once; others wait",
)  # fmt: skip
@click.option("--tools", "shows", is_flag=True, help="print the tools, and serve nothing")
@click.option("--json", "as_json", is_flag=True, help="with --tools: print one JSON object")
def command(
    folder: Path | None, call_seconds: float, call_memory: int, calls: int, shows: bool,
    as_json: bool,
) -> int:  # fmt: skip
    """Serve agents and editors by the Model Context Protocol, on standard input and output.

    Each tool is a command, with its options as arguments and its --json as answer. A call is a
    process of its own, which ends at its limits, or when it is cancelled. Paths that leave DIR are
    refused. A protocol in DIR is a program: it may do there and elsewhere what you may.
    """
    from checker.commands.agents.limits import CallLimits

    limits = CallLimits(call_seconds, call_memory)
    if shows:
        return _show(limits, as_json)
    if as_json:
        raise UsageError("--json goes with --tools: what is served is JSON by itself")
    require("mcp needs the MCP SDK", "mcp_types")
    if folder is None:
        raise UsageError("Missing option '--folder': say which folder agents may use, such as .")
    from checker.commands.agents.folder import Folder
    from checker.commands.agents.server import serve

    serve(Folder(folder), limits, calls)
    return 0


def _show(limits: CallLimits, as_json: bool) -> int:
    from checker.commands.agents.tools import tools

    offered = tools().values()

    def data() -> Mcp:
        return {
            "command": "mcp",
            "tools": [
                {
                    "name": each.name,
                    "description": each.description,
                    "inputSchema": each.input_schema(limits),
                    "outputSchema": each.output_schema(),
                }
                for each in offered
            ],
        }

    def text() -> str:
        return "".join(
            f"{each.name}: {each.description.partition(chr(10))[0]}\n  "
            f"{', '.join(each.input_schema(limits)['properties'])}\n"
            for each in offered
        )

    write_told(as_json, data, text)
    return 0
