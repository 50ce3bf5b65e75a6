"""Single-decree Paxos: a ballot proposes what a majority of acceptors may have chosen before.

It follows Lamport's specification in tlaplus/Examples, PaxosHowToWinATuringAward: messages stay
sent, so they are kept with the ballot that they belong to. At the sizes of its MCPaxosTiny, which
are 3 acceptors, 2 values and the ballots 0 and 1, both have 3,921 states.

    explore docs/examples/paxos.py
    explore docs/examples/paxos.py --set heeds_votes=false
"""

from __future__ import annotations

from dataclasses import dataclass

from highwater.claims import always, sometimes
from highwater.language import (
    Annotated,
    Bound,
    Entity,
    Members,
    PerMember,
    Protocol,
    State,
    Table,
    action,
    any_of,
    count,
    every,
    for_each,
    implies,
    integers,
    members,
    require,
    setting,
    some,
    table,
)

ACCEPTORS = Bound("acceptors", default=3, minimum=1, words="who vote")
VALUES = Bound("values", default=2, minimum=1, words="values that may be proposed")
LAST_BALLOT = Bound("last_ballot", default=1, minimum=0, words="the last ballot; the first is 0")

Number = Annotated[int, integers(-1, LAST_BALLOT)]  # of a ballot; -1 before the first
Value = Annotated[int, integers(0, VALUES)]  # 0 is none


@dataclass(frozen=True)
class Settings:
    heeds_votes: bool = setting(True, "a ballot proposes the newest value that it hears of")


class Acceptor(Entity):
    _label = "a"
    joined: Number = -1  # the newest ballot that it takes part in
    voted_in: Number = -1
    voted_for: Value = 0


class Ballot(Entity):
    _label = "b"
    is_open: bool = False
    proposal: Value = 0
    promised: PerMember[Acceptor, bool] = for_each(False)
    # What an acceptor said with its promise: its last vote until then.
    said_ballot: PerMember[Acceptor, Number] = for_each(-1)
    said_value: PerMember[Acceptor, Value] = for_each(0)
    voted: PerMember[Acceptor, bool] = for_each(False)


class Election(State):
    acceptors: Members[Acceptor] = members(ACCEPTORS)
    ballots: Table[Ballot] = table(LAST_BALLOT + 1)


def is_majority(election: Election, size: int) -> bool:
    return size + size > election.acceptors.count


@action("ballot {ballot} opens")
def open_ballot(election: Election, ballot: Ballot) -> None:
    ballot.is_open = True


@action("{acceptor} promises ballot {ballot} to vote in no earlier one")
def promise(election: Election, acceptor: Acceptor, ballot: Ballot) -> None:
    require(ballot.is_open, ballot.number > acceptor.joined)
    acceptor.joined = ballot.number
    ballot.promised[acceptor] = True
    ballot.said_ballot[acceptor] = acceptor.voted_in
    ballot.said_value[acceptor] = acceptor.voted_for


@action("ballot {ballot} proposes {value}")
def propose(election: Election, ballot: Ballot, value: Annotated[int, integers(1, VALUES)]) -> None:
    require(ballot.proposal == 0)
    free = count(ballot.promised[a] & (ballot.said_ballot[a] == -1) for a in election.acceptors)
    if not election.settings.heeds_votes:
        free = count(ballot.promised[a] for a in election.acceptors)
    require(any_of(
        is_majority(election, free),
        some(
            ballot.promised[newest]
            & (ballot.said_ballot[newest] >= 0)
            & (ballot.said_value[newest] == value)
            & is_majority(election, count(
                ballot.promised[a] & (ballot.said_ballot[a] <= ballot.said_ballot[newest])
                for a in election.acceptors
            ))
            for newest in election.acceptors
        ),
    ))  # fmt: skip
    ballot.proposal = value


@action("{acceptor} votes in ballot {ballot}")
def vote(election: Election, acceptor: Acceptor, ballot: Ballot) -> None:
    require(ballot.proposal != 0, ballot.number >= acceptor.joined)
    acceptor.joined = ballot.number
    acceptor.voted_in = ballot.number
    acceptor.voted_for = ballot.proposal
    ballot.voted[acceptor] = True


def is_chosen(election: Election, ballot: Ballot) -> bool:
    return is_majority(election, count(ballot.voted[a] for a in election.acceptors))


@always(
    "one_value_is_chosen",
    "no two ballots choose different values",
    failure="ballot {one} chose {one.proposal}, ballot {other} chose {other.proposal}",
)
def one_value_is_chosen(election: Election) -> bool:
    return every(
        implies(
            is_chosen(election, one) & is_chosen(election, other), one.proposal == other.proposal
        )
        for one in election.ballots
        for other in election.ballots
    )


@sometimes("a_value_is_chosen", "some ballot has a majority of votes")
def a_value_is_chosen(election: Election) -> bool:
    return some(is_chosen(election, ballot) for ballot in election.ballots)


PAXOS = Protocol(
    name="paxos",
    words="a majority of acceptors chooses one value, whatever is lost or late",
    state=Election,
    actions=(open_ballot, promise, propose, vote),
    bounds=(ACCEPTORS, VALUES, LAST_BALLOT),
    settings=Settings,
    source="https://github.com/tlaplus/Examples, PaxosHowToWinATuringAward",
    properties=(one_value_is_chosen, a_value_is_chosen),
)
