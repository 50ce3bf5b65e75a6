"""`KafkaRaftClient`, the log: the leader appends and flushes, followers fetch and truncate.

A Fetch request, what the leader notes, and what the follower appends of the response are one step,
or the response is lost: one that comes later is of the same epoch. Where power may be lost, a node
flushes in a step of its own. Until then its thread handles nothing, but what followers had parked
at the leader has been answered.
"""

from __future__ import annotations

from model.kraft.bounds import APPENDS
from model.kraft.kafka_raft_log import is_sent_snapshot
from model.kraft.kraft_control_record_state_machine import (
    append,
    append_from,
    key_is,
    truncate,
    voter_set,
)
from model.kraft.leader_state import is_established, takes_fetch_offset, update_high_watermark
from model.kraft.state import FOLLOWER, Node, Offset, Quorum
from model.language import (
    action,
    all_of,
    any_of,
    choose,
    implies,
    minimum,
    not_,
    require,
    spend,
)


@action(
    "{node} appends a record as leader",
    at="KafkaRaftClient.appendBatch",
    since="2.8.0",
    about="KIP-595",
    settings="leader.counts.what.is.flushed",
)
def leader_append(quorum: Quorum, node: Node) -> None:
    """A record of the active controller. A single voter commits it before it is flushed."""
    require(node.leads, node.is_free, not_(node.log.is_full))

    spend(quorum, APPENDS)
    append(quorum, node, node.epoch, quorum.nodes.none(), quorum.nodes.none())
    update_high_watermark(quorum, node)


@action(
    "{node} flushes its log",
    at="KafkaRaftLog.flush",
    since="2.8.0",
    about="KIP-595",
    settings="leader.counts.what.is.flushed",
)
def node_flush(quorum: Quorum, node: Node) -> None:
    """`flushLeaderLog`, or a follower's flush after it has appended: all that is in the log."""
    require(quorum.flushes, node.unflushed > 0)

    node.unflushed = 0
    node.flushing = False


@action(
    "{node}, which leads, counts what it has flushed",
    at="KafkaRaftClient.flushLeaderLog",
    settings="leader.counts.what.is.flushed",
)
def leader_count_flushed(quorum: Quorum, node: Node) -> None:
    """With the rule, the high watermark may move once the leader has flushed."""
    require(quorum.options.leader_counts_flushed, quorum.flushes, node.leads, node.is_free)

    update_high_watermark(quorum, node)


def follows(node: Node, leader: Node) -> bool:
    """A Fetch request of the node is one that the leader accepts: `validateLeaderOnlyRequest`."""
    return all_of(
        node.role == FOLLOWER,
        node.is_free,
        node.leader == leader,
        leader.leads,
        node.epoch == leader.epoch,
    )


def is_valid(node: Node, leader: Node) -> bool:
    """`validateOffsetAndEpoch`: the leader's log has the node's last epoch up to the node's end."""
    return all_of(not_(is_sent_snapshot(node, leader)), not_(diverges(node, leader)))


def diverges(node: Node, leader: Node) -> bool:
    """The node's last epoch ends in the leader's log before the node's end, or is not in it."""
    last = node.log.last_epoch
    ends = leader.log.end_of_epoch(last)
    alike = all_of(leader.log.floor_epoch(last) == last, ends >= node.log.end)
    return not_(any_of(node.log.is_empty, alike))


@action(
    "{node} sends a Fetch request to {leader}, and appends the response's records",
    at="KafkaRaftClient.tryCompleteFetchRequest",
    since="2.8.0",
    about="KIP-595",
    settings="follower.flushes.before.fetch, observer.flushes.before.fetch, fetch.offset.may.fall, "
    "whole.fetches",
)
def follower_fetch(quorum: Quorum, node: Node, leader: Node) -> None:
    """Its offset acknowledges what it has; the response brings records and the high watermark.

    A leader that is about to flush has answered only the requests that waited at the end of its
    log for the record that it appended.
    """
    require(node != leader, follows(node, leader), is_valid(node, leader))
    waited = all_of(leader.fetched[node] == node.log.end, node.log.end == leader.log.end - 1)
    require(implies(leader.flushing, waited))
    require(_has_news(quorum, node, leader))

    if quorum.options.whole_fetches:
        end = leader.log.end
    else:
        end = minimum(node.log.end + 1, leader.log.end)
    acknowledge(quorum, node, leader)
    append_from(quorum, node, leader, end)
    known = is_established(quorum, leader)
    mark = minimum(end, leader.high_watermark)
    node.high_watermark = choose(known, mark, node.high_watermark)
    node.has_fetched = True


@action(
    "{node} sends a Fetch request to {leader}, and the response is lost",
    at="KafkaRaftClient.tryCompleteFetchRequest",
    since="2.8.0",
    about="KIP-595",
)
def follower_fetch_in_vain(quorum: Quorum, node: Node, leader: Node) -> None:
    """The leader knows how far the node is; the node hears nothing, or in a later epoch."""
    require(node != leader, follows(node, leader), is_valid(node, leader), leader.is_free)
    require(leader.fetched[node] != node.log.end)

    acknowledge(quorum, node, leader)


def _has_news(quorum: Quorum, node: Node, leader: Node) -> bool:
    """The request tells the leader something, or the response the node."""
    mark = minimum(node.log.end, leader.high_watermark)
    return any_of(
        node.log.end < leader.log.end,
        leader.fetched[node] != node.log.end,
        not_(node.has_fetched),
        all_of(is_established(quorum, leader), node.high_watermark != mark),
    )


def acknowledge(quorum: Quorum, node: Node, leader: Node) -> None:
    """`updateReplicaState`, by id and directory: another directory's offset is another's."""
    require(takes_fetch_offset(quorum, leader, node))
    mine = any_of(not_(voter_set(quorum, leader).contains(node)), key_is(quorum, leader, node))
    leader.fetched[node] = choose(mine, node.log.end, leader.fetched[node])
    update_high_watermark(quorum, leader)


def truncation_offset(node: Node, leader: Node) -> Offset:
    """Where `truncateToEndOffset` cuts the node's log, by the leader's diverging epoch."""
    last = node.log.last_epoch
    epoch, end = leader.log.floor_epoch(last), leader.log.end_of_epoch(last)
    local = node.log.end_of_epoch(epoch)
    has_epoch = node.log.floor_epoch(epoch) == epoch
    return choose(has_epoch, minimum(local, end), local)


@action(
    "{node} truncates its log: it diverges from that of {leader}",
    at="RaftLog.truncateToEndOffset",
    since="2.8.0",
    about="KIP-595",
    settings="truncation.rereads.control.records",
)
def follower_truncate(quorum: Quorum, node: Node, leader: Node) -> None:
    """The Fetch response names a diverging epoch; below its high watermark a node does not cut."""
    require(node != leader, follows(node, leader), leader.is_free)
    require(diverges(node, leader), not_(is_sent_snapshot(node, leader)))
    offset = truncation_offset(node, leader)
    require(offset >= node.high_watermark)

    truncate(quorum, node, offset)
    node.has_fetched = True
