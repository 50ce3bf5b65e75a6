"""The sizes of the transaction model, and its budgets: how often each thing may happen."""

from __future__ import annotations

from model.language import Bound, bounds_in, budget

PARTITIONS = Bound("topic_partitions", 2, 1, "partitions that the producer writes to", 3)

TRANSACTIONS = Bound("transactions", 2, 1, "transactions that the producer begins at most", 3)

EPOCHS = Bound("producer_epochs", 4, 1, "the last epoch of the producer id, counted from 0", 8)

NEW_IDS = Bound(
    "new_producer_ids", 0, 0, "producer ids beyond the first; with 0 epochs never run out", 2
)

FAILOVERS = budget("coordinator_failovers", "coordinators that are replaced", maximum=3)
RESTARTS = budget("producer_restarts", "times that the producer dies and starts anew", maximum=3)
TIMEOUTS = budget("transaction_timeouts", "transactions that transaction.timeout.ms ends")
LOST_RESPONSES = budget("lost_responses", "responses of the coordinator that are lost")
LATE_PRODUCES = budget(
    "late_produces", "records that reach a broker after the producer has given them up"
)
LATE_REQUESTS = budget(
    "late_requests", "requests of the producer that reach the coordinator twice, once late"
)
LATE_MARKERS = budget("late_markers", "markers that reach a partition twice, once late")
LOAD_FAILURES = budget("load_failures", "loads of the transaction log that end with an error")
EXPIRIES = budget("producer_expiries", "partitions that forget the producer after a while")
STALE_ANSWERS = budget(
    "stale_answers", "requests that a coordinator answers after it was replaced, without knowing it"
)
FAILED_APPENDS = budget(
    "failed_appends", "records to fence a producer that the transaction log does not take"
)
CLOCK_STEPS = budget("clock_steps", "times that a coordinator's clock goes back")
FAILED_SENDS = budget("failed_sends", "requests with a marker that cannot be sent")
MISSED_ANSWERS = budget(
    "missed_answers", "last answers to markers that come while the coordinator does something else"
)
FAILED_UNLOADS = budget(
    "failed_unloads", "brokers that fail to drop their cache, and are coordinator again"
)

BOUNDS = bounds_in(globals())
