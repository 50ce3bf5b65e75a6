"""The settings of the transaction model: Kafka's own, and one for each rule that is a fix.

The defaults are those of Kafka 4.3 with transaction.version 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from model.language import Role, setting


class TransactionVersion(StrEnum):
    """How far producer and coordinator have come with KIP-890; 1 differs from 0 in no step."""

    V0 = "0"  # a producer epoch lives on from one transaction to the next
    V2 = "2"  # each transaction has an epoch of its own, and brokers add partitions


class AfterFailure(StrEnum):
    """What a producer does after a record that it sent and gave up, up to transaction version 1."""

    SAME_EPOCH = "same_epoch"  # it aborts, and uses the sequence again
    STOPS = "stops"
    NEW_EPOCH = "new_epoch"  # it aborts, and asks for another epoch


@dataclass(frozen=True)
class TransactionSettings:
    """What an operator chooses, and which rules the Kafka version has."""

    not_modelled: ClassVar[dict[str, str]] = {
        name: "there is no time in the model: a transaction may be ended, and an id forgotten, at "
        "any moment; how often is a bound, such as --transaction-timeouts"
        for name in ("transaction.timeout.ms", "transactional.id.expiration.ms")
    }

    transaction_version: TransactionVersion = setting(
        TransactionVersion.V2,
        "with 2 EndTxn bumps the producer epoch, and brokers add partitions themselves",
        "transaction.version",
        at="TransactionCoordinator.endTransaction",
        about="KIP-890",
        history="0 0.11.0.0, 2 4.0.0",
        evidence="`TransactionVersion` of 4.0.0",
        role=Role.OPERATOR,
    )
    verification: bool = setting(
        True,
        "a broker asks the coordinator before it begins a transaction in a partition",
        "transaction.partition.verification.enable",
        at="UnifiedLog.maybeStartTransactionVerification",
        about="KIP-890, KAFKA-14402",
        history="false 0.11.0.0, true 3.6.0",
        evidence="`UnifiedLog` of 3.5.2 and 3.6.2",
        catalogue="141",
        role=Role.OPERATOR,
        feature="transaction.version=0",
    )
    after_failure: AfterFailure = setting(
        AfterFailure.NEW_EPOCH,
        "what the producer does after a record that it sent and gave up",
        "after.a.failed.record",
        at="TransactionManager.maybeResolveSequences",
        about="KAFKA-5494, KIP-360",
        history="same_epoch 0.11.0.0, stops 1.0.0, new_epoch 2.5.0",
        evidence="`Sender` of 0.11.0.3 and 1.0.0, `TransactionManager` of 2.4.1 and 2.5.0",
        catalogue="145, 146",
        feature="transaction.version=0",
    )
    marker_names_coordinator_epoch: bool = setting(
        True,
        "a partition refuses a marker of a coordinator older than the last",
        "marker.names.coordinator.epoch",
        at="ProducerAppendInfo.checkCoordinatorEpoch",
        about="KIP-98",
        history="true 0.11.0.0",
        evidence="`ProducerAppendInfo` of 3.9.1",
    )
    marker_epoch_is_newer: bool = setting(
        True,
        "with version 2 a partition refuses a marker of the epoch of its open transaction",
        "marker.epoch.is.newer",
        at="ProducerAppendInfo.checkProducerEpoch",
        about="KAFKA-19446",
        history="false 0.11.0.0, true 4.2.0",
        evidence="`ProducerAppendInfo` of 4.1.2 and 4.2.0",
        catalogue="142",
        feature="transaction.version=2",
    )
    marker_retry_is_taken: bool = setting(
        True,
        "with version 2 a partition takes a marker again that it has had",
        "marker.retry.is.taken",
        at="ProducerAppendInfo.checkProducerEpoch",
        about="KAFKA-19999",
        history="true 0.11.0.0",
        evidence="it came with KAFKA-19446: `ProducerAppendInfo` of 4.2.0",
        feature="transaction.version=2",
        catalogue="159",
    )
    markers_keep_producer_state: bool = setting(
        True,
        "a partition counts markers, too, before it forgets a producer that has been idle",
        "markers.keep.producer.state",
        at="ProducerStateManager.isProducerExpired",
        about="KAFKA-9144",
        history="false 0.11.0.0, true 2.4.1 2.5.0",
        evidence="`ProducerStateEntry` of 2.4.0 and 2.4.1",
        catalogue="143",
    )
    cancels_only_its_own_markers: bool = setting(
        True,
        "a response to a marker of an earlier coordinator epoch cancels none of the newest",
        "cancels.only.its.own.markers",
        at="TransactionMarkerChannelManager.removeMarkersForTxn",
        about="KAFKA-16352",
        history="false 0.11.0.0, true 3.8.0",
        evidence="`TransactionMarkerChannelManager` of 3.7.2 and 3.8.0",
        catalogue="144",
    )
    timeouts_bump_the_epoch: bool = setting(
        True,
        "a coordinator that aborts a transaction whose time is over fences its producer",
        "timeouts.bump.the.epoch",
        at="TransactionCoordinator.abortTimedOutTransactions",
        about="KAFKA-6119",
        history="false 0.11.0.0, true 0.11.0.2 1.0.0",
        evidence="Kafka's history: the branches 0.11.0 and 1.0",
        catalogue="150",
        feature="transaction.version=0",
    )
    markers_are_sent_again: bool = setting(
        True,
        "a marker whose request could not be sent is sent again",
        "markers.are.sent.again",
        at="InterBrokerSendThread.doWork",
        about="KAFKA-6052",
        history="false 0.11.0.0, true 1.0.2 1.1.0",
        evidence="Kafka's history: the branches 1.0 and 1.1",
        catalogue="151",
    )
    loads_replace_a_cache: bool = setting(
        True,
        "a coordinator loads the log also where it has a cache of an earlier epoch",
        "loads.replace.a.cache",
        at="TransactionStateManager.addLoadedTransactionsToCache",
        about="KAFKA-9307",
        history="false 0.11.0.0, true 2.2.3 2.3.2 2.4.1 2.5.0",
        evidence="Kafka's history: the branches 2.2 to 2.5",
        catalogue="152",
    )
    clocks_may_go_back: bool = setting(
        True,
        "a coordinator takes over a partition that is added, whatever its clock says",
        "clocks.may.go.back",
        at="TransactionMetadata.completeTransitionTo",
        about="KAFKA-8803",
        history="false 0.11.0.0, true 2.5.0",
        evidence="Kafka's history: the branch 2.5",
        catalogue="153",
    )
    completion_is_noticed: bool = setting(
        True,
        "a coordinator notices the last answer to its markers also while it does something else",
        "completion.is.noticed",
        at="TransactionMarkerChannelManager.maybeWriteTxnCompletion",
        about="KAFKA-9777",
        history="false 0.11.0.0, true 2.6.0",
        evidence="Kafka's history: the branch 2.6",
        catalogue="154",
    )
    verified_records_are_guarded: bool = setting(
        True,
        "a marker makes a partition forget that a record was verified",
        "verified.records.are.guarded",
        at="ProducerStateManager.clearVerificationStateEntry",
        about="KAFKA-14884",
        history="true 0.11.0.0",
        evidence="in no release without: `UnifiedLog` of 3.5.2 and 3.6.2",
        catalogue="155",
    )
    next_record_waits_for_the_marker: bool = setting(
        True,
        "with version 2 the marker of a transaction leaves a record of the next one verified",
        "next.record.waits.for.the.marker",
        at="ProducerStateManager.maybeCreateVerificationStateEntry",
        about="KAFKA-18575",
        history="true 0.11.0.0",
        evidence="in no release without: mended before 4.0.0",
        catalogue="156",
        feature="transaction.version=2",
    )
    stale_epoch_is_told: bool = setting(
        True,
        "a record of an old epoch is refused with an error after which a producer can abort",
        "stale.epoch.is.told",
        at="UnifiedLog.analyzeAndValidateProducerState",
        about="KAFKA-19690",
        history="true 0.11.0.0, false 3.6.0, true 3.9.2 4.1.1 4.2.0",
        evidence="`UnifiedLog` of 3.9.1, 3.9.2, 4.0.2, 4.1.0, 4.1.1 and 4.2.0",
        catalogue="157",
    )
    last_epoch_is_logged: bool = setting(
        False,
        "a coordinator knows after a load which epoch the producer had before",
        "last.epoch.is.logged",
        at="TransactionLog.valueToBytes",
        about="KAFKA-20357",
        catalogue="158",
        fix=True,
        feature="transaction.version=0 after.a.failed.record=new_epoch",
    )
    failed_fences_count_once: bool = setting(
        True,
        "up to version 1 a coordinator that could not log an epoch tries the same again",
        "failed.fences.count.once",
        at="TransactionMetadata.prepareFenceProducerEpoch",
        about="KAFKA-9666",
        history="false 0.11.0.0, true 2.6.0",
        evidence="Kafka's history: the branch 2.6",
        catalogue="147",
        feature="transaction.version=0",
    )
    fences_bump_once: bool = setting(
        True,
        "with version 2 an abort that fences a producer takes one epoch, not two",
        "fences.bump.once",
        at="TransactionCoordinator.endTransaction",
        about="KAFKA-19367",
        history="false 0.11.0.0, true 4.0.1 4.1.0",
        evidence="`TransactionCoordinator` of 4.0.0, 4.0.1 and 4.1.0",
        catalogue="148",
        feature="transaction.version=2",
    )
    fences_take_a_new_id: bool = setting(
        True,
        "with version 2 an abort with the last epoch of a producer id ends in another id",
        "fences.take.a.new.id",
        at="TransactionCoordinator.endTransaction",
        about="KAFKA-20090",
        history="false 0.11.0.0, true 4.3.0",
        evidence="`TransactionCoordinator` of 4.2.1 and 4.3.0",
        catalogue="149",
        feature="transaction.version=2",
    )
    next_id_is_told: bool = setting(
        True,
        "with version 2 EndTxn is answered with the next producer id where the epochs are used up",
        "next.id.is.told",
        at="TransactionCoordinator.endTransaction",
        about="KAFKA-18660",
        history="true 0.11.0.0",
        evidence="in no release without: mended before 4.0.0",
        catalogue="178",
        feature="transaction.version=2",
    )
    fences_at_the_last_epoch: bool = setting(
        True,
        "a coordinator fences a producer whose epoch is the last, by the same epoch",
        "fences.at.the.last.epoch",
        at="TransactionMetadata.prepareFenceProducerEpoch",
        about="KAFKA-20090",
        history="false 0.11.0.0, true 4.3.0",
        evidence="`TransactionMetadata` of 4.2.1 and 4.3.0",
    )
    load_waits_for_high_watermark: bool = setting(
        False,
        "a coordinator acts only on what is committed in the transaction log",
        "load.waits.for.high.watermark",
        at="TransactionStateManager.loadTransactionMetadata",
        catalogue="170",
        fix=True,
    )
    publishes_abandoned_loads: bool = setting(
        True,
        "a coordinator that is replaced while it loads acts on the part that it has read",
        "publishes.abandoned.loads",
        at="TransactionStateManager.loadTransactionsForTxnTopicPartition",
        catalogue="171",
        feature="transaction.version=0",
        fix=False,
    )
    failed_loads_count: bool = setting(
        True,
        "a coordinator whose load fails acts on the part that it has read",
        "failed.loads.count",
        at="TransactionStateManager.loadTransactionMetadata",
        catalogue="172",
        fix=False,
    )
    dead_values_are_blank: bool = setting(
        True,
        "fewer states: what a coordinator that was replaced has, and nobody reads, is a blank",
        "dead.values.are.blank",
        at="TransactionStateManager.removeTransactionsForTxnTopicPartition",
        role=Role.FINENESS,
    )
