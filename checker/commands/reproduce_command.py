"""`reproduce`: a finding on a cluster of an unmodified release, with its control and its fix."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from checker.commands.common import (
    HELP,
    PLAIN_WIDTH,
    console,
    output_options,
    print_json,
    write_file,
    write_output,
)
from checker.core.exits import Exit
from model.language.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from checker.kafka.cluster.schedule import Schedule, Way
    from checker.kafka.cluster.verdict import Outcome


@click.command(context_settings=HELP)
@click.argument("finding", metavar="[FINDING]", required=False)
@click.option("--kafka", "version", metavar="VERSION", help="a release [default: the newest]")
@click.option("--schedule", "name", metavar="NAME", help="[default: the finding's first]")
@click.option("--control", is_flag=True, help="remove the cause: nothing is lost")
@click.option(
    "--workaround", is_flag=True,
    help="do what the finding's page says to do today, if the schedule can",
)  # fmt: skip
@click.option("--patched", is_flag=True, help="apply the fix: nothing is lost")
@click.option("--runs", type=click.IntRange(1, 1000), default=1, show_default=True)
@click.option(
    "--keep", metavar="DIR", type=click.Path(file_okay=False, path_type=Path),
    help="keep logs, disks and dumps in a directory of DIR for each run",
)  # fmt: skip
@click.option(
    "--picture", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
    help="play nothing: write the schedule, or its control, as an SVG picture",
)  # fmt: skip
@output_options
def command(
    finding: str | None, version: str | None, name: str | None, control: bool, workaround: bool,
    patched: bool, runs: int, keep: Path | None, picture: Path | None, as_json: bool, quiet: bool,
) -> int:  # fmt: skip
    """Run a schedule of FINDING on brokers of an unmodified release, and check what is lost.

    FINDING is its number or the catalogue's; without it: list the findings and their schedules. Of
    acknowledged records, lost: no log on any disk has it; hidden: a disk or the remote store has
    it, and no consumer gets it; skipped: a share group goes on without it. Stuck: something that a
    healthy cluster does did not happen in the schedule's time. Shared: two members of a group read
    one partition at once. Changed: a consumer reads another record at an offset that was read
    before. Torn: read_committed shows part of a transaction, or not what its producer was told.
    Kept: nothing of this. A run takes one minute or two and 1 GiB of memory, and listens on
    loopback at ports that the system chooses. It needs a JDK 17 or newer, and Maven, which fetches
    Kafka's jars on first use.

    Exit status: 0 kept, 12 lost, hidden, stuck, shared, changed, torn or skipped, 20 no verdict.
    """
    from checker.kafka.cluster.schedule import (
        Way,
        every_schedule,
        schedule_named,
        schedules_of,
        with_workaround,
    )
    from checker.kafka.cluster.verdict import EXITS, worst
    from checker.kafka.releases.jars import newest

    if finding is None:
        if picture is not None:
            raise UsageError("--picture goes with a FINDING: `highwater reproduce` lists them")
        return _list(every_schedule(), as_json)
    known = schedules_of(finding)
    schedule = with_workaround(name, known) if workaround else schedule_named(name, known)
    if workaround and (control or picture is not None):
        other = "--control" if control else "--picture"
        raise UsageError(f"--workaround goes without {other}: choose one")
    way = Way.WORKAROUND if workaround else Way.CONTROL if control else Way.AS_IT_IS
    if picture is not None:
        return _draw(schedule, control, picture, as_json)
    version = version or newest(with_sources=patched)
    outcomes: list[Outcome] = []
    head = {
        "command": "reproduce", "finding": schedule.finding, "schedule": schedule.name,
        "kafka": version, "control": control, "workaround": workaround, "patched": patched,
    }  # fmt: skip
    interrupted = False
    try:
        _play(schedule, version, way, patched, runs, keep, quiet or as_json, outcomes)
    except KeyboardInterrupt:
        if not outcomes:
            raise
        interrupted = True
    if as_json:
        rows = [_row(outcome) for outcome in outcomes]
        print_json({**head, "verdict": worst(outcomes), "runs": rows})
    else:
        _report(outcomes, quiet)
    return Exit.INTERRUPTED if interrupted else EXITS[worst(outcomes)]


def _draw(schedule: Schedule, control: bool, picture: Path, as_json: bool) -> int:
    from checker.kafka.cluster.picture import picture_of

    write_file(picture, picture_of(schedule, control).svg())
    if as_json:
        print_json({
            "command": "reproduce", "finding": schedule.finding, "schedule": schedule.name,
            "control": control, "picture": str(picture),
        })  # fmt: skip
    return Exit.OK


def _play(
    schedule: Schedule, version: str, way: Way, patched: bool, runs: int, keep: Path | None,
    quiet: bool, outcomes: list[Outcome],
) -> None:  # fmt: skip
    """Append the outcome of each run as soon as it is known."""
    from checker.kafka.cluster.play import Run
    from checker.kafka.cluster.programs import programs

    patch = _patch(version, schedule.fix) if patched else None
    found = programs(version, patch, has_tier=schedule.has_tier)

    def tell(seconds: float, words: str) -> None:
        if not quiet:
            _write(f"{seconds:6.1f} s  {words}", "          ")

    for number in range(1, runs + 1):
        if not quiet:
            how = _HOW[way]
            how += ", with the fix" if patched else ""
            nth = f", run {number} of {runs}" if runs > 1 else ""
            _write(f"{schedule.finding} {schedule.name}{how}, Kafka {version}{nth}", "  ")
        outcome = Run(schedule, way, found, keep, tell).play()
        outcomes.append(outcome)
        if not quiet:
            _write(outcome.words, "  ")


_HOW = {"": "", "control": ", its control", "workaround": ", with the workaround"}


def _patch(version: str, fix: str) -> Path:
    from checker.kafka.releases.jars import release
    from checker.kafka.releases.patch import patched_classes

    return patched_classes(release(version), fix)


def _report(outcomes: Sequence[Outcome], quiet: bool) -> None:
    """What is left to say after the runs: a table, if there were several."""
    if len(outcomes) < 2:
        for outcome in outcomes if quiet else ():
            _write(outcome.words, "  ")
        return
    from rich.table import Table

    from checker.kafka.cluster.verdict import worst

    table = Table(box=None, pad_edge=False)
    table.add_column("run", justify="right")
    table.add_column("verdict")
    table.add_column("lost", justify="right")
    table.add_column("acknowledged", justify="right")
    table.add_column("seconds", justify="right")
    table.add_column("")
    for number, outcome in enumerate(outcomes, 1):
        counts = f"{len(outcome.lost):,}", f"{outcome.acknowledged:,}", f"{outcome.seconds:.0f}"
        table.add_row(str(number), outcome.verdict, *counts, outcome.reason)
    screen = console()
    with screen.capture() as captured:
        screen.print(table)
    write_output(f"\n{captured.get()}worst: {worst(outcomes)}\n")


def _row(outcome: Outcome) -> dict[str, Any]:
    return {
        "verdict": outcome.verdict, "acknowledged": outcome.acknowledged,
        "lost": len(outcome.lost), "set_aside": outcome.set_aside,
        "records": list(outcome.lost), "reason": outcome.reason,
        "seconds": round(outcome.seconds, 1),
    }  # fmt: skip


def _list(schedules: Sequence[Schedule], as_json: bool) -> int:
    if as_json:
        rows = [
            {
                "finding": s.finding,
                "schedule": s.name,
                "title": s.title,
                "shown_by": s.shown_by,
                "control": s.control,
            }
            | ({"workaround": s.workaround} if s.workaround else {})
            for s in schedules
        ]
        print_json({"command": "reproduce", "schedules": rows})
        return Exit.OK
    for schedule in schedules:
        _write(f"{schedule.finding} --schedule {schedule.name}: {schedule.title}", "    ")
        _write(f"shown by: {schedule.shown_by}", "      ", "    ")
        _write(f"control: {schedule.control}", "      ", "    ")
        if schedule.workaround:
            _write(f"workaround: {schedule.workaround}", "      ", "    ")
    return Exit.OK


def _write(words: str, indent: str, first: str = "") -> None:
    write_output(click.wrap_text(words, PLAIN_WIDTH, first, indent) + "\n")
