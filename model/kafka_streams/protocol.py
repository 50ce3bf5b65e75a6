"""A task that consumes, processes and produces, as a protocol: its events, in order."""

from __future__ import annotations

from dataclasses import replace

from model.kafka_streams import stream_task, transactions
from model.kafka_streams.bounds import BOUNDS
from model.kafka_streams.fairness import FAIRNESS
from model.kafka_streams.presets import PRESETS
from model.kafka_streams.settings import StreamsSettings
from model.kafka_streams.state import Task, start
from model.language import Protocol
from model.replicated_log import TELLING

KAFKA_STREAMS = Protocol(
    name="kafka_streams",
    words="consume, process, produce: owners of an input partition, their offsets in transactions",
    source="Apache Kafka",
    state=Task,
    bounds=BOUNDS,
    telling=replace(TELLING, system="A task of Kafka Streams"),
    settings=StreamsSettings,
    start=start,
    presets=PRESETS,
    fairness=FAIRNESS,
    views={
        "owners": ("owners.phase", "owners.position"),
        "transactions": ("owners.decision", "owners.output", "owners.offset"),
        "results": ("inputs.results", "committed"),
        "faults": ("spent",),
    },
    actions=(
        stream_task.group_rebalance,
        stream_task.owner_initialize,
        stream_task.owner_fetch_offset,
        stream_task.owner_process,
        stream_task.owner_send_offset,
        stream_task.owner_commit,
        stream_task.owner_abort,
        stream_task.owner_give_up,
        transactions.coordinator_time_out,
        transactions.output_get_marker,
        transactions.offsets_get_marker,
        transactions.offsets_get_marker_early,
        transactions.group_complete_late,
        transactions.group_fail_to_complete,
        stream_task.owner_die,
        stream_task.owner_join_again,
        transactions.coordinator_abort_of_the_dead,
    ),
)
