"""How a follower truncates (`AbstractFetcherThread`, `ReplicaFetcherThread`).

By a lookup before it fetches (KIP-101 to KIP-320), or as the answer to a fetch says. How it fetches
is in `fetch_at_once.py` and `fetch_in_flight.py`, of which `fetch.answers` chooses one.
"""

from __future__ import annotations

from model.kafka import fetch_session, log_segment, unified_log
from model.kafka import leader_epoch_file_cache as file_cache
from model.kafka.choices import Truncation
from model.kafka.fetch_answer import awaits_answer
from model.kafka.fetched_epoch import is_not_in_cache, take_from_cache
from model.kafka.leader_epoch_cache import (
    answered_end,
    answered_epoch,
    cannot_be_answered,
    cannot_be_placed,
    fetched_epoch,
    knows_epoch,
    knows_epochs,
    last_epoch,
    truncation_end,
)
from model.kafka.partition import (
    asks_before_fetching,
    can_fetch,
    fetch_diverges,
    is_answered,
    note_fetch,
)
from model.kafka.replica_alter_log_dirs import note_truncation
from model.kafka.state import Broker, TopicPartition
from model.language import action, all_of, any_of, choose, minimum, not_, require


def answers_at_once(partition: TopicPartition) -> bool:
    """An answer arrives in the step that asks, or never."""
    return not partition.options.fetch_answers.travel


def truncate(
    partition: TopicPartition,
    follower: Broker,
    end: int,
    completed: bool,
    where: bool = True,
) -> None:
    """Where the condition holds, cut the follower's log at `end` (`ReplicaFetcherThread.truncate`).

    `completed`: by what the leader said, the logs agree then; else the follower will be told more.
    """
    unified_log.truncate(partition, follower, end, where)
    note_truncation(partition, follower, end, completed, where)


@action(
    "{follower} asks {leader} for the end offset of its last epoch, and truncates",
    at="AbstractFetcherThread.maybeTruncate",
    since="0.11.0",
    about="KIP-101, KIP-279, KIP-320",
    settings="truncation, fetch.fenced.by.epoch",
)
def follower_truncate(partition: TopicPartition, follower: Broker, leader: Broker) -> None:
    """Look up one epoch at the leader, before fetching (KIP-101); again, if need be (KIP-279).

    Request and answer (OffsetsForLeaderEpoch) are one step. KIP-320 has it fenced by epoch.
    """
    last = last_epoch(partition, follower)
    require(asks_before_fetching(partition))
    require(follower.truncating, not_(awaits_answer(follower)))
    require(is_answered(partition, follower, leader))
    if file_cache.is_kept(partition):
        require(knows_epochs(partition, follower))

    found = answered_epoch(partition, leader, last)
    end = answered_end(partition, leader, last)
    if partition.options.truncation == Truncation.LEADER_EPOCH:
        unknown = cannot_be_answered(partition, leader, last)
        kept = choose(unknown, follower.high_watermark, minimum(end, follower.log.end))
        again = False
    else:
        unknown = last > leader.leader_epoch
        if file_cache.is_kept(partition):
            unknown = file_cache.is_undefined(partition, leader, last)
        found_end = truncation_end(partition, follower, found, end)
        kept = choose(unknown, follower.high_watermark, found_end)
        again = all_of(not_(unknown), not_(knows_epoch(partition, follower, found)))
    truncate(partition, follower, kept, completed=not_(again))
    follower.truncating = all_of(again, knows_epochs(partition, follower))


@action(
    "{follower} has no leader epoch and truncates to its high watermark",
    at="AbstractFetcherThread.truncateToHighWatermark",
    since="0.11.0",
    about="KIP-101",
    settings="epoch.cache",
)
def follower_truncate_without_epochs(partition: TopicPartition, follower: Broker) -> None:
    """With an empty cache a fetcher asks nobody (`truncateToHighWatermark`)."""
    require(file_cache.is_kept(partition))
    require(follower.truncating, not_(awaits_answer(follower)))
    require(not_(knows_epochs(partition, follower)))

    follower.truncating = False
    log_segment.note_truncation(partition, follower, follower.high_watermark, where=True)
    follower.log.truncate_to(follower.high_watermark)
    note_truncation(partition, follower, follower.high_watermark, completed=True)


def is_out_of_range(partition: TopicPartition, follower: Broker, leader: Broker) -> bool:
    """The leader cannot place the fetch: the offset is beyond its end, or the epoch beyond its own.

    The follower then asks for the leader's end (ListOffsets), here in the same step.
    """
    if partition.options.truncation != Truncation.DIVERGING_FETCH:
        return follower.log.end > leader.log.end
    return cannot_be_placed(partition, follower, leader)


