"""Lemmas about the broker model's logs: whose records they hold, and in which order.

They say nothing of what is committed, and need neither clean elections nor any promise about disks.
A record on its way to a follower that will append it counts as if it were in the follower's log.
"""

from __future__ import annotations

from model.kafka.partition import asks_before_fetching
from model.kafka.state import RECORD_ANSWER, Broker, TopicPartition
from model.language import all_of, any_of, choose, every, implies, not_, some
from properties.claims import always


def is_coming(partition: TopicPartition, broker: Broker, offset: int) -> bool:
    """The answer under way brings the broker a record, which it will append at `offset`.

    It is compared by `<=` alone: an equality would give proofs for all sizes one more offset to
    instantiate for each broker.
    """
    if not partition.options.fetch_answers.travel:
        return False
    answer, end = broker.answer, broker.log.end
    here = all_of(offset <= end, end <= offset)
    return all_of(answer.kind == RECORD_ANSWER, answer.offset == end, here)


def has(partition: TopicPartition, broker: Broker, offset: int) -> bool:
    """The broker holds a record at `offset`, or will."""
    return any_of(broker.log.has(offset), is_coming(partition, broker, offset))


def id_at(partition: TopicPartition, broker: Broker, offset: int) -> int:
    """The record that the broker holds at `offset`, or will."""
    return choose(is_coming(partition, broker, offset), broker.answer.id, broker.log[offset].id)


def epoch_at(partition: TopicPartition, broker: Broker, offset: int) -> int:
    """The epoch of that record."""
    return choose(
        is_coming(partition, broker, offset), broker.answer.epoch, broker.log[offset].epoch
    )


def same_record(partition: TopicPartition, broker: Broker, other: Broker, offset: int) -> bool:
    """Both hold the same entry at `offset`, or will."""
    return all_of(
        has(partition, broker, offset),
        has(partition, other, offset),
        id_at(partition, broker, offset) == id_at(partition, other, offset),
        epoch_at(partition, broker, offset) == epoch_at(partition, other, offset),
    )


@always(
    "record_ids_issued",
    "a record id in a log was issued, and stands at one offset, with one epoch, wherever it stands",
    failure="{broker} holds a record at offset {offset} that was not issued, or that {other} has "
    "elsewhere or with another epoch",
    broken_by="a leader that does not count the records that it writes",
)
def record_ids_issued(partition: TopicPartition) -> bool:
    """Records are appended once, and then only copied, each to where it was."""
    return every(
        implies(
            has(partition, broker, offset),
            all_of(
                id_at(partition, broker, offset) < partition.next_record,
                every(
                    implies(
                        all_of(
                            has(partition, other, there),
                            id_at(partition, other, there) == id_at(partition, broker, offset),
                        ),
                        all_of(
                            there == offset,
                            epoch_at(partition, other, there)
                            == epoch_at(partition, broker, offset),
                        ),
                    )
                    for other in partition.brokers
                    for there in broker.log.positions
                ),
            ),
        )
        for broker in partition.brokers
        for offset in broker.log.positions
    )


@always(
    "epochs_in_logs",
    "epochs do not decrease along a log, and pass neither the controller's nor a live broker's own",
    failure="{broker} is in epoch {broker.leader_epoch}; the epochs in its log are out of order at "
    "offset {offset}",
    broken_by="kafka fetch.fenced.by.epoch=false",
)
def epochs_in_logs(partition: TopicPartition) -> bool:
    """Logs are in order of epochs."""
    return every(
        implies(
            has(partition, broker, offset),
            all_of(
                epoch_at(partition, broker, offset) <= partition.controller.leader_epoch,
                implies(broker.up, epoch_at(partition, broker, offset) <= broker.leader_epoch),
                every(
                    implies(
                        earlier < offset,
                        epoch_at(partition, broker, earlier) <= epoch_at(partition, broker, offset),
                    )
                    for earlier in broker.log.positions
                ),
            ),
        )
        for broker in partition.brokers
        for offset in broker.log.positions
    )


@always(
    "log_matching",
    "where a log reaches as far into an epoch as another, it holds what that holds up to there",
    failure="{broker} and {other} hold records of one epoch at offsets {offset} and {further}, and "
    "differ at offset {earlier}",
    broken_by="two leaders that write in the same epoch",
)
def log_matching(partition: TopicPartition) -> bool:
    """As Raft's log matching, and more: an epoch begins at one offset, in whichever log."""
    return every(
        implies(
            all_of(
                offset <= further,
                has(partition, broker, offset),
                has(partition, other, further),
                epoch_at(partition, broker, offset) == epoch_at(partition, other, further),
            ),
            every(
                implies(earlier <= offset, same_record(partition, broker, other, earlier))
                for earlier in broker.log.positions
            ),
        )
        for broker in partition.brokers
        for other in partition.brokers
        for offset in broker.log.positions
        for further in broker.log.positions
    )


@always(
    "records_come_from_leaders",
    "whoever leads holds all records of its epoch; a record of the newest epoch was written in "
    "office",
    failure="{broker} holds a record at offset {offset} that the leader of its epoch cannot have "
    "written",
    broken_by="a follower that stamps the records that it copies with its own epoch",
)
def records_come_from_leaders(partition: TopicPartition) -> bool:
    """So a leader starts its epoch with no record of it anywhere."""
    return every(
        implies(
            has(partition, broker, offset),
            all_of(
                every(
                    implies(
                        all_of(
                            leader.leads,
                            epoch_at(partition, broker, offset) == leader.leader_epoch,
                        ),
                        same_record(partition, broker, leader, offset),
                    )
                    for leader in partition.brokers
                ),
                implies(
                    epoch_at(partition, broker, offset) == partition.controller.leader_epoch,
                    some(
                        all_of(
                            partition.controller.leader == writer,
                            any_of(not_(writer.up), partition.is_in_office(writer)),
                        )
                        for writer in partition.brokers
                    ),
                ),
            ),
        )
        for broker in partition.brokers
        for offset in broker.log.positions
    )


def is_prefix(partition: TopicPartition, follower: Broker, leader: Broker) -> bool:
    """The leader's log begins with all of the follower's."""
    return every(
        implies(has(partition, follower, offset), same_record(partition, follower, leader, offset))
        for offset in follower.log.positions
    )


@always(
    "follower_has_prefix",
    "with lookups before fetches, a follower that need not truncate has a prefix of its leader's "
    "log, and before that takes office an empty log",
    failure="{follower} follows {leader} in epoch {follower.leader_epoch} and does not truncate, "
    "but its log is no prefix of {leader}'s",
    broken_by="kafka truncation=leader_epoch with a log of 2",
)
def follower_has_prefix(partition: TopicPartition) -> bool:
    """KIP-279: so it may fetch without asking. A fetch that can diverge needs no such promise.

    An answer from an earlier epoch (KAFKA-18991) breaks it.
    """
    options = partition.options
    late = options.fetch_answers.travel and not options.answer_matches_epoch
    if late or not asks_before_fetching(partition):
        return True
    return every(
        implies(
            all_of(follower.follows(leader), leader.up, not_(follower.truncating)),
            all_of(
                implies(
                    all_of(leader.leads, leader.leader_epoch == follower.leader_epoch),
                    is_prefix(partition, follower, leader),
                ),
                implies(
                    all_of(
                        partition.controller.leader_epoch == follower.leader_epoch,
                        not_(partition.is_in_office(leader)),
                    ),
                    follower.log.is_empty,
                ),
            ),
        )
        for follower in partition.brokers
        for leader in partition.brokers
    )
