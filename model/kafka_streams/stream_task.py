"""What an owner does: `StreamTask`, or an application that consumes, processes and produces."""

from __future__ import annotations

from model.kafka_streams.bounds import DEATHS, GIVE_UPS, INPUTS, REBALANCES
from model.kafka_streams.state import Decision, Owner, Phase, Task
from model.language import (
    action,
    all_of,
    any_of,
    choose,
    every,
    implies,
    not_,
    require,
    spend,
    spent,
)


@action(
    "the group gives the partition to another owner",
    at="GroupCoordinator.handleJoinGroup",
    since="0.11.0.0",
)
def group_rebalance(task: Task) -> None:
    """The one before does not hear of it; it may be dead."""
    spend(task, REBALANCES)
    for owner in task.owners:
        new = owner.number == spent(task, REBALANCES)
        owner.phase = choose(new, Phase.ASSIGNED, owner.phase)


@action(
    "{owner} initializes its producer",
    at="KafkaProducer.initTransactions",
    since="0.11.0.0",
    about="KIP-98, KIP-447",
    settings="transactional.ids",
)
def owner_initialize(task: Task, owner: Owner) -> None:
    """With the id of the partition every other is fenced, in whatever order; what is open ends."""
    require(owner.phase == Phase.ASSIGNED)

    owner.phase = Phase.INITIALIZED
    if task.shares_an_id:
        for other in task.owners:
            before = all_of(other.number != owner.number, other.phase > Phase.ASSIGNED)
            other.fenced = any_of(other.fenced, before)
            open_ = all_of(before, other.decision == Decision.ONGOING)
            other.decision = choose(open_, Decision.ABORT, other.decision)


@action(
    "{owner} reads the committed offset",
    at="ConsumerCoordinator.fetchCommittedOffsets",
    since="0.11.0.0",
    about="KIP-447",
    settings="require.stable",
)
def owner_fetch_offset(task: Task, owner: Owner) -> None:
    """InitProducerId was answered when what was open before was complete."""
    require(owner.phase == Phase.INITIALIZED)
    if task.shares_an_id:
        require(
            every(
                implies(other.number != owner.number, other.decision == Decision.NONE)
                for other in task.owners
            )
        )
    if task.options.requires_stable:
        require(every(not_(other.is_pending) for other in task.owners))

    owner.phase = Phase.READY
    owner.position = task.committed


@action(
    "{owner} processes an input, and writes the result",
    at="KafkaProducer.send",
    since="0.11.0.0",
    about="KIP-98",
)
def owner_process(task: Task, owner: Owner) -> None:
    """In a transaction that begins as the one before is complete. Who is fenced is told so."""
    require(owner.phase == Phase.READY, owner.position < task.bound(INPUTS))
    require(owner.decision == Decision.NONE)

    works = not_(owner.fenced)
    owner.phase = choose(works, Phase.OPEN, Phase.STOPPED)
    owner.at = choose(works, owner.position, 0)
    owner.decision = choose(works, Decision.ONGOING, Decision.NONE)
    owner.output = works
    owner.position = choose(works, owner.position, 0)


@action(
    "{owner} sends its offset in the transaction",
    at="KafkaProducer.sendOffsetsToTransaction",
    since="0.11.0.0",
    about="KIP-98, KIP-447",
    settings="group.checks.generation",
)
def owner_send_offset(task: Task, owner: Owner) -> None:
    """It is pending until its marker comes. The group may know that another is owner now."""
    require(owner.phase == Phase.OPEN)
    stale = not_(task.is_newest(owner)) if task.options.checks_generation else False
    stopped = owner.fenced

    taken = all_of(not_(stopped), not_(stale))
    owner.offset = taken
    owner.phase = choose(taken, Phase.SENT, choose(stopped, Phase.STOPPED, Phase.MUST_ABORT))
    owner.position = choose(stopped, 0, owner.position)


@action(
    "{owner} commits",
    at="KafkaProducer.commitTransaction",
    since="0.11.0.0",
    about="KIP-98",
)
def owner_commit(task: Task, owner: Owner) -> None:
    """It is decided, and the owner goes on, unless it is fenced."""
    require(owner.phase == Phase.SENT)

    works = not_(owner.fenced)
    owner.decision = choose(works, Decision.COMMIT, owner.decision)
    owner.phase = choose(works, Phase.READY, Phase.STOPPED)
    owner.position = choose(works, owner.position + 1, 0)


@action(
    "{owner} aborts",
    at="KafkaProducer.abortTransaction",
    since="0.11.0.0",
    settings="position.is.reset",
)
def owner_abort(task: Task, owner: Owner) -> None:
    """Because it must. It has to go back to the committed offset; its consumer is beyond."""
    require(owner.phase == Phase.MUST_ABORT)

    _abort(task, owner)


@action(
    "{owner} aborts because it wants to",
    at="KafkaProducer.abortTransaction",
    since="0.11.0.0",
    settings="position.is.reset",
)
def owner_give_up(task: Task, owner: Owner) -> None:
    """Such as for an exception of the application."""
    require(any_of(owner.phase == Phase.OPEN, owner.phase == Phase.SENT))

    spend(task, GIVE_UPS)
    _abort(task, owner)


def _abort(task: Task, owner: Owner) -> None:
    works = not_(owner.fenced)
    owner.decision = choose(works, Decision.ABORT, owner.decision)
    if task.options.resets_position:
        owner.phase = choose(works, Phase.INITIALIZED, Phase.STOPPED)
        owner.position = 0
    else:
        owner.phase = choose(works, Phase.READY, Phase.STOPPED)
        owner.position = choose(works, owner.position + 1, 0)


@action("{owner} dies", at="the application", since="0.11.0.0")
def owner_die(task: Task, owner: Owner) -> None:
    """What it has begun stays open. One that merely does nothing any more is the same."""
    require(owner.phase > Phase.NONE, owner.phase < Phase.STOPPED)

    spend(task, DEATHS)
    owner.phase = Phase.STOPPED
    owner.position = 0


@action(
    "{owner}, or another in its place, joins the group again",
    at="StreamThread.handleTaskMigrated",
    since="0.11.0.0",
)
def owner_join_again(task: Task, owner: Owner) -> None:
    """The newest has stopped. `group_rebalance` does not wait until its transaction is over."""
    require(task.is_newest(owner), owner.phase == Phase.STOPPED)
    require(owner.decision == Decision.NONE, not_(owner.is_pending))

    owner.phase = Phase.ASSIGNED
    owner.fenced = False
