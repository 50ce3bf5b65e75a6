"""The model `kafka_transactions` and Kafka's classes: which models, what is compared, what is not.

`java/coordinator/TxnNumbers.java` reads each row.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from checker.kafka.conformance.quorums import Varied
from checker.kafka.conformance.rows import Row
from checker.kafka.releases.jars import at_least
from model.kafka_transactions.protocol import KAFKA_TRANSACTIONS
from model.kafka_transactions.settings import TransactionSettings
from model.kafka_transactions.state import TransactionalId
from model.language import Model
from model.language.declare.history import version_of
from model.language.declare.settings import of_release

VERSION, VERIFICATION = "transaction.version", "transaction.partition.verification.enable"
VERSION_2_SINCE = "4.0.0"
CHOSEN = (VERSION, VERIFICATION, "dead.values.are.blank")
"""What an operator chooses, or how the model looks at things: no release's own."""

TABLE = (
    Row("partitions.epoch", "ProducerStateEntry.producerEpoch"),
    Row("partitions.coordinator_epoch", "ProducerStateEntry.coordinatorEpoch"),
    Row("partitions.record", "its future, and TransactionManager.partitionsInTransaction"),
    Row("partitions.late_record.sent", "the Produce request of a record that was given up"),
    Row("partitions.late_record.epoch", "its batch"),
    Row("partitions.late_record.transaction", "its value"),
    Row("partitions.late_marker.kind", "WriteTxnMarkersRequest that was sent again: the marker"),
    Row("partitions.late_marker.epoch", "its producer epoch"),
    Row("partitions.late_marker.coordinator_epoch", "its coordinator epoch"),
    Row("transactions.wish", "TransactionalRequestResult of beginCommit"),
    Row("transactions.fate", "the log, the last stable offset, and the aborted transactions"),
    Row("coordinators.status", "loadingPartitions, and TransactionMarkerChannelManager's pending"),
    Row("coordinators.state", "TransactionMetadata.state, or the last record that a load has read"),
    Row("coordinators.epoch", "TransactionMetadata.producerEpoch, or that of the record"),
    Row("coordinators.partitions", "TransactionMetadata.topicPartitions, or those of the record"),
    Row("coordinators.pending", "TransactionMetadata.pendingState, but for markers"),
    Row("producer.phase", "TransactionManager.currentState"),
    Row("producer.request", "the request that the client has under way"),
    Row("producer.epoch", "TransactionManager.producerIdAndEpoch"),
    Row("producer.begun", "the transactions that the application began"),
    Row("producer.unresolved", "TransactionManager.clientSideEpochBumpRequired"),
    Row("late_request.kind", "EndTxn that was sent again"),
    Row("late_request.epoch", "its producer epoch"),
    Row("log.end", "the transaction log's end, less what compaction removed"),
    Row("log.state", "TransactionLogValue.transactionStatus of its records"),
    Row("log.epoch", "TransactionLogValue.producerEpoch"),
    Row("log.partitions", "TransactionLogValue.transactionPartitions"),
    Row("high_watermark", "the transaction log's high watermark"),
)

NOT_COMPARED = {
    "partitions.ahead": "a sequence is used twice only by producers before 1.0",
    "coordinators.loaded": "by what a retried InitProducerId comes to",
    "coordinators.failed_fence": "by the epoch of the next fence",
    "coordinators.keeps_its_id": "no producer id runs out of epochs",
    "log.keeps_its_id": "no producer id runs out of epochs",
    "spent": "the budgets of faults",
}
"""Variables that no row reads, with the reason."""

NOT_TAKEN = {"coordinator_refuse_its_own_time": "time goes on from step to step"}
"""Actions that no step of Kafka's classes stands for here, with the reason."""

AT_ONCE: frozenset[str] = frozenset()

