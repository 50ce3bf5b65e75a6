"""Kafka's configuration keys that mean something to the broker model, and what.

The only list of them: what reads files, what says which defaults were taken, and what an operator
may change all go by it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from model.kafka.settings import KafkaSettings
from model.kafka.settings.eligible_replicas import ELR, ELR_FEATURE
from model.language import Role
from model.language.declare.settings import describe, named
from model.language.errors import UsageError


def _as_it_is(value: str) -> str:
    return value


def _flushed(value: str) -> str:
    """Every message, or left to the operating system: fewer flushes lose no less than none."""
    if not (value.isascii() and value.isdecimal() and int(value)):
        raise UsageError(f"cannot be {value!r}: valid are whole numbers from 1")
    return "1" if int(value) == 1 else "0"


def _reads(value: str) -> str:
    """Any selector but Kafka's own of the leader may send consumers to followers."""
    return str(not value.endswith("LeaderSelector")).lower()


_LEVELS = {"0": "false", "1": "true"}


def _level(value: str) -> str:
    """The level of a feature that is off or on."""
    if value not in _LEVELS:
        raise UsageError(f"cannot be {value!r}: valid are {', '.join(_LEVELS)}")
    return _LEVELS[value]


@dataclass(frozen=True)
class Key:
    """A key of Kafka's: which setting of the model it gives, how, and what that means there.

    `value` makes the setting's value of the key's, `UsageError` for one that Kafka refuses.
    """

    name: str
    setting: str
    means: str
    value: Callable[[str], str] = _as_it_is
    default: str = ""
    """What Kafka's default is, where that is not the setting's own value."""


_FLUSHED = "1: each append is on the disk; else a power loss takes any part of the log's end"

KEYS: tuple[Key, ...] = (
    Key("acks", "acks", "what producers wait for"),
    Key("request.required.acks", "acks", "what producers wait for"),
    Key("min.insync.replicas", "min.insync.replicas", "acks=all needs so many ISR members"),
    Key(
        "unclean.leader.election.enable", "unclean.leader.election.enable",
        "whether a replica outside the ISR may lead",
    ),
    Key(
        "log.flush.interval.messages", "log.flush.interval.messages", _FLUSHED, _flushed,
        "9223372036854775807",
    ),
    Key(
        "flush.messages", "log.flush.interval.messages", _FLUSHED, _flushed, "9223372036854775807",
    ),
    Key(
        "replica.selector.class", "follower.reads", "whether consumers may read from followers",
        _reads,
    ),
    Key(
        ELR_FEATURE, ELR,
        "1: replicas that left the ISR below its minimum may still lead (ELR, KIP-966); 0: off",
        _level,
    ),
)  # fmt: skip
"""Those that give a setting; of two that give the same one, that of the topic goes first."""

BY_NAME: Mapping[str, Key] = {key.name: key for key in KEYS}

REBALANCE = "auto.leader.rebalance.enable"
REPLICATION = "default.replication.factor"
ROLES, ZOOKEEPER = "process.roles", "zookeeper.connect"
METADATA = "metadata.version"
RACK = "broker.rack"

VOTERS = "controller.quorum.voters"
BOOTSTRAP = "controller.quorum.bootstrap.servers"
AUTO_JOIN = "controller.quorum.auto.join.enable"
LEVEL = "kraft.version"
"""Of the controllers' quorum: three keys, and the feature that says where its voters are."""

TIERED = "remote.log.storage.system.enable"
REMOTE = "remote.storage.enable"
REMOTE_KEYS: Mapping[str, str] = {
    REMOTE: "closed segments also go to a remote store, see below",
    TIERED: "brokers have a remote store",
    "local.retention.ms": "what is remote may leave local logs at any moment",
    "local.retention.bytes": "what is remote may leave local logs at any moment",
}
"""Of tiered storage: of no meaning to the broker model, but to that of remote segments."""

READ_OTHERWISE: Mapping[str, str] = {
    REBALANCE: "whether leadership goes back to preferred leaders after a rolling restart",
    REPLICATION: "the number of replicas, where no topic is described",
    ROLES: "KRaft",
    ZOOKEEPER: "ZooKeeper, where there is no process.roles",
    METADATA: "rules that wait for it are those of its release",
    RACK: "of one broker: say by --racks where the replicas are, else each has a rack of its own",
}

OTHER_KEYS: frozenset[str] = frozenset({
    "advertised.listeners", "application.id", "auto.offset.reset", "batch.size",
    "bootstrap.servers", "broker.id", "cleanup.policy", "client.id", "compression.type",
    "controller.listener.names", "controller.quorum.bootstrap.servers",
    "controller.quorum.voters", "delivery.timeout.ms", "enable.auto.commit", "enable.idempotence",
    "group.id", "group.protocol", "inter.broker.protocol.version", "isolation.level",
    "key.serializer", "linger.ms", "listeners", "log.dir", "log.dirs", "log.retention.hours",
    "max.message.bytes", "metadata.log.dir", "node.id", "num.partitions",
    "offsets.topic.replication.factor", "processing.guarantee", "retries", "retention.bytes",
    "retention.ms", "security.protocol", "segment.bytes", "transaction.timeout.ms",
    "transactional.id", "value.serializer",
})  # fmt: skip
"""Keys without meaning to the model by which a file of Kafka's is known as one."""

WITHOUT_MEANING: Mapping[str, str] = KafkaSettings.not_modelled
"""Keys that operators know to matter, and why they do not here."""

OPERATORS = named(KafkaSettings, role=Role.OPERATOR)
"""Settings of the model that an operator can set: by a key, by placing replicas, by a feature."""

SLOW = frozenset(name for name, info in describe(KafkaSettings).items() if info.slow)
"""Settings with which every write waits for a disk: the last choice of what stops no more."""

DEFAULT_NAMES: Mapping[str, str] = {key.setting: key.name for key in reversed(KEYS)}
"""The key by which people know a setting."""


def setting_of(key: str, value: str) -> tuple[str, str]:
    """The setting that a key gives, and its value there; `UsageError` for one that is not valid."""
    found = BY_NAME[key]
    try:
        return found.setting, found.value(value)
    except UsageError as error:
        raise UsageError(f"{key} {error}") from None
