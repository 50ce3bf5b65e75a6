"""`liveness`: a table of liveness properties, presets, verdicts and the least fairness."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from checker.commands.choosing import DEFAULT_PROTOCOL, chosen_model, model_command
from checker.commands.common import (
    checked_output_options,
    limited,
    memory_option,
    workers_option,
    write_file,
    write_result,
)
from checker.core.exits import Exit
from checker.core.verdict import Verdict
from model.language.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from checker.commands.ceiling import Ceiling
    from checker.lab.experiments.liveness_table import Row
    from model.language import Model

BEGIN, END = "<!-- liveness {}: begin -->", "<!-- liveness {}: end -->"


@model_command
@click.option("--fair", multiple=True, metavar="ACTION=HOW", help="as for `explore`")
@click.option("--every-preset", is_flag=True, help="a row for each preset of the protocol")
@workers_option("threads")
@click.option("--max-states", type=click.IntRange(min=1), help="stop after this many states")
@limited()
@memory_option
@click.option("--trace-dir", type=click.Path(path_type=Path), help="save traces here")
@click.option(
    "--write", type=click.Path(dir_okay=False, path_type=Path), metavar="PAGE",
    help="put the table into this page, between its two marks for the protocol",
)  # fmt: skip
@checked_output_options
def command(ceiling: Ceiling, **options: Any) -> int:
    """Check what must happen in the end under PROTOCOL, and which actions have to be fair for it.

    Each violation is an infinite run that replays. The fair actions are found among those that the
    protocol declares fair, strongly fair where needed; none of them can be left out.

    Exit status: 0 nothing violated, 13 a liveness property is violated, 20 a limit or Ctrl-C came
    before the answer, 2 wrong usage.
    """
    from checker.commands.interrupt import Interrupt
    from checker.core.files import prepare_directory
    from checker.lab.experiments.liveness_table import as_markdown
    from checker.telling.report.pages import with_part
    from model.protocols import protocol_named

    directory: Path | None = options["trace_dir"]
    if directory is not None:
        prepare_directory(directory)
    page = None if options["write"] is None else options["write"].read_text(encoding="utf-8")
    protocol = protocol_named(options["protocol"] or DEFAULT_PROTOCOL).name
    rows = []
    with ceiling, Interrupt(ceiling.allowance.end):
        for row in _rows(options, ceiling):
            rows.append(row)
            if not (options["quiet"] or options["as_json"]):
                click.echo(f"{row.preset or 'as chosen'}: {row.judgement.property.name}", err=True)
            if directory is not None and row.trace is not None:
                from checker.core.traces.itf import write_trace

                name = f"{row.preset or row.trace.model.protocol.name}-{row.trace.property}"
                write_trace(row.trace, directory / f"{name}.itf.json")
    if page is not None:
        begin, end = BEGIN.format(protocol), END.format(protocol)
        write_file(options["write"], with_part(page, begin, end, as_markdown(rows)))
    write_result(
        options["as_json"],
        lambda: {"command": "liveness", "rows": [_as_data(row) for row in rows]},
        lambda console: _text(rows, console),
    )
    if any(row.trace for row in rows):
        return Exit.UNFULFILLED
    return Exit.LIMIT if any(row.judgement.verdict is Verdict.UNKNOWN for row in rows) else Exit.OK


def _rows(options: dict[str, Any], ceiling: Ceiling) -> Iterator[Row]:
    from checker.commands.chosen_search import chosen_properties
    from checker.core.search.question import Options
    from checker.lab.experiments.liveness_table import rows_of
    from model.language.fairness import changed

    if options["every_preset"] and options["preset"] is not None:
        raise UsageError("--every-preset and --preset do not go together")
    names = options["properties"]
    model = chosen_model(options)
    ceiling.keeps_limits()
    limits = ceiling.limits(states=options["max_states"])
    how = Options(workers=options["workers"], cross_check=options["cross_check"])
    fairness = changed(model.protocol.fairness, options["fair"])
    for preset, chosen in _models(model, options["every_preset"]):
        of_states, promises = chosen_properties(chosen, names, True)
        if names and of_states:
            valid = ", ".join(each.name for each in chosen_properties(chosen, (), True)[1])
            raise UsageError(f"{of_states[0].name} is no liveness property: valid are {valid}")
        yield from rows_of(preset, chosen, promises, fairness, limits, how)


def _models(model: Model, every_preset: bool) -> Iterator[tuple[str, Model]]:
    if not every_preset:
        yield "", model
        return
    if not model.protocol.presets:
        raise UsageError(f"{model.protocol.name} has no presets: leave out --every-preset")
    for preset, settings in model.protocol.presets.items():
        yield preset, model.protocol.model(model.bounds, settings)


def _as_data(row: Row) -> dict[str, Any]:
    lasso = row.judgement.lasso
    fairness = None if row.least is None else row.least.fairness
    return {
        "preset": row.preset or None,
        "property": row.judgement.property.name,
        "verdict": str(row.judgement.verdict),
        "vacuous": not row.judgement.owed,
        "states": row.states,
        "stopped": row.stopped,
        "stem": None if lasso is None else len(lasso.stem),
        "loop": None if lasso is None else len(lasso.loop),
        "least_fairness": None if fairness is None else list(map(str, fairness)),
        "declared_suffices": None if row.least is None else row.least.declared_suffices,
    }


def _text(rows: list[Row], console: Console) -> str:
    from checker.commands.summary_text import as_written, grid
    from checker.core.search.limits import who_stopped
    from checker.lab.experiments.liveness_table import least_words, run_words, verdict_words

    table = grid("preset", "property", "verdict", "run for ever", "holds if these are fair")
    for row in rows:
        table.add_row(
            row.preset, row.judgement.property.name, verdict_words(row.judgement),
            run_words(row.judgement), least_words(row).replace("`", ""),
        )  # fmt: skip
    with console.capture() as capture:
        console.print(table)
        for stopped in dict.fromkeys(row.stopped for row in rows if row.stopped):
            console.print(f"stopped by {who_stopped(stopped)}: what is unknown was not answered")
    return as_written(capture.get(), console)
