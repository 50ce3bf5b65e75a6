"""Lemmas about what was committed: a majority has fetched it, and whoever leads later holds it."""

from __future__ import annotations

from model.kip595.protocol import Raft
from model.language import all_of, any_of, every, implies, is_majority
from properties.claims import always
from properties.kip595.voters import has_settled, is_settled


@always(
    "leaders_hold_commits",
    "a leader holds the record by which the high watermark of a voter in no later epoch rose",
    failure="{leader} leads in epoch {leader.epoch}, and lacks offset {voter.commit_offset}, by "
    "which {voter} has committed",
    broken_by="kip595 up_to_date=false",
)
def leaders_hold_commits(raft: Raft) -> bool:
    """Its majority and the one that committed share a voter."""
    return every(
        implies(
            all_of(leader.leads, voter.high_watermark > 0, voter.commit_epoch <= leader.epoch),
            leader.has(voter.commit_offset, voter.commit_epoch),
        )
        for leader in raft.voters
        for voter in raft.voters
    )


@always(
    "commits_are_majorities",
    "a majority has fetched the record by which a high watermark rose, in that record's epoch",
    failure="{voter} has committed up to {voter.high_watermark}, and no majority's fetch says so",
    broken_by="kip595 own_epoch_first=false",
)
def commits_are_majorities(raft: Raft) -> bool:
    """Counting a record of an earlier epoch alone does not keep it."""
    return every(
        implies(
            voter.high_watermark > 0,
            all_of(
                voter.commit_epoch <= voter.epoch,
                raft.elections[voter.commit_epoch].start <= voter.commit_offset,
                voter.high_watermark <= voter.commit_offset + 1,
                any_of(
                    is_settled(voter.commit_offset, raft.elections[voter.commit_epoch]),
                    is_majority(
                        raft.fetched_beyond(
                            voter.commit_offset, raft.elections[voter.commit_epoch]
                        ),
                        of=raft.elections[voter.commit_epoch].voters,
                    ),
                ),
            ),
        )
        for voter in raft.voters
    )


@always(
    "commits_are_held",
    "the leader of its epoch holds the record by which a high watermark rose, ever after",
    failure="{leader} led when {voter} committed offset {voter.commit_offset}, and lacks it",
    broken_by="kip595 up_to_date=false",
)
def commits_are_held(raft: Raft) -> bool:
    """Whoever it truncates its log for holds that record."""
    return every(
        any_of(
            voter.high_watermark == 0,
            raft.elections[voter.commit_epoch].leader != leader,
            leader.has(voter.commit_offset, voter.commit_epoch),
        )
        for voter in raft.voters
        for leader in raft.voters
    )


@always(
    "commits_are_in_order",
    "a log with the record by which a high watermark rose has the records by which others rose "
    "before",
    failure="{voter} has the record by which {later} has committed, and lacks {earlier}'s",
    broken_by="kip595 up_to_date=false",
)
def commits_are_in_order(raft: Raft) -> bool:
    """An earlier commit may commit, so that logs with later records hold it."""
    return every(
        implies(
            all_of(
                earlier.high_watermark > 0,
                later.high_watermark > 0,
                any_of(
                    earlier.commit_epoch < later.commit_epoch,
                    all_of(
                        earlier.commit_epoch == later.commit_epoch,
                        earlier.commit_offset <= later.commit_offset,
                    ),
                ),
                voter.has(later.commit_offset, later.commit_epoch),
            ),
            voter.has(earlier.commit_offset, earlier.commit_epoch),
        )
        for voter in raft.voters
        for later in raft.voters
        for earlier in raft.voters
    )


@always(
    "commits_cover_what_is_below",
    "a log with the record by which a high watermark rose holds all that is below that",
    failure="{other} has the record by which {voter} has committed offset {o}, and differs there",
    broken_by="a follower that takes a high watermark from a leader without its records",
)
def commits_cover_what_is_below(raft: Raft) -> bool:
    """The leader that committed had both, and logs match."""
    return every(
        implies(
            all_of(o < voter.high_watermark, other.has(voter.commit_offset, voter.commit_epoch)),
            voter.same_entry(other, o),
        )
        for voter in raft.voters
        for other in raft.voters
        for o in voter.log.positions
    )


@always(
    "leaders_know_their_commits",
    "nobody has committed more of an epoch than its leader, whose high watermark is beyond its "
    "first record only by a commit in its epoch",
    failure="{voter} has committed offset {voter.commit_offset}, and {leader}'s high watermark is "
    "{leader.high_watermark}",
    broken_by="a leader whose high watermark goes back",
)
def leaders_know_their_commits(raft: Raft) -> bool:
    """Followers learn from it; what it settled was below its high watermark."""
    return every(
        implies(
            leader.leads,
            all_of(
                implies(
                    has_settled(raft.elections[leader.epoch]),
                    raft.elections[leader.epoch].settled <= leader.high_watermark,
                ),
                implies(
                    all_of(voter.high_watermark > 0, voter.commit_epoch == leader.epoch),
                    voter.commit_offset < leader.high_watermark,
                ),
                implies(
                    leader.high_watermark > raft.elections[leader.epoch].start,
                    all_of(
                        leader.commit_epoch == leader.epoch,
                        leader.commit_offset + 1 == leader.high_watermark,
                    ),
                ),
            ),
        )
        for voter in raft.voters
        for leader in raft.voters
    )
