"""Findings whose steps no admin client shows, each with the command or metric to look at."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Unseen:
    """Findings by their numbers, and what shows whether one is near, or has come."""

    findings: tuple[str, ...]
    look: str


_LATE = "last-applied-record-lag-ms of kafka.server:type=broker-metadata-metrics"

UNSEEN: tuple[Unseen, ...] = (
    Unseen(
        ("0001", "0002", "0021"),
        f"{_LATE} below 1,000 on every broker, before one is stopped or a preferred leader elected",
    ),
    Unseen(
        ("0008", "0009", "0020"),
        "kafka-topics.sh --describe --under-replicated-partitions empty, before a broker is "
        "stopped; no preferred elections in quick succession. Afterwards the WARN 'below high "
        "watermark' in brokers' logs",
    ),
    Unseen(("0019",), "the WARN 'caused truncation of conflicting entries' in brokers' logs"),
    Unseen(
        ("0007",),
        "kafka.controller:type=KafkaController,name=NewActiveControllersCount, and 'existed in "
        "isrMembers, but not in the topics map' in the controller's log",
    ),
    Unseen(("0010",), "the application: one record in two members of a group"),
    Unseen(("0012",), "nothing shows it: DeleteRecords should keep the last committed record"),
    Unseen(
        ("0015",), "kafka-consumer-groups.sh --describe: a lag that stays on a topic without writes"
    ),
    Unseen(
        ("0016",),
        "kafka.server:type=ReplicaFetcherManager,name=FailedPartitionsCount,clientId=Replica at 0",
    ),
    Unseen(("0017",), "INELIGIBLE_REPLICA in the leader's log, and requests that time out"),
    Unseen(
        ("0022",),
        "the last 'Latest set of voters is' in each controller's log, against "
        "kafka-metadata-quorum.sh describe --status",
    ),
    Unseen(("0026",), "number-of-voters of kafka.server:type=raft-metrics above 0, by controller"),
    Unseen(("0027",), "'Unknown leader endpoints' in the log of a new broker or controller"),
)
