"""Lemmas about the core of KRaft: why a leader that a majority elected has what one committed.

They speak of voters that do not change. The heart is `later_logs_are_safe`: a record *may commit*
while a majority has fetched it in its epoch or is not beyond that epoch, and any log with a record
of a later epoch holds all that may commit. No step adds to who may still fetch it; and a majority
of votes has a voter among them.
"""

from __future__ import annotations

from model.kip595.protocol import Election, Raft, Role, Voter
from model.language import all_of, any_of, every, implies, is_majority, is_none, not_
from properties.claims import Property, always
from properties.kip595.claims import log_matching, one_leader_per_epoch
from properties.kip595.commits import (
    commits_are_held,
    commits_are_in_order,
    commits_are_majorities,
    commits_cover_what_is_below,
    leaders_hold_commits,
    leaders_know_their_commits,
)
from properties.kip595.voters import (
    cannot_commit,
    changes_are_settled,
    elections_are_adjacent_to_the_first_voters,
    has_leader,
    later_elections_are_adjacent,
    later_elections_know_the_voters,
    leaders_hold_their_last_change,
    logs_without_settled_records_elect_nobody,
    records_have_the_voters_of_their_epoch,
    settled_with_those_who_elected,
    voters_of_an_epoch_are_adjacent,
)


def is_safe(raft: Raft, voter: Voter, offset: int, election: Election) -> bool:
    """The voter holds the epoch's record at the offset, or no majority will have fetched it."""
    return any_of(
        voter.has(offset, election.number),
        cannot_commit(raft, offset, election),
    )


@always(
    "epochs_in_logs",
    "epochs of records begin with 1, do not decrease along a log, and are not ahead of the "
    "voter's; those of a candidate are earlier",
    failure="{voter} in epoch {voter.epoch} has a record of epoch {voter.log[o].epoch} at {o}",
    broken_by="a follower that takes records from a leader of a later epoch than its own",
)
def epochs_in_logs(raft: Raft) -> bool:
    """Leaders append in their epoch, and followers fetch in it."""
    return every(
        all_of(
            implies(
                voter.log.has(o),
                all_of(
                    voter.log[o].epoch > 0,
                    voter.log[o].epoch <= voter.epoch,
                    any_of(voter.role != Role.CANDIDATE, voter.log[o].epoch < voter.epoch),
                ),
            ),
            implies(all_of(p < o, voter.log.has(o)), voter.log[p].epoch <= voter.log[o].epoch),
        )
        for voter in raft.voters
        for o in voter.log.positions
        for p in voter.log.positions
    )


@always(
    "roles_have_epochs",
    "nobody stands or leads in epoch 0; no high watermark is beyond the log, and each rose in an "
    "epoch with a leader",
    failure="{voter} is {voter.role} in epoch {voter.epoch}, its high watermark "
    "{voter.high_watermark} and its end {voter.log.end}",
    broken_by="a voter that stands in the epoch in which it is",
)
def roles_have_epochs(raft: Raft) -> bool:
    """A voter that stands goes to a new epoch."""
    return every(
        all_of(
            any_of(voter.role == Role.FOLLOWER, voter.epoch > 0),
            voter.high_watermark <= voter.log.end,
            any_of(
                voter.high_watermark == 0,
                not_(is_none(raft.elections[voter.commit_epoch].leader)),
            ),
        )
        for voter in raft.voters
    )


@always(
    "votes_are_of_epochs_reached",
    "a voter has voted in no later epoch than its own, and for none that was not in that epoch",
    failure="{voter} in epoch {voter.epoch} has voted in {election}",
    broken_by="kip595 durable_votes=false: a voter that restarts in the epoch before its last",
)
def votes_are_of_epochs_reached(raft: Raft) -> bool:
    """Who votes for a candidate goes to its epoch."""
    return every(
        all_of(
            any_of(is_none(election.vote[voter]), election.number <= voter.epoch),
            implies(election.vote[voter] == candidate, election.number <= candidate.epoch),
        )
        for election in raft.elections
        for voter in raft.voters
        for candidate in raft.voters
    )


