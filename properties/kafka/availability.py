"""What operators trade for durability: a leader, and one that takes writes.

Kafka promises none of these under faults, so they are checked by name: they say which faults stop a
partition, or hold up its records.
"""

from __future__ import annotations

from model.acks import Acks
from model.kafka.partition import would_advance
from model.kafka.partition_change import completes_reassignment, is_reassigned
from model.kafka.replica_fetcher import asks_in_vain
from model.kafka.state import TopicPartition
from model.language import all_of, any_of, every, implies, is_none, not_, some
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
    return implies(partition.exists, not_(is_none(partition.controller.leader)))


@always(
    "live_replicas_have_a_leader",
    "with every registered replica live and unfenced the partition has a leader, or elects the "
    "last known one",
    failure="every registered replica is live, and nobody may lead: ISR "
    "{partition.controller.isr}, eligible {partition.controller.eligible}",
    broken_by="kafka with min.insync.replicas changed while it is offline",
    promised=lambda _: False,
)
def live_replicas_have_a_leader(partition: TopicPartition) -> bool:
    """Else it is offline until an operator orders an unclean election.

    A broker that an operator has unregistered, up or down, is none to wait for; the last known
    leader is, wherever it is, for nobody else is known to have what was acknowledged.
    """
    controller = partition.controller
    return implies(
        every(
            any_of(all_of(broker.is_online, not_(broker.fenced)), not_(broker.is_registered))
            for broker in partition.brokers
        ),
        any_of(
            not_(partition.exists),
            not_(is_none(controller.leader)),
            all_of(not_(is_none(controller.last_known_leader)), controller.eligible.is_empty),
        ),
    )


@always(
    "reassignments_can_end",
    "a reassignment of which all replicas that stay are in sync can end",
    premise=is_reassigned,
    failure="all that stay of {partition.controller.replicas} are in the ISR "
    "{partition.controller.isr}, and the reassignment waits for {partition.controller.adding}, of "
    "which it removes {partition.controller.removing}",
    broken_by="kafka-4.3 where a reassignment is taken back by another",
    promised=lambda _: False,
)
def reassignments_can_end(partition: TopicPartition) -> bool:
    """Else it goes on until an operator cancels it, or has another take its place."""
    controller = partition.controller
    stay = controller.replicas.minus(controller.removing)
    return implies(
        all_of(is_reassigned(partition), controller.isr.includes(stay)),
        completes_reassignment(partition, controller.isr),
    )


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
            leader.isr.size >= partition.min_isr_of(leader),
        )
        for leader in partition.brokers
    )


@always(
    "leader_exposes_what_the_isr_holds",
    "a leader that waits for no ISR change has exposed what it knows its whole ISR to hold",
    failure="{leader} knows that the ISR {leader.isr} holds more than its HW, "
    "{leader.high_watermark}, and waits for nothing",
    broken_by="kafka with a false fencing: a refused ISR change",
    promised=lambda _: False,
)
def leader_exposes_what_the_isr_holds(partition: TopicPartition) -> bool:
    """Else a producer may wait for a record that is as safe as it will ever be."""
    return every(
        implies(
            all_of(leader.leads, leader.pending_isr.is_empty),
            not_(would_advance(partition, leader)),
        )
        for leader in partition.brokers
    )


@always(
    "followers_are_told_where_to_truncate",
    "what a leader in office answers to a live follower that has to truncate changes something",
    failure="a follower asks its leader where to truncate, and is answered in a way that changes "
    "nothing: it asks the same again and again",
    broken_by="kafka epoch.cache=kept with a log whose copy takes its place",
    promised=lambda _: False,
)
def followers_are_told_where_to_truncate(partition: TopicPartition) -> bool:
    """Else a follower's fetcher goes round until the leader has a record of a new epoch."""
    return every(
        implies(
            all_of(follower.up, leader.up, partition.is_in_office(leader)),
            not_(asks_in_vain(partition, follower, leader)),
        )
        for follower in partition.brokers
        for leader in partition.brokers
    )


@always(
    "followers_go_on_fetching",
    "no follower gives the partition up",
    failure="a follower has refused where its leader's log starts, and fetches no more",
    broken_by="kafka with a stalled read and a deletion: a log start beyond the high watermark",
    promised=lambda _: False,
)
def followers_go_on_fetching(partition: TopicPartition) -> bool:
    """Else it stays out of the ISR, up, until the next leader epoch (`FailedPartitionsCount`)."""
    return not_(some(follower.gave_up for follower in partition.brokers))


@always(
    "directory_moves_go_on",
    "no move of a replica to another log directory is given up",
    failure="the fetcher of a future replica has given up: the move goes on after a restart",
    broken_by="kafka with log.dir.fetcher.begins.at.its.hw=false",
    promised=lambda _: False,
)
def directory_moves_go_on(partition: TopicPartition) -> bool:
    """Else the copy takes room in its directory, and falls behind (`FailedPartitionsCount`)."""
    return not_(some(broker.future.failed for broker in partition.brokers))


@always(
    "brokers_can_register",
    "no registration of a broker makes the active controller renounce",
    failure="a broker registers after an unclean stop; the controller looks for the deleted topic, "
    "fails, and renounces at each try",
    broken_by="kafka with min.insync.replicas changed and the topic deleted",
    promised=lambda _: False,
)
def brokers_can_register(partition: TopicPartition) -> bool:
    """Else the broker stays out, and the cluster changes controllers again and again."""
    return not_(partition.controller.renounced)
