"""Runs of a tiered partition whose end says what the remote store's maps and caches hold."""

from __future__ import annotations

from collections.abc import Sequence

BOUNDS = {"crashes": 0, "expirations": 1}
COMMITTED = (
    "leader_append(leader=b0)", "leader_append(leader=b0)",
    "follower_fetch(follower=b1, leader=b0)", "follower_fetch(follower=b1, leader=b0)",
    "leader_raise_high_watermark(leader=b0)", "leader_raise_high_watermark(leader=b0)",
    "leader_find_remote_end(broker=b0, base=0)",
    "leader_begin_copy(broker=b0, segment=0, end=1)",
)  # fmt: skip
FIRST = "leader_finish_copy(broker=b0, segment=0)"
LONGER = (
    "controller_elect(broker=b1)", "leader_find_remote_end(broker=b1, base=0)",
    "leader_begin_copy(broker=b1, segment=1, end=2)", "leader_finish_copy(broker=b1, segment=1)",
)  # fmt: skip
SHORT, LONG = (f"leader_expire(broker=b1, segment={segment})" for segment in (0, 1))

COVERED = (*COMMITTED, FIRST, *LONGER)
"""The first record's copy is there, and then a copy of both records."""

DROPPED = (*COMMITTED, *LONGER, FIRST)
"""The same, the other way round."""

LOST_SEGMENT = (
    "leader_append(leader=b0)", "leader_append(leader=b0)",
    "follower_fetch(follower=b1, leader=b0)",
    "leader_raise_high_watermark(leader=b0)", "leader_raise_high_watermark(leader=b0)",
    "leader_find_remote_end(broker=b0, base=0)",
    "leader_begin_copy(broker=b0, segment=0, end=1)", FIRST,
    "leader_begin_copy(broker=b0, segment=1, end=2)", "leader_finish_copy(broker=b0, segment=1)",
    "leader_expire(broker=b0, segment=0)",
)  # fmt: skip
"""What is left in the store is of an epoch that the follower has, but of no record of it."""

CUT_OFF: Sequence[str] = (
    "leader_append(leader=b0)", "leader_append(leader=b0)",
    "follower_fetch(follower=b1, leader=b0)", "controller_elect(broker=b1)",
    "leader_raise_high_watermark(leader=b1)", "leader_find_remote_end(broker=b1, base=0)",
    "leader_begin_copy(broker=b1, segment=0, end=1)", "leader_finish_copy(broker=b1, segment=0)",
    "leader_expire(broker=b0, segment=0)", "follower_truncate(follower=b0, leader=b1)",
)  # fmt: skip
"""A former leader has raised its log start past all that the new leader has, and follows it."""

STARTS_AT_NOTHING = (
    "leader_append(leader=b0)", "leader_raise_high_watermark(leader=b0)",
    "follower_fetch(follower=b2, leader=b0)", "leader_find_remote_end(broker=b0, base=0)",
    "leader_begin_copy(broker=b0, segment=0, end=1)", FIRST,
    "leader_expire(broker=b0, segment=0)", "controller_elect(broker=b2)",
    "leader_find_remote_end(broker=b2, base=1)", "broker_delete_local(broker=b2, start=1)",
    "follower_truncate(follower=b0, leader=b2)", "follower_truncate(follower=b1, leader=b2)",
)  # fmt: skip
"""Retention deletes the only segment, and local retention what a new leader has of it still."""

ALL_IS_REMOTE = (
    "leader_append(leader=b0)",
    "leader_raise_high_watermark(leader=b0)",
    "leader_find_remote_end(broker=b0, base=0)",
    "leader_begin_copy(broker=b0, segment=0, end=1)",
    "leader_finish_copy(broker=b0, segment=0)",
    "broker_delete_local(broker=b0, start=1)",
)
"""The one record is in the remote store alone."""

BARE_BOUNDS = {"brokers": 3, "max_leader_epoch": 3, "crashes": 2, "unclean_elections": 1}
BARE = (
    "leader_append(leader=b0)", "leader_append(leader=b0)",
    "follower_fetch(follower=b1, leader=b0)", "leader_raise_high_watermark(leader=b0)",
    "leader_find_remote_end(broker=b0, base=0)",
    "leader_begin_copy(broker=b0, segment=0, end=1)", FIRST,
    "broker_delete_local(broker=b1, start=1)",
    "controller_elect(broker=b1)", "controller_elect(broker=b0)",
    "leader_raise_high_watermark(leader=b0)", "broker_crash(broker=b0)",
    "controller_elect_uncleanly(broker=b2)",
    "leader_append(leader=b2)", "leader_raise_high_watermark(leader=b2)",
    "leader_delete_unreferenced(broker=b2, segment=0)",
    "leader_find_remote_end(broker=b1, base=1)",
)  # fmt: skip
"""A former leader's log starts where it ends; its cache has the epoch in which it led."""
FOLLOWED = "follower_truncate(follower=b1, leader=b2)"
RESTARTED = ("broker_crash(broker=b1)", "broker_restart(broker=b1)")
