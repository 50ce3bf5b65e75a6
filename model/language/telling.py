"""What reports need to know of a protocol's state: which field means what, and who acts.

Reports know no protocol. A protocol says by this which of its fields they lay out, whom beside its
members they draw a lane for, and what is under way between them. What it does not say is shown as
any other field, so that it may say nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Telling:
    """Names of a protocol's fields by what they mean; empty where it has none.

    Of a member: `leader` (whom it follows, itself if it leads), `leads` (a property: it takes
    itself for the leader), `up` (it runs), `epoch`, `mark` (up to which position of its log all is
    safe), `quorum` (who counts with it). Of a table: `acknowledged` in rows of what is stored,
    `exposed` in rows of positions, with the row that was read there.

    `clients` act besides members, and whoever they act on answers; `writer` among them is told what
    is acknowledged. `keeper` says who leads. Both have a lane where words of actions, or a part of
    the state, are called so; `kept_in` are parts that are the keeper's under other names, `kept`
    fields of members that say what the keeper holds of them.

    `mailboxes` hold what is under way to their owner, and are blank when nothing is; `notes` say
    how others stand to their owner, and nobody is told when they change.

    `system`: what people call the system that is modelled, `Kafka`; empty: the protocol's name.
    `modes`: what people call the parts of a preset's name behind the release, as pairs: `zookeeper`
    in `kafka-3.9.1-zookeeper` is "ZooKeeper".

    `words`: what people call fields, as pairs of a regular expression and what takes its place in
    the field's name with spaces; `end` is the word for a log's end, and `entries` says how entries
    of a log are written. `voters`: a property of a member, the set by whose majority it goes, which
    pages show.
    """

    leader: str = "leader"
    leads: str = ""
    up: str = "up"
    epoch: str = ""
    mark: str = ""
    quorum: str = ""
    acknowledged: str = ""
    exposed: str = ""
    clients: tuple[str, ...] = ()
    writer: str = ""
    keeper: str = ""
    kept_in: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    mailboxes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    words: tuple[tuple[str, str], ...] = ()
    end: str = "end"
    entries: str = "record:epoch by offset"
    voters: str = ""
    system: str = ""
    modes: tuple[tuple[str, str], ...] = ()

    @property
    def roles(self) -> tuple[str, ...]:
        """Who may act besides members, in the order of their lanes."""
        return (*self.clients, *filter(None, [self.keeper]))

    @property
    def laid_out(self) -> frozenset[str]:
        """The words of values that a member's card shows in places of their own."""
        names = filter(None, (self.epoch, self.mark, self.quorum))
        return frozenset({*map(self.called, names), self.end, "end"})

    def called(self, name: str) -> str:
        """What people call a field."""
        words = name.replace("_", " ")
        for pattern, instead in self.words:
            words = re.sub(pattern, instead, words)
        return words

    def lane(self, name: str) -> str:
        """The lane of a part of the state."""
        return self.keeper if name in self.kept_in else name

    def spoken_of(self, parts: Iterable[str], words: Iterable[str]) -> tuple[str, ...]:
        """The roles that parts of the state or words of actions name."""
        named = {*map(self.lane, parts), *words}
        return tuple(role for role in self.roles if role in named)
