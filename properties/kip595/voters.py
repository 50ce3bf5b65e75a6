"""Lemmas about voters that change one at a time (KIP-853): whose majorities meet.

`elected_by`, `voters`, `changed` and `settled` of an epoch are ghosts of `Election`. A leader that
changes its voters has *settled* what is below its high watermark: it has committed its first record
with `elected_by`, and its last change with `voters`. So of two sets of voters that may still elect
or commit, one is the other but for one voter; or a settled epoch is between them, and the older set
elects nobody any more.
"""

from __future__ import annotations

from model.kip595.protocol import Election, Raft, Voter
from model.language import (
    SetOf,
    all_of,
    any_of,
    every,
    implies,
    is_majority,
    is_none,
    maximum,
    not_,
    some,
)
from properties.claims import always


def adjacent(raft: Raft, a: SetOf[Voter], b: SetOf[Voter]) -> bool:
    """The sets differ in one voter at most."""
    return every(
        any_of(x == y, a.contains(x) == b.contains(x), a.contains(y) == b.contains(y))
        for x in raft.voters
        for y in raft.voters
    )


def has_settled(election: Election) -> bool:
    """Its leader has changed the voters, and so had committed a record of the epoch."""
    return election.changed > 0


def is_settled(offset: int, election: Election) -> bool:
    """Its leader had committed the offset when it changed the voters last."""
    return all_of(has_settled(election), offset < election.settled)


def has_leader(election: Election) -> bool:
    """Somebody has led in the epoch."""
    return not_(is_none(election.leader))


def may_have_fetched(raft: Raft, offset: int, election: Election) -> SetOf[Voter]:
    """Who has fetched the epoch's record at an offset, or is not beyond the epoch."""
    return raft.voters.where(
        lambda voter: any_of(voter.epoch <= election.number, election.fetched[voter] > offset)
    )


def may_commit(raft: Raft, offset: int, election: Election, voters: SetOf[Voter]) -> bool:
    """A majority of the voters may have fetched the epoch's record at an offset."""
    return is_majority(may_have_fetched(raft, offset, election), of=voters)


def cannot_commit(raft: Raft, offset: int, election: Election) -> bool:
    """No majority of the epoch's voters will have fetched its record at the offset.

    Nor will one after the next change of voters, if there can be one: the last one would have to be
    committed.
    """
    voters = election.voters
    return all_of(
        not_(is_settled(offset, election)),
        not_(may_commit(raft, offset, election, voters)),
        any_of(
            raft.changes == raft.bound("voter_changes"),
            not_(may_commit(raft, last_change(election), election, voters)),
            every(
                all_of(
                    not_(may_commit(raft, offset, election, voters.with_member(other))),
                    not_(may_commit(raft, offset, election, voters.without_member(other))),
                )
                for other in raft.voters
            ),
        ),
    )


def last_change(election: Election) -> int:
    """The offset from which on all records of the epoch have its voters."""
    return maximum(election.start, election.changed)


def is_passed(raft: Raft, offset: int, election: Election, voters: SetOf[Voter]) -> bool:
    """So many have fetched the epoch's record at an offset that the others are no majority."""
    others = raft.voters.where(lambda other: election.fetched[other] <= offset)
    return not_(is_majority(others, of=voters))


def is_outdated(raft: Raft, epoch: int, before: Election, voters: SetOf[Voter]) -> bool:
    """An epoch that was settled after `epoch` and before another has passed the voters."""
    return some(
        all_of(
            election.number > epoch,
            election.number < before.number,
            has_settled(election),
            is_passed(raft, election.start, election, voters),
        )
        for election in raft.elections
    )


@always(
    "changes_are_settled",
    "an epoch has the voters of its last record; before one of them has changed those that elected "
    "its leader, and then the leader's high watermark was beyond its first record",
    failure="{election} has changed voters at {election.changed}, settled {election.settled}",
    broken_by="kip595 own_epoch_before_change=false",
)
def changes_are_settled(raft: Raft) -> bool:
    """A leader commits a record of its epoch before it changes the voters."""
    return every(
        any_of(
            all_of(not_(has_settled(election)), election.voters == election.elected_by),
            all_of(
                has_leader(election),
                election.start < election.settled,
                election.settled <= election.changed,
            ),
        )
        for election in raft.elections
    )


@always(
    "settled_with_those_who_elected",
    "where an epoch's voters have changed, a majority of those that elected its leader has fetched "
    "its first record",
    failure="{election} has changed voters, and its first record was not committed",
    broken_by="kip595 own_epoch_before_change=false",
)
def settled_with_those_who_elected(raft: Raft) -> bool:
    """The first change comes after a commit with the voters as they were."""
    return every(
        implies(
            has_settled(election),
            is_majority(raft.fetched_beyond(election.start, election), of=election.elected_by),
        )
        for election in raft.elections
    )


@always(
    "records_have_the_voters_of_their_epoch",
    "a record has the voters that elected its leader if it is its first, those of the epoch from "
    "the last change on, and the same wherever it is",
    failure="{voter} has at offset {o} a record with other voters than {other} or its epoch",
    broken_by="a follower that keeps its own voters",
)
def records_have_the_voters_of_their_epoch(raft: Raft) -> bool:
    """Voters are part of the log."""
    return every(
        all_of(
            implies(
                all_of(voter.log.has(o), raft.elections[voter.log[o].epoch].start == o),
                voter.log[o].voters == raft.elections[voter.log[o].epoch].elected_by,
            ),
            implies(
                all_of(voter.log.has(o), last_change(raft.elections[voter.log[o].epoch]) <= o),
                voter.log[o].voters == raft.elections[voter.log[o].epoch].voters,
            ),
            implies(
                voter.same_entry(other, o),
                voter.log[o].voters == other.log[o].voters,
            ),
        )
        for voter in raft.voters
        for other in raft.voters
        for o in voter.log.positions
    )


