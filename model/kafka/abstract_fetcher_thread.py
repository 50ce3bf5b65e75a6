"""A fetcher thread that stalls before it truncates (`AbstractFetcherThread.processFetchRequest`).

The thread takes an answer under `partitionMapLock`, lets go of it, and truncates under the lock
again. In `replica_fetcher.py` that is one step. Here metadata may be read between the parts: the
partition may go to another thread and come back, in a later leader epoch. One thread stalls at a
time; it fetches from one leader, and while it stalls nothing else does so for this follower. It
lives on by other partitions that it fetches from that leader. Before followers were told by a
fetch, a thread looked under the lock whether they know of an epoch, and then likewise truncated.
"""

from __future__ import annotations

from model.kafka import leader_epoch_file_cache as file_cache
from model.kafka.bounds import STALLED_TRUNCATIONS
from model.kafka.choices import IsrChanges, Truncation
from model.kafka.leader_epoch_cache import (
    answered_end,
    answered_epoch,
    fetched_epoch,
    knows_epoch,
    knows_epochs,
    truncation_end,
)
from model.kafka.partition import asks_before_fetching, can_fetch, fetch_diverges, note_fetch
from model.kafka.replica_fetcher import answers_at_once, is_out_of_range, truncate
from model.kafka.state import Broker, TopicPartition
from model.language import action, choose, is_none, not_, require, spend, spent


@action(
    "{follower} fetches from {leader}, learns of a diverging epoch; the thread stalls",
    at="AbstractFetcherThread.processFetchRequest",
    since="2.8.0",
    about="KIP-595",
    settings="truncation, fetch.answers",
)
def follower_stall_before_truncating(
    partition: TopicPartition, follower: Broker, leader: Broker
) -> None:
    """Take the answer of a fetch in its leader epoch, and decide to truncate."""
    diverging = fetch_diverges(partition, follower, leader)
    last, stalled = fetched_epoch(partition, follower), partition.stalled_truncation
    require(answers_at_once(partition))
    require(partition.options.truncation == Truncation.DIVERGING_FETCH)
    require(is_none(stalled.follower))
    require(can_fetch(partition, follower, leader))
    require(diverging, not_(is_out_of_range(partition, follower, leader)))

    spend(partition, STALLED_TRUNCATIONS)
    stalled.follower = follower
    stalled.leader = leader
    stalled.epoch = answered_epoch(partition, leader, last)
    stalled.end = answered_end(partition, leader, last)
    note_fetch(partition, follower, leader, diverging)


def _cuts_at_high_watermark(partition: TopicPartition) -> bool:
    """Up to 2.6, a follower that knows of no epoch is cut where it begins to fetch, its HW."""
    up_to_2_6 = partition.options.isr_changes == IsrChanges.ZOOKEEPER
    return up_to_2_6 and asks_before_fetching(partition)


@action(
    "{follower} follows {leader} and has no leader epoch; the thread stalls",
    at="AbstractFetcherThread.fetchTruncatingPartitions",
    since="0.11.0",
    about="KIP-101",
    settings="truncation, fetch.answers",
)
def follower_stall_without_epochs(
    partition: TopicPartition, follower: Broker, leader: Broker
) -> None:
    """Find nothing to ask the leader for, so that the high watermark will do (`maybeTruncate`).

    A follower begins to fetch at its HW then, whatever it knows of epochs; since leaders ask the
    controller for ISR changes (2.7), one that knows of an epoch begins at its log's end.
    """
    stalled = partition.stalled_truncation
    unknown = follower.log.is_empty
    if file_cache.is_kept(partition):
        unknown = not_(knows_epochs(partition, follower))
    require(answers_at_once(partition), _cuts_at_high_watermark(partition))
    require(is_none(stalled.follower))
    require(follower.is_online, follower.follows(leader), unknown)

    spend(partition, STALLED_TRUNCATIONS)
    stalled.follower = follower
    stalled.leader = leader


@action(
    "the stalled fetcher thread of {follower} resumes and truncates",
    at="AbstractFetcherThread.truncateOnFetchResponse",
    since="2.8.0",
    about="finding 0009",
)
def follower_finish_truncating(partition: TopicPartition, follower: Broker) -> None:
    """Truncate as was decided, if the partition is with this thread now; else do nothing.

    It may have been with another meanwhile, and the leader epoch is not compared
    (`maybeTruncateToEpochEndOffsets`, finding 0009; `truncateToHighWatermark`).
    """
    stalled, at_high_watermark = partition.stalled_truncation, _cuts_at_high_watermark(partition)
    mine, kept = stalled.leader == follower.leader, follower.high_watermark
    if not at_high_watermark:
        kept = truncation_end(partition, follower, stalled.epoch, stalled.end)
    require(spent(partition, STALLED_TRUNCATIONS) > 0, stalled.follower == follower)

    if at_high_watermark:
        follower.truncating = choose(mine, False, follower.truncating)
    known = knows_epoch(partition, follower, stalled.epoch)
    completed = True if at_high_watermark else known
    truncate(partition, follower, kept, completed, where=mine)
    stalled.reset()


def forget_stalled_truncation(partition: TopicPartition, broker: Broker) -> None:
    """The broker's process is gone, and its threads with it."""
    stalled = partition.stalled_truncation
    stalled.reset(where=stalled.follower == broker)
