"""The broker model and Kafka's brokers: what is compared, and what Kafka passes over.

`java/common/Projection.java` reads each row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from checker.kafka.conformance.rows import Row as AnyRow
from checker.kafka.releases.jars import at_least
from model.kafka.choices import EpochCache, EpochFile, FetchAnswers, LogFile, LogStartFile
from model.kafka.state import TopicPartition
from model.language import Model, all_of, is_none, not_, some

AT_ONCE = frozenset({"controller_elect_last_known_leader"})
"""What Kafka does in the step that makes it possible."""


@dataclass(frozen=True)
class Row(AnyRow):
    """`kept`: only where the epoch cache is state; `synced`: only where no record is in a log
    whose epoch the cache does not know any more; `late`: only where the checkpoint of log starts
    is."""

    kept: bool = False
    synced: bool = False
    late: bool = False


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
    Row("brokers.fetched_epoch", "lastFetchedEpoch where it is not latestEpoch", kept=True),
    Row("brokers.gave_up", "FailedPartitions of the fetchers of who has read of the newest epoch"),
    Row("brokers.not_replicas", "brokers that Partition.remoteReplicas of a leader leaves out"),
    Row("brokers.isr", "Partition.partitionState.isr of a leader"),
    Row("brokers.pending_isr", "PendingPartitionChange.sentLeaderAndIsr.isr of a leader"),
    Row("brokers.follower_leo", "Replica.stateSnapshot.logEndOffset of a leader's followers"),
    Row("brokers.future.exists", "Partition.futureLog of a running broker"),
    Row("brokers.future.log.end", "the records of that log's segments"),
    Row("brokers.future.log.id", "the records of that log's segments"),
    Row("brokers.future.log.epoch", "partitionLeaderEpoch of the batches in its segments"),
    Row("brokers.future.high_watermark", "UnifiedLog.highWatermark of that log"),
    Row("brokers.future.truncating", "PartitionFetchState.isTruncating, where it has an epoch"),
    Row("brokers.future.fetch_offset", "PartitionFetchState.fetchOffset of one that truncates"),
    Row("brokers.future.failed", "FailedPartitions of the fetchers between log directories"),
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
    "brokers.assigned_elsewhere": "no step that fails a directory is mapped",
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


def rows(model: Model, version: str) -> list[AnyRow]:
    """What is compared on a release."""
    kept = model.settings.epoch_cache == EpochCache.KEPT
    late = model.settings.log_start_file == LogStartFile.LATER
    answered = model.settings.fetch_answers != FetchAnswers.READ_LATE
    synced = model.settings.log_file == LogFile.AT_ONCE and not late and answered
    synced = synced and not writes_epochs_later(model.settings)
    known = [row for row in TABLE if at_least(version, row.since)]
    return [r for r in known if r.kept <= kept and r.synced <= synced and r.late <= late]


def passed_over(partition: TopicPartition) -> bool:
    """Tells the states that Kafka passes over: a leader can be elected, and Kafka has done it."""
    controller = partition.controller
    return all_of(
        is_none(controller.leader),
        controller.isr.is_empty,
        controller.eligible.is_empty,
        some(
            all_of(controller.last_known_leader == broker, not_(broker.fenced))
            for broker in partition.brokers
        ),
    )
