"""`affected`: which known bugs concern a cluster, how likely they are, and what to do today."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from checker.commands.choosing import parse_settings
from checker.commands.cluster_source import Source, mode_option, source_options, topic_option
from checker.commands.common import HELP, limited, output_options, write_result
from checker.core.exits import Exit

if TYPE_CHECKING:
    from checker.commands.ceiling import Ceiling
    from checker.commands.outputs.kafka import AffectedBug
    from checker.kafka.affected.judge import Answer, Row
    from checker.kafka.live.snapshot import Snapshot


@click.command(context_settings=HELP)
@source_options
@mode_option
@topic_option
@click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE",
    help="a key of Kafka's that decides it: overrides files and cluster",
)  # fmt: skip
@limited(60.0)
@output_options
def command(
    ceiling: Ceiling, files: tuple[Path, ...], kafka: str | None, servers: str | None,
    command_config: Path | None, mode: str | None, topic: str | None, settings: tuple[str, ...],
    as_json: bool, quiet: bool,
) -> int:  # fmt: skip
    """Which known bugs concern a cluster of this release, and what to do about them today?

    FILE is server.properties, consumer.properties, or what `kafka-configs --describe`,
    `kafka-topics --describe` or `kafka-features describe` printed, as for `ask`. With
    --bootstrap-server, or a FILE of `ask --save`, release, features, settings and quorum are the
    cluster's own. A bug concerns the cluster if the release has it and the cluster has all that the
    bug needs. If that is not known, a line says where to look. The worst bugs come first.

    Exit status: 0 none concerns the cluster, 12 one does, 20 one may.
    """
    from checker.distribution import highwater_version
    from checker.kafka.affected.judge import Concern, affected
    from checker.kafka.affected.text import text_of
    from checker.kafka.live import data as live
    from checker.kafka.live.text import header

    source, given = Source(servers, command_config, files, topic), parse_settings(settings)
    source.refuse_wrong()
    snapshot: Snapshot | None = None
    if source.is_a_cluster:
        snapshot, answer = _of_cluster(ceiling, source, kafka, mode, given, quiet or as_json)
    elif kafka is None:
        source.refuse_without_release()
    else:
        answer = affected(kafka, files, given, mode=mode, topic=topic)

    def data() -> dict[str, Any]:
        return {
            "command": "affected", "release": answer.facts.asked, "mode": answer.facts.mode,
            "told": None if snapshot is None else live.of_snapshot(snapshot),
            "bugs": [_as_data(row) for row in answer.rows], "version": highwater_version(),
        }  # fmt: skip

    def lines(width: int) -> str:
        if snapshot is None:
            return text_of(answer, width)
        return text_of(answer, width, header(snapshot), "not shown to an admin client")

    write_result(as_json, data, lambda console: lines(console.width))
    if answer.those(Concern.AFFECTED):
        return Exit.VIOLATED
    return Exit.OK if answer else Exit.LIMIT


def _of_cluster(
    ceiling: Ceiling, source: Source, kafka: str | None, mode: str | None,
    settings: dict[str, str], quiet: bool,
) -> tuple[Snapshot, Answer]:  # fmt: skip
    """What a cluster tells, or told, and the answer for it."""
    from checker.commands.interrupt import Interrupt
    from checker.commands.progress import Line
    from checker.kafka.affected.judge import answered
    from checker.kafka.live.facts import facts_of_cluster

    budget = ceiling.allowance
    with ceiling, Line(quiet) as line, Interrupt(budget.end):
        ceiling.keeps_limits()
        others = source.others()
        snapshot = source.read(budget, line.told(budget))
    return snapshot, answered(facts_of_cluster(snapshot, kafka, mode, others, settings))


def _as_data(row: Row) -> AffectedBug:
    judged = row.judged
    return {
        "finding": row.bug.finding or None,
        "numbers": [bug.number for bug in (row.bug, *row.more) if bug.number],
        "source": row.bug.source,
        "words": row.words,
        "concern": row.concern.value,
        "because": list(row.because),
        "look": list(row.look),
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
