"""`affected`: which known bugs concern a cluster, how likely they are, and what to do today."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from checker.commands.choosing import parse_settings
from checker.commands.common import HELP, output_options, write_result
from checker.core.exits import Exit

if TYPE_CHECKING:
    from checker.commands.outputs.kafka import AffectedBug
    from checker.kafka.affected.judge import Row


@click.command(context_settings=HELP)
@click.argument(
    "files", metavar="[FILE]...", nargs=-1, type=click.Path(dir_okay=False, path_type=Path)
)
@click.option("--kafka", metavar="VERSION", required=True, help="a release, such as 3.7.2")
@click.option(
    "--mode", type=click.Choice(("zookeeper", "kraft")), help="where the metadata is kept"
)
@click.option("--topic", metavar="NAME", help="which topic, where FILE describes several")
@click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE",
    help="a key of Kafka's that decides it: overrides the files",
)  # fmt: skip
@output_options
def command(
    files: tuple[Path, ...], kafka: str, mode: str | None, topic: str | None,
    settings: tuple[str, ...], as_json: bool, quiet: bool,
) -> int:  # fmt: skip
    """Which known bugs concern a cluster of this release, and what to do about them today?

    FILE is what `ask` reads too: server.properties, consumer.properties, or what `kafka-configs
    --describe`, `kafka-topics --describe` or `kafka-features describe` printed. A bug concerns the
    cluster if the release has it and the files say that all it needs is there. It cannot be told
    where the files do not say so: then a line says where to look. The worst come first.

    Exit status: 0 none concerns the cluster, 12 one does, 20 one may.
    """
    from checker.core.traces.trace import highwater_version
    from checker.kafka.affected.judge import Concern, affected
    from checker.kafka.affected.text import text_of

    answer = affected(kafka, files, parse_settings(settings), mode=mode, topic=topic)

    def data() -> dict[str, Any]:
        return {
            "command": "affected", "release": answer.facts.asked, "mode": answer.facts.mode,
            "bugs": [_as_data(row) for row in answer.rows], "version": highwater_version(),
        }  # fmt: skip

    write_result(as_json, data, lambda console: text_of(answer, console.width))
    if answer.those(Concern.AFFECTED):
        return Exit.VIOLATED
    return Exit.OK if answer else Exit.LIMIT


def _as_data(row: Row) -> AffectedBug:
    judged = row.judged
    return {
        "finding": row.bug.finding or None,
        "numbers": [bug.number for bug in (row.bug, *row.more) if bug.number],
        "source": row.bug.source,
        "words": row.words,
        "concern": row.concern.value,
        "because": list(row.because),
        "effect": judged.effect.value,
        "likely": judged.likely.value,
        "why": judged.why,
        "since": row.span.since or None,
        "fixed": list(row.span.fixed),
        "needs": list(row.needs),
        "today": row.today,
        "tried": row.tried or None,
        "watch": judged.watch or None,
    }
