"""What brokers do with a transaction of a task: time-outs, and markers, each on its own."""

from __future__ import annotations

from model.kafka_streams.bounds import LATE, TIMEOUTS
from model.kafka_streams.state import TWICE, Decision, Owner, Phase, Task
from model.language import (
    action,
    all_of,
    any_of,
    choose,
    maximum,
    minimum,
    not_,
    require,
    spend,
)


@action(
    "the transaction of {owner} is aborted, as its time is over",
    at="TransactionCoordinator.abortTimedOutTransactions",
    since="0.11.0.0",
    about="KIP-98",
)
def coordinator_time_out(task: Task, owner: Owner) -> None:
    """Though it lives. Its producer is fenced."""
    require(owner.decision == Decision.ONGOING, owner.phase != Phase.STOPPED)

    spend(task, TIMEOUTS)
    owner.decision = Decision.ABORT
    owner.fenced = True


@action(
    "the transaction of {owner}, which is dead, is aborted, as its time is over",
    at="TransactionCoordinator.abortTimedOutTransactions",
    since="0.11.0.0",
    about="KIP-98",
)
def coordinator_abort_of_the_dead(task: Task, owner: Owner) -> None:
    """Until then its offset is pending."""
    require(owner.decision == Decision.ONGOING, owner.phase == Phase.STOPPED)

    owner.decision = Decision.ABORT


def _decided(owner: Owner) -> bool:
    return any_of(owner.decision == Decision.COMMIT, owner.decision == Decision.ABORT)


@action(
    "the output gets the marker of {owner}",
    at="UnifiedLog.appendAsLeader",
    since="0.11.0.0",
    about="KIP-98",
)
def output_get_marker(task: Task, owner: Owner) -> None:
    """If it commits, read_committed returns the result."""
    require(_decided(owner), owner.output)

    commits = owner.decision == Decision.COMMIT
    for record in task.inputs:
        here = all_of(commits, record.number == owner.at)
        record.results = choose(here, minimum(record.results + 1, TWICE), record.results)
    owner.output = False
    _complete(owner)


@action(
    "the group's offsets get the marker of {owner}",
    at="GroupCoordinator.handleTxnCompletion",
    since="0.11.0.0",
    about="KIP-98",
)
def offsets_get_marker(task: Task, owner: Owner) -> None:
    """If it commits, what was pending is the committed offset. Nothing is pending any more."""
    require(_decided(owner), owner.offset)

    commits = all_of(owner.decision == Decision.COMMIT, not_(owner.forgotten))
    task.committed = choose(commits, owner.at + 1, task.committed)
    owner.offset = False
    owner.forgotten = False
    if not task.options.completion_is_awaited:
        owner.late = Decision.NONE
        owner.late_at = 0
    _complete(owner)


@action(
    "the group's offsets get the marker of {owner}, and the group looks at it later",
    at="GroupCoordinator.scheduleHandleTxnCompletion",
    since="2.0.0",
    about="KAFKA-17507",
    settings="completion.is.awaited",
)
def offsets_get_marker_early(task: Task, owner: Owner) -> None:
    """A thread of the group is to take the offset over. The transaction is complete before."""
    require(not task.options.completion_is_awaited)
    require(_decided(owner), owner.offset, owner.late == Decision.NONE, not_(owner.forgotten))

    spend(task, LATE)
    owner.late = owner.decision
    owner.late_at = owner.at
    owner.offset = False
    _complete(owner)


@action(
    "the group takes over what is pending of {owner}",
    at="GroupMetadata.completePendingTxnOffsetCommit",
    since="2.0.0",
    about="KAFKA-17507",
    settings="completion.is.awaited",
)
def group_complete_late(task: Task, owner: Owner) -> None:
    """By then that may be the offset of the next transaction, of which it forgets the rest."""
    require(not task.options.completion_is_awaited, owner.late != Decision.NONE)

    commits = owner.late == Decision.COMMIT
    offset = choose(owner.offset, owner.at, owner.late_at) + 1
    task.committed = choose(commits, maximum(offset, task.committed), task.committed)
    _complete_late(owner)


@action(
    "the group fails to take over what is pending of {owner}",
    at="GroupMetadata.completePendingTxnOffsetCommit",
    since="2.0.0",
    about="KAFKA-17507",
    settings="completion.is.awaited",
)
def group_fail_to_complete(task: Task, owner: Owner) -> None:
    """The offset of the next transaction is pending by then, and was just about to be appended."""
    require(not task.options.completion_is_awaited, owner.late == Decision.COMMIT)
    require(owner.phase == Phase.SENT, owner.offset)

    _complete_late(owner)


def _complete_late(owner: Owner) -> None:
    owner.forgotten = owner.offset
    owner.late = Decision.NONE
    owner.late_at = 0


def _complete(owner: Owner) -> None:
    """Once all markers are written the transaction is complete."""
    open_ = any_of(owner.output, owner.offset)
    owner.decision = choose(open_, owner.decision, Decision.NONE)
    beside = any_of(owner.phase == Phase.OPEN, owner.phase == Phase.SENT)
    owner.at = choose(any_of(open_, beside), owner.at, 0)
