"""A broker's own view of the partition (`Partition`): the high watermark, fetches, leadership.

What a leader does about the ISR is in `alter_partition.py`.
"""

from __future__ import annotations

from model.acks import Acks
from model.kafka import dynamic_config_publisher as publisher
from model.kafka import fetch_session, log_segment, replica_alter_log_dirs, unified_log
from model.kafka import leader_epoch_file_cache as file_cache
from model.kafka.choices import Truncation
from model.kafka.fetch_answer import awaits_answer, void_answer, void_answer_to_empty_log
from model.kafka.leader_epoch_cache import (
    begin_epoch,
    cannot_be_placed,
    diverges,
    knows_epochs,
)
from model.kafka.stalled_threads import (
    orphan_stalled_fetch,
    void_stalled_fetch,
    void_stalled_produce,
    void_stalled_read,
    void_stalled_truncation,
)
from model.kafka.state import Broker, TopicPartition
from model.language import (
    SetOf,
    action,
    all_of,
    any_of,
    choose,
    is_none,
    maximum,
    not_,
    require,
    smallest,
    some,
)


def maximal_isr(partition: TopicPartition, leader: Broker) -> SetOf[Broker]:
    """The committed ISR and, where KIP-497's rule holds, whoever is about to join it."""
    both = leader.isr.union(leader.pending_isr)
    return both if partition.options.maximal_isr else leader.isr


def held_by_the_isr(partition: TopicPartition, leader: Broker) -> int:
    """The offset up to which the leader knows every member of the maximal ISR to hold its log."""
    counted, end = maximal_isr(partition, leader), leader.log.end
    return smallest(
        choose(all_of(counted.contains(m), m != leader), leader.follower_leo[m], end)
        for m in partition.brokers
    )


def is_frozen(partition: TopicPartition, leader: Broker, isr: SetOf[Broker]) -> bool:
    """A leader's HW does not move while its ISR is below its minimum (KAFKA-15583)."""
    if not partition.options.hw_frozen_below_min_isr:
        return False
    return isr.size < partition.min_isr_of(leader)


def would_advance(partition: TopicPartition, leader: Broker) -> bool:
    """Some news would move the HW: it waits for no member of the maximal ISR."""
    held = held_by_the_isr(partition, leader)
    return all_of(not_(is_frozen(partition, leader, leader.isr)), held > leader.high_watermark)


def advance_high_watermark(partition: TopicPartition, leader: Broker, where: bool = True) -> None:
    """Where the condition holds, raise the HW to what every member of the maximal ISR holds.

    What it passes is exposed, and acknowledged.

    `Partition.maybeIncrementLeaderHW`. Kafka also waits for replicas outside the ISR that were
    caught up a moment ago; they need not have been, so leaving that out loses no behaviour.
    """
    before, held = leader.high_watermark, held_by_the_isr(partition, leader)
    after = choose(all_of(where, would_advance(partition, leader)), held, before)
    leader.high_watermark = after

    for row in partition.offsets:
        newly = all_of(leader.log_start <= row.number, row.number < after, row.exposed < 0)
        row.exposed = choose(newly, leader.log[row.number].id, row.exposed)
    if partition.options.acks == Acks.ALL:
        acknowledge_up_to(partition, leader, before, after)


def acknowledge_up_to(partition: TopicPartition, leader: Broker, before: int, after: int) -> None:
    """Answer the producer for the records from HW `before` to `after` that this leader appended.

    The delayed produce knows no epoch: it waits as long as the broker leads without a break, and is
    decided when the HW passes it (`Partition.checkEnoughReplicasReachOffset`). One whose thread
    stalls does not wait yet.
    """
    enough = maximal_isr(partition, leader).size >= partition.min_isr_of(leader)
    log, stalled = leader.log, partition.stalled_produce
    for record in partition.records:
        passed = some(
            all_of(
                maximum(before, leader.log_start) <= offset,
                offset < after,
                log[offset].id == record.number,
                log[offset].epoch >= leader.leading_since,
            )
            for offset in log.positions
        )
        waits = not_(all_of(stalled.leader == leader, stalled.record == record.number))
        record.acknowledged = any_of(record.acknowledged, all_of(enough, passed, waits))


