"""`cases`: the stored counterexamples, checked, and written anew."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from checker.commands.common import HELP, print_json
from checker.core.amounts import counted
from checker.core.exits import Exit

if TYPE_CHECKING:
    from checker.core.traces.trace import Trace
    from checker.lab.experiments.cases import Case


@click.command(context_settings=HELP)
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path), required=False)
@click.option("--write", is_flag=True, help="search anew; write steps, pages and overviews")
@click.option("--pages", is_flag=True, help="write pages and overviews from the stored steps")
@click.option(
    "--itf", metavar="DIR", type=click.Path(file_okay=False, path_type=Path),
    help="write each trace as DIR/NAME.itf.json",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="print one JSON object")
def command(
    directory: Path | None, write: bool, pages: bool, itf: Path | None, as_json: bool
) -> int:
    """Check the stored counterexamples below DIRECTORY [default: counterexamples].

    Each is replayed on the reference engine. With --write each is searched for anew.
    """
    from checker.core.engines.agreement import require_agreement
    from checker.core.files import COUNTEREXAMPLES
    from checker.core.verdict import Agreement
    from checker.lab.experiments.cases import read_cases

    root = directory or (Path(COUNTEREXAMPLES.name) if write or pages else COUNTEREXAMPLES)
    rows = []
    for case in read_cases(root):
        trace = case.find() if write else case.stored_trace()
        if write or pages:
            case.write(trace)
        if itf is not None:
            _write_itf(case, trace, itf)
        row: dict[str, Any] = {"case": case.name, "property": case.violates, "depth": trace.depth}
        if write:
            agreement = require_agreement(case.broken.model, [case.claim])  # it is known by now
            row["cross_check"] = Agreement.data(agreement)
        rows.append(row)
        if not as_json:
            click.echo(f"{case.name}: {case.violates} fails after {counted(trace.depth, 'step')}")
    if write or pages:
        _write_overviews(root, quiet=as_json)
    if as_json:
        print_json({"command": "cases", "cases": rows})
    return Exit.OK


def _write_itf(case: Case, trace: Trace, folder: Path) -> None:
    from checker.core.traces.itf import write_trace

    folder.mkdir(parents=True, exist_ok=True)
    write_trace(trace, folder / f"{case.name}.itf.json")


def _write_overviews(root: Path, quiet: bool) -> None:
    from checker.kafka.affected.page import with_table
    from checker.kafka.tables.releases import (
        with_quorum_table,
        with_release_tables,
        with_transaction_table,
    )
    from checker.lab.catalogue import with_tables
    from checker.lab.experiments.cases import OVERVIEWS

    written = []
    for name, make in OVERVIEWS.items():
        folder = root / name
        if folder.is_dir():
            (folder / "README.md").write_text(make(folder), encoding="utf-8")
            written.append(folder / "README.md")
    docs = root.parent / "docs"
    pages: dict[Path, Callable[[str], str]] = {
        root / "matrix" / "presets.md": with_release_tables,
        docs / "kraft.md": with_quorum_table,
        docs / "transactions.md": with_transaction_table,
        docs / "catalogue.md": lambda page: with_tables(page, root),
        docs / "affected.md": with_table,
    }
    for page, made in pages.items():
        if page.is_file():
            page.write_text(made(page.read_text(encoding="utf-8")), encoding="utf-8")
            written.append(page)
    if not quiet:
        click.echo("\n".join(f"wrote {path}" for path in written))
