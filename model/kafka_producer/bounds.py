"""The sizes of the producer model, and its budgets: how often each thing may happen."""

from __future__ import annotations

from model.language import Bound
from model.replicated_log import LOG_SIZE, MAX_RECORDS

PARTITIONS = Bound("topic_partitions", 2, 1, "partitions of the topic in the end")
ADDED_PARTITIONS = Bound("added_partitions", 0, 0, "how many of them an operator adds later")
KEYS = Bound("keys", 1, 1, "keys that records have")
KEYLESS_RECORDS = Bound("keyless_records", 0, 0, "records without a key")
RECORDS = MAX_RECORDS.with_default(3)
BATCHES = LOG_SIZE.with_default(4)
EPOCH_BUMPS = Bound("epoch_bumps", 1, 0, "times that the producer starts a new epoch by itself")
LOST_CONNECTIONS = Bound(
    "lost_connections", 1, 0, "connections that are lost with all responses in flight"
)
BROKER_ERRORS = Bound(
    "broker_errors", 1, 0, "requests that a broker answers with an error that may be retried"
)
REFUSED_BATCHES = Bound("refused_batches", 0, 0, "batches that a broker refuses for good")
LATE_REQUESTS = Bound(
    "late_requests", 0, 0, "requests that reach the broker after the producer has given them up"
)
EXPIRED_BATCHES = Bound("expired_batches", 0, 0, "batches that delivery.timeout.ms ends")
LEADER_CHANGES = Bound("leader_changes", 0, 0, "times that a partition's leader changes")
POWER_LOSSES = Bound("power_losses", 0, 0, "leaders that lose power, and with it the log's end")
DELETIONS = Bound("deletions", 0, 0, "times that retention deletes a partition's records")
PRODUCER_RESTARTS = Bound("producer_restarts", 0, 0, "times that the producer dies and starts anew")

BOUNDS = (
    PARTITIONS,
    ADDED_PARTITIONS,
    KEYS,
    KEYLESS_RECORDS,
    RECORDS,
    BATCHES,
    EPOCH_BUMPS,
    LOST_CONNECTIONS,
    BROKER_ERRORS,
    REFUSED_BATCHES,
    LATE_REQUESTS,
    EXPIRED_BATCHES,
    LEADER_CHANGES,
    POWER_LOSSES,
    DELETIONS,
    PRODUCER_RESTARTS,
)
