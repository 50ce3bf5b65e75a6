"""Stories of a quorum of controllers, as steps of the harness that drives Kafka's own."""

from __future__ import annotations

Steps = list[tuple[str, int] | tuple[str, int, int]]


def fetches(leader: int, *followers: int, times: int = 1) -> Steps:
    """Each follower fetches from the leader in turn."""
    return [("fetch", follower, leader) for _ in range(times) for follower in followers]


def elected(node: int, by: int, asks_first: bool) -> Steps:
    """A voter elects the node after a time-out of both; since 4.0 for a pre-vote first."""
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
