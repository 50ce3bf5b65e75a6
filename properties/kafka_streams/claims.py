"""Exactly once: of each input there is one result that read_committed returns, never two."""

from __future__ import annotations

from model.kafka_streams.bounds import REBALANCES
from model.kafka_streams.state import Decision, Input, Owner, Phase, Task
from model.language import all_of, any_of, every, implies, some, spent
from properties.claims import Property, always, sometimes


def is_due(task: Task, record: Input) -> bool:
    """A result of it is written, and its transaction is to be committed."""
    return some(
        all_of(owner.output, owner.decision == Decision.COMMIT, owner.at == record.number)
        for owner in task.owners
    )


@always(
    "nothing_is_processed_twice",
    "no input has two results that are committed",
    premise=lambda task: some(record.results > 0 for record in task.inputs),
    failure="{record} has two committed results",
    breach="processes a record twice",
    broken_by="kafka_streams group.checks.generation=false",
)
def nothing_is_processed_twice(task: Task) -> bool:
    """At most once."""
    return every(record.results <= 1 for record in task.inputs)


@always(
    "nothing_is_lost",
    "an input below the committed offset has a result that is committed, or is about to be",
    premise=lambda task: task.committed > 0,
    failure="{record} is below the committed offset, and has no result",
    breach="skips a record for ever",
    broken_by="kafka_streams position.is.reset=false",
)
def nothing_is_lost(task: Task) -> bool:
    """At least once: nobody reads it again."""
    return every(
        implies(record.number < task.committed, any_of(record.results > 0, is_due(task, record)))
        for record in task.inputs
    )


@always(
    "offsets_do_not_go_back",
    "the committed offset never gets smaller",
    of_steps=True,
    premise=lambda task: task.committed > 0,
    failure="the committed offset goes back",
    breach="sets a group back behind what it has processed",
    broken_by="kafka_streams require.stable=false group.checks.generation=false",
)
def offsets_do_not_go_back(before: Task, after: Task) -> bool:
    """Else what was processed is read again by the next owner."""
    return after.committed >= before.committed


@sometimes("everything_is_processed", "every input has one result")
def everything_is_processed(task: Task) -> bool:
    """The end that everybody hopes for."""
    return every(record.results == 1 for record in task.inputs)


@sometimes("a_former_owner_is_refused", "an owner that was replaced finds that it has to stop")
def a_former_owner_is_refused(task: Task) -> bool:
    """By its epoch, or by its generation."""
    return some(is_refused(owner, task) for owner in task.owners)


def is_refused(owner: Owner, task: Task) -> bool:
    """It was replaced, and has heard of it."""
    told = any_of(owner.phase == Phase.MUST_ABORT, owner.phase == Phase.STOPPED)
    return all_of(told, owner.number < spent(task, REBALANCES))


KAFKA_STREAMS_PROPERTIES: tuple[Property, ...] = (
    nothing_is_processed_twice,
    nothing_is_lost,
    offsets_do_not_go_back,
    everything_is_processed,
    a_former_owner_is_refused,
)
