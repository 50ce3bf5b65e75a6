"""What coordinators and partitions keep doing: the fairness under which no transaction hangs.

Appends are replicated, loads end, requests and markers are sent until they are answered, and the
time of a transaction ends. The producer's application does as it likes. Faults are not fair.
"""

from __future__ import annotations

from model.kafka_transactions import transaction_coordinator as coordinator
from model.kafka_transactions import transaction_marker_channel_manager as markers
from model.kafka_transactions import transaction_state_manager as log
from model.kafka_transactions.bounds import EPOCHS, TIMEOUTS
from model.language import Fairness, weak

REPLICATION = weak(log.log_commit)
LOADS = weak(log.coordinator_load)
REQUESTS = weak(coordinator.coordinator_end)
TIME = weak(coordinator.coordinator_time_out)
MARKERS = weak(markers.partition_get_marker)
COMPLETION = weak(markers.coordinator_complete)

FAIRNESS: tuple[Fairness, ...] = (REPLICATION, LOADS, REQUESTS, TIME, MARKERS, COMPLETION)

CUT_BY = (TIMEOUTS, EPOCHS)
"""There are more epochs, and every transaction has a time-out; budgets of faults do run out."""
