"""What becomes of the input in the end, on every fair run, once faults are over."""

from __future__ import annotations

from model.kafka_streams.state import Input, Task
from properties.liveness import Liveness, leads_to


def has_no_result(_task: Task, record: Input) -> bool:
    """read_committed returns nothing of it yet."""
    return record.results == 0


@leads_to(
    "inputs_are_processed",
    "an input without a committed result gets one",
    has_no_result,
    of="inputs",
    broken_by="kafka_streams position.is.reset=false",
)
def inputs_are_processed(_task: Task, record: Input) -> bool:
    """Else the output lacks it for ever."""
    return record.results > 0


KAFKA_STREAMS_LIVENESS: tuple[Liveness, ...] = (inputs_are_processed,)
