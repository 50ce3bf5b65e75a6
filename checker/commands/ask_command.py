"""`ask`: what a cluster can lose under some faults, what becomes unavailable, what prevents it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from checker.commands import help_pages
from checker.commands.ask_cluster import Asked, ask_cluster
from checker.commands.choosing import parse_settings
from checker.commands.cluster_source import Source, mode_option, source_options, topic_option
from checker.commands.common import (
    HELP,
    limited,
    output_options,
    write_result,
)
from checker.core.exits import Exit
from checker.kafka.guarantees.budgets import BUDGETS, SIZES
from checker.kafka.guarantees.controllers import FAULTS
from model.language.errors import UsageError

if TYPE_CHECKING:
    from checker.commands.ceiling import Ceiling

F = TypeVar("F", bound=Callable[..., Any])
ONLY_QUORUM = {name: words for name, words in FAULTS.items() if name not in BUDGETS}


class _Number(click.Option):
    """A number, in help without its range: forty times that is noise."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:
        return f"{self.opts[0]} {self.metavar}", self.help or ""


def _numbers(function: F) -> F:
    """A budget for each fault, of brokers and of controllers, and the sizes."""
    from model.kafka.protocol import KAFKA

    words = {bound.name: (bound.words, bound.minimum) for bound in KAFKA.bounds}
    only = {name: (f"with --controllers: {text}", 0) for name, text in ONLY_QUORUM.items()}
    words |= only
    for name in (
        *reversed(SIZES[1:]),
        "consumers",
        *reversed(list(only)),
        *reversed(list(BUDGETS)),
    ):
        option = f"--{name.replace('_', '-')}"
        text, least = words[name]
        kind = click.IntRange(min=least)
        function = click.option(
            option, name, cls=_Number, type=kind, metavar="N", help=text
        )(function)  # fmt: skip
    return function


SECTIONS: Mapping[str, Collection[str]] = {
    "A running cluster": ("servers", "command_config", "save", "anonymous"),
    "An application": ("application", "clients", "faults", "max_faults"),
    "The cluster, beside what files say": (
        *("kafka", "mode", "controllers", "replicas", "racks", "topic", "settings"),
    ),
    "Faults and changes, how often each at most [default: 0 unless shown]": (
        *("rolling_restart", "upgrade_to", "min_isr_to"), *BUDGETS, *ONLY_QUORUM,
    ),
    "Sizes [default: by the number of faults]": (*SIZES[1:], "consumers"),
    **{title: names for title, names in help_pages.SECTIONS.items() if title != help_pages.WHICH},
}  # fmt: skip