def divergence_offset(partition: TopicPartition, follower: Broker, leader: Broker) -> int:
    """Where the follower truncates after a fetch that diverges or is out of range."""
    end = minimum(follower.log.end, leader.log.end)
    if partition.options.truncation != Truncation.DIVERGING_FETCH:
        return end
    last = fetched_epoch(partition, follower)
    found = answered_epoch(partition, leader, last)
    answered = truncation_end(partition, follower, found, answered_end(partition, leader, last))
    return choose(is_out_of_range(partition, follower, leader), end, answered)


def clears_epochs(partition: TopicPartition, follower: Broker, leader: Broker, end: int) -> bool:
    """Truncation to `end` leaves the log as it is, and drops an epoch that the follower named.

    One without records; or what it fetched last, if its cache lacks that. What is out of range
    drops the second alone, and may be so for ever (KAFKA-15608, KAFKA-20961).
    """
    if not file_cache.is_kept(partition):
        return False
    cut = file_cache.would_be_cut(partition, follower, end)
    cut = all_of(cut, not_(cannot_be_placed(partition, follower, leader)))
    return any_of(cut, is_not_in_cache(follower))


def asks_in_vain(partition: TopicPartition, follower: Broker, leader: Broker) -> bool:
    """The follower has to truncate, and what this leader answers leaves it as it is.

    It asks the same again, as long as the leader has nothing new (KAFKA-10706, KAFKA-20961).
    """
    diverging = fetch_diverges(partition, follower, leader)
    end = divergence_offset(partition, follower, leader)
    stays = all_of(end == follower.log.end, not_(clears_epochs(partition, follower, leader, end)))
    fetches = all_of(can_fetch(partition, follower, leader), diverging, stays)
    if partition.options.truncation != Truncation.LEADER_EPOCH_ITERATED:
        return fetches
    last = last_epoch(partition, follower)
    found = answered_epoch(partition, leader, last)
    here = truncation_end(partition, follower, found, answered_end(partition, leader, last))
    cut = False
    unknown = last > leader.leader_epoch
    if file_cache.is_kept(partition):
        cut = file_cache.would_be_cut(partition, follower, here)
        unknown = file_cache.is_undefined(partition, leader, last)
    looks_up = all_of(
        follower.truncating,
        knows_epochs(partition, follower),
        is_answered(partition, follower, leader),
        not_(unknown),
        not_(knows_epoch(partition, follower, found)),
        here == follower.log.end,
        not_(cut),
    )
    return any_of(fetches, looks_up)


@action(
    "{follower} fetches from {leader}, learns of a diverging epoch, and truncates",
    at="AbstractFetcherThread.truncateOnFetchResponse",
    since="2.8.0",
    about="KIP-595",
    settings="truncation",
)
def follower_truncate_on_fetch(partition: TopicPartition, follower: Broker, leader: Broker) -> None:
    """Truncate to what the answer says; if that is too little, the next fetch diverges again."""
    diverging = fetch_diverges(partition, follower, leader)
    end = divergence_offset(partition, follower, leader)
    require(any_of(answers_at_once(partition), is_out_of_range(partition, follower, leader)))
    require(can_fetch(partition, follower, leader))
    require(diverging)
    require(any_of(end < follower.log.end, clears_epochs(partition, follower, leader, end)))

    placed = not_(is_out_of_range(partition, follower, leader))
    fetch_session.count_as_told(partition, follower, leader, where=placed)
    note_fetch(partition, follower, leader, diverging)
    found = answered_epoch(partition, leader, fetched_epoch(partition, follower))
    completed = any_of(not_(placed), knows_epoch(partition, follower, found))
    cuts = any_of(placed, end < follower.log.end)
    truncate(partition, follower, end, completed, where=cuts)
    take_from_cache(follower)


@action(
    "{follower} takes the high watermark of a response of {leader} with a diverging epoch",
    at="ReplicaFetcherThread.processPartitionData",
    since="2.8.0",
    about="KAFKA-14704",
    settings="diverging.answer.hw.ignored, truncation",
)
def follower_take_diverging_high_watermark(
    partition: TopicPartition, follower: Broker, leader: Broker
) -> None:
    """Take the HW before truncating: the two steps of one handler (KAFKA-14704)."""
    taken = minimum(leader.high_watermark, follower.log.end)
    require(not partition.options.diverging_hw_ignored)
    require(partition.options.truncation == Truncation.DIVERGING_FETCH)
    require(can_fetch(partition, follower, leader))
    require(fetch_diverges(partition, follower, leader))
    require(follower.high_watermark < taken)

    follower.high_watermark = taken
