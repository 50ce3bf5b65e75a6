"""The consumer group as a protocol: all its events, in the order in which traces are compared."""

from __future__ import annotations

from dataclasses import replace

from model.kafka_group import classic, consumer, consumer_protocol, environment, membership
from model.kafka_group.bounds import BOUNDS
from model.kafka_group.fairness import CUT_BY, FAIRNESS
from model.kafka_group.presets import PRESETS
from model.kafka_group.settings import GroupSettings
from model.kafka_group.state import Group
from model.language import Protocol
from model.replicated_log import TELLING

KAFKA_GROUP = Protocol(
    name="kafka_group",
    words="a consumer group: who owns which partition, what is processed and committed",
    source="Apache Kafka",
    state=Group,
    bounds=BOUNDS,
    telling=replace(
        TELLING, system="A consumer group of Kafka", modes=(("consumer", "the consumer protocol"),)
    ),
    settings=GroupSettings,
    presets=PRESETS,
    fairness=FAIRNESS,
    cut_by=CUT_BY,
    views={
        "coordinator": ("coordinator", "consumers.rank", "partitions.assigned"),
        "members": ("consumers.phase", "consumers.generation", "partitions.holders"),
        "offsets": ("partitions.committed", "partitions.log"),
        "faults": ("spent",),
    },
    actions=(
        environment.operator_add_partition,
        environment.partition_truncate,
        environment.coordinator_expire_offset,
        consumer.producer_send,
        consumer.consumer_poll,
        consumer.consumer_process,
        consumer.consumer_commit,
        classic.consumer_join,
        classic.consumer_commit_before_rejoin,
        classic.consumer_rejoin,
        classic.consumer_rejoin_uncommitted,
        classic.coordinator_complete_join,
        classic.leader_sync,
        classic.consumer_sync,
        classic.leader_see_new_partitions,
        consumer_protocol.consumer_join_by_heartbeat,
        consumer_protocol.coordinator_handle_heartbeat,
        consumer_protocol.coordinator_handle_full_heartbeat,
        consumer_protocol.consumer_hear_heartbeat,
        consumer_protocol.consumer_hear_on_the_way,
        consumer_protocol.consumer_revoke,
        consumer_protocol.consumer_revoke_uncommitted,
        consumer_protocol.consumer_take_assignment,
        consumer_protocol.coordinator_see_new_partitions,
        membership.consumer_crash,
        membership.consumer_leave,
        membership.consumer_restart,
        membership.coordinator_expire_session,
        membership.coordinator_expire_live_member,
        membership.consumer_hear_it_is_fenced,
        membership.coordinator_fail_over,
    ),
)
