"""Kafka versions as settings of producer and broker: their defaults, and which fixes each has.

Each is the first release of its series, as it comes, a producer with a broker of its own version;
`kafka-fixed` has what no release has. Where each line is from is said in `docs/clients.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_FIRST: dict[str, Any] = {
    "acks": "1",
    "retries": "0",
    "enable.idempotence": "false",
    "partitioner.class": "hash_round_robin",
    "producer.batches.kept": "1",
    "in.flight.mutes.partition": "false",
    "batch.is.one.entry": "false",
    "producer.state.outlives.records": "false",
    "first.sequence": "zero",
    "producer.epoch.by.partition": "false",
}
_MUTING = _FIRST | {"in.flight.mutes.partition": "true"}
_KIP_98 = _MUTING | {"batch.is.one.entry": "true"}
_FIVE_KEPT = _KIP_98 | {"producer.batches.kept": "5"}
_RETRIES = _FIVE_KEPT | {"retries": str(2**31 - 1)}
_KIP_480 = _RETRIES | {"partitioner.class": "sticky"}
_KIP_360 = _KIP_480 | {"producer.state.outlives.records": "true", "first.sequence": "any"}
_BY_PARTITION = _KIP_360 | {"producer.epoch.by.partition": "true"}
_ACKS_ALL = _BY_PARTITION | {"acks": "all"}
_IDEMPOTENT = _ACKS_ALL | {"enable.idempotence": "true"}
_KIP_794 = _IDEMPOTENT | {"partitioner.class": "uniform_sticky"}
_FIXED = _KIP_794 | {
    "first.sequence": "zero_if_empty",
    "epoch.bump": "after_all",
}

PRESETS: Mapping[str, Mapping[str, Any]] = {
    "kafka-0.8.2": _FIRST,
    "kafka-0.9": _FIRST,
    "kafka-0.10": _MUTING,
    "kafka-0.11": _KIP_98,
    "kafka-1.0": _FIVE_KEPT,
    "kafka-2.1": _RETRIES,
    "kafka-2.4": _KIP_480,
    "kafka-2.6": _KIP_360,
    "kafka-2.8": _BY_PARTITION,
    "kafka-3.0": _ACKS_ALL,
    "kafka-3.2": _IDEMPOTENT,
    "kafka-3.3": _KIP_794,
    "kafka-4.0": _KIP_794,
    "kafka-4.3": _KIP_794,
    "kafka-fixed": _FIXED,
}
