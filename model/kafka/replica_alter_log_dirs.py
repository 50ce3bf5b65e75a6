"""A replica's move to another log directory (`ReplicaAlterLogDirsThread`, KIP-113).

The broker makes an empty log in the other directory, the future replica. A fetcher copies the
current log to it. It compares leader epochs with the current log first, as a follower did with its
leader before KIP-595: in each new leader epoch, and after a truncation that it is told of. Once
both logs end at the same offset, the future replica takes the current log's place.

What a power loss takes from the future replica is left out, and so is a future replica that is
found without its current log: it is gone with that, but where the controller has it in the new
directory already (`future_replica_assignment.py`); else the controller takes the report of that at
once. Nothing is deleted at the log's start meanwhile. A broker whose partition has no leader copies
nothing. To cancel a move is to leave it where it is.
"""

from __future__ import annotations

from model.kafka import fetched_epoch, log_segment
from model.kafka import leader_epoch_file_cache as file_cache
from model.kafka.bounds import DIRECTORY_MOVES, RECORD_DELETIONS
from model.kafka.leader_epoch_cache import (
    answered_end,
    answered_epoch,
    cannot_be_answered,
    completes_truncation,
    local_truncation,
)
from model.kafka.state import Broker, TopicPartition
from model.language import action, all_of, any_of, choose, is_none, minimum, not_, require, spend


def begin_again(partition: TopicPartition, broker: Broker, where: bool = True) -> None:
    """Where the condition holds, the broker has a new leader epoch: its fetcher compares again.

    `ReplicaManager.maybeAddLogDirFetchers`. The fetch offset is the future replica's HW.
    """
    future = broker.future
    if not partition.options.new_epoch_restarts_log_dir_fetcher:
        where = _restart_unless_fenced(broker, where)
    if not partition.options.log_dir_fetcher_begins_at_its_hw:
        _begin_at_current_high_watermark(broker, where)
    again = all_of(where, not_(future.log.is_empty))
    future.truncating = any_of(again, future.truncating)
    future.fetch_offset = choose(again, future.high_watermark, future.fetch_offset)


def _restart_unless_fenced(broker: Broker, where: bool) -> bool:
    """The fetcher is started by the first metadata alone; later epochs fence it, for good."""
    future = broker.future
    first = is_none(broker.leader)
    fenced = all_of(where, future.exists, not_(first))
    future.failed = any_of(fenced, all_of(future.failed, not_(all_of(where, first))))
    return all_of(where, first)


def _begin_at_current_high_watermark(broker: Broker, where: bool) -> None:
    """An empty log cannot be truncated to it, and refuses the first record from there."""
    future = broker.future
    mismatch = all_of(future.exists, future.log.is_empty, broker.high_watermark > 0)
    future.failed = any_of(all_of(where, mismatch), all_of(future.failed, not_(where)))


def note_truncation(
    partition: TopicPartition, broker: Broker, end: int, completed: bool, where: bool = True
) -> None:
    """Where the condition holds, the current log was truncated to `end` by its fetcher.

    `AbstractFetcherThread.markPartitionsForTruncation`: only the last truncation of several, after
    which the follower knows where the logs agree, is told to the future replica's fetcher.
    """
    future = broker.future
    told = True if partition.options.every_truncation_marks_future else completed
    marked = all_of(where, told, not_(future.log.is_empty), not_(future.failed))
    held = choose(future.truncating, future.fetch_offset, future.log.end)
    future.truncating = any_of(marked, future.truncating)
    future.fetch_offset = choose(marked, minimum(end, held), future.fetch_offset)


def note_stop(partition: TopicPartition, broker: Broker, where: bool = True) -> None:
    """Where the condition holds, the broker's process is gone, and the fetcher with it.

    Both logs' HWs are checkpointed at once (`ReplicaManager.checkpointHighWatermarks`): the future
    replica's is no higher than what is left of the current log's.
    """
    future = broker.future
    left = minimum(future.high_watermark, broker.high_watermark)
    future.high_watermark = choose(where, left, future.high_watermark)
    begin_again(partition, broker, where)


def forget(broker: Broker, where: bool = True) -> None:
    """Where the condition holds, the replica is gone, and its future replica with it."""
    future = broker.future
    future.exists = all_of(not_(where), future.exists)
    future.log.truncate_to(choose(where, 0, future.log.end))
    future.high_watermark = choose(where, 0, future.high_watermark)
    future.truncating = all_of(not_(where), future.truncating)
    future.fetch_offset = choose(where, 0, future.fetch_offset)
    future.failed = all_of(not_(where), future.failed)


def _truncate_to(broker: Broker, end: int) -> None:
    future = broker.future
    future.high_watermark = minimum(future.high_watermark, end)
    future.log.truncate_to(end)


