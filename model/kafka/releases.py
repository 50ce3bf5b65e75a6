"""Which rules each release of Kafka has: one table, from which the presets are read off.

A rule that came as a fix of several lines at once counts in each from its first release there: what
3.9.1, 4.0.1 and 4.1.0 have, 3.9.2 has and 4.0.0 has not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from model.sources import rows_in

Version = tuple[int, ...]

_NUMBERS = 4  # of a version, as Kafka had them up to 0.11.0.3

_RULES = """
setting | number in the catalogue | what it is from which release on | how that is known
truncation | 1, 6 | high_watermark 0.8.2, leader_epoch 0.11.0, leader_epoch_iterated 2.0.0,
    diverging_fetch 2.8.0 | PR 2808, PR 4882, PR 9382 (with IBP 2.7; 2.7 has the leader's side
    only): tags
truncate.every.epoch | 8 | false 0.8.2, true 2.0.1 2.1.0 | PR 5436: tags; sources of 0.11.0.0,
    2.0.0, 2.1.0
join.isr.from.epoch.start | 9 | false 0.8.2, true 2.0.1 2.1.0 | PR 5557: tags
fetch.fenced.by.epoch | 10 | false 0.8.2, true 2.1.0 | PR 5661: tags
leader.enters.epoch | 7 | false 0.8.2, true 2.0.1 2.1.0 | PR 5678: sources of 2.0.0, 2.0.1, 2.1.0
truncation.at.end.clears.epochs | 13 | false 0.8.2, true 2.6.1 2.7.0 | PR 9633: sources of 2.6.0,
    2.6.1, 2.7.0
diverging.fetch.leaves.leo | 14 | false 0.8.2, true 2.7.2 2.8.1 3.0.0 | PR 11136: tags
diverging.answer.hw.ignored | 15 | false 0.8.2, true 3.4.1 3.5.0 | PR 13230: tags
empty.answer.keeps.fetched.epoch | 16 | true 0.8.2, false 3.5.1, true 3.7.0 | PR 13843, PR 14457:
    sources of 3.5.0, 3.5.1, 3.5.2, 3.6.2, 3.7.0
answer.matches.request.epoch | 18 | false 0.8.2, true 3.9.1 4.0.1 4.1.0 | PR 19223: bytecode of the
    published jars
append.up.to.leader.epoch | 17 | false 0.8.2, true 3.9.1 4.0.1 4.1.0 | PR 18852: bytecode of the
    published jars
fetch.answers | 18 | in_flight 0.8.2, at_once 3.9.1 4.0.1 4.1.0 | how fine the model
    is: with that rule, late answers add no violation
isr.changes | | zookeeper 0.8.2, alter_partition 2.7.0 | KIP-497: tags
maximal.isr | 19 | false 0.8.2, true 2.7.0 | PR 9100: tags; before, the ISR was written at once
quick.bounce | | followers 0.8.2, refused 2.2.0 | KAFKA-7235, broker epochs in ZooKeeper (PR 5821):
    tags
isr.shrink.starts.epoch | | by_controller 0.8.2, always 3.3.0, never 3.6.0 | KAFKA-15021: sources of
    2.7.0, the classes of 3.5.2 and 3.6.2; KRaft from 3.3 on
isr.unfenced.brokers.only | 21 | false 0.8.2, true 3.3.0 | PR 12240: tags
broker.epoch.checked | 22 | false 0.8.2, true 3.5.0 | PR 13408: tags
hw.frozen.below.min.isr | 26 | false 0.8.2, true 3.7.0 | PR 14594: tags (3.7.0, not 4.0)
epoch.file | 33 | at_once 0.8.2, unsynced 3.7.0, later 3.8.0 | PR 14242, PR 15993: sources of 3.6.2,
    3.7.0, 3.7.2, 3.8.0
starting.anew.moves.hw | 81 | false 0.8.2, true 2.4.1 2.5.0 | KAFKA-9491: tags
eligible.leader.replicas | 27 | false 0.8.2, true 4.1.0 | Kafka's documentation: in 4.0.0 off, from
    4.1.0 on for new clusters
