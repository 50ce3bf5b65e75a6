"""A broker that dies finishes nothing that it had begun, whatever it died of."""

from __future__ import annotations

import pytest

from model.kafka_tiered.protocol import KAFKA_TIERED
from tests.support.kafka import goes

MODEL = KAFKA_TIERED.model(
    {"brokers": 3, "log_size": 3, "max_leader_epoch": 3, "copies": 3, "build_crashes": 1},
    KAFKA_TIERED.presets["kafka-4.3"],
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
