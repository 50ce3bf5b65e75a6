"""The model `kafka_tiered` and Kafka's remote storage: which models, and what is compared.

`java/tiered/TieredNumbers.java` reads each row.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from checker.kafka.conformance.rows import Row
from model.kafka_tiered.protocol import KAFKA_TIERED
from model.kafka_tiered.remote_log_manager import remote_start
from model.kafka_tiered.settings import TieredSettings
from model.kafka_tiered.state import UNKNOWN, Tiered
from model.language import Model, all_of, maximum, minimum, some
from model.language.declare.history import version_of
from model.language.declare.settings import of_release

TABLE = (
    Row("brokers.up", "the broker's objects exist; what follows is read of those alone"),
    Row("brokers.leads", "Partition.isLeader"),
    Row("brokers.follows", "Partition.getLeaderEpoch is the newest"),
    Row("brokers.lineage", "LeaderEpochFileCache.epochForOffset, within the log"),
    Row("brokers.log_start", "UnifiedLog.logStartOffset"),
    Row("brokers.local_start", "UnifiedLog.localLogStartOffset"),
    Row("brokers.end", "UnifiedLog.logEndOffset"),
    Row(
        "who has looked up what is copied",
        "RLMCopyTask.copiedOffsetOption is there",
        contains=lambda partition, of, member: all_of(
            of == member, partition.brokers[member].next_base != UNKNOWN
        ),
        of="brokers",
    ),
    Row(
        "brokers.copied_to",
        "RLMCopyTask.copiedOffsetOption, beyond where the next segment begins",
    ),
    Row("segments.copy", "RemoteLogMetadataCache: the state of the segment, deleted where gone"),
    Row("segments.first", "RemoteLogSegmentMetadata.startOffset"),
    Row("segments.until", "RemoteLogSegmentMetadata.endOffset"),
    Row("segments.lineage", "RemoteLogSegmentMetadata.segmentLeaderEpochs"),
    Row("segments.listed", "RemoteLogLeaderEpochState.offsetToId of all epochs"),
    Row("segments.dropped", "RemoteLogLeaderEpochState of an epoch of it has it nowhere"),
)

NOT_COMPARED = {
    "epoch": "the harness's, which elects",
    "leader": "the harness's, which elects",
    "places.committed": "the harness's, which moves the high watermarks",
    "brokers.building": "the fetcher has a build before it; shows in what it does next",
    "brokers.ousted": "the ISR's, which is not there",
    "brokers.led_in": "the leader epoch of a former leader; shows in what it deletes",
    "brokers.kept_epoch": "of an epoch without records; shows in where the broker truncates",
    "brokers.noted_start": "by where a broker looks in the store",
    "brokers.next_base": "but for whether there is one: where segments roll is the model's",
    "segments.copier": "whose thread waits in the store",
    "expired_to": "a ghost",
    "unclean_epoch": "a ghost",
    "tiered": "an operator's, whom the harness is",
    "spent": "the budgets of faults",
}
"""Variables that no row reads, with the reason."""

CHOSEN = ()
"""Nothing is an operator's."""

WALKED: Mapping[str, int] = {
    "brokers": 2,
    "log_size": 3,
    "max_leader_epoch": 3,
    "copies": 3,
    "crashes": 1,
    "refused_reads": 1,
    "build_crashes": 1,
    "unclean_elections": 1,
    "expirations": 1,
    "tiering_disablings": 1,
}
VARIED: tuple[Mapping[str, int], ...] = (
    {},
    {"brokers": 3},
    {"log_size": 4, "copies": 4, "crashes": 0, "refused_reads": 0, "build_crashes": 0},
    {"unclean_elections": 0, "crashes": 2, "refused_reads": 2, "build_crashes": 0},
)
"""What walks take in turn."""

HOW_OFTEN: Mapping[str, float] = {
    "leader_append": 4,
    "leader_raise_high_watermark": 4,
    "leader_begin_copy": 4,
    "leader_finish_copy": 2,
    "follower_fetch": 2,
    "follower_build_from_tier": 2,
    "controller_elect": 0.5,
    "controller_elect_uncleanly": 0.2,
    "leader_expire": 0.2,
    "broker_crash": 0.3,
    "operator_disable_tiering": 0.3,
}
"""Else all elections are held before there is a record."""

