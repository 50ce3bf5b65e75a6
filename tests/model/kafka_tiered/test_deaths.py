"""A broker that dies finishes nothing that it had begun, and by a rule it is built anew."""

from __future__ import annotations

import pytest

from model.kafka_tiered.protocol import KAFKA_TIERED
from tests.support.kafka import goes
from tests.support.remote_runs import ALL_IS_REMOTE

BOUNDS = {"brokers": 3, "log_size": 3, "max_leader_epoch": 3, "copies": 3, "build_crashes": 1}
BOUNDS |= {"refused_reads": 1, "unclean_elections": 1}
MODEL = KAFKA_TIERED.model(BOUNDS, KAFKA_TIERED.presets["kafka-4.3"])
MENDED = KAFKA_TIERED.model(
    BOUNDS, {**KAFKA_TIERED.presets["kafka-4.3"], "tier.build.is.resumed": "true"}
)
A_FORMER_LEADER_COPIES = (
    "leader_append(leader=b0)",
    "leader_raise_high_watermark(leader=b0)",
    "follower_fetch(follower=b2, leader=b0)",
    "controller_elect(broker=b2)",
    "leader_find_remote_end(broker=b0, base=0)",
    "leader_append(leader=b2)",
    "leader_begin_copy(broker=b0, segment=0, end=1)",
    "leader_raise_high_watermark(leader=b2)",
    "leader_find_remote_end(broker=b2, base=0)",
    "leader_begin_copy(broker=b2, segment=1, end=2)",
    "leader_finish_copy(broker=b2, segment=1)",
    "broker_delete_local(broker=b2, start=2)",
    "follower_truncate(follower=b0, leader=b2)",
)
"""b0 goes on copying as it follows, and has to be built."""


@pytest.mark.parametrize(
    "death",
    ["broker_crash(broker=b0)", "follower_dies_building(follower=b0, leader=b2, segment=1)"],
)
def test_a_copy_ends_with_the_broker_that_makes_it(death):
    finished, again = "leader_finish_copy(broker=b0, segment=0)", "broker_restart(broker=b0)"
    assert goes(MODEL, *A_FORMER_LEADER_COPIES, finished)
    assert goes(MODEL, *A_FORMER_LEADER_COPIES, death, again)
    assert not goes(MODEL, *A_FORMER_LEADER_COPIES, death, again, finished)


FETCHES = ("leader_append(leader=b0)", "follower_fetch(follower=b1, leader=b0)")
IS_BUILT = "follower_build_from_tier(follower=b1, leader=b0, segment=0)"


def test_who_was_emptied_and_has_no_epochs_is_built_and_does_not_fetch():
    emptied = (
        *ALL_IS_REMOTE,
        "follower_dies_building(follower=b1, leader=b0, segment=0)",
        "broker_restart(broker=b1)",
        "follower_truncate(follower=b1, leader=b0)",
    )
    assert goes(MODEL, *emptied, *FETCHES) and not goes(MODEL, *emptied, IS_BUILT)
    assert goes(MENDED, *emptied, IS_BUILT) and not goes(MENDED, *emptied, *FETCHES)
    assert goes(MENDED, *emptied, IS_BUILT, *FETCHES)


LED_MEANWHILE = (
    *ALL_IS_REMOTE,
    "follower_is_refused(follower=b1, leader=b0, segment=0)",
    "broker_crash(broker=b0)",
    "controller_elect_uncleanly(broker=b1)",
    "broker_restart(broker=b0)",
    "follower_truncate(follower=b0, leader=b1)",
    "controller_elect(broker=b0)",
    "follower_truncate(follower=b1, leader=b0)",
)
"""b1 has led without a record: it has the epoch that it led in."""


def test_who_has_led_meanwhile_goes_on_from_its_end():
    assert goes(MENDED, *LED_MEANWHILE, *FETCHES)
    assert not goes(MENDED, *LED_MEANWHILE, IS_BUILT)
