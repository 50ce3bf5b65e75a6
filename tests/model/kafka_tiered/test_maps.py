"""What the map of an epoch keeps of a segment decides what is deleted, and where a log starts."""

from __future__ import annotations

import pytest

from model.kafka_tiered.protocol import KAFKA_TIERED
from tests.support.kafka import after, goes
from tests.support.remote_runs import (
    BOUNDS,
    COMMITTED,
    COVERED,
    CUT_OFF,
    DROPPED,
    FIRST,
    LONG,
    LONGER,
    LOST_SEGMENT,
    SHORT,
)

MODEL = KAFKA_TIERED.model(BOUNDS, KAFKA_TIERED.preset("kafka-4.3"))


def _numbers(state, name):
    return {tuple(c.index): state[c.position] for c in MODEL.cells if c.variable.name == name}


def test_a_longer_segment_that_a_shorter_one_replaces_is_deleted_by_nobody():
    assert _numbers(after(MODEL, *DROPPED), "segments.dropped")[1, 0] == 1
    assert goes(MODEL, *DROPPED, SHORT) and not goes(MODEL, *DROPPED, LONG)


def test_with_the_mend_the_longer_segment_is_kept_and_expires():
    mended = KAFKA_TIERED.model(
        BOUNDS, {**KAFKA_TIERED.preset("kafka-4.3"), "remote.map.keeps.longer": "true"}
    )
    assert not any(_numbers(after(mended, *DROPPED), "segments.dropped").values())
    assert goes(mended, *DROPPED, LONG)


def test_a_shorter_segment_that_is_covered_waits_for_the_longer_one_to_expire():
    assert not any(_numbers(after(MODEL, *COVERED), "segments.dropped").values())
    assert goes(MODEL, *COVERED, LONG) and not goes(MODEL, *COVERED, SHORT)
    assert goes(MODEL, *COVERED, LONG, "leader_delete_unreferenced(broker=b1, segment=0)")


def test_a_segment_that_is_deleted_leaves_reads_to_nobody():
    state = after(MODEL, *DROPPED, SHORT)
    assert not any(_numbers(state, "segments.listed").values())
    assert [at for at, held in _numbers(state, "segments.dropped").items() if held] == [(1, 0)]


def test_a_cache_that_is_cut_off_agrees_with_the_leaders_by_its_epoch():
    """All that the follower had is gone below its log start, and above it what the leader lacks."""
    state = after(MODEL, *CUT_OFF)
    ends, starts = (_numbers(state, f"brokers.{name}") for name in ("end", "log_start"))
    assert (starts[0,], ends[0,]) == (1, 1)


@pytest.mark.parametrize(("by_lineage", "start"), [("false", 1), ("true", 0)])
def test_a_log_start_is_found_in_a_segment_of_the_epoch_alone_unless_a_rule_asks_more(
    by_lineage, start
):
    settings = {**KAFKA_TIERED.preset("kafka-4.3"), "remote.start.by.lineage": by_lineage}
    model = KAFKA_TIERED.model({**BOUNDS, "unclean_elections": 1, "crashes": 1}, settings)
    elected = (*LOST_SEGMENT, "broker_crash(broker=b0)", "controller_elect_uncleanly(broker=b1)")
    found = (*elected, f"leader_find_remote_end(broker=b1, base={start})")
    assert _numbers(after(model, *found), "brokers.log_start")[1,] == start


def test_a_new_leader_copies_no_segment_of_which_all_is_copied_as_it_looks_that_up():
    elected, looks_up, longer, _ = LONGER
    short = longer.replace("end=2", "end=1")
    found = (*COMMITTED, FIRST, elected, looks_up)
    assert not goes(MODEL, *found, short) and goes(MODEL, *found, longer)
    assert goes(MODEL, *COMMITTED, elected, looks_up, FIRST, short)


def test_who_was_built_beyond_the_end_of_the_leaders_epoch_is_not_in_sync_until_it_truncates():
    """The segment has a record that an unclean election has lost; the leader has another there."""
    bounds = {"brokers": 3, "max_leader_epoch": 2, "unclean_elections": 1}
    model = KAFKA_TIERED.model(bounds, KAFKA_TIERED.preset("kafka-fixed"))
    built = (
        "leader_append(leader=b0)",
        "leader_append(leader=b0)",
        "follower_fetch(follower=b1, leader=b0)",
        "leader_raise_high_watermark(leader=b0)",
        "leader_raise_high_watermark(leader=b0)",
        "leader_find_remote_end(broker=b0, base=0)",
        "leader_begin_copy(broker=b0, segment=0, end=2)",
        "leader_finish_copy(broker=b0, segment=0)",
        "broker_delete_local(broker=b1, start=1)",
        "broker_crash(broker=b0)",
        "controller_elect_uncleanly(broker=b1)",
        "follower_truncate(follower=b2, leader=b1)",
        "leader_append(leader=b1)",
        "follower_build_from_tier(follower=b2, leader=b1, segment=0)",
        "leader_raise_high_watermark(leader=b1)",
    )
    truncated = (
        *built,
        "follower_truncate(follower=b2, leader=b1)",
        "follower_fetch(follower=b2, leader=b1)",
    )
    elected = "controller_elect(broker=b2)"
    assert not goes(model, *built, elected)
    assert goes(model, *truncated, elected)
