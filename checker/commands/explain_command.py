"""`explain`: why a stored trace or case is possible, and what would have prevented it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from checker.commands.common import HELP, limited, output_options, protocol_option, write_result
from checker.core.exits import Exit

if TYPE_CHECKING:
    from checker.commands.ceiling import Ceiling


@click.command(context_settings=HELP)
@click.argument("file", metavar="TRACE", type=click.Path(path_type=Path))
@click.option(
    "--search/--no-search", default=True,
    help="search with each change for another way there [default: yes]",
)  # fmt: skip
@limited(60.0)
@click.option(
    "--max-states", type=click.IntRange(min=1), metavar="N",
    help="visit so many states in each search [default: 2000000]",
)  # fmt: skip
@protocol_option("the protocol of the trace")
@output_options
def command(
    ceiling: Ceiling, file: Path, search: bool, max_states: int | None, protocol: str | None,
    as_json: bool, quiet: bool,
) -> int:  # fmt: skip
    """Say why TRACE ends as it does, what would have prevented it, and when its loss was decided.

    TRACE is a file, or the folder or name of a stored counterexample. Each setting, each protocol
    with the same state and each fix of the catalogue is tried on it: which step then differs, or is
    not possible? Then a search with the change, at the same bounds, looks for another way to the
    loss.

    Exit status: 0 it was explained, 23 the trace is rejected, 2 it cannot be read, 20 time or
    Ctrl-C ended the searches.
    """
    from checker.commands.interrupt import Interrupt
    from checker.commands.progress import Line
    from checker.distribution import highwater_version
    from checker.lab.experiments.cases import accepted_trace
    from checker.lab.explanations.explanation import as_data, explain
    from checker.lab.explanations.searches import STATES

    budget = ceiling.allowance
    budget.states = max_states or STATES
    with ceiling, Line(quiet or as_json) as line, Interrupt(budget.end) as interrupt:
        trace = accepted_trace(file, protocol)
        ceiling.keeps_limits()
        told = line.told(budget, "searching: ")
        found = explain(trace, search, budget, told, interrupt.stops)
        is_cut = search and not budget.left

    def data() -> dict[str, Any]:
        about = {"property": trace.property, "verdict": str(trace.verdict)}
        return {
            "command": "explain", "trace": str(file), **trace.model.identity, **about,
            **as_data(found), "version": highwater_version(),
        }  # fmt: skip

    write_result(as_json, data, lambda console: found.text(console.width))
    if is_cut:
        ceiling.tell("what would have prevented it was not searched to the end")
    return Exit.LIMIT if is_cut else Exit.OK
