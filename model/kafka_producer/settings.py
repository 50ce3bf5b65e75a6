"""The settings of the producer model: Kafka's own, and one for each fix.

A fix names its KIP or issue. The defaults are those of Kafka 4.3, producer and broker.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from model.acks import Acks
from model.language import Role, setting

MOST_IN_FLIGHT = 5
"""An idempotent producer may not have more requests in flight: brokers keep that many batches."""


class Partitioner(StrEnum):
    """How the partition of a record is chosen."""

    HASH_ROUND_ROBIN = "hash_round_robin"  # by key; without one in turn (up to 2.3)
    STICKY = "sticky"  # by key; without one a batch long in the same partition (KIP-480)
    UNIFORM_STICKY = "uniform_sticky"  # the same, as many records in each (KIP-794)
    ROUND_ROBIN = "round_robin"  # in turn, whatever the key (RoundRobinPartitioner)


class FirstSequence(StrEnum):
    """Which sequence number a broker takes of a producer that it knows nothing of."""

    ZERO = "zero"  # none but 0 (up to 2.4)
    ANY = "any"  # any (KIP-360)
    ZERO_IF_EMPTY = "zero_if_empty"  # none but 0 in a log that never held a record (KAFKA-15591)


class EpochBump(StrEnum):
    """When an idempotent producer starts a new epoch because sequences are missing."""

    AT_ONCE = "at_once"  # though batches before the gap may have been appended (since 2.6)
    AFTER_REFUSAL = "after_refusal"  # once all is answered, if a batch was refused: as proposed
    AFTER_ALL = "after_all"  # also if a later batch is out of order


@dataclass(frozen=True)
class ProducerSettings:
    """What an operator or an application chooses, and which fixes the Kafka version has."""

    not_modelled: ClassVar[dict[str, str]] = {
        name: "there is no time in the model: a batch may be sent as soon as it has a record, "
        "fail, and be sent again, at any moment; how often is a bound"
        for name in (
            "linger.ms", "delivery.timeout.ms", "request.timeout.ms", "retry.backoff.ms",
            "max.block.ms",
        )
    }  # fmt: skip

    acks: Acks = setting(
        Acks.ALL,
        "what the producer waits for",
        "acks",
        at="Partition.checkEnoughReplicasReachOffset",
        about="KIP-679",
        since="0.8.1",
        history="1 0.8.2, all 3.0.0",
        evidence="`ProducerConfig` of 0.8.2.0, 0.9.0.0; commit e6db0ca",
        role=Role.OPERATOR,
    )
    batch_size: int = setting(
        2,
        "a batch has room for so many records",
        "batch.size",
        low=1,
        at="RecordAccumulator.append",
        since="0.8.1",
        role=Role.OPERATOR,
    )
    retries: int = setting(
        2**31 - 1,
        "0: no batch is sent twice; else until delivery.timeout.ms ends it",
        "retries",
        at="Sender.canRetry",
        about="KIP-91",
        since="0.8.1",
        history="0 0.8.2, 2147483647 2.1.0",
        evidence="`ProducerConfig` of 2.0.0, 2.1.0",
        role=Role.OPERATOR,
    )
    max_in_flight: int = setting(
        5,
        "requests that wait for an answer on one connection",
        "max.in.flight.requests.per.connection",
        low=1,
        at="InFlightRequests.canSendMore",
        since="0.8.2.0",
        role=Role.OPERATOR,
    )
    enable_idempotence: bool = setting(
        True,
        "batches have sequence numbers; off where acks, retries or max.in.flight forbid it",
        "enable.idempotence",
        at="ProducerConfig.postProcessAndValidateIdempotenceConfigs",
        about="KIP-98, KIP-679, KAFKA-13598, KAFKA-13673",
        since="0.11.0.0",
        history="false 0.8.2, true 3.0.1 3.1.1 3.2.0",
        evidence=("commit e6db0ca, first in 3.2.0; the upgrade notes say 3.0.1 and 3.1.1 too"),
        role=Role.OPERATOR,
    )
    partitioner: Partitioner = setting(
        Partitioner.UNIFORM_STICKY,
        "how the partition of a record is chosen",
        "partitioner.class",
        at="KafkaProducer.partition",
        about="KIP-480, KIP-794",
        since="0.8.1",
        history="hash_round_robin 0.8.2, sticky 2.4.0, uniform_sticky 3.3.0",
        evidence="commits 717c55b, f7db603, 2b2039f",
        catalogue="67",
        role=Role.OPERATOR,
    )
    batches_kept: int = setting(
        MOST_IN_FLIGHT,
        "of how many batches a broker knows that it has them",
        "producer.batches.kept",
        low=1,
        at="ProducerStateEntry.addBatchMetadata",
        about="KAFKA-5494",
        history="1 0.8.2, 5 1.0.0",
        evidence="commit 5d24222",
        catalogue="64",
    )
    in_flight_mutes_partition: bool = setting(
        True,
        "with one request in flight, no other batch of its partition is sent, whoever leads",
        "in.flight.mutes.partition",
        at="RecordAccumulator.mutePartition",
        about="KAFKA-3197",
        history="false 0.8.2, true 0.10.0.0",
        evidence="commit 5afa166",
        catalogue="63",
    )
    batch_is_one_entry: bool = setting(
        True,
        "a batch is one entry of the log, with one checksum, as of message format 2",
        "batch.is.one.entry",
        at="DefaultRecordBatch.ensureValid",
        about="KIP-98",
        history="false 0.8.2, true 0.11.0.0",
        evidence="`ProducerConfig` of 0.11.0.0",
    )
    state_outlives_records: bool = setting(
        True,
        "a broker knows a producer after its records are deleted",
        "producer.state.outlives.records",
        at="ProducerStateManager.onLogStartOffsetIncremented",
        about="KAFKA-7190",
        history="false 0.8.2, true 2.5.0",
        evidence="commit c49775b",
        catalogue="65",
    )
    first_sequence: FirstSequence = setting(
        FirstSequence.ANY,
        "which sequence number a broker takes of a producer that it does not know",
        "first.sequence",
        at="ProducerAppendInfo.checkSequence",
        about="KAFKA-15591",
        history="zero 0.8.2, any 2.5.0",
        evidence="commit c49775b",
        catalogue="68",
        fix=FirstSequence.ZERO_IF_EMPTY,
    )
    epoch_kept_by_partition: bool = setting(
        True,
        "a partition whose batches are all answered starts at sequence 0 in a new producer epoch",
        "producer.epoch.by.partition",
        at="TransactionManager.maybeUpdateProducerIdAndEpoch",
        about="KAFKA-12152",
        history="false 0.8.2, true 2.8.0",
        evidence="commit eb026fc",
        catalogue="66",
    )
    epoch_bump: EpochBump = setting(
        EpochBump.AT_ONCE,
        "whether batches that are in flight are answered before the producer epoch changes",
        "epoch.bump",
        at="TransactionManager.handleFailedBatch",
        about="KAFKA-14034",
        catalogue="69",
        fix=EpochBump.AFTER_ALL,
    )


def retries(settings: ProducerSettings) -> bool:
    """A batch that fails is sent again."""
    return settings.retries > 0


def is_idempotent(settings: ProducerSettings) -> bool:
    """Idempotence is in effect: it is asked for, and nothing that it needs is configured away."""
    needs = settings.acks == Acks.ALL and retries(settings)
    few = settings.max_in_flight <= MOST_IN_FLIGHT
    return settings.enable_idempotence and needs and few
