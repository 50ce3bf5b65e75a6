"""The producer model as a protocol: all its events, in the order in which traces are compared."""

from __future__ import annotations

from dataclasses import replace

from model.kafka_producer import faults, partitioner, sender, transaction_manager
from model.kafka_producer.bounds import BOUNDS
from model.kafka_producer.fairness import CUT_BY, FAIRNESS
from model.kafka_producer.presets import PRESETS
from model.kafka_producer.settings import ProducerSettings
from model.kafka_producer.state import Topic, start
from model.language import Protocol
from model.replicated_log import TELLING

KAFKA_PRODUCER = Protocol(
    name="kafka_producer",
    words="a producer and the partitions that it writes to: batches, keys, retries, idempotence",
    source="Apache Kafka",
    state=Topic,
    bounds=BOUNDS,
    telling=replace(TELLING, system="The producer of Kafka"),
    settings=ProducerSettings,
    start=start,
    presets=PRESETS,
    fairness=FAIRNESS,
    cut_by=CUT_BY,
    views={
        "batches": ("records", "batches.status", "batches.partition", "batches.answer"),
        "logs": ("partitions.log",),
        "sequences": ("producer", "partitions.next_sequence", "batches.sequence"),
        "faults": ("spent",),
    },
    actions=(
        partitioner.application_send,
        partitioner.application_send_without_key,
        sender.sender_send_batch,
        sender.sender_send_known_batch,
        sender.sender_send_out_of_order_batch,
        sender.sender_send_batch_in_vain,
        sender.sender_send_unreplicated_batch,
        sender.sender_send_refused_batch,
        sender.sender_send_late_batch,
        sender.broker_handle_late_request,
        sender.producer_receive_answer,
        sender.producer_receive_error,
        sender.producer_receive_out_of_order,
        sender.producer_receive_refusal,
        sender.producer_time_out,
        sender.producer_expire_batch,
        sender.producer_lose_connection,
        transaction_manager.sender_resolve_sequences,
        transaction_manager.sender_bump_epoch,
        faults.broker_change_leader,
        faults.broker_lose_power,
        faults.broker_lose_power_within_batch,
        faults.broker_delete_records,
        faults.producer_restart,
        faults.operator_add_partition,
    ),
)
