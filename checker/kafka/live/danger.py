"""What a rule of danger is: a state that an admin client sees, and that is a step of a known loss.

Each rule in `dangers.py` is one declaration: the numbers of the findings, or of bugs of the
catalogue, what it looks at, what that means, and what to do now. A rule whose state was not told is
not silently kept: `judge` there names it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from checker.kafka.live.snapshot import Partition, Snapshot, Topic

ELR, FENCED, SETTINGS, REASSIGNMENTS, QUORUM = range(5)
"""What a rule may need to have been told."""

_MISSING: dict[int, tuple[str, Callable[[Snapshot], bool]]] = {
    ELR: ("the features", lambda s: s.features is None),
    FENCED: ("which brokers are fenced", lambda s: s.has_elr and not s.with_fenced),
    SETTINGS: (
        "the settings of topics",
        lambda s: any(not topic.settings for topic in s.topics),
    ),
    REASSIGNMENTS: ("the reassignments", lambda s: not s.reassignments_told),
    QUORUM: ("the quorum", lambda s: s.quorum is None and bool(s.level)),
}


@dataclass(frozen=True)
class Seen:
    """A partition with all that was read around it."""

    cluster: Snapshot
    topic: Topic
    partition: Partition

    @property
    def least(self) -> int | None:
        """The minimum that its ISR should have: `min.insync.replicas`, at most its replicas."""
        asked = least_of(self.topic)
        return None if asked is None else min(asked, len(self.partition.replicas))

    @property
    def is_below(self) -> bool:
        """The ISR is smaller than that; false too where the setting was not told."""
        return self.least is not None and len(self.partition.isr) < self.least


def least_of(topic: Topic) -> int | None:
    """`min.insync.replicas` of a topic, if it was told."""
    found = topic.settings.get("min.insync.replicas")
    return int(found.value) if found is not None and found.value.isdecimal() else None


@dataclass(frozen=True)
class Hit:
    """Where a rule's state is, and what was seen there; `topic` is empty for the whole cluster."""

    topic: str
    partition: int | None
    seen: str

    @property
    def words(self) -> str:
        """Both, in a line."""
        where = self.topic if self.partition is None else f"{self.topic}-{self.partition}"
        return f"{where}: {self.seen}" if where else self.seen


Finds = Callable[[Snapshot], Iterable[Hit]]


@dataclass(frozen=True)
class Rule:
    """One declaration. `bugs` are numbers of findings, or of the catalogue."""

    name: str
    bugs: tuple[str, ...]
    looks_at: str
    words: str
    now: str
    finds: Finds
    needs: tuple[int, ...] = ()

    def missing(self, cluster: Snapshot) -> str:
        """What it needs and was not told; empty if it can be judged."""
        return ", ".join(_MISSING[each][0] for each in self.needs if _MISSING[each][1](cluster))


@dataclass(frozen=True)
class Danger:
    """A rule, and where its state was found."""

    rule: Rule
    hits: tuple[Hit, ...]


@dataclass(frozen=True)
class Dangers:
    """What was found, and which rules could not be judged, or not everywhere, with the reason."""

    found: tuple[Danger, ...]
    not_judged: tuple[tuple[Rule, str], ...]


RULES: list[Rule] = []
"""Every rule, in the order of their declarations."""


def declare(
    *bugs: str, looks_at: str, words: str, now: str, needs: tuple[int, ...] = ()
) -> Callable[[Finds], Finds]:
    """Declare a rule about the cluster: its function finds the places."""

    def decorate(finds: Finds) -> Finds:
        RULES.append(Rule(finds.__name__, bugs, looks_at, words, now, finds, needs))
        return finds

    return decorate


def of_partition(look: Callable[[Seen], str]) -> Finds:
    """A rule's function that looks at one partition: what it sees there, or nothing."""

    def finds(cluster: Snapshot) -> Iterator[Hit]:
        for topic, partition in cluster.partitions:
            if seen := look(Seen(cluster, topic, partition)):
                yield Hit(topic.name, partition.number, seen)

    finds.__name__ = look.__name__
    return finds


SHOWN = 5
"""Places that are named of each danger, and names in a line; `--json` has all."""


def few(names: list[str]) -> str:
    """Some names, and how many more there are."""
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def ids(members: Iterable[int]) -> str:
    """Ids of brokers, for people."""
    return ", ".join(map(str, members)) or "none"
