"""The tiered model as a protocol: all its events, in the order in which traces are compared."""

from __future__ import annotations

from dataclasses import replace

from model.kafka_tiered import faults, remote_log_manager, replicas, topic_config
from model.kafka_tiered.bounds import BOUNDS
from model.kafka_tiered.fairness import CUT_BY, FAIRNESS
from model.kafka_tiered.presets import PRESETS
from model.kafka_tiered.settings import TieredSettings
from model.kafka_tiered.state import Tiered, start
from model.language import Protocol
from model.replicated_log import TELLING

KAFKA_TIERED = Protocol(
    name="kafka_tiered",
    words="a partition in a remote store: what is copied, read, deleted and rebuilt from there",
    source="Apache Kafka",
    state=Tiered,
    bounds=BOUNDS,
    telling=replace(TELLING, leads="leads", system="A tiered partition of Kafka"),
    settings=TieredSettings,
    start=start,
    presets=PRESETS,
    fairness=FAIRNESS,
    cut_by=CUT_BY,
    views={
        "brokers": ("brokers.up", "brokers.leads", "brokers.lineage", "brokers.local_start"),
        "segments": ("segments.copy", "segments.lineage", "segments.listed"),
        "faults": ("spent",),
    },
    actions=(
        replicas.leader_append,
        replicas.follower_fetch,
        replicas.leader_raise_high_watermark,
        remote_log_manager.leader_find_remote_end,
        remote_log_manager.leader_begin_copy,
        remote_log_manager.leader_finish_copy,
        remote_log_manager.broker_delete_local,
        remote_log_manager.leader_expire,
        remote_log_manager.leader_delete_unreferenced,
        replicas.follower_truncate,
        replicas.follower_build_from_tier,
        replicas.follower_is_refused,
        replicas.follower_dies_building,
        faults.controller_elect,
        faults.controller_elect_uncleanly,
        faults.broker_crash,
        faults.broker_restart,
        topic_config.operator_disable_tiering,
        topic_config.operator_enable_tiering,
    ),
)
