"""The settings of the producer model: Kafka's own, and one for each fix.

A fix names its KIP or issue. The defaults are those of Kafka 4.3, producer and broker.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from model.acks import Acks
from model.language import setting

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

    acks: Acks = setting(Acks.ALL, "what the producer waits for", "acks")
    batch_size: int = setting(2, "a batch has room for so many records", "batch.size", low=1)
    retries: int = setting(
        2**31 - 1, "0: no batch is sent twice; else until delivery.timeout.ms ends it", "retries"
    )
    max_in_flight: int = setting(
        5,
        "requests that wait for an answer on one connection",
        "max.in.flight.requests.per.connection",
        low=1,
    )
    enable_idempotence: bool = setting(
        True,
        "batches have sequence numbers; off where acks, retries or max.in.flight forbid it "
        "(KAFKA-13673)",
        "enable.idempotence",
    )
    partitioner: Partitioner = setting(
        Partitioner.UNIFORM_STICKY, "how the partition of a record is chosen", "partitioner.class"
    )
    batches_kept: int = setting(
        MOST_IN_FLIGHT,
        "of how many batches a broker knows that it has them (KAFKA-5494)",
        "producer.batches.kept",
        low=1,
    )
    in_flight_mutes_partition: bool = setting(
        True,
        "with one request in flight, no other batch of its partition is sent, whoever leads "
        "(KAFKA-3197)",
        "in.flight.mutes.partition",
    )
    batch_is_one_entry: bool = setting(
        True,
        "a batch is one entry of the log, with one checksum (message format 2: KIP-98)",
        "batch.is.one.entry",
    )
    state_outlives_records: bool = setting(
        True,
        "a broker knows a producer after its records are deleted (KAFKA-7190)",
        "producer.state.outlives.records",
    )
    first_sequence: FirstSequence = setting(
        FirstSequence.ANY,
        "which sequence number a broker takes of a producer that it does not know (KAFKA-15591)",
        "first.sequence",
    )
    epoch_kept_by_partition: bool = setting(
        True,
        "a partition whose batches are all answered starts at sequence 0 in a new producer epoch "
        "(KAFKA-12152)",
        "producer.epoch.by.partition",
    )
    epoch_bump: EpochBump = setting(
        EpochBump.AT_ONCE,
        "whether batches that are in flight are answered before the producer epoch changes "
        "(KAFKA-14034)",
        "epoch.bump",
    )


def retries(settings: ProducerSettings) -> bool:
    """A batch that fails is sent again."""
    return settings.retries > 0


def is_idempotent(settings: ProducerSettings) -> bool:
    """Idempotence is in effect: it is asked for, and nothing that it needs is configured away."""
    needs = settings.acks == Acks.ALL and retries(settings)
    few = settings.max_in_flight <= MOST_IN_FLIGHT
    return settings.enable_idempotence and needs and few
