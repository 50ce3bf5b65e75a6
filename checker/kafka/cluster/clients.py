"""Kafka's own clients, as one process that is asked in lines of JSON (`Clients.java`)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from checker.kafka.cluster.errors import UndecidedError
from checker.kafka.cluster.members import Members
from checker.kafka.cluster.news import News
from checker.kafka.cluster.places import Place
from checker.kafka.cluster.processes import Process, Processes
from checker.kafka.cluster.programs import QUIET, Programs
from checker.kafka.cluster.shares import Shares
from checker.kafka.cluster.transactions import Transactions

HEAP = 160  # MiB
ANSWER_LIMIT = 240.0  # seconds; the clients' own limits are shorter


class Clients:
    """Admin, producers and a consumer of one release.

    `acknowledged` and `failed` hold what producers were told so far, by the record's name: where it
    is, and the error. `appended` are records of which only the leader has told that it has them.
    `refused`: where a consumer that read last was told that its offset is out of range.
    `members` are those of the consumer group, `shares` what those of the share group say, and
    `transactions` those of transactional producers.
    """

    def __init__(
        self, programs: Programs, processes: Processes, news: News, bootstrap: tuple[str, str]
    ) -> None:
        self._news = news
        self._ready = False
        self._number = 0
        self._answers: dict[int, dict[str, Any]] = {}
        self.acknowledged: dict[str, Place] = {}
        self.failed: dict[str, str] = {}
        self.appended: set[str] = set()
        self.refused: set[Place] = set()
        self.members, self.transactions = Members(), Transactions()
        self.shares = Shares()
        log = processes.directory / "clients.log"
        self._processes = processes
        self._process: Process = processes.start(
            programs.clients, [QUIET, "Clients", *bootstrap], log, self._hear, HEAP
        )
        if not news.wait(lambda: self._ready or self._process.has_ended, ANSWER_LIMIT):
            raise UndecidedError("Kafka's clients did not start")

    def ask(self, op: str, **fields: Any) -> Any:
        """Have something done; what it answers. `UndecidedError` if it fails."""
        number = self.begin(op, **fields)
        self._news.wait(lambda: self.has_answered(number), ANSWER_LIMIT)
        return self.answer(number, op)

    def begin(self, op: str, **fields: Any) -> int:
        """Have something done without waiting for it; the number by which its answer is known."""
        self._number += 1
        with suppress(OSError):
            self._process.write(json.dumps({"id": self._number, "op": op, **fields}))
        return self._number

    def has_answered(self, number: int) -> bool:
        """The answer is there, or never will be."""
        return number in self._answers or self._process.has_ended

    def answer(self, number: int, op: str) -> Any:
        """What was answered, once. `UndecidedError` if it failed, or is not there."""
        answer: Mapping[str, Any] = self._answers.pop(number, {"error": "no answer in time"})
        if "error" in answer:
            raise UndecidedError(f"{op}: {answer['error']}")
        return answer["ok"]

    def read(self, topic: str, partitions: Sequence[int]) -> dict[Place, str]:
        """The names of all records of a topic that are committed, to a consumer without a group."""
        told = self.ask("read", topic=topic, numbers=partitions)
        at = [Place(topic, each["partition"], each["offset"]) for each in told]
        refused = {place for place, each in zip(at, told, strict=True) if "refused" in each}
        self.refused = {place for place in self.refused if place.topic != topic} | refused
        found = zip(at, told, strict=True)
        return {place: each["name"] for place, each in found if place not in refused}

    def read_committed(self, topic: str, partitions: Sequence[int]) -> frozenset[str]:
        """The names of the records up to the last stable offsets, with read_committed."""
        told = self.ask("read", topic=topic, numbers=partitions, committed=True)
        return frozenset(each["name"] for each in told if "name" in each)

    def end(self) -> None:
        """End the process; what it has heard stays."""
        self._processes.gone(self._process)

    def _hear(self, line: str) -> None:
        if not line.startswith("{"):
            return  # a line of log4j or of the JVM
        data = json.loads(line)
        match data.get("event"):
            case None:
                self._answers[data["id"]] = data
            case "ready":
                self._ready = True
            case "acknowledged":
                self.acknowledged[data["name"]] = Place(
                    data["topic"], data["partition"], data["offset"]
                )
            case "appended":
                self.appended.add(data["name"])
            case "failed":
                self.failed[data["name"]] = data["error"]
            case "committed" | "aborted" as said:
                self.transactions.hear(said, data)
            case "share":
                self.shares.hear(data)
            case said:
                self.members.hear(said, data)
