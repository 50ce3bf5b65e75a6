"""What is compared: a row for each variable of the model's state, with what is read from Kafka.

`java/common/Projection.java` reads each row. A cell for which Kafka has nothing is not compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from checker.core.engines.layout import Layout, Words
from checker.kafka.releases.jars import at_least
from model.kafka.choices import EpochCache, EpochFile, FetchAnswers, LogFile, LogStartFile
from model.language import Model
from model.language.protocol import Cell

NOTHING = -(2**31)
"""What Kafka answers where it has nothing that the cell could be compared with."""

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Row:
    """A variable and where its value is in Kafka. `reading` tells two readings of one apart;
    `since` is the first release that has it; `kept`: only where the epoch cache is state;
    `synced`: only where no record is in a log whose epoch the cache does not know any more;
    `late`: only where the checkpoint of log starts is."""

    variable: str
    read: str
    reading: str = ""
    since: str = "3.5.0"
    kept: bool = False
    synced: bool = False
    late: bool = False

    @property
    def name(self) -> str:
        """What the reader is called."""
        return f"{self.variable} by {self.reading}" if self.reading else self.variable


TABLE = (
    Row("brokers.up", "the broker's process: its objects exist"),
    Row("brokers.fenced", "BrokerRegistration.fenced or inControlledShutdown"),
    Row("brokers.stopped_cleanly", "the file .kafka_cleanshutdown of a broker that is down"),
    Row("brokers.log.end", "UnifiedLog.logEndOffset; of a broker that is down, its segment file"),
    Row("brokers.log.id", "the records of the log's segments"),
    Row("brokers.log.epoch", "partitionLeaderEpoch of the batches in the log's segments"),
    Row("brokers.log.epoch", "LeaderEpochFileCache.epochForOffset", "cache", synced=True),
    Row("epoch_starts.cached", "LeaderEpochFileCache.epochEntries of a running broker", kept=True),
    Row("brokers.log_start", "UnifiedLog.logStartOffset; down: its first segment"),
    Row("brokers.start_on_disk", "log-start-offset-checkpoint, or the first segment", late=True),
    Row("brokers.high_watermark", "UnifiedLog.highWatermark; down: replication-offset-checkpoint"),
    Row("brokers.leader", "Partition.leaderReplicaIdOpt"),
    Row("brokers.leader_epoch", "Partition.getLeaderEpoch"),
    Row("brokers.gave_up", "FailedPartitions of the fetchers of who has read of the newest epoch"),
    Row("brokers.not_replicas", "brokers that Partition.remoteReplicas of a leader leaves out"),
    Row("brokers.isr", "Partition.partitionState.isr of a leader"),
    Row("brokers.pending_isr", "PendingPartitionChange.sentLeaderAndIsr.isr of a leader"),
    Row("brokers.follower_leo", "Replica.stateSnapshot.logEndOffset of a leader's followers"),
    Row("records.acknowledged", "the producer is answered NONE (DelayedProduce)"),
    Row("controller.replicas", "PartitionRegistration.replicas"),
    Row("controller.adding", "PartitionRegistration.addingReplicas"),
    Row("controller.removing", "PartitionRegistration.removingReplicas"),
    Row("controller.leader", "PartitionRegistration.leader"),
    Row("controller.leader_epoch", "PartitionRegistration.leaderEpoch"),
    Row("controller.isr", "PartitionRegistration.isr"),
    Row("controller.eligible", "PartitionRegistration.elr", since="4.0.0"),
    Row("controller.last_known_leader", "PartitionRegistration.lastKnownElr", since="4.0.0"),
    Row("controller.leader_is_current", "Partition.getPartitionEpoch is PartitionRegistration's"),
    Row("controller.request", "the AlterPartition request under way"),
    Row("controller.image_unread", "a PartitionChangeRecord of the known epoch is not read yet"),
    Row("controller.min_isr_changed_last", "no PartitionChangeRecord follows the ConfigRecord"),
    Row("brokers.min_isr_unread", "the ConfigRecord is in no image of a running broker"),
    Row("brokers.min_isr_next", "a leader's image has it, or all of the partition before it"),
    Row("controller.topic_deleted", "the controller has no such topic"),
    Row("controller.index_left_over", "BrokersToElrs, apart from those in the ELR", since="4.0.0"),
    Row("controller.renounced", "registerBroker throws what the controller does not expect"),
    Row("next_record", "records produced"),
    Row("consumer.position", "what a consumer's fetches were given"),
)  # fmt: skip

NOT_COMPARED = {
    "brokers.truncating": "no release from 3.5 on asks before it fetches",
    "brokers.answer": "the answer is in the harness's hands; what it does shows where it arrives",
    "brokers.counted_as_told": "the harness's leaders keep no sessions: each answer says all",
    "brokers.start_counted_as_told": "the harness's leaders keep no sessions: each answer says all",
    "brokers.fetch_answered": "the fetcher's own; shows in what it asks next",
    "brokers.fetched_epoch_forgotten": "the fetcher's own; shows in what it asks next",
    "brokers.log_before": "the harness's copy of the segments; shows where power is lost",
    "epoch_starts.in_file": "the file's; shows where it is loaded",
    "brokers.epochs_cut_last": "shows in what a clean stop writes",
    "brokers.leading_since": "Kafka keeps no such number: what it decides is who is acknowledged",
    "controller.joiner_restarted": "shows in what the controller answers",
    "brokers.shutting_down": "the process's own; shows in what it asks the controller",
    "brokers.unregistered": "shows in what the controller does with the broker",
    "brokers.upgraded": "the classes are those of one release",
    "controller.upgraded": "shows in what the controller does from then on",
    "brokers.directory_lost": "shows in what the broker's registration changes",
    "brokers.directory_failed": "no step that fails a directory is mapped",
    "brokers.directory_dropped": "no step that fails a directory is mapped",
    "controller.offline": "no step that fails a directory is mapped",
    "brokers.isr_accepted": "shows in what the leader hears",
    "stalled": "a thread in Kafka: what it does shows where it goes on",
    "stalled_produce": "a thread in Kafka: what it does shows where it goes on",
    "stalled_read": "a thread in Kafka: what it does shows where it goes on",
    "stalled_truncation": "a thread in Kafka: what it does shows where it goes on",
    "records.deleted": "a ghost",
    "records.processed": "the application's, outside Kafka",
    "offsets.exposed": "a ghost",
    "consumer.processed": "the application's, outside Kafka",
    "consumer.committed": "the group coordinator's, which is not in the harness",
    "spent": "the budgets of faults",
}
"""Variables that no row reads, with the reason."""


def writes_epochs_later(settings: Any) -> bool:
    """What truncation leaves of the epoch cache is in its file by a step of its own."""
    kept: bool = settings.epoch_cache == EpochCache.KEPT
    return kept and settings.epoch_file == EpochFile.LATER


class Projection:
    """The cells of one model that are compared on one release, in a fixed order."""

    def __init__(self, model: Model, version: str) -> None:
        self.model = model
        by_variable: dict[str, list[Cell]] = {}
        for cell in model.cells:
            by_variable.setdefault(cell.variable.name, []).append(cell)
        kept = model.settings.epoch_cache == EpochCache.KEPT
        late = model.settings.log_start_file == LogStartFile.LATER
        answered = model.settings.fetch_answers != FetchAnswers.READ_LATE
        synced = model.settings.log_file == LogFile.AT_ONCE and not late and answered
        synced = synced and not writes_epochs_later(model.settings)
        table = [row for row in TABLE if at_least(version, row.since)]
        table = [r for r in table if r.kept <= kept and r.synced <= synced and r.late <= late]
        self.rows = [(row, cell) for row in table for cell in by_variable[row.variable]]
        self.cells = [cell for _, cell in self.rows]

    @property
    def wanted(self) -> list[list[str | int]]:
        """What the harness is asked for: each cell's reader and index."""
        return [[row.name, *cell.index] for row, cell in self.rows]

    def label(self, column: int) -> str:
        """The name of a compared cell, for reports."""
        row, cell = self.rows[column]
        return row.name + "".join(f"[{i}]" for i in cell.index)

    def of_packed(self, layout: Layout, words: Words) -> Numbers:
        """The compared numbers of packed states: an array (states, cells)."""
        positions = sorted({cell.position for cell in self.cells})
        columns = {position: layout.column(words, position) for position in positions}
        return np.stack([columns[cell.position] for cell in self.cells], axis=1)

    def of_states(self, states: Sequence[Sequence[int]]) -> Numbers:
        """The same of states given as numbers, one a cell of the model."""
        table = np.array(states, np.int64)
        return table[:, [cell.position for cell in self.cells]]


def differing(expected: Numbers, found: Numbers) -> npt.NDArray[np.bool_]:
    """Where Kafka's numbers are not the model's; arrays of the same shape."""
    result: npt.NDArray[np.bool_] = (expected != found) & (found != NOTHING)
    return result
