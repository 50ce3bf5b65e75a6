"""What brokers do with a transaction of a task: time-outs, and markers, each on its own."""

from __future__ import annotations

from model.kafka_streams.bounds import TIMEOUTS
from model.kafka_streams.state import TWICE, Decision, Owner, Phase, Task
from model.language import action, all_of, any_of, choose, minimum, require, spend


@action(
    "the transaction of {owner} is aborted, as its time is over",
    at="TransactionCoordinator.abortTimedOutTransactions",
    since="0.11.0.0",
    about="KIP-98",
)
def coordinator_time_out(task: Task, owner: Owner) -> None:
    """Its producer is fenced."""
    require(owner.decision == Decision.ONGOING)

    spend(task, TIMEOUTS)
    owner.decision = Decision.ABORT
    owner.fenced = True


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
    """If it commits, what was pending is the committed offset."""
    require(_decided(owner), owner.offset)

    commits = owner.decision == Decision.COMMIT
    task.committed = choose(commits, owner.at + 1, task.committed)
    owner.offset = False
    _complete(owner)


def _complete(owner: Owner) -> None:
    """Once all markers are written the transaction is complete."""
    open_ = any_of(owner.output, owner.offset)
    owner.decision = choose(open_, owner.decision, Decision.NONE)
    beside = any_of(owner.phase == Phase.OPEN, owner.phase == Phase.SENT)
    owner.at = choose(any_of(open_, beside), owner.at, 0)