@always(
    "leaders_are_elected",
    "a majority voted for the leader of an epoch",
    failure="{election.leader} was elected in {election}, and no majority has voted for it",
    broken_by="kip595 durable_votes=false",
)
def leaders_are_elected(raft: Raft) -> bool:
    """Votes stay, and two majorities share a voter."""
    return every(
        any_of(
            is_none(election.leader),
            is_majority(raft.voted_for(election.leader, election), of=election.elected_by),
        )
        for election in raft.elections
    )


@always(
    "who_leads_was_elected",
    "a voter leads in an epoch whose leader it became, and stands in one whose leader it was not",
    failure="{voter} is {voter.role} in epoch {voter.epoch}, which another was or itself led",
    broken_by="a leader that leads on after it has learnt of a later epoch",
)
def who_leads_was_elected(raft: Raft) -> bool:
    """A leader that restarts does not lead in its epoch again."""
    return every(
        all_of(
            implies(voter.leads, raft.elections[voter.epoch].leader == voter),
            implies(voter.role == Role.CANDIDATE, raft.elections[voter.epoch].leader != voter),
        )
        for voter in raft.voters
    )


@always(
    "records_have_a_leader",
    "a record is of an epoch with a leader, not before that leader's first record, and the leader "
    "holds it while it leads",
    failure="{voter} has at offset {o} a record that {leader}, who leads in its epoch, lacks",
    broken_by="a leader that truncates its log",
)
def records_have_a_leader(raft: Raft) -> bool:
    """Only the leader of an epoch appends records of it."""
    return every(
        implies(
            voter.log.has(o),
            all_of(
                not_(is_none(raft.elections[voter.log[o].epoch].leader)),
                raft.elections[voter.log[o].epoch].start <= o,
                implies(
                    all_of(leader.leads, leader.epoch == voter.log[o].epoch),
                    leader.has(o, voter.log[o].epoch),
                ),
            ),
        )
        for voter in raft.voters
        for leader in raft.voters
        for o in voter.log.positions
    )


@always(
    "records_from_the_start",
    "a log with a record of an epoch has all of that epoch's before it, and a leader has its first",
    failure="{voter} has at offset {o} a record of an epoch whose record at {p} it lacks",
    broken_by="a leader of an epoch that appends a record of another",
)
def records_from_the_start(raft: Raft) -> bool:
    """The records of one epoch are one piece of a log."""
    return every(
        all_of(
            implies(
                all_of(voter.log.has(o), raft.elections[voter.log[o].epoch].start <= p, p <= o),
                voter.log[p].epoch == voter.log[o].epoch,
            ),
            implies(
                voter.leads,
                all_of(
                    voter.has(raft.elections[voter.epoch].start, voter.epoch),
                    implies(
                        all_of(raft.elections[voter.epoch].start <= p, voter.log.has(p)),
                        voter.log[p].epoch == voter.epoch,
                    ),
                ),
            ),
        )
        for voter in raft.voters
        for o in voter.log.positions
        for p in voter.log.positions
    )


@always(
    "fetched_from_a_leader",
    "fetch offsets are of epochs that the voter has reached and that have a leader",
    failure="{voter} has fetched up to {election.fetched[voter]} in {election}",
    broken_by="a leader that takes a Fetch request of a later epoch",
)
def fetched_from_a_leader(raft: Raft) -> bool:
    """Leaders answer requests of their own epoch."""
    return every(
        all_of(
            implies(
                election.fetched[voter] > 0,
                all_of(election.number <= voter.epoch, not_(is_none(election.leader))),
            ),
            any_of(not_(is_none(election.leader)), election.start == 0),
        )
        for election in raft.elections
        for voter in raft.voters
    )


@always(
    "leaders_reach_fetch_offsets",
    "no fetch offset is beyond the log of the leader that knows it",
    failure="{voter} has fetched more from {leader} than that has",
    broken_by="a leader that truncates its log",
)
def leaders_reach_fetch_offsets(raft: Raft) -> bool:
    """A leader takes no fetch offset beyond its end, and only appends."""
    return every(
        implies(leader.leads, raft.elections[leader.epoch].fetched[voter] <= leader.log.end)
        for voter in raft.voters
        for leader in raft.voters
    )


