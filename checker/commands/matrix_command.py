"""`matrix`: settings against faults and properties, one search behind each cell."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from checker.commands.common import (
    HELP,
    Seconds,
    cross_check_option,
    output_options,
    print_json,
    write_output,
)
from checker.exits import Exit

if TYPE_CHECKING:
    from checker.experiments.matrix import Computation, Result, Search

SPECIFICATION = Path("counterexamples/matrix/guarantees.toml")


@click.command(context_settings=HELP)
@click.argument("spec", metavar="[SPEC]", required=False, type=click.Path(path_type=Path))
@click.option("--depth", type=click.IntRange(min=0), help="steps at most, in each search")
@click.option("--max-states", type=click.IntRange(min=1), help="states at most, in each search")
@click.option("--max-seconds", type=Seconds(), help="seconds at most, for each search")
@click.option("--workers", type=click.IntRange(1, 64), default=2, show_default=True)
@click.option(
    "--store", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
    help="keep results here, and do not compute again what it holds",
)  # fmt: skip
@click.option("--markdown", is_flag=True, help="print Markdown")
@click.option(
    "--write", "page", metavar="PAGE", type=click.Path(dir_okay=False, path_type=Path),
    help="write the matrix to PAGE (Markdown), and traces into the folder of that name",
)  # fmt: skip
@cross_check_option
@output_options
def command(
    spec: Path | None, depth: int | None, max_states: int | None, max_seconds: float | None,
    workers: int, store: Path | None, markdown: bool, page: Path | None,
    cross_check: bool, as_json: bool, quiet: bool,
) -> int:  # fmt: skip
    """Fill the matrix that SPEC describes [default: counterexamples/matrix/guarantees.toml].

    Each cell is *safe* (explored to the end), *safe up to depth N*, or says after how many steps it
    fails. Ctrl-C keeps what is in the store. Exit status 20: some cells have no answer.
    """
    from checker.commands.interrupt import Interrupt
    from checker.experiments.matrix import Computation, Limits, as_data, read_matrix

    limits = Limits(depth, max_states, max_seconds)
    computation = Computation(
        read_matrix(spec or SPECIFICATION, limits), workers, store, cross_check
    )
    progress = _Progress(computation, quiet or as_json)
    with Interrupt() as interrupt:
        interrupt.stops(computation.stop)
        complete = computation.run(progress.done)
    if page is not None and complete:
        _write(computation, page)
    if as_json:
        data = {"command": "matrix", "title": computation.matrix.title, "complete": complete}
        print_json({**data, "cells": as_data(computation)})
    else:
        write_output(_shown(computation, markdown))
    return Exit.OK if complete else Exit.LIMIT


def _shown(computation: Computation, markdown: bool) -> str:
    from checker.commands.summary_text import console_for
    from checker.experiments.matrix_pages import as_markdown, as_table

    if markdown:
        return as_markdown(computation)
    console = console_for(sys.stdout)
    with console.capture() as capture:
        console.print(as_table(computation, console.width))
        console.print(computation.checked)
    return capture.get()


def _write(computation: Computation, page: Path) -> None:
    from checker.experiments.matrix_pages import as_markdown, write_pages

    write_pages(computation, page.with_suffix(""))
    page.write_text(as_markdown(computation, page.stem), encoding="utf-8")


class _Progress:
    """A line on standard error for each search that ends."""

    def __init__(self, computation: Computation, quiet: bool) -> None:
        self._computation = computation
        self._quiet = quiet

    def done(self, search: Search, result: Result) -> None:
        """Say which search has ended, and how many have."""
        if not self._quiet:
            count = f"{len(self._computation.results)} of {self._computation.total}"
            words = f"{search.choice.arguments}: {result['states']:,} states"
            print(f"{count}: {words}, {result['seconds']} s", file=sys.stderr, flush=True)
