"""What the producer and brokers keep doing: the fairness under which the producer model is live.

The sender's thread loops: what may be sent is sent, answers are received, requests without one time
out. The application need not send, and no fault has to happen; nor does `delivery.timeout.ms` end
anything, so a batch that is sent for ever is seen.
"""

from __future__ import annotations

from model.kafka_producer import sender, transaction_manager
from model.kafka_producer.bounds import EPOCH_BUMPS
from model.language import Fairness, weak
from model.replicated_log import LOG_SIZE

SENDING = weak(
    sender.sender_send_batch,
    sender.sender_send_known_batch,
    sender.sender_send_out_of_order_batch,
    by=["batch"],
)
ANSWERS = weak(
    sender.producer_receive_answer,
    sender.producer_receive_error,
    sender.producer_receive_out_of_order,
    sender.producer_receive_refusal,
    sender.producer_time_out,
)
SEQUENCES = weak(
    transaction_manager.sender_resolve_sequences, transaction_manager.sender_bump_epoch
)

FAIRNESS: tuple[Fairness, ...] = (SENDING, ANSWERS, SEQUENCES)

CUT_BY = (LOG_SIZE, EPOCH_BUMPS)
"""Logs are longer, and there are more epochs; records are sent if the application wants to."""
