"""What owners, coordinator and group keep doing: the fairness under which no input waits for ever.

Whoever lives goes on, a dead owner's time runs out, markers are sent until they are answered, and
the partition has an owner again. Rebalances, time-outs of the living, and aborts are not fair.
"""

from __future__ import annotations

from model.kafka_streams import stream_task, transactions
from model.language import Fairness, weak

OWNERS = tuple(
    weak(step)
    for step in (
        stream_task.owner_initialize,
        stream_task.owner_fetch_offset,
        stream_task.owner_process,
        stream_task.owner_send_offset,
        stream_task.owner_commit,
        stream_task.owner_abort,
        stream_task.owner_join_again,
    )
)
TIME = weak(transactions.coordinator_abort_of_the_dead)
MARKERS = tuple(
    weak(step) for step in (transactions.output_get_marker, transactions.offsets_get_marker)
)
TAKING_OVER = weak(transactions.group_complete_late)

FAIRNESS: tuple[Fairness, ...] = (*OWNERS, TIME, *MARKERS, TAKING_OVER)
