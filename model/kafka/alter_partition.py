"""How a leader changes the ISR: `Partition`'s rules for it, and `AlterPartitionManager`.

Since KIP-497 the leader asks the controller and hears back later: as an answer, as an image of the
metadata, or both. Before, it wrote to ZooKeeper itself.
"""

from __future__ import annotations

from model.kafka import dynamic_config_publisher as publisher
from model.kafka.bounds import CONTROLLER_FAILOVERS
from model.kafka.choices import IsrChanges
from model.kafka.leader_epoch_cache import epoch_start
from model.kafka.partition import (
    advance_high_watermark,
    can_fetch,
    fetch_diverges,
    is_believed,
)
from model.kafka.stalled_threads import void_stalled_read
from model.kafka.state import Broker, TopicPartition
from model.language import SetOf, action, all_of, any_of, choose, every, not_, require, some


def can_change_isr(partition: TopicPartition, leader: Broker) -> bool:
    """The leader knows the current partition epoch and has no change pending.

    Kafka's leader may also ask on an old partition epoch. It is refused, and stays as it is until
    it reads metadata, with a greater maximal ISR than before: nothing can become possible by it.
    """
    return all_of(
        partition.controller.leader == leader,
        partition.controller.leader_is_current,
        partition.controller.request.is_empty,
        leader.pending_isr.is_empty,
    )


def propose_isr(partition: TopicPartition, leader: Broker, isr: SetOf[Broker]) -> None:
    """Ask the controller for an ISR (KIP-497); before that, write it to ZooKeeper.

    Asking does not move the HW: the maximal ISR is no smaller than before.
    """
    void_stalled_read(partition, leader)
    if partition.options.isr_changes == IsrChanges.ZOOKEEPER:
        leader.isr = isr
        partition.controller.isr = isr
        advance_high_watermark(partition, leader)
    else:
        leader.pending_isr = isr
        partition.controller.request = isr


def starts_late_enough(partition: TopicPartition, leader: Broker, follower: Broker) -> bool:
    """With the fix of finding 0012, who joins has deleted what its leader has."""
    if not partition.options.isr_join_checks_log_start:
        return True
    return follower.log_start >= leader.log_start


@action(
    "{leader} sends AlterPartition to add {follower} to the ISR",
    at="Partition.maybeExpandIsr",
    since="0.8.0",
    about="KIP-497, KAFKA-7128",
    settings="isr.changes, join.isr.from.epoch.start",
)
def leader_propose_expand(partition: TopicPartition, leader: Broker, follower: Broker) -> None:
    """Handle a fetch of a follower that has reached the HW and the epoch's start (KAFKA-7128).

    It happens in the follower's own fetch (`Partition.maybeExpandIsr`), whose answer says nothing
    new or is lost. Why the HW alone is no measure: `model/ladder/kafka_7128.py`.
    """
    diverging = fetch_diverges(partition, follower, leader)
    require(can_change_isr(partition, leader))
    require(can_fetch(partition, follower, leader))
    require(not_(leader.isr.contains(follower)))
    require(partition.has_replica(follower))
    require(is_believed(partition, follower, leader, diverging))
    require(follower.log.end >= leader.high_watermark)
    if partition.options.join_isr_from_epoch_start:
        require(follower.log.end >= epoch_start(leader))
    require(starts_late_enough(partition, leader, follower))

    news = leader.follower_leo[follower] != follower.log.end
    leader.follower_leo[follower] = follower.log.end
    propose_isr(partition, leader, leader.isr.with_member(follower))
    advance_high_watermark(partition, leader, where=news)


def is_behind(partition: TopicPartition, leader: Broker, follower: Broker) -> bool:
    """The rule by which a follower may be dropped from the ISR.

    By time: whoever the leader does not know to be at its end. At an empty log that is anyone: the
    model does not tell "at 0" from "unknown". By messages: whoever is more records behind.
    """
    known = leader.follower_leo[follower]
    allowed = partition.options.replica_lag_max_messages
    if allowed > 0:
        return leader.log.end > known + allowed
    behind = any_of(known < leader.log.end, leader.log.is_empty)
    if partition.options.followers_keep_up:
        return all_of(behind, not_(follower.follows_in_epoch(leader)))
    return behind


