"""Where a schedule is played: what its sentences act upon, and what they can see."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from checker.kafka.cluster.clients import Clients
from checker.kafka.cluster.cluster import Cluster
from checker.kafka.cluster.errors import UndecidedError
from checker.kafka.cluster.news import News
from checker.kafka.cluster.observed import Node, Replica
from checker.kafka.cluster.places import Place, Readings
from checker.kafka.cluster.proxy import Proxy
from checker.kafka.cluster.stalls import Stalls

DESCRIBED_FOR = 0.2  # seconds for which an answer is taken for new
INSISTS_FOR = 30.0  # seconds in which a request is made again that is refused for now


@dataclass
class Stage:
    """One run's cluster, proxy and clients, and what happened since the last step that acted.

    `stalls` are threads, by their broker. `topics` holds how many partitions each topic has that a
    schedule made, `written` those of them to which records were sent. `log_starts`: where the logs
    of those partitions start of which records were deleted; `deletions`: the numbers of requests
    for that which have no answer yet, by what they are about; `creations` the same of topics that
    are to be made.
    """

    cluster: Cluster
    proxy: Proxy
    clients: Clients
    news: News
    topics: dict[str, int] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)
    log_starts: dict[tuple[str, int], int] = field(default_factory=dict)
    deletions: dict[str, int] = field(default_factory=dict)
    creations: dict[str, int] = field(default_factory=dict)
    readings: Readings = field(default_factory=Readings)
    stalls: dict[int, Stalls] = field(default_factory=dict)
    acknowledged_before: int = 0
    _marks: dict[int, tuple[Node, int]] = field(default_factory=dict)
    _described: dict[str, tuple[float, Any]] = field(default_factory=dict)

    def mark(self) -> None:
        """What happens from here on is new to the steps that wait."""
        self._marks = {node: (said, len(said.lines)) for node, said in self.cluster.nodes.items()}
        self._described.clear()
        self.acknowledged_before = len(self.clients.acknowledged)

    def new_lines(self, node: int) -> list[str]:
        """What a node has logged since the mark; all, if it was started after that."""
        said = self.cluster.nodes[node]
        marked, begin = self._marks.get(node, (said, 0))
        return said.lines[begin if marked is said else 0 :]

    def partitions(self, name: str) -> tuple[str, list[int]]:
        """The topic `t`, and all its partitions; of `t-1` that one.

        `UndecidedError` if no step has made it.
        """
        topic, _, number = name.rpartition("-")
        if number.isdecimal() and int(number) < self.topics.get(topic, 0):
            return topic, [int(number)]
        if name not in self.topics:
            raise UndecidedError(f"no step has made a topic {name}")
        return name, list(range(self.topics[name]))

    def replica(self, broker: int, partition: str) -> Replica:
        """What a broker has said of its replica of a partition such as `t-0`."""
        return self.cluster.nodes[broker].replica(partition)

    def is_deleted(self, place: Place) -> bool:
        """The record that is there was to be deleted."""
        return place.offset < self.log_starts.get((place.topic, place.partition), 0)

    def read(self, topic: str) -> frozenset[str]:
        """The names of all records of a topic that a consumer reads from its beginning."""
        found = self.clients.read(*self.partitions(topic))
        self.readings.hear(found)
        return frozenset(found.values())

    def read_committed(self, topic: str) -> frozenset[str]:
        """The names of all records of a topic that a reader with read_committed gets by now."""
        return self.clients.read_committed(*self.partitions(topic))

    def has_open_transactions(self, topic: str) -> bool:
        """Whether its leaders tell of one."""
        of, numbers = self.partitions(topic)
        return bool(
            self._told(
                f"open in {topic}", lambda: self.clients.ask("open", topic=of, numbers=numbers)
            )
        )

    def open_transactions(self, topic: str) -> list[str]:
        """Those that leaders tell of, and what each producer's coordinator tells of it."""
        of, numbers = self.partitions(topic)
        found = self.clients.ask("open", topic=of, numbers=numbers, told=True)
        return [
            f"producer id {each['producer']} has a transaction open in {of}-{each['partition']} "
            f"since offset {each['offset']}; its coordinator says {each.get('state', 'nothing')}"
            + (", with this partition" if each.get("known") else ", without this partition")
            for each in found
        ]

    def describe(self, topic: str) -> list[dict[str, Any]]:
        """A topic's partitions as the brokers tell them: leader (or -1), replicas, ISR, ELR."""
        partitions: list[dict[str, Any]] = self._told(
            topic, lambda: self.clients.ask("describe", topic=topic)
        )
        return partitions

    def quorum(self, controller: int) -> dict[str, Any] | None:
        """Who leads the metadata, as a controller tells, and how far each has read.

        `None` if it has no answer now.
        """

        def ask() -> dict[str, Any] | None:
            try:
                told: dict[str, Any] = self.clients.ask(
                    "quorum", servers=self.cluster.address(controller)
                )
            except UndecidedError:
                return None
            return told

        found: dict[str, Any] | None = self._told(f"quorum {controller}", ask)
        return found

    def metric(self, node: int, bean: str, attribute: str) -> Any:
        """What a node tells by JMX now."""

        def ask() -> Any:
            pid = self.cluster.pid(node)
            return self.clients.ask("metric", pid=pid, bean=bean, attribute=attribute)

        return self._told(f"{bean} {attribute} of {node}", ask)

    def insist(self, refusal: str, request: str, **data: Any) -> None:
        """Ask for something, and again for as long as the answer has the refusal in it.

        `UndecidedError` if it still has in the end, or says something else.
        """

        def is_done() -> bool:
            try:
                self.clients.ask(request, **data)
            except UndecidedError as refused:
                if refusal in str(refused):
                    return False
                raise
            return True

        if not self.news.wait(is_done, INSISTS_FOR):
            raise UndecidedError(f"refused for {INSISTS_FOR:.0f} s: {refusal}")

    def _told(self, about: str, ask: Callable[[], Any]) -> Any:
        """What is told now: an answer is asked for again when it is not new any more."""
        when, answer = self._described.get(about, (0.0, None))
        if time.monotonic() - when > DESCRIBED_FOR:
            answer = ask()
            self._described[about] = (time.monotonic(), answer)
        return answer
