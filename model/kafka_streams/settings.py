"""The rules that make a task exactly-once: whose transactional id, and what the group checks.

The defaults are those of Kafka 2.5 and later (KIP-447).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from model.language import Role, setting


class Ids(StrEnum):
    """Whose a transactional id is."""

    PARTITION = "partition"  # every owner of the input partition has the same
    INSTANCE = "instance"  # each owner has its own, for whatever it owns


@dataclass(frozen=True)
class StreamsSettings:
    """What an application chooses, and which rules the Kafka version has."""

    ids: Ids = setting(
        Ids.INSTANCE,
        "one transactional id for each input partition, or for each instance",
        "transactional.ids",
        at="KafkaProducer.initTransactions",
        about="KIP-447",
        history="partition 0.11.0.0, instance 2.5.0",
        evidence="Kafka's history: KAFKA-9418",
        role=Role.OPERATOR,
    )
    checks_generation: bool = setting(
        True,
        "the group refuses offsets in a transaction of who is not its newest owner",
        "group.checks.generation",
        at="GroupCoordinator.handleTxnCommitOffsets",
        about="KIP-447",
        history="false 0.11.0.0, true 2.5.0",
        evidence="Kafka's history: KAFKA-9346 and KAFKA-9365",
    )
    requires_stable: bool = setting(
        True,
        "an owner reads the committed offset only when none is pending in a transaction",
        "require.stable",
        at="GroupMetadataManager.getOffsets",
        about="KIP-447",
        history="false 0.11.0.0, true 2.5.0",
        evidence="Kafka's history: KAFKA-9346",
    )
    completion_is_awaited: bool = setting(
        True,
        "a transaction is complete only when the group has taken its offset over",
        "completion.is.awaited",
        at="GroupCoordinator.scheduleHandleTxnCompletion",
        about="KAFKA-17507",
        history="true 0.11.0.0, false 2.0.0, true 3.9.1 4.0.0",
        evidence="`GroupMetadataManager` of 3.6.2, 3.9.0 and 3.9.1; 2.0.0 by the pull request",
        catalogue="179",
    )
    resets_position: bool = setting(
        True,
        "an owner that has aborted reads the committed offset again",
        "position.is.reset",
        at="KafkaProducer.abortTransaction",
        role=Role.OPERATOR,
    )
