"""What a leader does: it notes how far its followers are, and moves the high watermark."""

from __future__ import annotations

from model.kafka.epochs import diverges, epoch_start
from model.kafka.settings import Acks, FetchAnswers, IsrChanges, Truncation
from model.kafka.state import Broker, TopicPartition
from model.language import (
    SetOf,
    action,
    all_of,
    any_of,
    choose,
    every,
    maximum,
    not_,
    require,
    smallest,
    some,
)


def maximal_isr(partition: TopicPartition, leader: Broker) -> SetOf[Broker]:
    """The committed ISR and, where KIP-497's rule holds, whoever is about to join it (19)."""
    if partition.options.maximal_isr:
        return leader.isr.union(leader.pending_isr)
    return leader.isr


def advance_high_watermark(partition: TopicPartition, leader: Broker) -> None:
    """Raise the HW to what every member of the maximal ISR holds; expose and acknowledge.

    `Partition.maybeIncrementLeaderHW`. Kafka also waits for replicas outside the ISR that were
    caught up a moment ago; they need not have been, so leaving that out loses no behaviour.
    """
    counted = maximal_isr(partition, leader)
    end = leader.log.end
    replicated = smallest(
        choose(all_of(counted.contains(m), m != leader), leader.follower_leo[m], end)
        for m in partition.brokers
    )
    before = leader.high_watermark
    after = maximum(before, replicated)
    if partition.options.hw_frozen_below_min_isr:
        after = choose(leader.isr.size >= partition.min_isr, after, before)
    leader.high_watermark = after

    for row in partition.offsets:
        newly = all_of(row.number < after, row.exposed < 0)
        row.exposed = choose(newly, leader.log[row.number].id, row.exposed)
    if partition.options.acks == Acks.ALL:
        acknowledge_up_to(partition, leader, before, after, counted)


def acknowledge_up_to(
    partition: TopicPartition, leader: Broker, before: int, after: int, counted: SetOf[Broker]
) -> None:
    """Answer the producer for the records from HW `before` to `after` that this leader appended.

    The delayed produce knows no epoch: it waits as long as the broker leads without a break, and is
    decided when the HW passes it (`Partition.checkEnoughReplicasReachOffset`).
    """
    enough = counted.size >= partition.min_isr
    log = leader.log
    for record in partition.records:
        passed = some(
            all_of(
                before <= offset,
                offset < after,
                log[offset].id == record.number,
                log[offset].epoch >= leader.leading_since,
            )
            for offset in log.positions
        )
        record.acknowledged = any_of(record.acknowledged, all_of(enough, passed))


def can_fetch(partition: TopicPartition, follower: Broker, leader: Broker) -> bool:
    """The follower follows this leader and is not truncating; both are in one epoch (10)."""
    willing = all_of(follower.follows(leader), leader.leads, not_(follower.truncating))
    if partition.options.fetch_fenced_by_epoch:
        return all_of(willing, follower.leader_epoch == leader.leader_epoch)
    return willing


def fetch_diverges(partition: TopicPartition, follower: Broker, leader: Broker) -> bool:
    """The leader answers that the logs diverge, or that the offset is beyond its end."""
    beyond = follower.log.end > leader.log.end
    if partition.options.truncation != Truncation.DIVERGING_FETCH:
        return beyond
    return any_of(beyond, diverges(follower, leader))


def is_believed(
    partition: TopicPartition, follower: Broker, leader: Broker, diverging: bool
) -> bool:
    """The leader takes the offset of this fetch for the follower's LEO (14)."""
    options = partition.options
    if options.truncation != Truncation.DIVERGING_FETCH or options.diverging_fetch_leaves_leo:
        return not_(diverging)
    return follower.log.end <= leader.log.end


def is_noted(partition: TopicPartition, follower: Broker, leader: Broker, diverging: bool) -> bool:
    """The leader notes the offset of this fetch as the follower's LEO.

    Where LEOs are forgotten at every epoch, only those of possible ISR members are ever read, and
    the others are not state.
    """
    noted = is_believed(partition, follower, leader, diverging)
    if partition.options.reset_leo_every_epoch:
        member = leader.isr.union(leader.pending_isr).contains(follower)
        return all_of(noted, member)
    return noted


def note_fetch(
    partition: TopicPartition, follower: Broker, leader: Broker, diverging: bool
) -> None:
    """Note the follower's LEO, which may move the HW (`updateFollowerFetchState`)."""
    noted = is_noted(partition, follower, leader, diverging)
    known = leader.follower_leo[follower]
    leader.follower_leo[follower] = choose(noted, follower.log.end, known)
    advance_high_watermark(partition, leader)


@action("{leader} handles a fetch of {follower}; the answer says nothing new, or is lost")
def leader_handle_fetch(partition: TopicPartition, leader: Broker, follower: Broker) -> None:
    """Note how far the follower is, and move the HW."""
    diverging = fetch_diverges(partition, follower, leader)
    require(can_fetch(partition, follower, leader))
    require(is_noted(partition, follower, leader, diverging))
    require(leader.follower_leo[follower] != follower.log.end)

    leader.follower_leo[follower] = follower.log.end
    advance_high_watermark(partition, leader)


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
    """Ask the controller for an ISR (KIP-497); before that, write it to ZooKeeper."""
    if partition.options.isr_changes == IsrChanges.ZOOKEEPER:
        leader.isr = isr
        partition.controller.isr = isr
    else:
        leader.pending_isr = isr
        partition.controller.request = isr


