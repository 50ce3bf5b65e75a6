"""Keys of an application's own configuration that mean something to the models of clients.

As `kafka_keys` for brokers: the only list of them. Streams gives its producer and its consumers
keys with a prefix, `producer.` and `consumer.` or `main.consumer.`, which are read as the keys.
"""

from __future__ import annotations

from collections.abc import Mapping

from model.kafka_group.settings import GroupSettings
from model.kafka_producer.settings import ProducerSettings
from model.kafka_transactions.settings import TransactionSettings

GUARANTEE = "processing.guarantee"
TRANSACTIONAL_ID = "transactional.id"
ISOLATION = "isolation.level"
AUTO_COMMIT = "enable.auto.commit"
IDEMPOTENCE = "enable.idempotence"
GROUP_ID, APPLICATION_ID = "group.id", "application.id"
PROTOCOL, ASSIGNOR = "group.protocol", "partition.assignment.strategy"
VERSION = "transaction.version"
"""The feature of brokers that says how far producers and coordinators have come with KIP-890."""

AT_LEAST_ONCE, EXACTLY_ONCE = "at_least_once", "exactly_once_v2"
GUARANTEES = (AT_LEAST_ONCE, EXACTLY_ONCE)
COMMITTED, UNCOMMITTED = "read_committed", "read_uncommitted"

OF_PRODUCER = ("acks", "retries", "max.in.flight.requests.per.connection", IDEMPOTENCE)
"""Given to `kafka_producer` as they are."""

OF_TRANSACTIONS = (VERSION, "transaction.partition.verification.enable")
"""Given to `kafka_transactions` as they are: settings of brokers."""

ASSIGNORS: Mapping[str, str] = {
    "RangeAssignor": "range",
    "RoundRobinAssignor": "roundrobin",
    "StickyAssignor": "sticky",
    "CooperativeStickyAssignor": "cooperative-sticky",
}
"""The model's assignors by Kafka's classes, of which the first that is configured counts."""

MEANS: Mapping[str, str] = {
    GUARANTEE: "what Kafka Streams sets for its producer and its consumers",
    TRANSACTIONAL_ID: "the producer writes in transactions",
    ISOLATION: "whether consumers see what was aborted",
    AUTO_COMMIT: "who commits offsets, after processing either way",
    VERSION: "2: an epoch for each transaction; 0 and 1: the producer's epoch lives on (KIP-890)",
}
"""What those say that are no settings of a model's; others are settings, under their own names."""

MEANT = frozenset({
    *MEANS, *OF_PRODUCER, *OF_TRANSACTIONS, GROUP_ID, APPLICATION_ID, PROTOCOL, ASSIGNOR,
    "auto.offset.reset",
})  # fmt: skip

WITHOUT_MEANING: Mapping[str, str] = {
    **ProducerSettings.not_modelled,
    **TransactionSettings.not_modelled,
    **GroupSettings.not_modelled,
}
"""Keys that people know to matter, and why they do not here."""

_PREFIXES = ("main.consumer.", "consumer.", "producer.")


def plain(key: str) -> str:
    """A key without Streams' prefix."""
    return next((key.removeprefix(p) for p in _PREFIXES if key.startswith(p)), key)
