"""The broker model as a protocol: all its events, in the order in which traces are compared."""

from __future__ import annotations

from model.kafka import clients, controller, faults, follower, leader
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
        follower.follower_fetch_record,
        follower.follower_fetch_high_watermark,
        leader.leader_handle_fetch,
        follower.follower_send_fetch,
        follower.follower_receive_record,
        follower.follower_receive_high_watermark,
        follower.follower_receive_divergence,
        follower.follower_ignore_answer,
        follower.follower_truncate,
        follower.follower_truncate_on_fetch,
        follower.follower_take_diverging_high_watermark,
        leader.leader_propose_expand,
        leader.leader_propose_shrink,
        leader.leader_propose_shrink_to_itself,
        controller.controller_apply_isr_change,
        controller.controller_reject_isr_change,
        leader.leader_apply_metadata,
        leader.leader_hear_isr_answer,
        leader.leader_read_known_image,
        follower.follower_apply_metadata,
        controller.controller_elect_preferred_leader,
        controller.controller_fence_broker,
        controller.controller_fence_leader,
        controller.controller_fence_last_leader,
        controller.controller_unfence_broker,
        controller.controller_unfence_and_elect,
        controller.controller_elect_last_known_leader,
        controller.controller_elect_unclean_leader,
        controller.controller_fail_over,
        controller.leader_resend_isr_change,
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
