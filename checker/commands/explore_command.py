"""`explore`: exhaustive search, its progress, its result."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from checker.commands.common import (
    Memory,
    chosen_model,
    model_options,
    output_options,
    print_json,
    property_option,
)

if TYPE_CHECKING:
    from checker.explore import Explorer
    from checker.verdict import Exploration


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@model_options
@property_option
@click.option("--depth", type=click.IntRange(min=0), help="steps from the initial state at most")
@click.option("--engine", type=click.Choice(["local", "reference"]), default="local")
@click.option("--workers", type=click.IntRange(1, 64), default=2, show_default=True)
@click.option("--max-states", type=click.IntRange(min=1), help="stop after this many states")
@click.option("--max-seconds", type=click.FloatRange(min=0), help="stop after this time")
@click.option("--max-memory", type=Memory(), help="stop at this much memory, such as 4GB")
@click.option("--continue", "keep_going", is_flag=True, help="find every violated property")
@click.option("--deadlock", is_flag=True, help="a state that enables nothing is an error")
@click.option("--exact", is_flag=True, help="compare whole states, not fingerprints")
@click.option("--require-exhaustive", is_flag=True, help="a limit before the answer is an error")
@click.option("--trace-dir", type=click.Path(file_okay=False, path_type=Path), help="save traces")
@output_options
def command(**options: Any) -> int:
    """Search every reachable state of PROTOCOL, breadth first.

    Ends with the shortest trace to a violation, or with what was visited.
    """
    model = chosen_model(options)
    from checker.commands.progress import Display
    from checker.summary import exit_status, render, save_traces, to_json

    quiet = options["quiet"] or options["as_json"]
    with Display(model, quiet) as display:
        result = _search(model, options, display)
    saved = save_traces(result, options["trace_dir"])
    if options["as_json"]:
        print_json(to_json(result, saved))
    else:
        render(result, saved)
    return exit_status(result, options["require_exhaustive"])


def _search(model: Any, options: dict[str, Any], display: Any) -> Exploration:
    from checker.explore import Explorer, Limits, Options
    from properties import choose_properties

    properties = choose_properties(model.protocol, options["properties"])
    limits = Limits(
        options["depth"], options["max_states"], options["max_seconds"], options["max_memory"]
    )
    settings = Options(
        workers=options["workers"],
        exact=options["exact"],
        keep_going=options["keep_going"],
        deadlock=options["deadlock"],
    )
    if options["engine"] == "reference":
        from checker.textbook import TextbookExplorer

        explorer: Any = TextbookExplorer(model, properties, limits, settings, display.update)
    else:
        explorer = Explorer(model, properties, limits, settings, display.update)
    return _stoppable(explorer)


def _stoppable(explorer: Explorer) -> Exploration:
    """Run; the first Ctrl-C asks the search to stop and report, a second one ends it at once."""

    def stop(*_: object) -> None:
        explorer.request_stop()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        print("stopping; press Ctrl-C again to end at once", file=sys.stderr)

    before = signal.signal(signal.SIGINT, stop)
    try:
        return explorer.run()
    finally:
        signal.signal(signal.SIGINT, before)
