"""Kafka versions as settings of consumers and coordinator: which fixes each has.

Each is the first release of its series, as it comes, a consumer with a broker of its own version:
its assignor is `range` in all of them. `kafka-fixed` is the newest with what no release has. Where
each line is from is said in `docs/clients.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_FIRST: dict[str, Any] = {
    "group.protocol": "classic",
    "sticky.claims": "every",
    "revocation.stops.fetching": "true",
    "commit.names.epoch": "false",
    "offsets.expire.in.use": "true",
    "commit.by.assignment.epoch": "false",
}
_KIP_211 = _FIRST | {"offsets.expire.in.use": "false"}
_KIP_320 = _KIP_211 | {"commit.names.epoch": "true", "sticky.claims": "newest_claim"}
_NEWEST_MEMBERS = _KIP_320 | {"sticky.claims": "newest_members"}
_ASYNCHRONOUS = _NEWEST_MEMBERS | {"revocation.stops.fetching": "false"}
_NEWEST_CLAIM = _NEWEST_MEMBERS | {"sticky.claims": "newest_claim"}
_KIP_1251 = _NEWEST_CLAIM | {"commit.by.assignment.epoch": "true"}
_FIXED = _KIP_1251 | {"new.partitions.from.start": "true", "reconciling.is.named": "true"}

PRESETS: Mapping[str, Mapping[str, Any]] = {
    "kafka-0.9": _FIRST,
    "kafka-0.11": _FIRST,
    "kafka-2.1": _KIP_211,
    "kafka-2.3": _KIP_320,
    "kafka-2.4": _KIP_320,
    "kafka-2.6": _NEWEST_MEMBERS,
    "kafka-3.2": _ASYNCHRONOUS,
    "kafka-3.3": _NEWEST_MEMBERS,
    "kafka-3.5": _NEWEST_CLAIM,
    "kafka-4.0": _NEWEST_CLAIM,
    "kafka-4.0-consumer": _NEWEST_CLAIM | {"group.protocol": "consumer"},
    "kafka-4.3": _KIP_1251,
    "kafka-4.3-consumer": _KIP_1251 | {"group.protocol": "consumer"},
    "kafka-fixed": _FIXED,
    "kafka-fixed-consumer": _FIXED | {"group.protocol": "consumer"},
}
