"""The sizes of the producer model, and its budgets: how often each thing may happen."""

from __future__ import annotations

from model import replicated_log
from model.language import Bound, bounds_in, budget

PARTITIONS = Bound("topic_partitions", 2, 1, "partitions of the topic in the end")

ADDED_PARTITIONS = Bound("added_partitions", 0, 0, "how many of them an operator adds later")

KEYS = Bound("keys", 1, 1, "keys that records have")

KEYLESS_RECORDS = budget("keyless_records", "records without a key")
RECORDS = replicated_log.MAX_RECORDS.with_default(3)
BATCHES = replicated_log.LOG_SIZE.with_default(4)
EPOCH_BUMPS = budget(
    "epoch_bumps", "times that the producer starts a new epoch by itself", default=1, counted=False
)

LOST_CONNECTIONS = budget(
    "lost_connections", "connections that are lost with all responses in flight", default=1
)
BROKER_ERRORS = budget(
    "broker_errors", "requests that a broker answers with an error that may be retried", default=1
)
REFUSED_BATCHES = budget("refused_batches", "batches that a broker refuses for good")
LATE_REQUESTS = budget(
    "late_requests", "requests that reach the broker after the producer has given them up"
)
EXPIRED_BATCHES = budget("expired_batches", "batches that delivery.timeout.ms ends")
LEADER_CHANGES = budget("leader_changes", "times that a partition's leader changes")
POWER_LOSSES = budget("power_losses", "leaders that lose power, and with it the log's end")
DELETIONS = budget("deletions", "times that retention deletes a partition's records")
PRODUCER_RESTARTS = budget(
    "producer_restarts", "times that the producer dies and starts anew", counted=False
)


BOUNDS = bounds_in(globals())