def is_answered(partition: TopicPartition, follower: Broker, leader: Broker) -> bool:
    """The follower asks this leader, which leads and knows of the follower's replica.

    Both are in one leader epoch (KIP-320).
    """
    fenced = partition.options.fetch_fenced_by_epoch
    follows = follower.follows_in_epoch(leader) if fenced else follower.follows(leader)
    known = not_(leader.not_replicas.contains(follower)) if partition.replicas_move else True
    return all_of(follows, leader.leads, known)


def is_ready_to_fetch(partition: TopicPartition, follower: Broker, leader: Broker) -> bool:
    """It has not to truncate first, waits for no answer of a thread that stalls, nor gave up."""
    truncation, read = partition.stalled_truncation, partition.stalled_read
    truncates = all_of(truncation.follower == follower, truncation.leader == leader)
    waits = any_of(truncates, read.follower == follower)
    return all_of(not_(follower.truncating), not_(waits), not_(follower.gave_up))


def can_fetch(partition: TopicPartition, follower: Broker, leader: Broker) -> bool:
    """A fetch of the follower is answered, and not that it is below the leader's log start."""
    return all_of(
        not_(awaits_answer(follower)),
        is_answered(partition, follower, leader),
        is_ready_to_fetch(partition, follower, leader),
        follower.log.end >= leader.log_start,
    )


def fetch_diverges(partition: TopicPartition, follower: Broker, leader: Broker) -> bool:
    """The leader answers that the logs diverge, or that the offset is beyond its end."""
    beyond = follower.log.end > leader.log.end
    if partition.options.truncation != Truncation.DIVERGING_FETCH:
        return beyond
    if file_cache.is_kept(partition):
        beyond = cannot_be_placed(partition, follower, leader)
    return any_of(beyond, diverges(partition, follower, leader))


def is_believed(
    partition: TopicPartition, follower: Broker, leader: Broker, diverging: bool
) -> bool:
    """The leader takes the offset of this fetch for the follower's LEO (KAFKA-13141)."""
    options = partition.options
    if options.truncation != Truncation.DIVERGING_FETCH or options.diverging_fetch_leaves_leo:
        return not_(diverging)
    if file_cache.is_kept(partition):
        return not_(cannot_be_placed(partition, follower, leader))
    return follower.log.end <= leader.log.end


def is_noted(partition: TopicPartition, follower: Broker, leader: Broker, diverging: bool) -> bool:
    """The leader notes the offset of this fetch as the follower's LEO.

    Where LEOs are forgotten at every epoch, only those of possible ISR members are ever read, and
    the others are not state.
    """
    noted = is_believed(partition, follower, leader, diverging)
    return all_of(noted, is_remembered(partition, follower, leader))


def is_remembered(partition: TopicPartition, follower: Broker, leader: Broker) -> bool:
    """What the leader notes of the follower is state; see `is_noted`."""
    if partition.options.reset_leo_every_epoch:
        return leader.isr.union(leader.pending_isr).contains(follower)
    return True


def note_fetch(
    partition: TopicPartition, follower: Broker, leader: Broker, diverging: bool
) -> None:
    """Note the follower's LEO (`updateFollowerFetchState`); only if it changes, the HW may move.

    Whether a follower at 0 is known is not state. Here it is; see `leader_handle_fetch`.
    """
    noted = is_noted(partition, follower, leader, diverging)
    known = leader.follower_leo[follower]
    news = all_of(is_believed(partition, follower, leader, diverging), known != follower.log.end)
    leader.follower_leo[follower] = choose(noted, follower.log.end, known)
    advance_high_watermark(partition, leader, where=news)


