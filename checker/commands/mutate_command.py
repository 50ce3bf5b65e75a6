"""`mutate`: the kill matrix, mutants of a protocol x properties."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from checker.commands.choosing import chosen_model, model_command
from checker.commands.common import (
    SYMMETRY,
    checked_output_options,
    limited,
    result_data,
    results_option,
    workers_option,
    write_file,
    write_result,
)
from checker.core.exits import Exit
from checker.core.verdict import Agreement
from model.language.errors import UsageError
from model.protocols import PROTOCOLS

if TYPE_CHECKING:
    from rich.console import Console

    from checker.commands.ceiling import Ceiling
    from checker.lab.experiments.kill_matrix import KillMatrix

DEFAULT_STATES = 20_000_000


@model_command
@workers_option("processes")
@click.option(
    "--max-states", type=click.IntRange(min=1), default=DEFAULT_STATES, show_default=True,
    help="states of one mutant at most",
)  # fmt: skip
@limited()
@click.option("--first", is_flag=True, help="end the search of a mutant at its first violation")
@click.option("--symmetry", is_flag=True, help=SYMMETRY)
@results_option
@click.option(
    "--markdown", type=click.Path(path_type=Path), metavar="FILE", help="write the matrix as a page"
)
@click.option(
    "--picture", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="write the matrix as an SVG picture",
)  # fmt: skip
@click.option(
    "--stored", type=click.Path(path_type=Path), metavar="PAGE",
    help="search nothing: take what PAGE says, which --markdown wrote",
)  # fmt: skip
@checked_output_options
def command(ceiling: Ceiling, **options: Any) -> int:
    """Change PROTOCOL in small ways, and see which property notices each.

    A mutant has one change: a guard is dropped, weakened or strengthened, an effect is dropped or
    off by one, or a setting is negated. The states of every mutant are searched at the given
    bounds.

    Exit status: 0 every mutant is noticed, equivalent or explained, 22 one is not, 20 it was
    stopped (it prints what it has, and writes no page or picture), 2 wrong usage.
    """
    from checker.commands.keeping import Keeping
    from checker.commands.progress import run_shown
    from checker.core.files import prepare_directory
    from checker.core.search.limits import Limits
    from checker.lab.experiments.kill_matrix import KillMatrix, Question, as_markdown, sweep_of
    from checker.lab.experiments.kill_table import as_svg, table_of
    from properties import promised_properties

    if options["stored"] is not None:
        return _stored(options)
    with ceiling:
        model = chosen_model(options, ceiling.preparing)
        for written in ("markdown", "picture"):
            if options[written] is not None:
                prepare_directory(options[written].absolute().parent)
        properties = promised_properties(model, options["properties"])
        how = {"first": options["first"], "symmetry": options["symmetry"]}
        limits = Limits(states=options["max_states"])
        question = Question.about(model, properties, limits=limits, **how)
        original = question.original(cross_check=options["cross_check"])
        sweep = sweep_of(question, options["workers"], options["store"])
        run_shown(sweep, ceiling, options["quiet"] or options["as_json"])
    matrix = KillMatrix.of(sweep, question, original)
    with Keeping() as keeping:
        if sweep.is_complete and options["markdown"] is not None:
            page = as_markdown(matrix, options["markdown"].name)
            keeping.store(write_file, options["markdown"], page)
        if sweep.is_complete and options["picture"] is not None:
            keeping.store(write_file, options["picture"], as_svg(table_of(matrix)))
        write_result(
            options["as_json"],
            lambda: to_json(matrix),
            lambda console: "\n".join(_lines(matrix, console)) + "\n",
        )
    if not sweep.is_complete:
        stored = ", and stored" if options["store"] else ""
        click.echo(f"stopped: {sweep.progress} mutants judged{stored}", err=True)
        return Exit.LIMIT
    return keeping.status(Exit.VACUOUS if matrix.unexplained else Exit.OK)


def _stored(options: dict[str, Any]) -> int:
    """Show what a page says, and draw it."""
    from checker.commands.keeping import Keeping
    from checker.lab.experiments.grid import Grid
    from checker.lab.experiments.kill_table import as_svg, read_table

    source = click.get_current_context().get_parameter_source
    for name in options.keys() - {"stored", "picture", "as_json", "quiet"}:
        if source(name) is ParameterSource.COMMANDLINE:
            raise UsageError(f"--stored brings all of its matrix: leave out {name}")
    table = read_table(options["stored"])
    data = {
        "command": "mutate", "protocol": table.protocol, "page": str(options["stored"]),
        "columns": list(table.columns), "rows": dict(table.rows),
        "survivors": [dict(vars(each)) for each in table.survivors],
    }  # fmt: skip
    rows = [
        [name, *(found.get(c, "") for c in table.columns)] for name, found in table.rows.items()
    ]
    with Keeping() as keeping:
        if options["picture"] is not None:
            keeping.store(write_file, options["picture"], as_svg(table))
        write_result(
            options["as_json"],
            lambda: data,
            lambda console: f"{Grid(['', *table.columns], rows).text(console)}{table.summary}\n",
        )
    return keeping.status(Exit.OK)


def _lines(matrix: KillMatrix, console: Console) -> Iterator[str]:
    from checker.lab.experiments.mutants import Outcome

    is_own = matrix.original.model.protocol.name not in PROTOCOLS  # whose reasons nobody records
    yield matrix.grid().text(console).rstrip("\n")
    for outcome in (Outcome.EQUIVALENT, Outcome.SURVIVED, Outcome.UNKNOWN):
        alive = [fate for fate in matrix.fates if fate.outcome is outcome]
        if alive:
            yield ""
            yield f"{outcome}:"
        for fate in alive:
            yield f"  {fate.mutant} ({fate.states:,} states)"
            if fate.mutant in matrix.reasons:
                yield f"    {matrix.reasons[fate.mutant]}"
            if fate.lemmas:
                found = ", ".join(f"{name} at {depth}" for name, depth in fate.lemmas.items())
                yield f"    noticed by lemmas: {found}"
            unexplained = fate.mutant not in matrix.reasons and outcome is not Outcome.EQUIVALENT
            if unexplained and not is_own:
                yield "    no reason is recorded"
    yield ""
    counts = ", ".join(f"{matrix.count(outcome)} {outcome}" for outcome in Outcome)
    reasons = "" if is_own else f"; {len(matrix.unexplained)} without a recorded reason"
    yield Agreement.words(matrix.original.agreement)
    of = "" if matrix.is_complete else f" of {matrix.mutants}, the others are unknown"
    yield f"{len(matrix.fates)} mutants{of}: {counts}{reasons}"


def to_json(matrix: KillMatrix) -> dict[str, Any]:
    """The matrix as plain data; a killer's depth is null where a whole search was needed."""
    found = {
        "distinct_states": matrix.original.distinct_states,
        "transitions": matrix.original.transitions,
        "complete": matrix.is_complete,
        "mutants": [
            {
                "mutant": fate.mutant,
                "kind": str(fate.kind),
                "outcome": str(fate.outcome),
                "killers": dict(fate.killers),
                "lemmas": dict(fate.lemmas),
                "distinct_states": fate.states,
                "transitions": fate.transitions,
                "reason": matrix.reasons.get(fate.mutant),
            }
            for fate in matrix.fates
        ],
        "cross_check": Agreement.data(matrix.original.agreement),
        "unexplained": [fate.mutant for fate in matrix.unexplained],
    }
    return result_data("mutate", matrix.question.choice.model, **found)
