"""The transaction model as a protocol: its events, in the order in which traces are compared."""

from __future__ import annotations

from dataclasses import replace

from model.kafka_transactions import producer_append_info as partitions
from model.kafka_transactions import transaction_coordinator as coordinator
from model.kafka_transactions import transaction_manager as producer
from model.kafka_transactions import transaction_marker_channel_manager as markers
from model.kafka_transactions import transaction_state_manager as log
from model.kafka_transactions.bounds import BOUNDS
from model.kafka_transactions.fairness import CUT_BY, FAIRNESS
from model.kafka_transactions.presets import PRESETS
from model.kafka_transactions.settings import TransactionSettings
from model.kafka_transactions.state import TransactionalId, start
from model.language import Protocol
from model.replicated_log import TELLING

KAFKA_TRANSACTIONS = Protocol(
    name="kafka_transactions",
    words="transactions: a producer, its coordinators, markers, and what readers see",
    source="Apache Kafka",
    state=TransactionalId,
    bounds=BOUNDS,
    telling=replace(
        TELLING,
        system="A transactional producer of Kafka",
        entries="state:epoch:partitions by offset",
    ),
    settings=TransactionSettings,
    start=start,
    presets=PRESETS,
    fairness=FAIRNESS,
    cut_by=CUT_BY,
    views={
        "coordinators": ("coordinators.status", "coordinators.state", "coordinators.epoch"),
        "log": ("log", "high_watermark"),
        "partitions": ("partitions.epoch", "transactions.fate"),
        "faults": ("spent",),
    },
    actions=(
        producer.producer_send,
        producer.producer_commit,
        producer.producer_abort,
        producer.producer_give_up,
        producer.producer_repeat_end,
        producer.producer_restart,
        coordinator.coordinator_add_partition,
        coordinator.coordinator_verify,
        coordinator.coordinator_verify_late,
        coordinator.coordinator_end,
        coordinator.coordinator_end_late,
        coordinator.coordinator_answer_from_cache,
        coordinator.coordinator_init,
        coordinator.coordinator_time_out,
        log.log_commit,
        log.log_commit_in_vain,
        log.coordinator_fail_over,
        log.coordinator_resign,
        log.coordinator_read_part,
        log.coordinator_load,
        log.coordinator_publish_abandoned_load,
        log.coordinator_fail_to_load,
        markers.partition_get_marker,
        markers.partition_get_marker_and_again,
        markers.partition_get_late_marker,
        markers.coordinator_complete,
        partitions.partition_get_record,
        partitions.partition_get_late_record,
        partitions.partition_forget_producer,
        log.coordinator_refuse_its_own_time,
        log.coordinator_load_in_vain,
        markers.coordinator_fail_to_send,
        markers.coordinator_miss_completion,
        coordinator.coordinator_fail_to_fence,
    ),
)
