"""`matrix`: settings against faults and properties, one search behind each cell."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from checker.commands.common import (
    HELP,
    checked_output_options,
    limited,
    results_option,
    workers_option,
    write_file,
    write_result,
)
from checker.core.exits import Exit

if TYPE_CHECKING:
    from rich.console import Console

    from checker.commands.ceiling import Ceiling


@click.command(context_settings=HELP)
@click.argument("spec", metavar="[SPEC]", required=False, type=click.Path(path_type=Path))
@click.option("--depth", type=click.IntRange(min=0), help="steps at most, in each search")
@click.option("--max-states", type=click.IntRange(min=1), help="states at most, in each search")
@limited()
@workers_option("processes")
@results_option
@click.option("--markdown", is_flag=True, help="print Markdown")
@click.option(
    "--write", "page", metavar="PAGE", type=click.Path(dir_okay=False, path_type=Path),
    help="write the matrix to PAGE: Markdown with the traces behind its cells, or a picture (.svg)",
)  # fmt: skip
@click.option(
    "--stored", is_flag=True,
    help="search nothing: take what the store, or the file beside SPEC, holds of any sources",
)  # fmt: skip
@checked_output_options
def command(
    ceiling: Ceiling, spec: Path | None, depth: int | None, max_states: int | None, workers: int,
    store: Path | None, markdown: bool, page: Path | None, stored: bool, cross_check: bool,
    as_json: bool, quiet: bool,
) -> int:  # fmt: skip
    """Fill the matrix that SPEC describes [default: counterexamples/matrix/guarantees.toml].

    Each cell is *safe* (explored to the end), *safe up to depth N*, or says after how many steps it
    fails. Ctrl-C keeps what is in the store. Exit status 20: some cells have no answer.
    """
    from checker.commands.keeping import Keeping
    from checker.commands.progress import run_shown
    from checker.core.search.limits import Limits
    from checker.lab.experiments.matrix import GUARANTEES, as_data, as_grid, checked, read_matrix
    from checker.lab.experiments.matrix_pages import as_markdown
    from checker.lab.experiments.matrix_picture import as_svg

    spec = spec or GUARANTEES
    with ceiling:
        matrix = read_matrix(spec, Limits(depth, max_states))
        if stored:
            store = store or spec.with_suffix(".jsonl")
        sweep = matrix.sweep(workers, store, whatever_sources=stored, cross_check=cross_check)
        if not stored:
            run_shown(sweep, ceiling, quiet or as_json)

    def data() -> dict[str, Any]:
        head = {"command": "matrix", "title": matrix.title, "complete": sweep.is_complete}
        return head | {"cells": as_data(matrix, sweep.results)}

    def written(page: Path) -> str:
        if page.suffix == ".svg":
            return as_svg(matrix, sweep.results)
        return as_markdown(matrix, sweep.results, with_traces=True)

    def text(console: Console) -> str:
        if markdown:
            return as_markdown(matrix, sweep.results)
        return f"{as_grid(matrix, sweep.results).text(console)}{checked(sweep)}\n"

    with Keeping() as keeping:
        if page is not None and sweep.is_complete:
            keeping.store(write_file, page, written(page))
        write_result(as_json, data, text)
        if not sweep.is_complete:
            ceiling.tell("cells that are not computed are unknown")
    return keeping.status(Exit.OK if sweep.is_complete else Exit.LIMIT)
