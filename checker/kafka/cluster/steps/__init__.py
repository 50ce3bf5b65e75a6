"""The sentences of schedules, by what they act upon; all are known once this is imported."""

from checker.kafka.cluster.steps import (
    brokers,
    disks,
    groups,
    network,
    quorums,
    records,
    shares,
    threads,
    tiers,
    topics,
    transactions,
)
from checker.kafka.cluster.vocabulary import ACTS, CONDITIONS

__all__ = [
    "ACTS", "CONDITIONS", "brokers", "disks", "groups", "network", "quorums", "records", "shares",
    "threads", "tiers", "topics", "transactions",
]  # fmt: skip