@action("{leader} asks to take {follower} into the ISR")
def leader_propose_expand(partition: TopicPartition, leader: Broker, follower: Broker) -> None:
    """Handle a fetch of a follower that has reached the HW and the epoch's start (9, KAFKA-7128).

    It happens in the follower's own fetch (`Partition.maybeExpandIsr`), whose answer says nothing
    new or is lost.
    """
    diverging = fetch_diverges(partition, follower, leader)
    require(can_change_isr(partition, leader))
    require(can_fetch(partition, follower, leader))
    require(not_(leader.isr.contains(follower)))
    require(is_believed(partition, follower, leader, diverging))
    require(follower.log.end >= leader.high_watermark)
    if partition.options.join_isr_from_epoch_start:
        require(follower.log.end >= epoch_start(leader))

    propose_isr(partition, leader, leader.isr.with_member(follower))
    leader.follower_leo[follower] = follower.log.end
    advance_high_watermark(partition, leader)


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
        live = all_of(follower.follows(leader), follower.leader_epoch == leader.leader_epoch)
        return all_of(behind, not_(live))
    return behind


@action("{leader} asks to drop {follower} from the ISR")
def leader_propose_shrink(partition: TopicPartition, leader: Broker, follower: Broker) -> None:
    """Drop one follower that is behind (`replica.lag.time.max.ms`)."""
    require(can_change_isr(partition, leader))
    require(follower != leader)
    require(leader.isr.contains(follower))
    require(is_behind(partition, leader, follower))

    propose_isr(partition, leader, leader.isr.without_member(follower))
    advance_high_watermark(partition, leader)


@action("{leader} asks to drop every follower from the ISR")
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
    advance_high_watermark(partition, leader)


def forget_leadership(partition: TopicPartition, broker: Broker) -> None:
    """Blank what only a leader knows."""
    broker.isr = partition.brokers.none()
    broker.pending_isr = partition.brokers.none()
    broker.leading_since = 0
    for follower in partition.brokers:
        broker.follower_leo[follower] = 0


@action("{broker} reads that it leads, in which epoch and with which ISR")
def leader_apply_metadata(partition: TopicPartition, broker: Broker) -> None:
    """Become leader, or as leader learn of an ISR change (`Partition.makeLeader`).

    The answer to an AlterPartition request is the same step. A broker that did not lead until now
    knows no follower's LEO; one that did keeps them, as Kafka does, even if it was not the leader
    in between and missed that (36).
    """
    controller = partition.controller
    anew = not_(broker.leads)
    newer = broker.leader_epoch != controller.leader_epoch
    forgets = any_of(anew, newer) if partition.options.reset_leo_every_epoch else anew
    require(broker.up)
    require(controller.leader == broker)
    require(any_of(anew, newer, not_(controller.leader_is_current)))

    for follower in partition.brokers:
        forgotten = forgets
        if partition.options.reset_leo_every_epoch:
            forgotten = any_of(forgets, not_(controller.isr.contains(follower)))
        known = broker.follower_leo[follower]
        broker.follower_leo[follower] = choose(forgotten, 0, known)
    broker.leading_since = choose(anew, controller.leader_epoch, broker.leading_since)
    broker.leader = broker
    broker.leader_epoch = controller.leader_epoch
    broker.isr = controller.isr
    broker.pending_isr = partition.brokers.none()
    broker.truncating = False
    if partition.options.fetch_answers == FetchAnswers.IN_FLIGHT:
        if partition.options.answer_matches_epoch:
            broker.answer.forget()
    controller.leader_is_current = True
    advance_high_watermark(partition, broker)


@action("{leader} hears that its ISR change is accepted")
def leader_hear_isr_answer(partition: TopicPartition, leader: Broker) -> None:
    """Take the ISR and partition epoch of an AlterPartition answer, before the image of them."""
    controller = partition.controller
    require(partition.options.isr_answer_apart)
    require(partition.is_in_office(leader), not_(controller.leader_is_current))
    require(leader.pending_isr == controller.isr)

    leader.isr = controller.isr
    leader.pending_isr = partition.brokers.none()
    controller.leader_is_current = True
    controller.image_unread = True
    advance_high_watermark(partition, leader)


@action("{leader} reads the image of the partition epoch that it knows")
def leader_read_known_image(partition: TopicPartition, leader: Broker) -> None:
    """Run `makeLeader` with an equal partition epoch: a change that is pending by now is forgotten.

    The request stays under way, so the leader no longer counts whom it may let in (37).
    """
    controller = partition.controller
    require(controller.image_unread)
    require(controller.leader == leader)

    controller.image_unread = False
    if not partition.options.pending_isr_survives_image:
        leader.pending_isr = partition.brokers.none()
        asked = not_(controller.request.is_empty)
        controller.joiner_restarted = all_of(controller.joiner_restarted, asked)
    advance_high_watermark(partition, leader)
