"""The state of one task: the input partition, whoever has owned it, what they have written.

A transaction is decided in one step, and its markers reach the output and the offsets one by one:
what `kafka_transactions` proves of coordinators, epochs and partitions is taken for granted. An
owner is a row by its generation; one that was replaced goes on until it is told.
"""

from __future__ import annotations

from enum import IntEnum

from model.kafka_streams.bounds import BOUNDS, INPUTS, REBALANCES
from model.kafka_streams.settings import Ids, StreamsSettings
from model.language import (
    Annotated,
    Budgets,
    Entity,
    State,
    Table,
    all_of,
    any_of,
    integers,
    not_,
    spent,
    table,
)

Position = Annotated[int, integers(0, INPUTS)]
TWICE = 2


class Phase(IntEnum):
    """How far an owner has come, in its own view."""

    NONE = 0
    ASSIGNED = 1
    INITIALIZED = 2  # it has a producer, and no position
    READY = 3
    OPEN = 4  # it has written a result in a transaction
    SENT = 5  # and its offset
    MUST_ABORT = 6
    STOPPED = 7  # it is fenced, and knows; or it is dead


class Decision(IntEnum):
    """What the coordinator has of an owner's transaction."""

    NONE = 0
    ONGOING = 1
    COMMIT = 2  # markers are under way
    ABORT = 3


class Input(Entity):
    """A record of the input partition: how many results of it read_committed returns."""

    _label = "input "

    results: Annotated[int, integers(0, TWICE)] = 0


class Owner(Entity):
    """Who owns, or owned, the input partition; its number is the generation.

    `at` is the input of its transaction; `output` and `offset`: a result, an offset is written, and
    has no marker; `fenced`: its producer epoch is over. `late`: what a marker has decided that the
    group has not looked at yet, and `late_at` the input that it is of; `forgotten`: the group does
    not know the offset that is pending.
    """

    _label = "owner "

    phase: Phase = Phase.NONE
    position: Position = 0
    at: Position = 0
    decision: Decision = Decision.NONE
    output: bool = False
    offset: bool = False
    fenced: bool = False
    late: Decision = Decision.NONE
    late_at: Position = 0
    forgotten: bool = False

    @property
    def is_pending(self) -> bool:
        """The group knows an offset of it that may yet be committed."""
        return any_of(all_of(self.offset, not_(self.forgotten)), self.late != Decision.NONE)


class Spent(Budgets, of=BOUNDS):
    """How much of each budget is used up."""


class Task(State):
    """The whole state. `committed` is the group's offset."""

    inputs: Table[Input] = table(INPUTS)
    owners: Table[Owner] = table(REBALANCES + 1)
    committed: Position = 0
    spent: Spent = Spent.part()

    @property
    def options(self) -> StreamsSettings:
        """The settings, with their type."""
        settings: StreamsSettings = self.settings
        return settings

    @property
    def shares_an_id(self) -> bool:
        """All owners have one transactional id, so that the next one fences those before."""
        return bool(self.options.ids == Ids.PARTITION)

    def is_newest(self, owner: Owner) -> bool:
        """The group has given the partition to this one last."""
        return owner.number == spent(self, REBALANCES)


def start(task: Task) -> None:
    """The first owner is told that it owns the partition."""
    task.owners[0].phase = Phase.ASSIGNED
