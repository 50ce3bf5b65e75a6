"""`upstream`: all that is attached to a ticket of Apache Kafka's, for one finding."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from checker.commands.common import HELP, PLAIN_WIDTH, output_options, print_json, write_output
from checker.core.exits import Exit
from model.language.errors import UsageError

if TYPE_CHECKING:
    from checker.commands.outputs.kafka import Upstream, UpstreamList


@click.command(context_settings=HELP)
@click.argument("number", metavar="[NUMBER]", required=False)
@click.option(
    "-o", "--output", metavar="DIR", type=click.Path(path_type=Path),
    help="write the files into this directory, which is new or empty",
)  # fmt: skip
@click.option(
    "--kafka",
    metavar="VERSION",
    help="the release to patch [default: the newest with the finding and published sources]",
)
@output_options
def command(
    number: str | None, output: Path | None, kafka: str | None, as_json: bool, quiet: bool
) -> int:
    """Write the ticket of a finding: JIRA's fields, a patch and unit tests, for a pull request.

    ticket.md has JIRA's fields; fix.patch is against the release's tag, for `git apply`; the unit
    tests stand where they belong in Kafka's tree; run.sh runs them on the published classes,
    without the patch and with it. NUMBER is the finding's or the catalogue's; without it: list the
    findings in the order in which to offer them. Sources come from Maven Central, which needs Maven
    and a network the first time.
    """
    from checker.kafka.upstream.finding import every_finding, finding_called

    if number is None:
        if output is not None or kafka is not None:
            raise UsageError("-o and --kafka go with a NUMBER: `highwater upstream` lists them")
        return _list(as_json)
    finding = finding_called(number)
    if output is None:
        raise UsageError(f"name a new or empty directory: highwater upstream {number} -o DIR")
    from checker.kafka.upstream.directory import check_free, ticket_of, write

    check_free(output)
    ticket = ticket_of(finding, kafka, every_finding())
    write(ticket, output)
    if as_json:
        data: Upstream = {
            "command": "upstream", "finding": finding.number, "kafka": ticket.version,
            "directory": str(output), "files": list(ticket.files),
        }  # fmt: skip
        print_json(dict(data))
    else:
        names = "\n".join(f"  {name}" for name in ticket.files)
        missing = "" if finding.fixes else "\nno patch: the finding has no fix yet"
        write_output(f"{output}, for Kafka {ticket.version}:\n{names}{missing}\n")
    return Exit.OK


def _list(as_json: bool) -> int:
    from checker.kafka.upstream.finding import every_finding

    findings = every_finding()
    if as_json:
        data: UpstreamList = {
            "command": "upstream",
            "findings": [
                {"finding": each.number, "priority": each.priority, "summary": each.summary}
                for each in findings
            ],
        }
        print_json(dict(data))
        return Exit.OK
    for each in findings:
        releases = each.row.span.fixed_words
        fixed = f" (fixed in {releases})" if releases else ""
        words = f"{each.number}  {each.priority:8}  {each.summary}{fixed}"
        write_output(click.wrap_text(words, PLAIN_WIDTH, "", " " * 16) + "\n")
    return Exit.OK
