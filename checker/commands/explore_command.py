"""`explore`: exhaustive search, its progress, its result."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import click

from checker.commands.common import (
    HELP,
    Memory,
    Seconds,
    chosen_model,
    cross_check_option,
    model_options,
    output_options,
    print_json,
    property_option,
    write_output,
)
from model.language.errors import UsageError

if TYPE_CHECKING:
    from checker.commands.progress import Display
    from checker.commands.stored_search import Keeping
    from checker.verdict import Exploration
    from model.language.protocol import Model

ENGINES = {
    "local": "vectorised search on this machine",
    "spark": "vectorised search on a Spark cluster; keeps what it finds in a store",
    "reference": "textbook search on the action functions themselves: slow, an oracle",
}


class Search(Protocol):
    """What `explore` needs of an engine's search."""

    def request_stop(self) -> None: ...

    def run(self) -> Exploration: ...


@click.command(context_settings=HELP)
@model_options
@property_option
@click.option("--depth", type=click.IntRange(min=0), help="steps from the initial state at most")
@click.option("--engine", type=click.Choice(list(ENGINES)), default="local", show_default=True)
@click.option("--workers", type=click.IntRange(1, 64), default=2, show_default=True, help="threads")
@click.option("--max-states", type=click.IntRange(min=1), help="stop after this many states")
@click.option("--max-seconds", type=Seconds(), help="stop after this time")
@click.option("--max-memory", type=Memory(), help="stop at this much memory, such as 4GB")
@click.option("--continue", "keep_going", is_flag=True, help="find every violated property")
@click.option("--deadlock", is_flag=True, help="a state that enables nothing is an error")
@click.option("--exact", is_flag=True, help="compare whole states, not fingerprints")
@click.option(
    "--symmetry/--no-symmetry", default=False, help="explore states that differ by names once"
)
@click.option("--require-exhaustive", is_flag=True, help="a limit before the answer is an error")
@click.option("--store", metavar="DIR", help="keep the states here: a directory or a URI")
@click.option("--resume", is_flag=True, help="go on from what the store holds")
@click.option("--master", metavar="URL", help="where Spark runs [default: local[*]]")
@click.option("--partitions", type=click.IntRange(1, 100_000), help="parts that share the states")
@click.option("--trace-dir", type=click.Path(path_type=Path), help="save traces here")
@cross_check_option
@output_options
def command(**options: Any) -> int:
    """Search every reachable state of PROTOCOL, breadth first.

    Ends with the shortest trace to a violation, or with what was visited. PROTOCOL is kafka
    unless given; `highwater list` names them all, with their settings and properties.

    Exit status: 0 nothing violated, 12 violated, 11 deadlock, 22 a named property is
    vacuous, 20 stopped
    before the answer (with --require-exhaustive), 2 wrong usage.
    """
    from checker.commands.interrupt import Interrupt
    from checker.commands.progress import Display

    model = chosen_model(options)
    quiet = options["quiet"] or options["as_json"]
    with Display(quiet) as display, Interrupt(display.stopping) as interrupt:
        search = _search(model, options, display)
        interrupt.stops(search.request_stop)
        result = search.run()
    return _report(result, options)


def _search(model: Model, options: dict[str, Any], display: Display) -> Search:
    from properties import promised_properties

    properties = promised_properties(model, options["properties"])
    if options["trace_dir"] is not None:
        from checker.files import prepare_directory

        prepare_directory(options["trace_dir"])
    from checker.search.explore import Explorer
    from checker.search.limits import Limits
    from checker.search.question import Options
    from checker.search.textbook import TextbookExplorer

    limits = Limits(
        options["depth"], options["max_states"], options["max_seconds"], options["max_memory"]
    )
    settings = Options(
        workers=options["workers"],
        exact=options["exact"],
        keep_going=options["keep_going"],
        deadlock=options["deadlock"],
        symmetry=options["symmetry"],
        cross_check=options["cross_check"],
    )
    from checker.commands.stored_search import stored_search

    keeping = _keeping(options)
    if options["symmetry"] and options["engine"] == "reference":
        raise UsageError("--symmetry works with the engines local and spark")
    if keeping is not None:
        return stored_search(keeping, model, properties, limits, settings, display.update)
    kind = {"local": Explorer, "reference": TextbookExplorer}[options["engine"]]
    search: Search = kind(model, properties, limits, settings, display.update)
    return search


def _keeping(options: dict[str, Any]) -> Keeping | None:
    """Where the options want states to be kept, and found; none for a search without a store."""
    from checker.commands.stored_search import DEFAULT_MASTER, Keeping, scratch_directory

    store, engine = options["store"], options["engine"]
    for name in ("master", "partitions"):
        if options[name] is not None and engine != "spark":
            raise UsageError(f"--{name} goes with --engine spark")
    if options["resume"] and not store:
        raise UsageError("--resume goes with --store DIR, which names what to go on from")
    if store and engine == "reference":
        raise UsageError("--engine reference keeps no store: valid are local, spark")
    if engine != "spark":
        return Keeping(store, options["resume"]) if store else None
    if options["max_memory"] is not None:
        raise UsageError(
            "--max-memory does not limit Spark's workers: set spark.executor.memory and "
            "spark.driver.memory, or use --engine local"
        )
    place, master = store or scratch_directory(), options["master"] or DEFAULT_MASTER
    return Keeping(place, options["resume"], master, options["partitions"], not store)


def _report(result: Exploration, options: dict[str, Any]) -> int:
    """Store traces, print the result; what could not be stored is said after that."""
    from checker.commands.summary import exit_status, findings, save_traces, to_json

    found, unsaved = findings(result), None
    if options["trace_dir"] is not None:
        try:
            found = save_traces(found, options["trace_dir"])
        except UsageError as error:
            unsaved = error
    if options["as_json"]:
        print_json(to_json(result, found))
    else:
        from checker.commands.summary_text import console_for, render

        write_output(render(result, found, console_for(sys.stdout)))
    if unsaved is not None:
        raise unsaved
    return exit_status(result, options["require_exhaustive"], options["properties"])