@always(
    "leaders_hold_their_last_change",
    "a leader has the last change of its epoch in its log, and other voters before",
    failure="{leader} has no change of voters at {raft.elections[leader.epoch].changed}",
    broken_by="a leader that truncates its log",
)
def leaders_hold_their_last_change(raft: Raft) -> bool:
    """So records from a high watermark on that have the same voters follow the last change."""
    return every(
        implies(
            leader.leads,
            all_of(
                raft.elections[leader.epoch].changed < leader.log.end,
                implies(
                    p + 1 == raft.elections[leader.epoch].changed,
                    leader.log[p].voters != raft.elections[leader.epoch].voters,
                ),
            ),
        )
        for leader in raft.voters
        for p in leader.log.positions
    )


@always(
    "logs_without_settled_records_elect_nobody",
    "a candidate whose log ends before a record that its last epoch has settled wins no election",
    failure="{voter} could be elected with what it has up to offset {o}",
    broken_by="kip595 commit_before_change=false",
)
def logs_without_settled_records_elect_nobody(raft: Raft) -> bool:
    """A majority of the same voters or all but one has fetched the next record."""
    return every(
        implies(
            all_of(voter.log.has(o), is_settled(o + 1, raft.elections[voter.log[o].epoch])),
            is_passed(raft, o + 1, raft.elections[voter.log[o].epoch], voter.log[o].voters),
        )
        for voter in raft.voters
        for o in voter.log.positions
    )


@always(
    "voters_of_an_epoch_are_adjacent",
    "records of one epoch have voters that differ in one from a later one's and from the epoch's, "
    "unless the next record is settled",
    failure="{voter} has at offset {o} voters far from its epoch's or from those at {p}",
    broken_by="kip595 commit_before_change=false",
)
def voters_of_an_epoch_are_adjacent(raft: Raft) -> bool:
    """One change is committed before the next."""
    return every(
        implies(
            all_of(voter.log.has(o), not_(is_settled(o + 1, raft.elections[voter.log[o].epoch]))),
            all_of(
                adjacent(raft, voter.log[o].voters, raft.elections[voter.log[o].epoch].voters),
                implies(
                    all_of(o < p, voter.has(p, voter.log[o].epoch)),
                    adjacent(raft, voter.log[o].voters, voter.log[p].voters),
                ),
            ),
        )
        for voter in raft.voters
        for o in voter.log.positions
        for p in voter.log.positions
    )


@always(
    "later_elections_are_adjacent",
    "voters that elected a later leader differ in one from those of a record, unless that record "
    "is followed by settled ones, or its voters are outdated",
    failure="{voter} has at offset {o} voters far from those that elected in {election}",
    broken_by="kip595 own_epoch_before_change=false",
)
def later_elections_are_adjacent(raft: Raft) -> bool:
    """Leaders of two epochs that change the same voters: the later one has committed before."""
    return every(
        implies(
            all_of(
                voter.log.has(o),
                voter.log[o].epoch < election.number,
                has_leader(election),
                not_(is_settled(o + 1, raft.elections[voter.log[o].epoch])),
            ),
            any_of(
                adjacent(raft, voter.log[o].voters, election.elected_by),
                is_outdated(raft, voter.log[o].epoch, election, voter.log[o].voters),
            ),
        )
        for voter in raft.voters
        for election in raft.elections
        for o in voter.log.positions
    )


@always(
    "elections_are_adjacent_to_the_first_voters",
    "voters that elected a leader differ in one from the first, unless those are outdated",
    failure="{election} has a leader that was elected by voters far from the first",
    broken_by="kip595 own_epoch_before_change=false",
)
def elections_are_adjacent_to_the_first_voters(raft: Raft) -> bool:
    """An empty log has the first voters."""
    return every(
        implies(
            has_leader(election),
            any_of(
                adjacent(raft, raft.voters.all(), election.elected_by),
                is_outdated(raft, 0, election, raft.voters.all()),
            ),
        )
        for election in raft.elections
    )


@always(
    "later_elections_know_the_voters",
    "voters that elected a later leader are those of an epoch, or of a settled one between, or the "
    "epoch's last change cannot be committed",
    failure="{later} has a leader that was elected by other voters than those of {election}",
    broken_by="kip595 up_to_date=false",
)
def later_elections_know_the_voters(raft: Raft) -> bool:
    """A committed change is in every later leader's log."""
    return every(
        implies(
            all_of(has_leader(election), has_leader(later), election.number < later.number),
            any_of(
                later.elected_by == election.voters,
                not_(may_commit(raft, last_change(election), election, election.voters)),
                some(
                    all_of(
                        between.number > election.number,
                        between.number < later.number,
                        between.elected_by == election.voters,
                        has_settled(between),
                    )
                    for between in raft.elections
                ),
            ),
        )
        for election in raft.elections
        for later in raft.elections
    )
