"""`replay`: run a stored trace or case on the reference engine, and check what it claims."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from checker.commands.common import (
    HELP,
    output_options,
    print_json,
    protocol_option,
    write_output,
    write_result,
    write_words,
)
from checker.core.amounts import counted
from model.language.errors import RejectedError

if TYPE_CHECKING:
    from rich.console import Console

    from checker.core.traces.trace import Trace


@click.command(context_settings=HELP)
@click.argument(
    "files", metavar="TRACE...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@protocol_option("reject a trace of any other protocol")
@output_options
def command(files: tuple[Path, ...], protocol: str | None, as_json: bool, quiet: bool) -> int:
    """Run each TRACE on the reference engine, and check that it shows what it claims.

    TRACE is a file, or the folder or name of a stored counterexample. Of several each gets a line,
    and the first that is rejected ends the command.

    Exit status: 0 it does, 23 it does not, 2 it cannot be read. With --quiet, nothing is shown.
    """
    if len(files) == 1:
        return _replayed(files[0], protocol, as_json, quiet)
    from checker.lab.experiments.cases import accepted_trace

    traces, told = [], ""
    for file in files:
        trace = accepted_trace(file, protocol)
        traces.append(_as_data(trace, file))
        line = f"{file}: accepted, {counted(trace.depth, 'step')}\n"
        told += line
        if not as_json and not quiet:
            write_output(line)
    if as_json:
        write_words(lambda: told)
        print_json({"command": "replay", "accepted": True, "traces": traces})
    return 0


def _replayed(file: Path, protocol: str | None, as_json: bool, quiet: bool) -> int:
    from checker.lab.experiments.cases import accepted_trace

    try:
        trace = accepted_trace(file, protocol)
    except RejectedError as error:
        if as_json:
            data = {"command": "replay", "trace": str(file), "accepted": False}
            print_json(data | {"error": str(error)})
        raise
    if as_json or not quiet:
        write_result(as_json, lambda: _as_data(trace, file), lambda console: _text(trace, console))
    return 0


def _text(trace: Trace, console: Console) -> str:
    from checker.core.traces.itf import REDEFINED
    from checker.telling.report.text import render_text

    what = "the end shows" if trace.rounds is None else "the loop, twice around, shows"
    accepted = f"accepted: {counted(trace.depth, 'step')} replayed; {what} what the trace claims"
    if trace.is_redefined:
        accepted += f"\nwarning: {REDEFINED}"
    return f"{render_text(trace, console=console)}\n{accepted}\n"


def _as_data(trace: Trace, file: Path) -> dict[str, Any]:
    from model.language.naming import instance_words

    return {
        "command": "replay",
        "trace": str(file),
        "accepted": True,
        **trace.model.identity,
        "property": trace.property,
        "verdict": str(trace.verdict),
        "depth": trace.depth,
        **({"loop": trace.rounds.start} if trace.rounds else {}),
        "steps": [instance_words(trace.model, step) for step in trace.steps],
        "explanation": trace.explanation,
        "version": trace.version,
        "source": trace.source,
        "digest": trace.digest,
        "redefined": trace.is_redefined,
    }
