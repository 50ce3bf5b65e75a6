"""Where a partition begins: a leader, everybody in sync, and nothing written."""

from __future__ import annotations

from model.kafka.choices import EpochCache
from model.kafka.state import TopicPartition
from model.language import choose


def start(partition: TopicPartition) -> None:
    """Every replica is live and in sync, the logs are empty, and the first broker leads epoch 0."""
    first = partition.brokers[0]
    replicas = partition.brokers.all()
    factor = partition.options.replication_factor
    if factor > 0:
        replicas = partition.brokers.only(first)
        for number in range(1, factor):
            replicas = replicas.with_member(partition.brokers[number])
    partition.controller.leader = first
    partition.controller.replicas = replicas
    partition.controller.isr = replicas
    for broker in partition.brokers:
        broker.leader = choose(replicas.contains(broker), first, None)
    first.isr = replicas
    if partition.options.epoch_cache == EpochCache.KEPT and partition.options.leader_enters_epoch:
        partition.epoch_starts[0].cached[first] = 0
    first.not_replicas = partition.brokers.all().minus(replicas)
