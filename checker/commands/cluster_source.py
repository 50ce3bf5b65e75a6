"""The cluster that a command is about: one that runs, or one that `ask --save` kept in a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from checker.distribution import require
from model.language.errors import UsageError

if TYPE_CHECKING:
    from checker.core.search.allowance import Allowance
    from checker.kafka.guarantees.config_files import Described
    from checker.kafka.live.snapshot import Snapshot

F = TypeVar("F", bound=Callable[..., Any])


mode_option = click.option(
    "--mode", type=click.Choice(("zookeeper", "kraft")), help="where the metadata is kept"
)
topic_option = click.option(
    "--topic", metavar="NAME",
    help="which topic, where FILE describes several; with a cluster also a pattern, such as pay*",
)  # fmt: skip


def source_options(function: F) -> F:
    """The files, `--kafka`, `--bootstrap-server` and `--command-config`."""
    files = click.argument(
        "files", metavar="[FILE]...", nargs=-1, type=click.Path(dir_okay=False, path_type=Path)
    )
    kafka = click.option(
        "--kafka", metavar="VERSION", help="a release, such as 3.7.2; needed without a cluster"
    )
    server = click.option(
        "--bootstrap-server", "servers", metavar="HOST:PORT", help="read this running cluster"
    )
    config = click.option(
        "--command-config", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
        help="TLS and SASL, by Kafka's property names",
    )  # fmt: skip
    return files(kafka(server(config(function))))


@dataclass(frozen=True)
class Source:
    """`servers`, or one snapshot among `files`; the others are files such as a producer's.

    `topic` is a pattern that topics match which it is about.
    """

    servers: str | None
    command_config: Path | None
    files: tuple[Path, ...]
    topic: str | None

    @property
    def is_a_cluster(self) -> bool:
        """Whether a cluster is asked about, that runs or was read: else it is a configuration."""
        return self.servers is not None or bool(self._snapshots)

    @property
    def _snapshots(self) -> list[Path]:
        from checker.kafka.live.stored import is_snapshot

        return [path for path in self.files if is_snapshot(path)]

    def refuse_wrong(self) -> None:
        """`UsageError` for what does not go together, before anything is read."""
        if len(self._snapshots) + (self.servers is not None) > 1:
            raise UsageError("ask about one cluster: a --bootstrap-server, or one file of --save")
        if self.servers is None and self.command_config is not None:
            raise UsageError("--command-config goes with --bootstrap-server")
        if self.servers is not None:
            require("--bootstrap-server needs kafka-python", "kafka")

    def refuse_without_release(self) -> NoReturn:
        """`UsageError`: a file that is not there, or none of Kafka's, is told before the option."""
        from checker.kafka.guarantees.config_files import read_config

        for path in self.files:
            read_config(path)
        raise UsageError(
            "Missing option '--kafka': say which release, such as --kafka 4.1.0, or which cluster "
            "by --bootstrap-server"
        )

    def others(self) -> list[Described]:
        """What the files say that are no snapshot, such as a producer's; not of topics."""
        from checker.kafka.guarantees.config_files import read_config

        snapshots = self._snapshots
        others = [(path, read_config(path)) for path in self.files if path not in snapshots]
        for path, each in others:
            if each.topics:
                raise UsageError(f"{path} describes topics, which are read from the cluster")
        return [each for _, each in others]

    def read(self, budget: Allowance, tell: Callable[[str], None]) -> Snapshot:
        """What the cluster tells, or told; `tell` hears what is being read."""
        if self.servers is None:
            from checker.kafka.live.stored import read

            (path,) = self._snapshots
            return read(path).of_topics(self.topic)
        from checker.kafka.live.admin import connected, read_cluster
        from checker.kafka.live.client_properties import (
            client_options,
            read_properties,
            request_seconds,
            servers_of,
        )

        given = {} if self.command_config is None else read_properties(self.command_config)
        seconds, options = request_seconds(given), client_options(given)
        tell("connecting")
        with connected(servers_of(self.servers), options, seconds) as client:
            return read_cluster(client, self.topic, seconds, lambda: budget.left, tell)
