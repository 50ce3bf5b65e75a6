"""Where a cluster keeps its metadata, as far as a release leaves a choice.

Up to 3.2 the histories of the settings are those with ZooKeeper, from 3.3 on those with KRaft. From
3.3 to 3.9 Kafka supported both: a rule that is not the same there has a history for ZooKeeper too.
"""

from __future__ import annotations

from model.language.declare.history import Version, version_of

ZOOKEEPER = "zookeeper"
"""The variant of Kafka that keeps its metadata in ZooKeeper in the releases that support both."""

FIRST_WITH_KRAFT, FIRST_WITHOUT_ZOOKEEPER = version_of("3.3"), version_of("4.0")


def modes_of(version: Version) -> tuple[str, ...]:
    """Where a release can keep its metadata: what the model takes it to be first."""
    kraft = ["kraft"] if version >= FIRST_WITH_KRAFT else []
    return (*kraft, *([ZOOKEEPER] if version < FIRST_WITHOUT_ZOOKEEPER else []))


def variant_of(version: Version, mode: str) -> str:
    """Whose histories a release goes by in a mode: those of ZooKeeper, or the settings' first."""
    return ZOOKEEPER if mode == ZOOKEEPER and version >= FIRST_WITH_KRAFT else ""