def _require_fetcher(broker: Broker, truncating: bool) -> None:
    future = broker.future
    require(future.exists, future.truncating == truncating, not_(future.failed))
    require(broker.is_online, not_(is_none(broker.leader)))


@action(
    "an operator moves the replica of {broker} to another log directory",
    at="ReplicaManager.alterReplicaLogDirs",
    since="1.1.0",
    about="KIP-113",
)
def operator_move_log(partition: TopicPartition, broker: Broker) -> None:
    """Make an empty future replica."""
    future = broker.future
    require(partition.bound(RECORD_DELETIONS) == 0)
    require(broker.is_online, not_(is_none(broker.leader)), not_(future.exists))

    spend(partition, DIRECTORY_MOVES)
    future.exists = True


@action(
    "the future replica of {broker} compares leader epochs with the current log, and truncates",
    at="AbstractFetcherThread.truncateToEpochEndOffsets",
    since="1.1.0",
    about="KIP-113, KAFKA-10554",
)
def future_replica_truncate(partition: TopicPartition, broker: Broker) -> None:
    """Ask the current log where the last epoch ends; again, if the answer names an unknown epoch.

    Where it cannot say, the future replica is cut at its fetch offset.
    """
    future = broker.future
    asked = future.log.last_epoch
    _require_fetcher(broker, truncating=True)

    unknown = cannot_be_answered(partition, broker, asked)
    found = answered_epoch(partition, broker, asked)
    end = local_truncation(future.log, found, answered_end(partition, broker, asked))
    known = completes_truncation(future.log, found)
    kept = choose(unknown, minimum(future.fetch_offset, future.log.end), end)
    again = all_of(not_(unknown), not_(known))
    _truncate_to(broker, kept)
    future.truncating = all_of(again, not_(future.log.is_empty))
    future.fetch_offset = choose(future.truncating, future.fetch_offset, 0)


@action(
    "the future replica of {broker} copies the record at its end from the current log",
    at="ReplicaAlterLogDirsThread.processPartitionData",
    since="1.1.0",
    about="KIP-113",
)
def future_replica_fetch(partition: TopicPartition, broker: Broker) -> None:
    """Append what the current log has next, committed or not. Nobody compares epochs."""
    future, log = broker.future, broker.log
    _require_fetcher(broker, truncating=False)
    require(future.log.end < log.end)

    end = future.log.end
    future.log.append(id=log[end].id, epoch=log[end].epoch)
    future.high_watermark = minimum(broker.high_watermark, future.log.end)


@action(
    "the future replica of {broker} fetches beyond the current log's end, and truncates to it",
    at="AbstractFetcherThread.fetchOffsetAndTruncate",
    since="1.1.0",
    about="KIP-113",
)
def future_replica_truncate_out_of_range(partition: TopicPartition, broker: Broker) -> None:
    """OFFSET_OUT_OF_RANGE: the current log is shorter by now."""
    future = broker.future
    _require_fetcher(broker, truncating=False)
    require(future.log.end > broker.log.end)

    _truncate_to(broker, broker.log.end)


@action(
    "the future replica of {broker} replaces the current log",
    at="Partition.maybeReplaceCurrentWithFutureReplica",
    since="1.1.0",
    about="KIP-113, KAFKA-15608, KAFKA-20961, finding 0029",
    settings="epoch.cache, swapped.log.keeps.epochs",
)
def future_replica_replace(partition: TopicPartition, broker: Broker) -> None:
    """Both logs end at the same offset: nothing else is compared.

    The epoch cache becomes that of the records that were copied, which lacks epochs without records
    (KAFKA-15608, KAFKA-20961).
    """
    require_caught_up(broker)

    promote(partition, broker, partition.options.swapped_log_keeps_epochs)


def require_caught_up(broker: Broker) -> None:
    """The fetcher finds that both logs end alike, and reports the new directory."""
    _require_fetcher(broker, truncating=False)
    require(broker.future.log.end == broker.log.end)


def promote(partition: TopicPartition, broker: Broker, keeps_epochs: bool) -> None:
    """The future replica is the log, with the epochs of its records unless the others are kept.

    The broker's fetcher goes on, and names the epoch that it named.
    """
    future, log = broker.future, broker.log
    for offset in log.positions:
        log[offset].id = future.log[offset].id
        log[offset].epoch = future.log[offset].epoch
    log_segment.forget(partition, broker)
    if file_cache.is_kept(partition) and not keeps_epochs:
        before = file_cache.fetched_epoch(partition, broker)
        file_cache.read_off_records(partition, broker, broker.log_start)
        latest = file_cache.latest_epoch(partition, broker)
        fetched_epoch.keep(partition, broker, before, latest)
    forget(broker)
