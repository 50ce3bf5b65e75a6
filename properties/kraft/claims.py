"""The KRaft quorum's properties, in order, and its witnesses: what it must be able to do.

Those by which a quorum keeps going, nothing being lost, are in `availability.py` and
`pre_votes.py`.

A record that the active controller appended is acknowledged when the leader's high watermark
passes it, so that what holds of committed records holds of acknowledged ones.
"""

from __future__ import annotations

from model.kraft.bounds import DISK_LOSSES
from model.kraft.kraft_control_record_state_machine import (
    key_is,
    voter_set,
)
from model.kraft.state import CANDIDATE, Node, Quorum
from model.language import (
    SetOf,
    all_of,
    any_of,
    choose,
    every,
    implies,
    is_none,
    maximum,
    not_,
    some,
)
from properties.claims import Property, always, sometimes
from properties.kraft.availability import (
    a_controller_that_renounces_can_revert,
    a_follower_accepts_its_leaders_snapshot,
    a_leader_accepts_a_lower_fetch_offset,
    a_leader_is_named_with_endpoints,
    a_log_begins_at_a_snapshot,
    a_role_fits_epoch_vote_and_leader,
    an_added_voter_has_caught_up,
    has_dynamic_voters,
    has_snapshots,
    has_voters_in_the_log,
    no_truncation_below_the_high_watermark,
)
from properties.kraft.pre_votes import (
    a_leader_that_is_heard_is_not_disturbed,
    a_removed_voter_starts_no_election,
    who_cannot_win_starts_no_election,
)


@always(
    "one_leader_in_an_epoch",
    "no epoch ever has two leaders, not even one after the other",
    failure="{row} has had two leaders",
    breach="has two leaders in one epoch",
    broken_by="a voter that does not write down its vote",
)
def one_leader_in_an_epoch(quorum: Quorum) -> bool:
    """Else one offset and epoch may be two records."""
    return every(not_(row.another) for row in quorum.epochs)


@always(
    "committed_records_stay",
    "a node's records below its high watermark are those that were committed there first",
    failure="{node}, with high watermark {node.high_watermark}, lacks or has replaced a committed "
    "record below it",
    breach="replaces a committed record",
    broken_by="kraft leader.counts.what.is.flushed=false",
)
def committed_records_stay(quorum: Quorum) -> bool:
    """Else two controllers act on different metadata."""
    return every(
        implies(
            row.number < node.high_watermark,
            all_of(
                node.log.has(row.number),
                row.epoch != 0,
                node.log[row.number].epoch == row.epoch,
            ),
        )
        for node in quorum.nodes
        for row in quorum.committed
    )


@always(
    "one_record_at_an_offset_and_epoch",
    "two logs with the same epoch at an offset have the same record there",
    failure="{one} and {other} have different records of the same epoch at an offset",
    breach="has two records of one offset and epoch",
    broken_by="kraft leader.restarts=leader",
    promised=has_dynamic_voters,
)
def one_record_at_an_offset_and_epoch(quorum: Quorum) -> bool:
    """Else no follower truncates. The model tells VotersRecords from other records."""
    return every(
        implies(
            all_of(
                one != other,
                one.log.has(row.number),
                other.log.has(row.number),
                one.log[row.number].epoch == other.log[row.number].epoch,
            ),
            all_of(
                one.log[row.number].voters == other.log[row.number].voters,
                one.log[row.number].second == other.log[row.number].second,
            ),
        )
        for one in quorum.nodes
        for other in quorum.nodes
        for row in quorum.committed
    )


@always(
    "leaders_have_what_is_committed",
    "the leader of a later epoch than that of the last commit has every committed record",
    premise=lambda q: some(all_of(node.leads, node.epoch > q.committed_in) for node in q.nodes),
    failure="{node} leads epoch {node.epoch}, and lacks a record committed in an earlier one",
    breach="elects a leader without a committed record",
    broken_by="kraft restart.flushes.log=false",
)
def leaders_have_what_is_committed(quorum: Quorum) -> bool:
    """A leader fetches from nobody: what it lacks is acknowledged metadata that is lost."""
    return every(
        implies(
            all_of(node.leads, node.epoch > quorum.committed_in, row.epoch != 0),
            all_of(node.log.has(row.number), node.log[row.number].epoch == row.epoch),
        )
        for node in quorum.nodes
        for row in quorum.committed
    )


