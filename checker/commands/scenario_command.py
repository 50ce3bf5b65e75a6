"""`scenario`: stories that are replayed event by event, with what they expect."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from checker.commands.common import (
    HELP,
    PLAIN_WIDTH,
    console,
    output_options,
    print_json,
    write_output,
)
from checker.core.exits import Exit
from checker.core.files import COUNTEREXAMPLES
from model.language.errors import UsageError, unknown_name

if TYPE_CHECKING:
    from checker.core.traces.trace import Trace
    from checker.lab.experiments.scenarios import Scenario

FOLDER = COUNTEREXAMPLES / "scenarios"


@click.command(context_settings=HELP)
@click.argument("names", metavar="[SCENARIO]...", nargs=-1)
@click.option(
    "--dir", "folder", type=click.Path(file_okay=False, path_type=Path),
    help="where the scenarios are [default: counterexamples/scenarios]",
)  # fmt: skip
@output_options
def command(names: tuple[str, ...], folder: Path | None, as_json: bool, quiet: bool) -> int:
    """Replay each SCENARIO (a name, or a file), or all, and check what it expects.

    Every state on the way is shown. Exit status 23: an event or expectation does not hold.
    """
    from checker.lab.experiments.scenarios import replay

    rows = []
    for scenario in _chosen(names, folder or FOLDER):
        for run in scenario.runs:
            trace = replay(run)
            rows.append({"scenario": scenario.name, "run": run.name, "events": trace.depth})
            if not as_json and (quiet or not names):
                line = f"{scenario.name}: {run.name}: {trace.depth} events, as expected"
                write_output(click.wrap_text(line, PLAIN_WIDTH, subsequent_indent="  ") + "\n")
            elif not as_json:
                _show(scenario, run.name, trace)
    if as_json:
        print_json({"command": "scenario", "runs": rows})
    return Exit.OK


def _chosen(names: tuple[str, ...], folder: Path) -> list[Scenario]:
    from checker.lab.experiments.scenarios import read_scenario, read_scenarios

    for name in names:
        if not name.endswith(".toml") and Path(name).is_file():
            raise UsageError(f"{name} is no scenario: those are files of TOML, named *.toml")
    files = [Path(name) for name in names if name.endswith(".toml")]
    chosen = [read_scenario(path) for path in files]
    wanted = [name for name in names if not name.endswith(".toml")]
    if wanted or not names:
        if not folder.is_dir():
            raise UsageError(f"{folder} is not a folder: give --dir, or the file of a scenario")
        known = {scenario.name: scenario for scenario in read_scenarios(folder)}
        for name in wanted:
            if name not in known:
                raise unknown_name("scenario", name, known, f"in {folder}")
        chosen += [known[name] for name in wanted] if wanted else known.values()
    return chosen


def _show(scenario: Scenario, run: str, trace: Trace) -> None:
    from checker.telling.report.text import render_text

    names = ", ".join(f"{name}: {real}" for name, real in scenario.names.items())
    told = (f"{scenario.title}: {run}", *([names] if names else []))
    head = [*(click.wrap_text(line, PLAIN_WIDTH, subsequent_indent="  ") for line in told), ""]
    text = render_text(trace, console=console())
    write_output("\n".join(head) + f"{text}\neverything is as expected\n\n")