@always(
    "fetched_is_held",
    "what a voter has fetched from the leader of its epoch, both hold",
    failure="{voter} has fetched offset {o} from {leader}, and they differ there",
    broken_by="kip595 check_fetch=false",
)
def fetched_is_held(raft: Raft) -> bool:
    """Within an epoch no follower truncates what it has fetched."""
    return every(
        implies(
            all_of(
                leader.leads,
                voter.epoch == leader.epoch,
                raft.elections[leader.epoch].fetched[voter] > o,
            ),
            voter.same_entry(leader, o),
        )
        for voter in raft.voters
        for leader in raft.voters
        for o in voter.log.positions
    )


@always(
    "fetched_is_safe",
    "a voter holds what it has fetched of a leader's own epoch, unless that cannot commit any more",
    failure="{voter} has fetched offset {o} in {election}, which may commit, and does not hold it",
    broken_by="a follower that truncates more than its leader lacks",
)
def fetched_is_safe(raft: Raft) -> bool:
    """Followers truncate for leaders of later epochs, whose logs hold all that may commit."""
    return every(
        implies(
            all_of(election.start <= o, o < election.fetched[voter]),
            is_safe(raft, voter, o, election),
        )
        for election in raft.elections
        for voter in raft.voters
        for o in voter.log.positions
    )


@always(
    "candidates_are_safe",
    "a candidate holds what those who voted for it had fetched in earlier epochs and may commit",
    failure="{candidate} stands, and lacks offset {o} of {election}, which {voter} has fetched",
    broken_by="kip595 up_to_date=false",
)
def candidates_are_safe(raft: Raft) -> bool:
    """Each voter compared its log with the candidate's; the candidate appends nothing meanwhile."""
    return every(
        implies(
            all_of(
                candidate.role == Role.CANDIDATE,
                raft.elections[candidate.epoch].vote[voter] == candidate,
                election.number < candidate.epoch,
                election.start <= o,
                o < election.fetched[voter],
            ),
            is_safe(raft, candidate, o, election),
        )
        for election in raft.elections
        for voter in raft.voters
        for candidate in raft.voters
        for o in voter.log.positions
    )


@always(
    "later_logs_are_safe",
    "a log with a record of a later epoch holds every record of an earlier one that may commit",
    failure="{voter} has a record of epoch {voter.log[p].epoch}, and lacks offset {o} of "
    "{election}, which may commit",
    broken_by="kip595 up_to_date=false",
)
def later_logs_are_safe(raft: Raft) -> bool:
    """A leader's majority shares a voter with any that could commit; others copy leaders."""
    return every(
        implies(
            all_of(
                has_leader(election),
                voter.log.has(p),
                voter.log[p].epoch > election.number,
                election.start <= o,
            ),
            is_safe(raft, voter, o, election),
        )
        for election in raft.elections
        for voter in raft.voters
        for o in voter.log.positions
        for p in voter.log.positions
    )


KIP595_LEMMAS: tuple[Property, ...] = (
    epochs_in_logs,
    roles_have_epochs,
    votes_are_of_epochs_reached,
    leaders_are_elected,
    who_leads_was_elected,
    one_leader_per_epoch,
    records_have_a_leader,
    records_from_the_start,
    log_matching,
    fetched_from_a_leader,
    leaders_reach_fetch_offsets,
    fetched_is_held,
    changes_are_settled,
    settled_with_those_who_elected,
    records_have_the_voters_of_their_epoch,
    leaders_hold_their_last_change,
    voters_of_an_epoch_are_adjacent,
    logs_without_settled_records_elect_nobody,
    later_elections_are_adjacent,
    elections_are_adjacent_to_the_first_voters,
    later_elections_know_the_voters,
    fetched_is_safe,
    candidates_are_safe,
    later_logs_are_safe,
    commits_are_majorities,
    leaders_know_their_commits,
    commits_are_held,
    commits_are_in_order,
    commits_cover_what_is_below,
    leaders_hold_commits,
)
