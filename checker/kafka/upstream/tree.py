"""Kafka's source tree: where a class of a published jar stands in it, and its component in JIRA."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """What is under a package: the module's folder, and JIRA's name of the component."""

    folder: str
    component: str


PARTS = {
    "kafka/": Part("core", "replication"),
    "kafka/coordinator/": Part("core", "core"),
    "kafka/raft/": Part("core", "kraft"),
    "kafka/server/TierStateMachine": Part("core", "Tiered-Storage"),
    "org/apache/kafka/clients/consumer/": Part("clients", "clients, consumer"),
    "org/apache/kafka/controller/": Part("metadata", "controller"),
    "org/apache/kafka/raft/": Part("raft", "kraft"),
    "org/apache/kafka/server/": Part("server", "replication"),
    "org/apache/kafka/server/log/remote/": Part("storage", "Tiered-Storage"),
    "org/apache/kafka/storage/internals/": Part("storage", "log"),
}
"""By the beginning of a class's path; the longest one counts."""


def part_of(file: str) -> Part:
    """The part that a class is in, by its path in the jar. `KeyError` for an unknown package."""
    return PARTS[max((known for known in PARTS if file.startswith(known)), key=len, default=file)]


def folder_of(module: str) -> str:
    """The folder of a module, which is published as this artifact: `kafka-storage` is `storage`."""
    return "core" if module == "kafka" else module.removeprefix("kafka-")


def main_folder(module: str, file: str) -> str:
    """The folder that a source file's path in the jar continues: `core/src/main/scala`."""
    return f"{folder_of(module)}/src/main/{file.rpartition('.')[2]}"
