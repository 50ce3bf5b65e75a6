"""Two-phase commit: a manager commits a transaction once every participant has voted yes.

It follows the specification TwoPhase of Gray and Lamport, "Consensus on Transaction Commit", which
tlaplus/Examples and Stateright's examples have too: 288 states with 3 participants, 8,832 with 5.

    explore docs/examples/two_phase_commit.py
    explore docs/examples/two_phase_commit.py --participants 5
    highwater prove docs/examples/two_phase_commit.py --unbounded
"""

from __future__ import annotations

from enum import IntEnum

from highwater.claims import always, sometimes
from highwater.language import (
    Bound,
    Entity,
    Members,
    Protocol,
    State,
    action,
    every,
    implies,
    members,
    require,
    some,
)


class Phase(IntEnum):
    WORKING, PREPARED, COMMITTED, ABORTED = range(4)


class Decision(IntEnum):
    NONE, COMMIT, ABORT = range(3)


PARTICIPANTS = Bound("participants", default=3, minimum=1, words="who must agree")


class Participant(Entity):
    _label = "p"
    phase: Phase = Phase.WORKING
    voted: bool = False  # its vote is on its way, and stays there
    counted: bool = False  # the manager has read the vote


class Transaction(State):
    participants: Members[Participant] = members(PARTICIPANTS)
    decision: Decision = Decision.NONE  # of the manager, who tells everyone


@action("{participant} votes yes")
def prepare(transaction: Transaction, participant: Participant) -> None:
    require(participant.phase == Phase.WORKING)
    participant.phase = Phase.PREPARED
    participant.voted = True


@action("{participant} aborts by itself")
def give_up(transaction: Transaction, participant: Participant) -> None:
    require(participant.phase == Phase.WORKING)
    participant.phase = Phase.ABORTED


@action("manager reads the vote of {participant}")
def count_vote(transaction: Transaction, participant: Participant) -> None:
    require(transaction.decision == Decision.NONE, participant.voted)
    participant.counted = True


@action("manager decides to commit")
def commit(transaction: Transaction) -> None:
    require(transaction.decision == Decision.NONE)
    require(every(p.counted for p in transaction.participants))
    transaction.decision = Decision.COMMIT


@action("manager decides to abort")
def abort(transaction: Transaction) -> None:
    require(transaction.decision == Decision.NONE)
    transaction.decision = Decision.ABORT


@action("{participant} hears that it commits")
def hear_commit(transaction: Transaction, participant: Participant) -> None:
    require(transaction.decision == Decision.COMMIT)
    participant.phase = Phase.COMMITTED


@action("{participant} hears that it aborts")
def hear_abort(transaction: Transaction, participant: Participant) -> None:
    require(transaction.decision == Decision.ABORT)
    participant.phase = Phase.ABORTED


@always("all_agree", "no participant commits while another aborts", failure="{a} and {b} differ")
def all_agree(transaction: Transaction) -> bool:
    return every(
        implies(a.phase == Phase.COMMITTED, b.phase != Phase.ABORTED)
        for a in transaction.participants
        for b in transaction.participants
    )


@sometimes("all_commit", "every participant commits")
def all_commit(transaction: Transaction) -> bool:
    return every(p.phase == Phase.COMMITTED for p in transaction.participants)


@sometimes("one_aborts", "some participant aborts")
def one_aborts(transaction: Transaction) -> bool:
    return some(p.phase == Phase.ABORTED for p in transaction.participants)


@always("votes_bind", "who has voted yes aborts by order alone")
def votes_bind(transaction: Transaction) -> bool:
    return every(
        implies(p.voted, (p.phase != Phase.WORKING))
        & implies(p.voted & (p.phase == Phase.ABORTED), transaction.decision == Decision.ABORT)
        for p in transaction.participants
    )


@always("commits_were_ordered", "who commits was told to, and then all have voted yes")
def commits_were_ordered(transaction: Transaction) -> bool:
    return every(
        implies(p.counted, p.voted)
        & implies(p.phase == Phase.COMMITTED, transaction.decision == Decision.COMMIT)
        & implies(transaction.decision == Decision.COMMIT, p.counted)
        for p in transaction.participants
    )


TWO_PHASE_COMMIT = Protocol(
    name="two_phase_commit",
    words="a manager commits once all have voted yes",
    state=Transaction,
    actions=(prepare, give_up, count_vote, commit, abort, hear_commit, hear_abort),
    bounds=(PARTICIPANTS,),
    source="https://github.com/tlaplus/Examples, transaction_commit/TwoPhase",
    properties=(all_agree, all_commit, one_aborts),
    lemmas=(votes_bind, commits_were_ordered),
)