@action(
    "{leader} sends AlterPartition to remove {follower} from the ISR",
    at="Partition.maybeShrinkIsr",
    since="0.8.0",
    about="KIP-497, KAFKA-1546",
    settings="isr.changes, replica.lag.max.messages, followers.keep.up",
)
def leader_propose_shrink(partition: TopicPartition, leader: Broker, follower: Broker) -> None:
    """Drop one follower that is behind (`replica.lag.time.max.ms`)."""
    require(can_change_isr(partition, leader))
    require(follower != leader)
    require(leader.isr.contains(follower))
    require(is_behind(partition, leader, follower))

    propose_isr(partition, leader, leader.isr.without_member(follower))


@action(
    "{leader} sends AlterPartition to remove every follower from the ISR",
    at="Partition.maybeShrinkIsr",
    since="0.8.0",
    about="KIP-497, KAFKA-1546",
    settings="isr.changes, replica.lag.max.messages, followers.keep.up",
)
def leader_propose_shrink_to_itself(partition: TopicPartition, leader: Broker) -> None:
    """Drop all followers, which are behind, and lead alone."""
    require(can_change_isr(partition, leader))
    require(leader.isr.size > 2)
    require(
        every(
            any_of(m == leader, not_(leader.isr.contains(m)), is_behind(partition, leader, m))
            for m in partition.brokers
        )
    )

    propose_isr(partition, leader, partition.brokers.only(leader))


@action(
    "{leader} receives the AlterPartition response: its ISR change is accepted",
    at="Partition.handleAlterPartitionUpdate",
    since="2.7.0",
    about="KIP-497",
    settings="isr.answer.apart",
)
def leader_hear_isr_answer(partition: TopicPartition, leader: Broker) -> None:
    """Take the ISR and partition epoch of an AlterPartition answer, before the image of them.

    The controller may have changed the partition again since: then the leader is not current. It
    may even have made another the leader: whoever has not read of that takes the answer.
    """
    controller = partition.controller
    in_office = partition.is_in_office(leader)
    require(partition.options.isr_answer_apart)
    require(leader.isr_accepted)

    leader.isr = leader.pending_isr
    leader.pending_isr = partition.brokers.none()
    leader.isr_accepted = False
    void_stalled_read(partition, leader)
    current = choose(in_office, controller.image_unread, controller.leader_is_current)
    controller.leader_is_current = current
    advance_high_watermark(partition, leader)


@action(
    "{leader} applies a metadata image with the partition epoch it already has",
    at="Partition.makeLeader",
    since="2.8.0",
    about="KIP-497, finding 0002",
    settings="pending.isr.survives.image",
)
def leader_read_known_image(partition: TopicPartition, leader: Broker) -> None:
    """Run `makeLeader` with an equal partition epoch: a change that is pending by now is forgotten.

    The request stays under way, so the leader no longer counts whom it may let in (finding 0002).
    If it was lost, `AlterPartitionManager` still sends it again, and until then takes no other:
    that is the same as a request that has not yet arrived.
    """
    controller = partition.controller
    require(controller.image_unread, controller.leader_is_current)
    require(controller.leader == leader)

    void_stalled_read(partition, leader)
    controller.image_unread = False
    publisher.note_image(partition, leader)
    if not partition.options.pending_isr_survives_image:
        lost = controller.request.is_empty
        controller.request = choose(lost, leader.pending_isr, controller.request)
        leader.pending_isr = partition.brokers.none()
    advance_high_watermark(partition, leader)


def is_lost_request_for(partition: TopicPartition, broker: Broker) -> bool:
    """A request that names the broker was lost with a controller, and will be sent again."""
    controller = partition.controller
    waits = some(
        all_of(controller.leader == leader, leader.pending_isr.contains(broker))
        for leader in partition.brokers
    )
    return all_of(
        partition.bound(CONTROLLER_FAILOVERS) > 0,
        controller.request.is_empty,
        controller.leader_is_current,
        waits,
    )


@action(
    "{leader} sends its pending AlterPartition request again",
    at="AlterPartitionManager.maybePropagateIsrChanges",
    since="2.7.0",
    about="KIP-497",
)
def leader_resend_isr_change(partition: TopicPartition, leader: Broker) -> None:
    """Send a lost AlterPartition request again (`AlterPartitionManager`)."""
    controller = partition.controller
    require(partition.bound(CONTROLLER_FAILOVERS) > 0)
    require(controller.request.is_empty, controller.leader_is_current)
    require(controller.leader == leader, not_(leader.pending_isr.is_empty))

    controller.request = leader.pending_isr
