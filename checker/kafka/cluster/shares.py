"""What the members of a share group have taken, and which of it they could acknowledge (KIP-932).

The group has begun in a partition with the first record of it that a member has taken. From there
on every record is due to it until one of its members has acknowledged it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from checker.kafka.cluster.places import Place


class Shares:
    """By share consumer, the names of records that it has `taken`; those that are `accepted`.

    `has_members`: a step has had one join.
    """

    def __init__(self) -> None:
        self.has_members = False
        self.taken: defaultdict[int, list[str]] = defaultdict(list)
        self.accepted: set[str] = set()
        self._begin: dict[tuple[str, int], int] = {}

    def hear(self, data: Mapping[str, Any]) -> None:
        """Take in what a member says of a record."""
        match data["what"]:
            case "taken":
                self.taken[data["consumer"]].append(data["name"])
                at = (data["topic"], data["partition"])
                self._begin[at] = min(data["offset"], self._begin.get(at, data["offset"]))
            case "accepted":
                self.accepted.add(data["name"])

    @property
    def begun(self) -> frozenset[tuple[str, int]]:
        """The partitions in which the group has begun."""
        return frozenset(self._begin)

    def due(self, acknowledged: Mapping[str, Place]) -> frozenset[str]:
        """Of the records that producers were told are safe, those that the group is still to get.

        Records of partitions in which it has not begun are not due.
        """
        return frozenset(
            name
            for name, place in acknowledged.items()
            if name not in self.accepted
            and place.offset >= self._begin.get((place.topic, place.partition), place.offset + 1)
        )
