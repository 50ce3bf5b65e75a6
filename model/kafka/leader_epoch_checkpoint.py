"""The file `leader-epoch-checkpoint` (`LeaderEpochCheckpointFile`): when it is written, and lost.

Only with `epoch.cache=kept`: see `leader_epoch_file_cache.py`.
"""

from __future__ import annotations

from model.kafka import unified_log
from model.kafka.bounds import POWER_LOSSES
from model.kafka.choices import EpochFile
from model.kafka.faults import is_left_by_power_loss, stop
from model.kafka.leader_epoch_file_cache import (
    is_kept,
    is_written,
    read_off_records,
    write,
)
from model.kafka.state import Broker, TopicPartition
from model.language import action, maximum, minimum, not_, require, spend
from model.replicated_log import Offset


@action(
    "{broker} writes the truncated leader epochs to the checkpoint file",
    at="LeaderEpochFileCache.writeIfDirExists",
    since="3.7.0",
    about="KAFKA-15046, KAFKA-16541",
    settings="epoch.cache, epoch.file",
)
def broker_flush_epochs(partition: TopicPartition, broker: Broker) -> None:
    """The scheduler's thread writes the file (3.8), or the system what is not synced (3.7)."""
    require(is_kept(partition))
    require(partition.options.epoch_file != EpochFile.AT_ONCE, broker.is_online)
    require(not_(is_written(partition, broker)))

    write(partition, broker)


@action(
    "{broker} loses power, and the checkpoint file of its leader epochs is empty; {kept} records "
    "and the high watermark checkpoint {checkpoint} are left, and it recovers those from {first} "
    "on",
    at="LeaderEpochCheckpointFile.write",
    since="3.7.0",
    about="KAFKA-16541",
    settings="epoch.cache, epoch.file",
)
def broker_lose_power_and_epochs(
    partition: TopicPartition, broker: Broker, kept: Offset, checkpoint: Offset, first: Offset
) -> None:
    """Lose a file that was written, not synced, and renamed (KAFKA-15046, mended by KAFKA-16541).

    An empty file is an empty cache. The log is recovered from some segment on, and with it the
    epochs of the records there (`LogLoader.recoverLog`).
    """
    require(is_kept(partition), partition.options.epoch_file == EpochFile.UNSYNCED)
    require(broker.up, is_left_by_power_loss(partition, broker, kept))
    require(checkpoint <= minimum(broker.high_watermark, kept), first <= kept)
    require(not_(is_written(partition, broker)))

    spend(partition, POWER_LOSSES)
    broker.high_watermark = maximum(checkpoint, unified_log.start_on_disk(partition, broker))
    broker.log.truncate_to(kept)
    stop(partition, broker, power_lost=True)
    read_off_records(partition, broker, maximum(first, broker.log_start))
