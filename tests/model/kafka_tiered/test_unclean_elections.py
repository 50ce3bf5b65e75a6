"""What unclean elections take is promised to nobody; whom they leave out has to follow first."""

from __future__ import annotations

import pytest

from checker.core.verdict import Verdict
from model.kafka_tiered.protocol import KAFKA_TIERED
from properties import properties_of
from tests.support.kafka import goes, value_after
from tests.support.laws import explore
from tests.support.remote_runs import ALL_IS_REMOTE, BARE, BARE_BOUNDS, FOLLOWED, RESTARTED

FIXED = KAFKA_TIERED.presets["kafka-fixed"]
BEGUN = (
    "leader_append(leader=b0)",
    "follower_fetch(follower=b1, leader=b0)",
    "leader_raise_high_watermark(leader=b0)",
    "leader_find_remote_end(broker=b0, base=0)",
    "leader_begin_copy(broker=b0, segment=0, end=1)",
)
LEADS_ANOTHER_LOG = (
    "controller_elect(broker=b1)",
    "leader_append(leader=b1)",
    "leader_raise_high_watermark(leader=b1)",
    "broker_crash(broker=b1)",
    "controller_elect_uncleanly(broker=b2)",
    "follower_truncate(follower=b0, leader=b2)",
    "controller_elect(broker=b0)",
    "leader_find_remote_end(broker=b0, base=0)",
    "leader_append(leader=b0)",
    "leader_finish_copy(broker=b0, segment=0)",
    "leader_raise_high_watermark(leader=b0)",
)


def _goes(*steps, **bounds):
    sizes = {"brokers": 3, "max_leader_epoch": 3, "unclean_elections": 1}
    return goes(KAFKA_TIERED.model(sizes | bounds, FIXED), *steps)


def test_who_an_unclean_election_left_out_is_elected_once_it_has_followed():
    left_out = (
        "leader_append(leader=b0)",
        "leader_raise_high_watermark(leader=b0)",
        "broker_crash(broker=b0)",
        "controller_elect_uncleanly(broker=b1)",
        "broker_restart(broker=b0)",
    )
    followed, elected = "follower_truncate(follower=b0, leader=b1)", "controller_elect(broker=b0)"
    assert _goes(*left_out, followed, elected)
    assert not _goes(*left_out, elected)


def test_a_copy_that_an_earlier_leadership_began_lets_no_later_task_go_on_behind_it():
    deleted, copied = (
        "broker_delete_local(broker=b0, start=1)",
        "leader_begin_copy(broker=b0, segment=1, end=1)",
    )
    assert _goes(*BEGUN, *LEADS_ANOTHER_LOG, copied)
    assert not _goes(*BEGUN, *LEADS_ANOTHER_LOG, deleted)
    assert _goes(*BEGUN, "leader_finish_copy(broker=b0, segment=0)", deleted)


def test_what_one_unclean_election_loses_and_the_next_brings_back_is_promised_to_nobody():
    bounds = {"log_size": 1, "max_leader_epoch": 2, "crashes": 2, "unclean_elections": 2}
    found = explore(KAFKA_TIERED.model(bounds, FIXED), properties_of(KAFKA_TIERED))
    assert found.verdict is Verdict.EXHAUSTED


def test_a_follower_that_ends_below_its_leaders_local_log_is_not_in_sync():
    """The leader's local log begins at 1, and what was below is in the store no more."""
    copied = (
        *ALL_IS_REMOTE,
        "broker_crash(broker=b0)",
        "controller_elect_uncleanly(broker=b1)",
        "leader_delete_unreferenced(broker=b1, segment=0)",
        "broker_crash(broker=b1)",
        "broker_restart(broker=b0)",
        "controller_elect_uncleanly(broker=b0)",
        "broker_restart(broker=b1)",
        "follower_truncate(follower=b1, leader=b0)",
    )
    bounds = {"brokers": 2, "crashes": 2, "unclean_elections": 2}
    assert _goes(*copied, **bounds)
    assert not _goes(*copied, "controller_elect(broker=b1)", **bounds)


@pytest.mark.parametrize("between", [(), RESTARTED], ids=["at once", "restarted"])
def test_a_log_that_is_empty_is_truncated_by_the_epoch_that_its_cache_keeps(between):
    steps = (*BARE, *between, FOLLOWED)
    forgets = {**FIXED, "restart.keeps.last.epoch": "false"}
    kept, forgotten = (
        value_after(KAFKA_TIERED.model(BARE_BOUNDS, rules), "brokers.log_start[1]", *steps)
        for rules in (FIXED, forgets)
    )
    assert (kept, forgotten) == (0, len(between) // 2)


def test_an_empty_log_that_gets_a_record_keeps_no_other_epoch():
    """With retention, and followers that take the leader's log start."""
    bounds = {"unclean_elections": 1, "expirations": 1, "max_leader_epoch": 2, "log_size": 2}
    model = KAFKA_TIERED.model(bounds, FIXED)
    claims = [p for p in properties_of(KAFKA_TIERED) if p.promised(model)]
    assert explore(model, claims).verdict is Verdict.EXHAUSTED
