"""What the members of a consumer group were told and have read, as their own listeners say it.

A member has a partition from the end of `onPartitionsAssigned` to the beginning of
`onPartitionsRevoked` or `onPartitionsLost`. All members are threads of one process, which says what
happens in one order: a record that each of two reads while the other one has its partition, too, is
a record of a partition that both read at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any


class Members:
    """By consumer: the partitions it is `about` to begin with and `has`, and what it has `read`.

    Partitions are such as `t-0`.
    """

    def __init__(self) -> None:
        self.about: defaultdict[int, set[str]] = defaultdict(set)
        self.has: defaultdict[int, set[str]] = defaultdict(set)
        self.read: defaultdict[int, list[str]] = defaultdict(list)
        self._beside: defaultdict[str, set[int]] = defaultdict(set)

    @property
    def shared(self) -> frozenset[str]:
        """Names of records that two members have read, each while the other had the partition."""
        return frozenset(name for name, members in self._beside.items() if len(members) > 1)

    def hear(self, event: str, data: Mapping[str, Any]) -> None:
        """Take in what the listener or the loop of one member says."""
        member, partitions = data["consumer"], set(data["partitions"])
        match event:
            case "about":
                self.about[member] |= partitions
            case "begun":
                self.about[member] -= partitions
                self.has[member] |= partitions
            case "revoked":
                self.about[member] -= partitions
                self.has[member] -= partitions
            case "read":
                self.read[member].append(data["name"])
                others = (has for other, has in self.has.items() if other != member)
                if any(partitions <= has for has in others):
                    self._beside[data["name"]].add(member)