last.known.leader.election | 27 | false 0.8.2, true 4.1.0 | goes with it
assignment.keeps.elr | 39 | false 0.8.2, true 4.3.0 | PR 20716: the classes of 4.1.0, 4.2.1, 4.3.1
reassignment.waits.for.all | 60 | true 0.8.2, false 4.3.0 | PR 21114: the classes of 4.2.1, 4.3.1
unclean.election.by.setting | 25 | true 0.8.2, false 3.3.0, true 3.9.0 | KAFKA-12670: sources of
    3.5.2 and 3.9.1. Before, KRaft had unclean elections by hand only
unclean.leader.election.enable | | true 0.8.2, false 0.11.0 | KIP-106: tags
replica.lag.max.messages | | 1 0.8.2, 0 0.9.0 | KAFKA-1546; 4000, scaled to 1
acks | | 1 0.8.2, all 3.0.0 | KIP-679: tags
min.insync.replicas | | 1 0.8.2 | Kafka's documentation
"""


@dataclass(frozen=True)
class Rule:
    """A setting that releases differ in: its values, with the first release of each line."""

    setting: str
    numbers: str
    values: tuple[tuple[str, tuple[Version, ...]], ...]
    evidence: str

    def value(self, version: Version) -> str:
        """What a release has: the last of the values that have come by then."""
        return [value for value, since in self.values if has(version, since)][-1]

    def releases_with(self, value: str) -> str:
        """Which have a value, by the first of a line: `since 3.7.0`, `before 3.8.0`; or none."""
        firsts = [version_words(since[0]) for _, since in self.values]
        spans = []
        for place, (held, _) in enumerate(self.values):
            ends = f"before {firsts[place + 1]}" if place + 1 < len(firsts) else ""
            begins = f"since {firsts[place]}" if place or not ends else ""
            if held == value:
                spans.append(", ".join(filter(None, (begins, ends))))
        return " and ".join(spans)


def version_words(version: Version) -> str:
    """A version as it is written: 2.1.0, and with four numbers before 1.0, but for 0.8.2."""
    return ".".join(map(str, version[:3] if version[0] or not version[3] else version))


def version_of(text: str) -> Version:
    """The four numbers of a version such as `3.9.1`; `ValueError` for what is none."""
    parts = text.split(".")
    if len(parts) > _NUMBERS or not all(part.isascii() and part.isdecimal() for part in parts):
        raise ValueError(f"{text} is no version")
    return tuple(int(part) for part in [*parts, "0", "0", "0"][:_NUMBERS])


def series_of(version: Version) -> Version:
    """The line that a release belongs to: 3.9, and before 1.0 three numbers, 0.11.0."""
    return version[: 2 if version[0] else 3]


def has(version: Version, since: tuple[Version, ...]) -> bool:
    """Whether a release has what is in each of these, the last of them and all after it."""
    return version >= since[-1] or any(
        version >= first and series_of(version) == series_of(first) for first in since
    )


def _parsed(table: str) -> tuple[Rule, ...]:
    return tuple(
        Rule(name, numbers, tuple(map(_parsed_value, values.split(", "))), evidence)
        for name, numbers, values, evidence in rows_in(table)
    )


def _parsed_value(text: str) -> tuple[str, tuple[Version, ...]]:
    value, *since = text.split()
    return value, tuple(map(version_of, since))


RULES = _parsed(_RULES)

_SERIES = (
    "0.8.2 0.9.0 0.10.0 0.10.1 0.10.2 0.11.0 1.0 1.1 2.0 2.1 2.2 2.3 2.4 2.5 2.6 2.7 2.8 "
    "3.0 3.1 3.2 3.3 3.4 3.5 3.6 3.7 3.8 3.9 4.0 4.1 4.2 4.3 4.4"
)
SERIES = _SERIES.split()
"""The lines that there are, oldest first: with ZooKeeper up to 3.2, with KRaft after it."""


def is_of_a_series(text: str) -> bool:
    """Whether a text is a version, and of a line that there is."""
    try:
        version = version_of(text)
    except ValueError:
        return False
    return "." in text and any(series_of(version) == series_of(version_of(s)) for s in SERIES)


def rules_of(version: Version) -> dict[str, Any]:
    """The settings of a release as it comes, with brokers of its own version throughout."""
    return {rule.setting: rule.value(version) for rule in RULES}