@always(
    "the_voter_set_is_that_of_the_log",
    "a node's voter set is that of the last VotersRecord in its log",
    failure="the voter set of {node} is {node.voters}, not that of its last VotersRecord",
    breach="gives a controller a wrong voter set",
    broken_by="kraft truncation.rereads.control.records=false",
    promised=has_voters_in_the_log,
)
def the_voter_set_is_that_of_the_log(quorum: Quorum) -> bool:
    """Else two nodes with the same log need different majorities."""
    return every(
        all_of(node.stale_voters.is_empty, node.last_read_offset == node.log.last_voters_offset)
        for node in quorum.nodes
    )


@always(
    "a_snapshot_has_the_voters_of_the_log",
    "a snapshot has the voters of the last VotersRecord before its end",
    failure="the snapshot of {node} lacks a VotersRecord before its end at {node.snapshot_end}",
    breach="makes a snapshot with a wrong voter set",
    broken_by="kraft truncation.rereads.control.records=false",
    premise=lambda q: some(node.snapshot_end > 0 for node in q.nodes),
    promised=lambda model: has_voters_in_the_log(model) and has_snapshots(model),
)
def a_snapshot_has_the_voters_of_the_log(quorum: Quorum) -> bool:
    """Else each node that loads it has an older voter set, after a restart too."""
    return every(
        not_(
            all_of(
                row.number < node.snapshot_end,
                node.last_read_before(node.snapshot_end) < row.number,
                not_(node.log[row.number].voters.is_empty),
            )
        )
        for node in quorum.nodes
        for row in quorum.committed
    )


def supporters(quorum: Quorum, node: Node) -> SetOf[Node]:
    """The voters who might vote for the node, or let the leader that it is commit."""
    voters = voter_set(quorum, node)
    return quorum.nodes.where(
        lambda each: all_of(
            voters.contains(each),
            key_is(quorum, node, each),
            choose(node.leads, each.epoch <= node.epoch, node.log.is_at_least(each.log)),
        )
    )


def may_act_apart(quorum: Quorum, one: Node, other: Node) -> bool:
    """Majorities of the two nodes' supporters exist that have nobody in common."""
    ours, theirs = supporters(quorum, one), supporters(quorum, other)
    both = ours.intersection(theirs).size
    ours_needed = majority(voter_set(quorum, one)) - ours.minus(theirs).size
    theirs_needed = majority(voter_set(quorum, other)) - theirs.minus(ours).size
    return maximum(ours_needed, 0) + maximum(theirs_needed, 0) <= both


def majority(voters: SetOf[Node]) -> int:
    """How many voters a majority has at least: `size / 2 + 1`, as a count that doubles past it."""
    return smallest_majority(voters.size)


def smallest_majority(size: int) -> int:
    """Half of the size, rounded down, and one."""
    half = 0
    for count in range(1, 8):
        half = choose(size >= count + count, count, half)
    return half + 1


def may_act(quorum: Quorum, node: Node) -> bool:
    """The node leads, or is a voter in its own eyes that can be elected."""
    voters = voter_set(quorum, node)
    return any_of(node.leads, all_of(voters.contains(node), key_is(quorum, node, node)))


@always(
    "majorities_meet",
    "any two majorities that may elect or commit at once have a node in common",
    failure="{one}, with the voter set {one.voters}, and {other}, with {other.voters}, may be "
    "elected or commit by majorities without a common node",
    breach="has two majorities without a common controller",
    broken_by="kraft one.change.at.a.time=false",
)
def majorities_meet(quorum: Quorum) -> bool:
    """Why Raft is safe. A node counts if its log would let it vote now."""
    return every(
        implies(
            all_of(one != other, may_act(quorum, one), may_act(quorum, other)),
            not_(may_act_apart(quorum, one, other)),
        )
        for one in quorum.nodes
        for other in quorum.nodes
    )


@always(
    "a_removed_voter_stays_out",
    "a controller that was removed from the voters does not have itself added again",
    failure="a controller that was removed has had itself added",
    breach="lets a removed controller add itself again",
    broken_by="kraft auto.join.once=false",
    promised=lambda model: model.settings.auto_join,
)
def a_removed_voter_stays_out(quorum: Quorum) -> bool:
    """An operator removed it: the quorum would tolerate another number of failures than planned."""
    return not_(quorum.rejoined)


@always(
    "high_watermarks_do_not_fall",
    "a node's high watermark does not fall while it runs",
    of_steps=True,
    failure="the high watermark of {node} falls",
    breach="lets a high watermark fall",
    broken_by="a follower that takes any high watermark",
)
def high_watermarks_do_not_fall(before: Quorum, after: Quorum) -> bool:
    """A restart resets it, as it is kept in memory alone."""
    return every(
        any_of(
            after.nodes[node].high_watermark >= node.high_watermark,
            after.nodes[node].high_watermark == 0,
        )
        for node in before.nodes
    )