@action(
    "{leader} handles a fetch from {follower}; the response is empty or lost",
    at="Partition.updateFollowerFetchState",
    since="0.8.0",
    about="KIP-320, KAFKA-13141",
    settings="fetch.fenced.by.epoch, diverging.fetch.leaves.leo",
)
def leader_handle_fetch(partition: TopicPartition, leader: Broker, follower: Broker) -> None:
    """Note how far the follower is, and move the HW.

    The first fetch of a follower at 0 is news too: it moves the HW where that waits for anything at
    all, which it does after a refused ISR change (number 47). It may be the first at any time.
    """
    diverging = fetch_diverges(partition, follower, leader)
    known, end = leader.follower_leo[follower], follower.log.end
    noted = is_noted(partition, follower, leader, diverging)
    require(can_fetch(partition, follower, leader))
    require(is_believed(partition, follower, leader, diverging))
    require(
        any_of(
            all_of(noted, known != end),
            all_of(any_of(known != end, end == 0), would_advance(partition, leader)),
        )
    )

    leader.follower_leo[follower] = choose(noted, end, known)
    advance_high_watermark(partition, leader)


def forget_leadership(partition: TopicPartition, broker: Broker, where: bool = True) -> None:
    """Where the condition holds, blank what only a leader knows."""
    nobody = partition.brokers.none()
    broker.not_replicas = choose(where, nobody, broker.not_replicas)
    broker.isr = choose(where, nobody, broker.isr)
    broker.pending_isr = choose(where, nobody, broker.pending_isr)
    broker.isr_accepted = choose(where, False, broker.isr_accepted)
    broker.leading_since = choose(where, 0, broker.leading_since)
    for follower in partition.brokers:
        known = broker.follower_leo[follower]
        broker.follower_leo[follower] = choose(where, 0, known)


def forgets_followers(partition: TopicPartition, broker: Broker) -> bool:
    """Who becomes leader knows no follower's LEO; with a fix, nor does who leads a later epoch.

    The edit of finding 0001 forgets where an epoch was skipped: else nobody led in between.
    """
    anew, later = not_(broker.leads), partition.controller.leader_epoch
    if partition.options.reset_leo_every_epoch:
        return any_of(anew, later != broker.leader_epoch)
    skips = later > broker.leader_epoch + 1
    return any_of(anew, skips) if partition.options.reset_leo_after_skip else anew


@action(
    "{broker} applies metadata that makes it leader, with its epoch and ISR",
    at="Partition.makeLeader",
    since="0.8.0",
    about="finding 0001, finding 0008",
    settings="reset.follower.leo.every.epoch, reset.follower.leo.after.skipped.epoch, "
    "fetch.noted.in.its.epoch",
)
def leader_apply_metadata(partition: TopicPartition, broker: Broker) -> None:
    """Become leader, or as leader learn of an ISR change (`Partition.makeLeader`).

    The answer to an AlterPartition request is the same step. A broker that did not lead until now
    knows no follower's LEO; one that did keeps them, as Kafka does, even if it was not the leader
    in between and missed that (finding 0001).
    """
    controller = partition.controller
    anew = not_(broker.leads)
    newer = broker.leader_epoch != controller.leader_epoch
    forgets = forgets_followers(partition, broker)
    answered = all_of(not_(anew), not_(newer), controller.image_unread)
    if partition.options.isr_answer_apart:
        answered = False
    require(broker.is_online)
    require(controller.leader == broker)
    require(any_of(anew, newer, not_(controller.leader_is_current)))

    for follower in partition.brokers:
        forgotten = any_of(forgets, not_(partition.has_replica(follower)))
        if partition.options.reset_leo_every_epoch:
            forgotten = any_of(forgotten, not_(controller.isr.contains(follower)))
        known = broker.follower_leo[follower]
        broker.follower_leo[follower] = choose(forgotten, 0, known)
    if partition.replicas_move:
        broker.not_replicas = partition.brokers.all().minus(controller.replicas)
        orphan_stalled_fetch(partition, broker, broker.not_replicas)
    void_stalled_fetch(partition, broker, where=newer, forgets=forgets)
    void_stalled_produce(partition, broker, where=newer)
    void_stalled_read(partition, broker)
    begin_epoch(partition, broker, where=any_of(anew, newer))
    replica_alter_log_dirs.begin_again(partition, broker, where=any_of(anew, newer))
    broker.leading_since = choose(anew, controller.leader_epoch, broker.leading_since)
    broker.leader = broker
    broker.leader_epoch = controller.leader_epoch
    broker.isr = controller.isr
    broker.pending_isr = partition.brokers.none()
    broker.isr_accepted = False
    broker.truncating = False
    broker.gave_up = False
    fetch_session.begin_anew(partition, broker)
    void_answer(partition, broker)
    controller.leader_is_current = True
    controller.image_unread = False
    publisher.note_image(partition, broker, where=not_(answered))
    publisher.note_answer(partition, broker, where=answered)
    advance_high_watermark(partition, broker)