WALKED: Mapping[str, int] = {"producer_epochs": 8, "coordinator_failovers": 2}
FAULTS: Mapping[str, int] = {
    "producer_restarts": 1,
    "transaction_timeouts": 1,
    "lost_responses": 1,
    "late_produces": 1,
    "late_requests": 1,
    "late_markers": 1,
    "load_failures": 1,
    "stale_answers": 1,
    "failed_appends": 1,
}
VARIED: Varied = (
    ({**FAULTS}, {VERSION: "2"}),
    ({**FAULTS, "producer_restarts": 0}, {VERSION: "2"}),
    ({**FAULTS}, {VERSION: "0"}),
    ({**FAULTS, "producer_restarts": 0}, {VERSION: "0"}),
    ({**FAULTS}, {VERSION: "0", VERIFICATION: "false"}),
)
"""What walks take in turn, unless it is chosen."""

HOW_OFTEN: Mapping[str, float] = {
    "coordinator_fail_over": 0.1,
    "coordinator_resign": 0.1,
    "producer_restart": 0.1,
    "producer_abort": 0.3,
    "coordinator_time_out": 0.2,
    "producer_give_up": 0.3,
}
"""Else whatever may fail has failed in a walk's first steps."""

COVERED: Mapping[str, int] = {
    "topic_partitions": 1,
    "transactions": 1,
    "producer_epochs": 4,
}
GRAPHS: tuple[Mapping[str, int], ...] = (
    {"coordinator_failovers": 1, "lost_responses": 1},
    {"coordinator_failovers": 1, "load_failures": 1},
    {"coordinator_failovers": 1, "stale_answers": 1},
    {"producer_restarts": 1, "transaction_timeouts": 1, "failed_appends": 1},
    {"late_produces": 1, "late_requests": 1},
    {"late_markers": 1, "coordinator_failovers": 1},
)
"""What is covered in a graph of its own, with each version, unless it is chosen."""


def settings_of(version: str) -> dict[str, Any]:
    """The settings of a release."""
    found = dict(of_release(TransactionSettings, version_of(version)))
    return {**found, "dead.values.are.blank": "false"}


def fitting(settings: Mapping[str, Any], version: str) -> dict[str, Any]:
    """Settings as a release can have them."""
    has_version_2 = at_least(version, VERSION_2_SINCE)
    return {**settings, **({} if has_version_2 else {VERSION: "0"})}


def models(
    version: str, bounds: Mapping[str, int], chosen: Mapping[str, Any], preset: str | None = None
) -> list[Model]:
    """The models whose walks are compared with a release, each with other settings."""
    base = dict(KAFKA_TRANSACTIONS.preset(preset)) if preset else settings_of(version)
    return [
        KAFKA_TRANSACTIONS.model(
            {**WALKED, **sizes, **bounds}, fitting({**base, **settings, **chosen}, version)
        )
        for sizes, settings in _distinct(VARIED, version, chosen)
    ]


def _distinct(varied: Varied, version: str, chosen: Mapping[str, Any]) -> Varied:
    """What a release can be asked: each once, and none against what is chosen."""
    found: dict[str, tuple[Mapping[str, int], Mapping[str, str]]] = {}
    for sizes, settings in varied:
        fits = {**fitting(settings, version), **{n: str(v) for n, v in chosen.items()}}
        found.setdefault(repr((sorted(sizes.items()), sorted(fits.items()))), (sizes, settings))
    return tuple(found.values())


def covered_models(
    version: str, bounds: Mapping[str, int], chosen: Mapping[str, Any], preset: str | None = None
) -> list[Model]:
    """The models whose graphs are covered: one for each of `GRAPHS`, unless some are given."""
    base = dict(KAFKA_TRANSACTIONS.preset(preset)) if preset else settings_of(version)
    graphs = ({},) if {n for g in GRAPHS for n in g} & bounds.keys() else GRAPHS
    varied = tuple((graph, {VERSION: number}) for graph in graphs for number in ("2", "0"))
    return [
        KAFKA_TRANSACTIONS.model(
            {**COVERED, **sizes, **bounds}, fitting({**base, **settings, **chosen}, version)
        )
        for sizes, settings in _distinct(varied, version, chosen)
    ]


def rows(model: Model, version: str) -> list[Row]:
    """What is compared on a release: all."""
    return list(TABLE)


def passed_over(txn: TransactionalId) -> bool:
    """Kafka's classes pass over no state."""
    return False
