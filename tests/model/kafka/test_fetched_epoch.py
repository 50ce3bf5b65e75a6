"""What a follower's fetch names as the epoch fetched last, once a copy has replaced its log."""

from __future__ import annotations

import pytest

from checker.core.engines.reference import ReferenceEngine
from checker.lab.experiments.choices import steps_named
from tests.support.kafka import SAFE, after, kafka_model

BOUNDS = {
    "replicas": 2, "log_size": 2, "max_records": 2, "max_leader_epoch": 3,
    "preferred_elections": 3, "directory_moves": 2, "crashes": 1,
}  # fmt: skip
LED_AND_FOLLOWS = (
    "producer_send(leader=b0)",
    "follower_fetch_record(follower=b1, leader=b0)",
    "controller_elect_preferred_leader(broker=b1)",
    "leader_apply_metadata(broker=b1)",
    "controller_elect_preferred_leader(broker=b0)",
    "leader_apply_metadata(broker=b0)",
    "follower_apply_metadata(broker=b1)",
)
"""Broker 1 has led in epoch 1, without a record, and follows broker 0 in epoch 2."""
TRUNCATES = "follower_truncate_on_fetch(follower=b1, leader=b0)"
NAMES_NONE = -1


def swap(broker: str) -> tuple[str, ...]:
    """The steps of a move of a broker's log, which has one record."""
    steps = ("operator_move_log", "future_replica_fetch", "future_replica_replace")
    return tuple(f"{step}(broker={broker})" for step in steps)


def model(**changed: str):
    settings = SAFE | {"epoch.cache": "kept", "swapped.log.keeps.epochs": "false"}
    settings |= {name.replace("_", "."): value for name, value in changed.items()}
    return kafka_model("kafka-fixed", settings, **BOUNDS)


def named(of, *steps: str) -> int:
    """The epoch that broker 1 names and its cache has not, after the steps."""
    state = after(of, *steps)
    (cell,) = (c for c in of.cells if (c.variable.name, c.index) == ("brokers.fetched_epoch", (1,)))
    return int(state[cell.position])


def can_truncate(of, before: tuple[str, ...]) -> bool:
    (instance,) = steps_named(of, (TRUNCATES,))
    return ReferenceEngine(of).step(after(of, *before), instance) is not None


def test_a_follower_names_the_epoch_from_before_its_log_was_replaced_until_it_truncates():
    moves = (*LED_AND_FOLLOWS, *swap("b1"))
    assert (named(model(), *LED_AND_FOLLOWS), named(model(), *moves)) == (NAMES_NONE, 1)
    assert can_truncate(model(), moves)
    assert named(model(), *moves, TRUNCATES) == NAMES_NONE
    assert not can_truncate(model(), (*moves, TRUNCATES))


def test_an_epoch_that_the_leader_cannot_place_is_dropped_and_nothing_truncated():
    """The leader's log was replaced, too: its cache ends with epoch 0."""
    moves = (*LED_AND_FOLLOWS, *swap("b0"), *swap("b1"))
    assert named(model(), *moves, TRUNCATES) == NAMES_NONE
    assert not can_truncate(model(), (*moves, TRUNCATES))


@pytest.mark.parametrize(
    "steps",
    [
        ("broker_crash(broker=b1, checkpoint=0)",),
        ("controller_elect_preferred_leader(broker=b1)", "leader_apply_metadata(broker=b1)"),
    ],
    ids=["crash", "leads"],
)
def test_a_fetcher_that_is_gone_names_nothing(steps):
    assert named(model(), *LED_AND_FOLLOWS, *swap("b1"), *steps) == NAMES_NONE


def test_a_leader_has_no_fetcher_and_a_cache_that_is_taken_over_lacks_nothing():
    leads = (*LED_AND_FOLLOWS[:4], *swap("b1"))
    assert named(model(), *leads) == NAMES_NONE
    kept = model(swapped_log_keeps_epochs="true")
    assert "brokers.fetched_epoch" in kept.unchanging