def asks_before_fetching(partition: TopicPartition) -> bool:
    """A new follower asks where its last epoch ends before it fetches (KIP-101 to KIP-320)."""
    return partition.options.truncation in (
        Truncation.LEADER_EPOCH,
        Truncation.LEADER_EPOCH_ITERATED,
    )


def truncates_before_fetching(partition: TopicPartition, broker: Broker) -> bool:
    """A new follower has to truncate first: it has something to ask for, or to give up."""
    if not file_cache.is_kept(partition):
        return broker.log.end > 0
    knows = knows_epochs(partition, broker)
    if asks_before_fetching(partition):
        return any_of(knows, broker.log.end > 0)
    return all_of(not_(knows), broker.log.end > 0)


def follow(partition: TopicPartition, broker: Broker) -> None:
    """Take leader and leader epoch from the controller, as follower or, with no leader, neither.

    A broker that has no replica any more throws its log away, and knows of neither. Without
    KAFKA-7164's fix one that follows that leader already goes on as if the epoch were the same.
    """
    controller = partition.controller
    options = partition.options
    assigned = partition.has_replica(broker)
    follows = all_of(assigned, not_(is_none(controller.leader)), controller.leader != broker)
    goes_on = False
    if not options.truncates_every_epoch:
        goes_on = all_of(follows, broker.leader == controller.leader)
    anew = all_of(follows, not_(goes_on))
    if options.truncation == Truncation.HIGH_WATERMARK:
        log_segment.note_truncation(partition, broker, broker.high_watermark, where=anew)
        broker.truncate_to(choose(anew, broker.high_watermark, broker.log.end))
    if asks_before_fetching(partition) or file_cache.is_kept(partition):
        truncates = all_of(anew, truncates_before_fetching(partition, broker))
        broker.truncating = any_of(truncates, all_of(goes_on, broker.truncating))
    forget_leadership(partition, broker)
    orphan_stalled_fetch(partition, broker, partition.brokers.all())
    void_stalled_fetch(partition, broker)
    void_stalled_truncation(partition, broker)
    void_stalled_produce(partition, broker)
    void_stalled_read(partition, broker)
    void_answer(partition, broker)
    void_answer_to_empty_log(partition, broker, where=not_(goes_on))
    stays = all_of(follows, broker.leader == controller.leader)
    fetch_session.go_on(partition, broker, leader_stays=stays)
    file_cache.begin_to_fetch(partition, broker, where=not_(goes_on))
    replica_alter_log_dirs.begin_again(partition, broker)
    broker.gave_up = all_of(goes_on, broker.gave_up)
    broker.leader = choose(assigned, controller.leader, None)
    broker.leader_epoch = choose(assigned, controller.leader_epoch, 0)
    publisher.note_image_of_follower(partition, broker)
    if partition.replicas_move:
        unified_log.delete(partition, broker, where=not_(assigned))


@action(
    "{broker} applies metadata and becomes a follower",
    at="Partition.makeFollower",
    since="0.8.0",
    about="KIP-101, KAFKA-7164",
    settings="truncation, truncate.every.epoch",
)
def follower_apply_metadata(partition: TopicPartition, broker: Broker) -> None:
    """Become follower of the controller's leader, or follow nobody (`Partition.makeFollower`)."""
    controller = partition.controller
    require(broker.is_online)
    require(controller.leader != broker)
    require(partition.has_replica(broker))
    require(broker.leader_epoch != controller.leader_epoch)

    follow(partition, broker)