class _Command(click.Command):
    """Its options in sections: the cluster, what happens to it, and the rest."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        help_pages.write_sections(formatter, ctx, self.get_params(ctx), SECTIONS)


@click.command(cls=_Command, context_settings=HELP)
@source_options
@click.option(
    "--save", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
    help="keep what was read of the cluster: ask FILE answers from it",
)  # fmt: skip
@click.option(
    "--html", "page", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
    help="also write what was found of the cluster as a page",
)  # fmt: skip
@click.option("--anonymous", is_flag=True, help="replace the cluster's names, also in --save")
@mode_option
@click.option(
    "--controllers", type=int, metavar="N",
    help="ask about the metadata log of N controllers, not about a partition",
)  # fmt: skip
@click.option(
    "--application", is_flag=True,
    help="ask about an application: its transactions, its producer and its group",
)  # fmt: skip
@click.option(
    "--clients", metavar="VERSION",
    help="with --application: the release of its clients [default: that of --kafka]",
)  # fmt: skip
@click.option(
    "--fault", "faults", multiple=True, metavar="NAME=N",
    help="with --application: no faults but these, each N times at most "
    "[default: all, --max-faults of them]",
)  # fmt: skip
@click.option(
    "--max-faults", type=click.IntRange(min=0), metavar="N",
    help="with --application: at most so many faults together [default: 2]",
)  # fmt: skip
@click.option("--replicas", type=int, metavar="N", help="replicas of the partition [default: 3]")
@click.option(
    "--racks", metavar="RACKS",
    help="spread, together, or the replicas' racks: a,b,c [default: spread]",
)  # fmt: skip
@topic_option
@click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE",
    help="a key of Kafka's, or a setting of the model: overrides the files",
)  # fmt: skip
@click.option(
    "--rolling-restart", is_flag=True,
    help="each broker is restarted in turn; with auto.leader.rebalance.enable there is one "
    "preferred election too",
)  # fmt: skip
@click.option("--upgrade-to", metavar="VERSION", help="a rolling upgrade to this release")
@click.option(
    "--min-isr-to", type=int, metavar="N", help="an operator changes min.insync.replicas to N"
)
@_numbers
@limited(60.0)
@click.option("--trace-dir", type=click.Path(path_type=Path), help="save the traces here")
@output_options
def command(
    ceiling: Ceiling, files: tuple[Path, ...], kafka: str | None, mode: str | None,
    servers: str | None, command_config: Path | None, save: Path | None, page: Path | None,
    anonymous: bool,
    controllers: int | None, application: bool, clients: str | None, faults: tuple[str, ...],
    max_faults: int | None, replicas: int | None, racks: str | None, topic: str | None,
    settings: tuple[str, ...], rolling_restart: bool, upgrade_to: str | None,
    min_isr_to: int | None, trace_dir: Path | None, as_json: bool, quiet: bool,
    **numbers: int | None,
) -> int:  # fmt: skip
    """What can a cluster lose under these faults, what becomes unavailable, and what prevents it?

    FILE is server.properties, producer.properties, or what `kafka-configs --describe` or
    `kafka-topics --describe` printed. A key that no file names has VERSION's default. With
    --bootstrap-server, or a FILE of --save, it answers for all partitions of a cluster, and says
    which are in danger now; if you name no faults, it answers for one crash and for one power loss.
    With --controllers it answers for the controllers' metadata log, and `brokers` below are
    controllers. With --application FILE is the application's, and for each promise it prints the
    fewest faults that break it. A step is an event of the model: the number of steps says neither
    how long a loss takes nor how likely it is.

    Exit status: 0 nothing is lost (or every promise kept), 12 something is, 20 time ran out before
    that was known.
    """
    from checker.api.applications import ask_application
    from checker.api.asking import ask, ask_controllers
    from checker.commands.interrupt import Interrupt
    from checker.commands.keeping import Keeping
    from checker.commands.progress import Line
    from checker.core.files import prepare_directory
    from checker.distribution import highwater_version
    from checker.kafka.guarantees.verdicts import STATES

    chosen = {name: value for name, value in numbers.items() if value is not None}
    of_partitions = {
        "--replicas": replicas, "--racks": racks, "--topic": topic, "--upgrade-to": upgrade_to,
        "--rolling-restart": rolling_restart or None, "--min-isr-to": min_isr_to, "--mode": mode,
    }  # fmt: skip
    source = Source(servers, command_config, files, topic)
    asked = _Application(application, clients, faults, max_faults)
    asked.refuse_misfits(of_partitions | {"--controllers": controllers}, chosen, source)
    if source.is_a_cluster:
        return ask_cluster(
            ceiling,
            Asked(
                source, kafka, mode, parse_settings(settings), chosen, rolling_restart, upgrade_to,
                min_isr_to, anonymous, save, page, trace_dir, as_json, quiet,
                {"--replicas": replicas, "--racks": racks, "--controllers": controllers},
            ),
        )  # fmt: skip
    only = {"--command-config": command_config, "--save": save, "--html": page}
    _refuse_without_a_cluster({**only, "--anonymous": anonymous or None})
    if kafka is None:
        source.refuse_without_release()
    _refuse_misfits(controllers is not None, of_partitions, chosen)
    budget = ceiling.allowance
    budget.states = STATES
    if trace_dir is not None:
        prepare_directory(trace_dir)
    with ceiling, Line(quiet or as_json) as line, Interrupt(budget.end) as interrupt:
        ceiling.keeps_limits()
        how: dict[str, Any] = {
            "settings": parse_settings(settings), "budget": budget,
            "on_search": line.told(budget, "searching: "), **chosen,
        }  # fmt: skip
        found: Any
        if application:
            found = ask_application(kafka, *files, **asked.arguments, **how)
        elif controllers is None:
            found = ask(
                kafka, *files, replicas=replicas, racks=racks, mode=mode, topic=topic,
                rolling_restart=rolling_restart, upgrade_to=upgrade_to, min_isr_to=min_isr_to, **how
            )  # fmt: skip
        else:
            found = ask_controllers(kafka, *files, controllers=controllers, **how)
    with Keeping() as keeping:
        for part in found.parts:
            for name, trace in part.traces.items():
                file = keeping.trace(trace, trace_dir, name)
                if file is not None:
                    part.files[name] = file

        def data() -> dict[str, Any]:
            return {"command": "ask", **found.data(), "version": highwater_version()}

        write_result(as_json, data, lambda console: found.text(console.width))
    if found.is_lossy:
        status = Exit.VIOLATED
    else:
        status = Exit.OK if found.is_decided and not interrupt.requested else Exit.LIMIT
    return keeping.status(status)


def _refuse_without_a_cluster(given: Mapping[str, object]) -> None:
    """Refuse what is asked of a running cluster only."""
    for option, value in given.items():
        if value is not None:
            raise UsageError(f"{option} goes with --bootstrap-server, or with a file of --save")


def _refuse_misfits(
    of_quorum: bool, of_partitions: Mapping[str, object], numbers: Mapping[str, int]
) -> None:
    """Refuse what is asked of partitions only, or of controllers only, in the other question."""
    given = [name for name, value in of_partitions.items() if value is not None]
    options = [f"--{name.replace('_', '-')}" for name in numbers if name not in FAULTS]
    if of_quorum and (given or options):
        valid = ", ".join(f"--{name.replace('_', '-')}" for name in FAULTS)
        raise UsageError(
            f"{(given + options)[0]} is about partitions: with --controllers valid are {valid}"
        )
    only = [f"--{name.replace('_', '-')}" for name in numbers if name in ONLY_QUORUM]
    if only and not of_quorum:
        raise UsageError(f"{only[0]} is about controllers: say how many with --controllers N")


@dataclass(frozen=True)
class _Application:
    """What is asked about an application, beside its files."""

    is_asked: bool
    clients: str | None
    faults: tuple[str, ...]
    max_faults: int | None

    def refuse_misfits(
        self, others: Mapping[str, object], numbers: Mapping[str, int], source: Source
    ) -> None:
        """Refuse what is asked of applications only, or of anything else only."""
        if self.is_asked:
            given = [name for name, value in others.items() if value is not None]
            given += [f"--{name.replace('_', '-')}" for name in numbers]
            if source.is_a_cluster:
                raise UsageError("--application reads the application's own files, and no cluster")
            if given:
                raise UsageError(
                    f"{given[0]} does not go with --application: name faults by --fault"
                )
            return
        only = {
            "--clients": self.clients, "--fault": self.faults or None,
            "--max-faults": self.max_faults,
        }  # fmt: skip
        for option, value in only.items():
            if value is not None:
                raise UsageError(f"{option} goes with --application")

    @property
    def arguments(self) -> dict[str, Any]:
        """As `ask_application` takes them; `UsageError` for what is no fault with its number."""
        faults = dict(map(_fault, self.faults))
        most = 2 if self.max_faults is None else self.max_faults
        return {"clients": self.clients, "faults": faults, "max_faults": most}


def _fault(text: str) -> tuple[str, int]:
    """`late-markers=1` as a name with its number, which is 1 if it is left out."""
    name, _, count = text.partition("=")
    number = count or "1"
    if not (number.isascii() and number.isdecimal()):
        raise UsageError(f"--fault {text}: write NAME=N, with a whole number from 0")
    return name.strip().replace("-", "_"), int(number)
