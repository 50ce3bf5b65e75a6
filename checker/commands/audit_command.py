"""`audit`: the logs that brokers left on their disks, compared."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import click

from checker.commands.common import HELP, print_json, write_output
from checker.exits import Exit
from model.language.errors import UsageError


@click.command(context_settings=HELP)
@click.argument("directories", nargs=-1, required=True, type=click.Path(path_type=Path),
                metavar="DIR...")  # fmt: skip
@click.option("--topic", metavar="T", help="only the partitions of this topic")
@click.option("--json", "as_json", is_flag=True, help="print one JSON object")
def command(directories: tuple[Path, ...], topic: str | None, as_json: bool) -> int:
    """Compare the replicas of each partition in the log directories DIR of stopped brokers.

    DIR is what log.dirs names, or a copy. Nothing is written there.

    Exit status: 12 if a record below a checkpointed high watermark differs or is missing, else 0.
    """
    if find_spec("kafka") is None or find_spec("crc32c") is None:
        raise UsageError("audit needs kafka-python and crc32c: pip install 'highwater[audit]'")
    from checker.audit.directories import find_replicas
    from checker.audit.judgement import judge
    from checker.audit.report import as_data, as_text

    found = find_replicas(directories, topic)
    violations, partitions = 0, []
    for group in found.groups:
        judgement = judge(group)
        violations += len(judgement.violations)
        if as_json:
            partitions.append(as_data(judgement))
        else:
            write_output(as_text(judgement) + "\n")
    verdict = "violated" if violations else "consistent"
    if as_json:
        print_json({"command": "audit", "verdict": verdict, "partitions": partitions,
                    "skipped": found.skipped})  # fmt: skip
    else:
        write_output("".join(f"skipped: {words}\n" for words in found.skipped))
        write_output(_last_line(verdict, violations, len(found.groups)))
    return Exit.VIOLATED if violations else Exit.OK


def _last_line(verdict: str, violations: int, partitions: int) -> str:
    counted = f"{partitions:,} partition{'' if partitions == 1 else 's'}"
    if violations:
        times = "once" if violations == 1 else f"{violations:,} times"
        return f"{verdict}: records below a high watermark are contradicted {times} ({counted})\n"
    return f"{verdict}: nothing below a checkpointed high watermark is contradicted ({counted})\n"
