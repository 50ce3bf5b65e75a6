"""What the core of KRaft claims: one leader an epoch, and committed records stay."""

from __future__ import annotations

from model.kip595.protocol import Raft
from model.language import all_of, every, implies, some
from properties.claims import Property, always, sometimes


@always(
    "one_leader_per_epoch",
    "no two voters lead in one epoch",
    failure="{a} and {b} both lead in epoch {a.epoch}",
    breach="has two leaders in one epoch",
    broken_by="kip595 durable_votes=false",
)
def one_leader_per_epoch(raft: Raft) -> bool:
    """Else offset and epoch do not name a record."""
    return every(
        implies(all_of(a.leads, b.leads, a.epoch == b.epoch), a == b)
        for a in raft.voters
        for b in raft.voters
    )


@always(
    "log_matching",
    "logs that hold a record of one epoch at one offset agree below it",
    failure="{a} and {b} hold the same record at offset {o}, and not at offset {p}",
    breach="has logs that share a record and differ below it",
    broken_by="kip595 check_fetch=false",
)
def log_matching(raft: Raft) -> bool:
    """So one comparison says that a follower's log is a prefix of its leader's."""
    return every(
        implies(all_of(p < o, a.same_entry(b, o)), a.same_entry(b, p))
        for a in raft.voters
        for b in raft.voters
        for o in a.log.positions
        for p in a.log.positions
    )


@always(
    "leader_completeness",
    "what a voter has below its high watermark is in the log of each leader of its or a later "
    "epoch",
    premise=lambda raft: some(a.high_watermark > 0 for a in raft.voters),
    failure="{leader} leads in epoch {leader.epoch} without what {a} has committed at offset {o}",
    breach="elects a leader without a committed record",
    broken_by="kip595 up_to_date=false",
)
def leader_completeness(raft: Raft) -> bool:
    """A leader cannot bring back what it lacks."""
    return every(
        implies(
            all_of(leader.leads, a.epoch <= leader.epoch, o < a.high_watermark),
            a.same_entry(leader, o),
        )
        for leader in raft.voters
        for a in raft.voters
        for o in a.log.positions
    )


@always(
    "committed_records_stay",
    "two voters hold the same records below both high watermarks",
    failure="{a} and {b} differ at offset {o}, below both high watermarks",
    breach="replaces a committed record",
    broken_by="kip595 own_epoch_first=false",
)
def committed_records_stay(raft: Raft) -> bool:
    """What was committed is not replaced."""
    return every(
        implies(all_of(o < a.high_watermark, o < b.high_watermark), a.same_entry(b, o))
        for a in raft.voters
        for b in raft.voters
        for o in a.log.positions
    )


@sometimes("a_voter_leads", "a majority elects a leader")
def a_voter_leads(raft: Raft) -> bool:
    """Else nothing is ever appended."""
    return some(voter.leads for voter in raft.voters)


@sometimes("a_record_commits", "a high watermark rises above 0")
def a_record_commits(raft: Raft) -> bool:
    """Without commits, nothing could be lost."""
    return some(a.high_watermark > 0 for a in raft.voters)


KIP595_PROPERTIES: tuple[Property, ...] = (
    one_leader_per_epoch,
    log_matching,
    leader_completeness,
    committed_records_stay,
    a_voter_leads,
    a_record_commits,
)
