"""What operators trade for durability: a leader, and one that takes writes.

Kafka does not promise either under faults, so these are checked by name: they say which faults stop
a partition.
"""

from __future__ import annotations

from model.kafka.settings import Acks
from model.kafka.state import TopicPartition
from model.language import all_of, every, implies, is_none, not_, some
from properties.claims import always


def some_broker_is_down(partition: TopicPartition) -> bool:
    """Otherwise there would be no fault to ask about."""
    return some(not_(broker.up) for broker in partition.brokers)


@always(
    "partition_has_leader",
    "the partition has a leader",
    premise=some_broker_is_down,
    failure="{partition.controller.isr} is the ISR, and nobody in it is live",
    broken_by="kafka with as many crashes as replicas",
    promised=lambda _: False,
)
def partition_has_leader(partition: TopicPartition) -> bool:
    """The controller names a leader."""
    return not_(is_none(partition.controller.leader))


@always(
    "leader_takes_writes",
    "a leader in office has an ISR that is large enough for acks=all",
    premise=some_broker_is_down,
    failure="{leader} leads with the ISR {leader.isr}, and refuses acks=all",
    broken_by="kafka min.insync.replicas=3 with a crash",
    promised=lambda _: False,
)
def leader_takes_writes(partition: TopicPartition) -> bool:
    """A leader in office that knows the ISR would not refuse a record for too small an ISR."""
    if partition.options.acks != Acks.ALL:
        return True
    return every(
        implies(
            all_of(partition.is_in_office(leader), partition.controller.leader_is_current),
            leader.isr.size >= partition.min_isr,
        )
        for leader in partition.brokers
    )
