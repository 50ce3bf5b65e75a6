"""`cases`: the stored counterexamples, checked, and written anew."""

from __future__ import annotations

from pathlib import Path

import click

from checker.commands.common import print_json
from checker.exits import Exit


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path), required=False)
@click.option("--write", is_flag=True, help="search anew; write traces, pages and the overview")
@click.option("--json", "as_json", is_flag=True, help="print one JSON object")
def command(directory: Path | None, write: bool, as_json: bool) -> int:
    """Check the stored counterexamples below DIRECTORY [default: counterexamples].

    Each trace is replayed on the reference engine. With --write each is searched for anew.
    """
    from checker.experiments.cases import read_cases
    from checker.traces.trace import check_trace

    root = directory or Path("counterexamples")
    rows = []
    for case in read_cases(root):
        trace = case.write() if write else case.stored_trace()
        check_trace(trace)
        rows.append({"case": case.name, "property": case.violates, "depth": trace.depth})
        if not as_json:
            click.echo(f"{case.name}: {case.violates} fails after {trace.depth} steps")
    if write:
        _write_overviews(root)
    if as_json:
        print_json({"command": "cases", "cases": rows})
    return Exit.OK


def _write_overviews(root: Path) -> None:
    from checker.experiments.overviews import OVERVIEWS
    from checker.report.source_tables import with_source_tables
    from model.kafka.protocol import KAFKA

    for name, make in OVERVIEWS.items():
        folder = root / name
        if folder.is_dir():
            (folder / "README.md").write_text(make(folder), encoding="utf-8")
            click.echo(f"wrote {folder / 'README.md'}")
    page = root.parent / "docs" / "broker-model.md"
    if page.is_file():
        made = with_source_tables(page.read_text(encoding="utf-8"), KAFKA)
        page.write_text(made, encoding="utf-8")
        click.echo(f"wrote the tables of sources in {page}")
