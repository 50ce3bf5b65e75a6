"""How brokers read a changed `min.insync.replicas` (`DynamicConfigPublisher`).

With KRaft the change is a record of the metadata log, which each broker reads in order and in
pieces: of each piece it applies the partitions first, then the settings. So whoever has not read
what was written of the partition before the change cannot go by it, and who has read what was
written after it goes by it, at the latest once it reads more. The answer to an AlterPartition
request is not in that log: it may come before either.

With ZooKeeper nothing orders the two, and brokers read the change at once: no controller goes by
it, so a leader that is late acts as if it had come later (decision 0091).
"""

from __future__ import annotations

from model.kafka.state import Broker, TopicPartition
from model.language import action, all_of, choose, maximum, not_, require


def note_change(partition: TopicPartition, partition_changes: bool) -> None:
    """The change is written, after all that there is of the partition so far.

    Or in one piece with a change of the partition. Who is down reads all as it starts.
    """
    if not partition.min_isr_may_be_unread:
        return
    controller = partition.controller
    controller.min_isr_changed_last = choose(partition_changes, 0, 1)
    for broker in partition.brokers:
        knows_all = all_of(
            partition.is_in_office(broker),
            controller.leader_is_current,
            not_(controller.image_unread),
            not_(partition_changes),
        )
        broker.min_isr_unread = choose(broker.is_online, 1, 0)
        broker.min_isr_next = choose(knows_all, 1, 0)


def note_image(partition: TopicPartition, leader: Broker, where: bool = True) -> None:
    """The leader reads the newest image of the partition, where the condition holds."""
    if not partition.min_isr_may_be_unread:
        return
    before = partition.controller.min_isr_changed_last > 0
    unread, due = leader.min_isr_unread, leader.min_isr_next
    leader.min_isr_unread = choose(all_of(where, not_(before)), 0, unread)
    leader.min_isr_next = choose(where, choose(before, maximum(unread, due), unread), due)


def note_image_of_follower(partition: TopicPartition, broker: Broker) -> None:
    """The broker does not lead: what it will have read once it does is all that counts."""
    if not partition.min_isr_may_be_unread:
        return
    before = partition.controller.min_isr_changed_last > 0
    broker.min_isr_unread = choose(before, broker.min_isr_unread, 0)
    broker.min_isr_next = 0


def note_answer(partition: TopicPartition, leader: Broker, where: bool = True) -> None:
    """The leader hears the newest of the partition by an answer, where the condition holds.

    Where answers and images are apart, that is no reading at all: the image is still to come.
    """
    if partition.min_isr_may_be_unread:
        known = maximum(leader.min_isr_unread, leader.min_isr_next)
        leader.min_isr_next = choose(where, known, leader.min_isr_next)


def forget(partition: TopicPartition, broker: Broker, where: bool = True) -> None:
    """Where the condition holds, the broker has stopped, and reads all as it starts."""
    if partition.min_isr_may_be_unread:
        broker.min_isr_unread = choose(where, 0, broker.min_isr_unread)
        broker.min_isr_next = choose(where, 0, broker.min_isr_next)


@action(
    "{leader} applies metadata that changes min.insync.replicas",
    at="DynamicConfigPublisher.onMetadataUpdate",
    since="0.8.2.0",
    about="KIP-966",
)
def leader_read_min_isr(partition: TopicPartition, leader: Broker) -> None:
    """Go by the new number from now on; that moves nothing by itself."""
    require(leader.leads, leader.min_isr_next > 0)

    leader.min_isr_unread = 0
    leader.min_isr_next = 0
