"""Stories of a quorum of controllers, as steps of the harness that drives Kafka's own."""

from __future__ import annotations

Steps = list[tuple[str, int] | tuple[str, int, int]]


def fetches(leader: int, *followers: int, times: int = 1) -> Steps:
    """Each follower fetches from the leader in turn."""
    return [("fetch", follower, leader) for _ in range(times) for follower in followers]


def elected(node: int, by: int, asks_first: bool) -> Steps:
    """A voter elects the node after a timeout of both; since 4.0 for a pre-vote first."""
    if not asks_first:
        return [("time_out", node), ("vote", node, by)]
    return [("time_out", by), ("time_out", node), ("vote", node, by), ("vote", node, by)]


def voters_hidden_by_a_truncation(lost: int, asks_first: bool) -> tuple[Steps, Steps, Steps]:
    """Finding 0022 in three parts: 4 and 5 are added; 2 commits x; 3 is elected, if it can be.

    Node 3 truncates `lost` records that nobody else has.
    """
    added = [
        *elected(3, 1, asks_first),
        ("begin_epoch", 3, 1),
        ("begin_epoch", 3, 2),
        *fetches(3, 1, 2, times=3),
        *[("append", 3)] * lost,
        *elected(2, 1, asks_first),
        *fetches(2, 1, times=3),
        ("begin_epoch", 2, 3),
        *fetches(2, 3, 1, 4, 5, times=4),
        ("add_voter", 2, 4),
        *fetches(2, 1, 3, 4, 5, times=2),
        ("add_voter", 2, 5),
        *fetches(2, 1, 3, 4, 5, times=3),
    ]
    committed: Steps = [("append", 2), *fetches(2, 4, 5, times=2)]
    return added, committed, elected(3, 1, asks_first)


def taken_over() -> Steps:
    """3, which leads by the votes of 1 and 3, commits with 1; then 2, 4 and 5 fetch from it."""
    return [
        ("begin_epoch", 3, 1),
        *fetches(3, 1, times=3),
        ("append", 3),
        *fetches(3, 1, times=2),
        ("begin_epoch", 3, 2),
        *fetches(3, 2, 4, 5, times=2),
    ]


def a_snapshot_of_an_earlier_epoch(
    asks_first: bool, of_later_epoch: bool = False
) -> tuple[Steps, Steps]:
    """Finding 0024 in two parts: 3 is sent a snapshot of an epoch before its own; 3 restarts.

    2 leads epoch 1 and appends two records that nobody fetches, then 3 leads epoch 2. In epoch 3
    node 2 has all committed; its snapshot ends at 5, before its LeaderChange record, or at 6.
    """
    sent: Steps = [
        *elected(2, 1, asks_first),
        ("begin_epoch", 2, 1),
        ("begin_epoch", 2, 3),
        *fetches(2, 1, 3, times=3),
        *[("append", 2)] * 2,
        *elected(3, 1, asks_first),
        ("begin_epoch", 3, 2),
        *elected(2, 1, asks_first),
        *fetches(2, 1, times=3),
        ("snapshot", 2, 6 if of_later_epoch else 5),
        ("clean", 2),
        ("begin_epoch", 2, 3),
        ("fetch", 3, 2),
        ("fetch_snapshot", 3, 2),
    ]
    return sent, [("crash", 3), ("start", 3), *fetches(2, 3, times=3)]


def a_snapshot_in_place_of_a_log(lost: int, asks_first: bool) -> Steps:
    """3 has a VotersRecord with 4 that nobody else has, and `lost` more; 2 sends it a snapshot.

    Without more its log ends at 4. The snapshot ends at 5, after the first record of 2.
    """
    return [
        *elected(3, 1, asks_first),
        ("begin_epoch", 3, 1),
        ("begin_epoch", 3, 2),
        *fetches(3, 1, 2, 4, times=3),
        ("add_voter", 3, 4),
        *[("append", 3)] * lost,
        *elected(2, 1, asks_first),
        ("append", 2),
        *fetches(2, 1, times=3),
        ("snapshot", 2, 5),
        ("clean", 2),
        ("begin_epoch", 2, 3),
        ("fetch", 3, 2),
        ("fetch_snapshot", 3, 2),
    ]


def a_snapshot_before_voters_that_are_truncated(
    removed_first: bool, asks_first: bool
) -> tuple[Steps, Steps]:
    """Finding 0026 in two parts: 1 truncates a record of voters at its snapshot's end; 1 stands.

    Nobody else has that record. 3 leads then, and 1 makes a second snapshot. 2 misses what 3
    commits with 1, and 3 ends.
    """
    first: Steps = [("remove_voter", 1, 2), ("snapshot", 1, 3)]
    truncated: Steps = [
        *elected(1, 2, asks_first),
        ("begin_epoch", 1, 2),
        ("begin_epoch", 1, 3),
        *fetches(1, 2, 3, times=3),
        *(first if removed_first else first[::-1]),
        *elected(3, 2, asks_first),
        ("begin_epoch", 3, 1),
        ("begin_epoch", 3, 2),
        *fetches(3, 1, 2, times=4),
    ]
    alone: Steps = [
        ("snapshot", 1, 4),
        ("append", 3),
        *fetches(3, 1, times=2),
        ("crash", 3),
        ("crash", 1),
        ("start", 1),
        *elected(1, 2, asks_first),
    ]
    return truncated, alone


def acknowledged_before_it_is_flushed(asks_first: bool) -> tuple[Steps, Steps]:
    """Finding 0025 in two parts: 1 acknowledges after a start what it has not flushed; 3 leads.

    Before that, 1 loses power, and 2, who led, is cut off. What 2 has committed is lost.
    """
    acknowledged: Steps = [
        *elected(2, 1, asks_first),
        ("begin_epoch", 2, 1),
        ("begin_epoch", 2, 3),
        *fetches(2, 1, 3, times=3),
        ("hold_flushes", 1),
        ("append", 2),
        ("fetch", 1, 2),
        ("crash", 1),
        ("start", 1),
        ("fetch", 1, 2),
    ]
    return acknowledged, [("lose_power", 1), ("start", 1), *elected(3, 1, asks_first)]