COVERED: Mapping[str, int] = {
    "brokers": 2,
    "log_size": 2,
    "max_leader_epoch": 1,
    "copies": 1,
    "crashes": 0,
}
GRAPHS: tuple[Mapping[str, int], ...] = (
    {"crashes": 1},
    {"refused_reads": 1},
    {"build_crashes": 1},
    {"unclean_elections": 1},
    {"expirations": 1},
    {"tiering_disablings": 1},
    {"copies": 2},
)
"""What is covered in a graph of its own, unless it is chosen."""


def settings_of(version: str) -> dict[str, Any]:
    """The settings of a release."""
    return dict(of_release(TieredSettings, version_of(version)))


def fitting(settings: Mapping[str, Any], version: str) -> dict[str, Any]:
    """Settings as a release can have them: each of those compared has all."""
    return dict(settings)


def models(
    version: str, bounds: Mapping[str, int], chosen: Mapping[str, Any], preset: str | None = None
) -> list[Model]:
    """The models whose walks are compared with a release."""
    settings = _settings(version, chosen, preset)
    return [KAFKA_TIERED.model({**WALKED, **sizes, **bounds}, settings) for sizes in VARIED]


def covered_models(
    version: str, bounds: Mapping[str, int], chosen: Mapping[str, Any], preset: str | None = None
) -> list[Model]:
    """The models whose graphs are covered: one for each of `GRAPHS`, unless some are given."""
    settings = _settings(version, chosen, preset)
    budgets = {name for graph in GRAPHS for name in graph} - COVERED.keys()
    none = dict.fromkeys(budgets, 0)
    graphs = [{}] if budgets & bounds.keys() else GRAPHS
    return [
        KAFKA_TIERED.model({**none, **COVERED, **graph, **bounds}, settings) for graph in graphs
    ]


def _settings(version: str, chosen: Mapping[str, Any], preset: str | None) -> dict[str, Any]:
    base = dict(KAFKA_TIERED.preset(preset)) if preset else settings_of(version)
    return {**base, **chosen}


def rows(model: Model, version: str) -> list[Row]:
    """What is compared: the table, and what a read at each offset comes to, broker by broker."""
    copies = model.bounds["copies"]
    brokers = range(model.bounds["brokers"])
    return [*TABLE, *(row for broker in brokers for row in _reads(broker, copies))]


def _reads(broker: int, copies: int) -> tuple[Row, ...]:
    return (
        Row(
            f"where broker {broker} looks in the store",
            "offsets below UnifiedLog.localLogStartOffset",
            contains=partial(_is_looked_up, broker),
            of="log_size",
        ),
        Row(
            f"what is copied of the log of broker {broker}",
            "RemoteLogManager.findHighestRemoteOffset, or its log start",
            contains=partial(_is_copied, broker),
            of="log_size",
        ),
        Row(
            f"what the log of broker {broker} would begin after",
            "RemoteLogManager.findLogStartOffset, between its log start and end",
            contains=partial(_is_before_start, broker),
            of="log_size",
        ),
        Row(
            f"the segment that a read at broker {broker} is led to",
            "RemoteLogManager.fetchRemoteLogSegmentMetadata, by the epoch in the broker's cache",
            contains=partial(_is_led_to, broker, copies),
            of="log_size",
        ),
        Row(
            f"what a read at broker {broker} returns",
            "RemoteLogManager.read: the offsets of its records",
            contains=partial(_returns, broker),
            of="log_size",
        ),
    )


def _is_looked_up(broker: int, partition: Tiered, offset: int, bit: int) -> bool:
    return all_of(bit == 0, offset < partition.noted_start(partition.brokers[broker]))


def _is_copied(broker: int, partition: Tiered, offset: int, bit: int) -> bool:
    of = partition.brokers[broker]
    return all_of(bit == 0, offset < maximum(partition.remote_end(of), of.log_start))


def _is_before_start(broker: int, partition: Tiered, offset: int, bit: int) -> bool:
    of = partition.brokers[broker]
    start = maximum(remote_start(partition, of), of.log_start)
    return all_of(bit == 0, offset < minimum(start, of.end))


def _is_led_to(broker: int, copies: int, partition: Tiered, offset: int, segment: int) -> bool:
    if segment >= copies:
        return False
    place, reader = partition.places[offset], partition.brokers[broker]
    return partition.finds(partition.segments[segment], reader, place)


def _returns(broker: int, partition: Tiered, offset: int, later: int) -> bool:
    place, reader = partition.places[offset], partition.brokers[broker]
    return some(
        all_of(
            partition.finds(segment, reader, place),
            partition.reads(segment, reader, place, partition.places[later]),
        )
        for segment in partition.segments
    )


def passed_over(partition: Tiered) -> bool:
    """Kafka passes over no state."""
    return all_of(partition.epoch < 0)