@always(
    "one_vote_in_an_epoch",
    "a node that has voted in an epoch votes for nobody else in it, not even after a restart",
    of_steps=True,
    failure="{node} votes twice in an epoch",
    breach="lets a controller vote twice in one epoch",
    broken_by="a vote that is not in quorum-state",
)
def one_vote_in_an_epoch(before: Quorum, after: Quorum) -> bool:
    """A node that knows the leader of the epoch votes for nobody either."""
    return every(
        implies(
            all_of(
                after.nodes[node].epoch == node.epoch,
                not_(is_none(after.nodes[node].voted)),
                after.nodes[node].voted != node.voted,
            ),
            all_of(is_none(node.voted), is_none(node.leader)),
        )
        for node in before.nodes
    )


@always(
    "no_vote_for_a_lost_disk",
    "a candidate counts no vote that was given to the directory id of a disk that it has lost",
    failure="{node} counts a vote of {voter} for the directory id of a disk that {node} has lost",
    breach="counts a vote that was given to a lost disk",
    broken_by="kraft quorum.state.names.directory=false",
    premise=lambda q: some(voter.voted_for_lost for voter in q.nodes),
    promised=lambda model: has_dynamic_voters(model) and model.bounds[DISK_LOSSES.name] > 0,
)
def no_vote_for_a_lost_disk(quorum: Quorum) -> bool:
    """Else one epoch may have two leaders: before the loss, and after it with an empty log."""
    return every(
        not_(
            all_of(
                node.role == CANDIDATE,
                voter.voted == node,
                voter.epoch == node.epoch,
                voter.voted_for_lost,
                node.votes.contains(voter),
            )
        )
        for node in quorum.nodes
        for voter in quorum.nodes
    )


@sometimes("another_node_leads", "a node leads a later epoch and commits in it")
def another_node_leads(quorum: Quorum) -> bool:
    """Without that, the first leader would be the only one."""
    return quorum.committed_in > 1


@sometimes("a_record_is_committed", "a record after the first is committed")
def a_record_is_committed(quorum: Quorum) -> bool:
    """Without that, nothing is acknowledged."""
    return some(all_of(node.leads, node.high_watermark > 1) for node in quorum.nodes)


@sometimes("a_follower_truncates", "a follower truncates its log", of_steps=True)
def a_follower_truncates(before: Quorum, after: Quorum) -> bool:
    """Logs diverge and become alike again."""
    lost = any_of(
        after.spent.power_losses != before.spent.power_losses,
        after.spent.disk_losses != before.spent.disk_losses,
    )
    return some(
        all_of(after.nodes[node].log.end < node.log.end, not_(lost)) for node in before.nodes
    )


@sometimes("a_voter_set_changes", "a node's voter set is not that of the first VotersRecord")
def a_voter_set_changes(quorum: Quorum) -> bool:
    """A voter was added, removed or updated."""
    return some(node.last_read_offset > 0 for node in quorum.nodes)


@sometimes("two_candidates_in_an_epoch", "two nodes are Candidates of the same epoch")
def two_candidates_in_an_epoch(quorum: Quorum) -> bool:
    """Elections with split votes."""
    return some(
        all_of(
            one != other,
            one.role == CANDIDATE,
            other.role == CANDIDATE,
            one.epoch == other.epoch,
        )
        for one in quorum.nodes
        for other in quorum.nodes
    )


KRAFT_PROPERTIES: tuple[Property, ...] = (
    one_leader_in_an_epoch,
    committed_records_stay,
    one_record_at_an_offset_and_epoch,
    leaders_have_what_is_committed,
    the_voter_set_is_that_of_the_log,
    a_snapshot_has_the_voters_of_the_log,
    a_follower_accepts_its_leaders_snapshot,
    majorities_meet,
    a_removed_voter_stays_out,
    high_watermarks_do_not_fall,
    one_vote_in_an_epoch,
    no_vote_for_a_lost_disk,
    no_truncation_below_the_high_watermark,
    a_leader_is_named_with_endpoints,
    a_leader_accepts_a_lower_fetch_offset,
    a_log_begins_at_a_snapshot,
    a_controller_that_renounces_can_revert,
    an_added_voter_has_caught_up,
    a_removed_voter_starts_no_election,
    who_cannot_win_starts_no_election,
    a_leader_that_is_heard_is_not_disturbed,
    a_role_fits_epoch_vote_and_leader,
    another_node_leads,
    a_record_is_committed,
    a_follower_truncates,
    a_voter_set_changes,
    two_candidates_in_an_epoch,
)
