"""`acks`: what a producer waits for, in every protocol that has producers."""

from __future__ import annotations

from enum import StrEnum


class Acks(StrEnum):
    """What a producer waits for."""

    NONE = "0"  # nothing
    LEADER = "1"  # the leader's append
    ALL = "all"  # the high watermark

    @classmethod
    def _missing_(cls, value: object) -> Acks | None:
        """Kafka takes -1 for `all`."""
        return cls.ALL if value == "-1" else None
