"""`audit`: the logs that brokers left on their disks, compared."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from checker.commands.common import HELP, PLAIN_WIDTH, print_json, write_file, write_output
from checker.core.amounts import counted
from checker.core.exits import Exit
from checker.distribution import require
from model.language.errors import UsageError

if TYPE_CHECKING:
    from checker.kafka.audit.judgement import Judgement


@click.command(context_settings=HELP)
@click.argument("directories", nargs=-1, required=True, type=click.Path(path_type=Path),
                metavar="DIR...")  # fmt: skip
@click.option("--topic", metavar="T", help="only the partitions of this topic")
@click.option("--partition", type=click.IntRange(0), metavar="N", help="only partitions N")
@click.option(
    "--tier", metavar="DIRECTORY", type=click.Path(path_type=Path),
    help="also read the remote segments in a directory of Kafka's LocalTieredStorage",
)  # fmt: skip
@click.option(
    "--state", "place", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
    help="write the one partition as a state of the model, for `browse --state FILE`",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="print one JSON object")
def command(
    directories: tuple[Path, ...], topic: str | None, partition: int | None, tier: Path | None,
    place: Path | None, as_json: bool,
) -> int:  # fmt: skip
    """Compare the replicas of each partition in the log directories DIR of stopped brokers.

    DIR is what log.dirs names, or a copy. Nothing is written there.

    Exit status: 12 if a record below a checkpointed high watermark differs or is missing, else 0.
    """
    require("audit needs kafka-python and crc32c", "kafka", "crc32c")
    from checker.kafka.audit.directories import find_replicas
    from checker.kafka.audit.judgement import judge
    from checker.kafka.audit.remote import find_segments
    from checker.kafka.audit.remote_judgement import judge_remote
    from checker.kafka.audit.remote_metadata import read_metadata
    from checker.kafka.audit.report import as_data, as_text

    found = find_replicas(directories, topic, partition)
    if place is not None and len(found.groups) != 1:
        names = ", ".join(group.name for group in found.groups[:5])
        more = ", ..." if len(found.groups) > 5 else ""
        raise UsageError(
            f"--state takes one partition, and here are {len(found.groups)} ({names}{more}): "
            "choose one with --topic and --partition"
        )
    if place is not None and found.groups[0].replicas[0].is_of_quorum:
        raise UsageError("--state takes a topic's partition: the model of brokers has no quorum")
    store = None if tier is None else find_segments(tier)
    metadata = read_metadata(directories if tier is not None else ())
    if store is not None and topic is None:
        found.skipped += store.without(found.groups)
    if metadata.unread:
        found.skipped.append(
            f"{counted(metadata.unread, 'record')} of __remote_log_metadata, unread"
        )
    violations, unread, unclaimed, untold, partitions = 0, metadata.unread, 0, 0, []
    for group in found.groups:
        judgement = judge(group)
        if store is not None:
            judgement = judge_remote(judgement, store, metadata)
            untold += judgement.remote is not None and not judgement.remote.has_metadata
        violations += len(judgement.violations)
        unread += judgement.unread
        unclaimed += judgement.unclaimed
        state = None if place is None else _written(judgement, place)
        if as_json:
            partitions.append(as_data(judgement) | ({} if state is None else {"state": state}))
        else:
            write_output(as_text(judgement) + "\n")
            if state is not None:
                write_output(f"as a state, in {place}:\n" + _indented(state["notes"]) + "\n")
    verdict = "violated" if violations else "consistent"
    if as_json:
        print_json({"command": "audit", "verdict": verdict, "partitions": partitions,
                    "skipped": found.skipped})  # fmt: skip
    else:
        write_output("".join(f"skipped: {words}\n" for words in found.skipped))
        write_output(_last_line(verdict, violations, len(found.groups)))
        if not violations:
            lines = _not_judged(unread, unclaimed, untold)
            write_output("".join(f"{line}\n" for line in lines))
    return Exit.VIOLATED if violations else Exit.OK


def _written(judgement: Judgement, place: Path) -> dict[str, Any]:
    """Write the partition as a state; the same as plain data."""
    from checker.kafka.audit.as_state import as_state

    data = as_state(judgement).data()
    write_file(place, json.dumps(data, indent=1) + "\n")
    return data


def _indented(notes: Iterable[str]) -> str:
    lines = (click.wrap_text(words, PLAIN_WIDTH, "  ", "    ") for words in notes)
    return "".join(f"{line}\n" for line in lines)


def _last_line(verdict: str, violations: int, partitions: int) -> str:
    judged = counted(partitions, "partition")
    if violations:
        found = counted(violations, "violation")
        return f"{verdict}: {found} below a high watermark ({judged})\n"
    return f"{verdict}: nothing below a checkpointed high watermark is contradicted ({judged})\n"


def _not_judged(unread: int, unclaimed: int, untold: int) -> Iterator[str]:
    """What the verdict says nothing of: what could not be read here, and what no disk shows."""
    places = [f"{counted(unread, 'place')} that cannot be read (see above)"] if unread else []
    if unclaimed:
        places.append(f"{counted(unclaimed, 'replica')} without a checkpointed high watermark")
    if untold:
        partitions = counted(untold, "partition")
        places.append(f"{partitions} of whose remote segments no __remote_log_metadata here tells")
    if places:
        yield f"not judged: {', '.join(places)}"
    yield (
        "not seen: a loss that no disk shows any more, because the replicas have truncated and "
        "checkpointed anew"
    )
