"""The broker model as a protocol: all its events, in the order in which traces are compared."""

from __future__ import annotations

from model.kafka import (
    alter_partition,
    clients,
    faults,
    fetch_at_once,
    fetch_in_flight,
    partition,
    replica_fetcher,
    replication_control,
)
from model.kafka.presets import PRESETS
from model.kafka.settings import KafkaSettings
from model.kafka.state import BOUNDS, TopicPartition, start
from model.language import Protocol

KAFKA = Protocol(
    name="kafka",
    words="one partition as operators run it: crashes, disks, producers, consumers, Kafka versions",
    source="Apache Kafka",
    state=TopicPartition,
    bounds=BOUNDS,
    settings=KafkaSettings,
    start=start,
    presets=PRESETS,
    actions=(
        clients.producer_send,
        fetch_at_once.follower_fetch_record,
        fetch_at_once.follower_fetch_high_watermark,
        partition.leader_handle_fetch,
        fetch_in_flight.follower_send_fetch,
        fetch_in_flight.follower_receive_record,
        fetch_in_flight.follower_receive_high_watermark,
        fetch_in_flight.follower_receive_divergence,
        fetch_in_flight.follower_ignore_answer,
        replica_fetcher.follower_truncate,
        replica_fetcher.follower_truncate_on_fetch,
        replica_fetcher.follower_take_diverging_high_watermark,
        alter_partition.leader_propose_expand,
        alter_partition.leader_propose_shrink,
        alter_partition.leader_propose_shrink_to_itself,
        replication_control.controller_apply_isr_change,
        replication_control.controller_reject_isr_change,
        partition.leader_apply_metadata,
        alter_partition.leader_hear_isr_answer,
        alter_partition.leader_read_known_image,
        partition.follower_apply_metadata,
        replication_control.controller_elect_preferred_leader,
        replication_control.controller_fence_broker,
        replication_control.controller_fence_leader,
        replication_control.controller_fence_last_leader,
        replication_control.controller_unfence_broker,
        replication_control.controller_unfence_and_elect,
        replication_control.controller_elect_last_known_leader,
        replication_control.controller_elect_unclean_leader,
        replication_control.controller_fail_over,
        alter_partition.leader_resend_isr_change,
        faults.broker_crash,
        faults.broker_shut_down,
        faults.broker_lose_power,
        faults.broker_lose_disk,
        faults.rack_lose_power,
        faults.broker_restart,
        clients.consumer_poll,
        clients.consumer_process,
        clients.consumer_commit,
        clients.consumer_restart,
    ),
)
