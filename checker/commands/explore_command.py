"""`explore`: exhaustive search, its progress, its result."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from checker.commands.choosing import chosen_model, model_command
from checker.commands.common import (
    SYMMETRY,
    checked_output_options,
    limited,
    memory_option,
    size,
    stats_option,
    workers_option,
    write_file,
)
from checker.commands.engines import ENGINES
from checker.commands.explore_forms import FORMS, Found
from checker.commands.forms import (
    Form,
    also_option,
    chosen_files,
    chosen_form,
    form_as_file,
    form_option,
    print_form,
)
from checker.distribution import NAME

if TYPE_CHECKING:
    from checker.commands.ceiling import Ceiling
    from checker.core.verdict import Exploration


@model_command
@click.option("--depth", type=click.IntRange(min=0), help="steps from the initial state at most")
@click.option(
    "--engine",
    type=click.Choice(list(ENGINES)),
    default=next(iter(ENGINES)),
    show_default=True,
    help="what searches: `highwater list` describes each",
)
@workers_option("threads")
@click.option("--max-states", type=click.IntRange(min=1), help="stop after this many states")
@limited()
@memory_option
@click.option("--continue", "keep_going", is_flag=True, help="find every violated property")
@click.option(
    "--deadlock", is_flag=True,
    help="a state in which no action is possible is an error; at --depth itself it is not",
)  # fmt: skip
@click.option("--exact", is_flag=True, help="compare whole states, not fingerprints")
@click.option(
    "--symmetry/--no-symmetry",
    default=False,
    help=SYMMETRY,
)
@click.option(
    "--reduce",
    is_flag=True,
    help="leave out what no shortest trace to a violation needs: often a tenth of the states, "
    "and less time where a search takes seconds",
)
@click.option("--liveness", is_flag=True, help="check also what must eventually happen")
@click.option(
    "--fair",
    multiple=True,
    metavar="ACTION=HOW",
    help="for --liveness: weak, the action happens if it stays enabled; strong, if it is enabled "
    "again and again; or none. ACTION(PARAMETER)=HOW: for each value by itself",
)
@click.option(
    "--require-exhaustive",
    is_flag=True,
    help="end with status 20 if a limit came before the answer, --depth too",
)
@click.option("--store", metavar="DIR", help="keep the states here: a directory or a URI")
@click.option(
    "--spill", metavar="DIR",
    help="at --max-memory do not stop but go on from files in this directory: 8 to 12 bytes for "
    "each state, besides the widest levels",
)  # fmt: skip
@click.option("--max-disk", type=size, help="with --spill: stop at this much disk, such as 40GB")
@click.option("--resume", is_flag=True, help="go on from what --store or --spill holds")
@click.option("--master", metavar="URL", help="where Spark runs [default: local[*]]")
@click.option("--partitions", type=click.IntRange(1, 100_000), help="parts that share the states")
@click.option("--trace-dir", type=click.Path(path_type=Path), help="save traces here")
@click.option(
    "--picture", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="write how many states each level has as an SVG picture",
)  # fmt: skip
@stats_option
@click.version_option(package_name=NAME, prog_name="highwater")
@form_option(FORMS)
@also_option(FORMS)
@checked_output_options
def command(ceiling: Ceiling, **options: Any) -> int:
    """Search every reachable state of PROTOCOL, breadth first.

    It prints the shortest trace to a violation, or how many states were visited without one.
    PROTOCOL is kafka unless given. `highwater list` names all; `highwater list PROTOCOL` has its
    presets, settings and properties.

    Exit status: 0 nothing violated, 2 wrong usage, 11 deadlock, 12 a property is violated, 13 a
    liveness property is violated, 20 stopped by a limit or Ctrl-C before the answer, 22 a property
    that was named is vacuous: nothing in the search could violate it. Reaching --depth counts as
    an answer, unless there is --require-exhaustive.
    """
    from checker.commands.chosen_search import chosen_search
    from checker.commands.interrupt import Interrupt
    from checker.commands.progress import Display
    from checker.core.files import prepare_directory

    form, files = chosen_form(FORMS, options), chosen_files(FORMS, options)
    with (
        ceiling,
        Display(options["quiet"]) as display,
        Interrupt(display.stopping) as interrupt,
    ):
        model = chosen_model(options, ceiling.preparing, display.preparing)
        if options["trace_dir"] is not None:
            prepare_directory(options["trace_dir"])
        if options["picture"] is not None:
            prepare_directory(options["picture"].absolute().parent)
        search = chosen_search(options, model, display.update, ceiling)
        interrupt.stops(search.request_stop)
        ceiling.keeps_limits()
        result = search.run()
    return _report(result, options, form, files)


def _report(
    result: Exploration,
    options: dict[str, Any],
    form: Form[Found],
    files: list[tuple[Form[Found], Path]],
) -> int:
    """Store traces, print the result and write it to the files that are asked for."""
    from checker.commands.keeping import Keeping
    from checker.commands.summary import Finding, exit_status, findings

    with Keeping() as keeping:
        place = options["trace_dir"]
        found = tuple(
            Finding(one.trace, keeping.trace(one.trace, place, one.name))
            for one in findings(result)
        )
        if options["picture"] is not None:
            keeping.store(write_file, options["picture"], _growth(result))
        all_found = Found(result, found, options["stats"])
        print_form(FORMS, form, all_found)
        for also, path in files:
            keeping.store(write_file, path, form_as_file(also, all_found))
    found_status = exit_status(result, options["require_exhaustive"], options["properties"])
    return keeping.status(found_status)


def _growth(result: Exploration) -> str:
    """The search's levels as a picture."""
    from checker.telling.pictures.growth import Levels, as_svg
    from model.language.naming import bounds_words

    model = result.model
    levels = Levels(bounds_words(model.bounds), tuple(result.levels), result.stopped or "")
    return as_svg(f"Growth of states: {model.protocol.name}", [levels])
