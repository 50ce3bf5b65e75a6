"""The controller's effective `min.insync.replicas` is that of the topic's first partition."""

from __future__ import annotations

import pytest

from model.kafka.protocol import KAFKA
from model.language import all_of, every, implies, not_, some
from properties import Property
from properties.kafka import safety
from tests.support.kafka import depths, explored_for

BOUNDS = {"crashes": 0, "preferred_elections": 0, "power_losses": 1, "max_leader_epoch": 2}
FIXED = {"min.insync.replicas": "2", "reset.follower.leo.every.epoch": "true"}
OWN = {"min.isr.counts.own.replicas": "true"}
ELIGIBLE_WHILE_BELOW = Property(
    "who_leaves_below_the_minimum_is_eligible",
    "an ISR that shrinks to fewer than leaders ask for leaves whoever was in it eligible",
    lambda p, after: implies(
        all_of(
            after.controller.isr.size < p.wanted_isr,
            p.controller.leader == after.controller.leader,
            p.controller.isr.size > after.controller.isr.size,
        ),
        after.controller.eligible.includes(p.controller.isr.minus(after.controller.isr)),
    ),
    of_steps=True,
)


def searched(claims, first, preset="4.3", bounds=BOUNDS, **settings):
    chosen = dict(KAFKA.preset(f"kafka-{preset}")) | FIXED | settings
    model = KAFKA.model(bounds, chosen | {"first.partition.replicas": str(first)})
    return explored_for(claims, model, symmetry=True)


@pytest.mark.parametrize("preset", ["4.1", "4.3"])
def test_a_first_partition_with_one_replica_leaves_the_others_without_eligible_replicas(preset):
    found = depths(searched([safety.acknowledged_records_survive], 1, preset))
    assert found == {"acknowledged_records_survive": 13}
    assert set(depths(searched([ELIGIBLE_WHILE_BELOW], 1, preset))) == {ELIGIBLE_WHILE_BELOW.name}


@pytest.mark.slow
@pytest.mark.parametrize("first", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_a_first_partition_with_as_many_as_are_wanted_or_more_changes_nothing(first):
    claims = [safety.acknowledged_records_survive, ELIGIBLE_WHILE_BELOW]
    found, alone = searched(claims, first), searched(claims, 0)
    assert depths(found) == depths(alone) == {}
    assert found.distinct_states == alone.distinct_states


@pytest.mark.slow
def test_with_the_fix_the_first_partition_does_not_matter():
    claims = [safety.acknowledged_records_survive, ELIGIBLE_WHILE_BELOW]
    found, alone = searched(claims, 1, **OWN), searched(claims, 0)
    assert depths(found) == {}
    assert found.distinct_states == alone.distinct_states


ACKNOWLEDGED_BY_ENOUGH = Property(
    "acknowledged_by_enough",
    "a record is acknowledged while a leader counts as many in sync as it is asked for",
    lambda p, after: every(
        implies(
            all_of(not_(record.acknowledged), after.records[record].acknowledged),
            some(all_of(b.leads, b.isr.size >= p.wanted_isr) for b in after.brokers),
        )
        for record in p.records
    ),
    of_steps=True,
)


def test_leaders_go_by_their_own_partition():
    assert depths(searched([ACKNOWLEDGED_BY_ENOUGH], 1)) == {}
    one = searched([ACKNOWLEDGED_BY_ENOUGH], 1, acks="1")
    assert set(depths(one)) == {ACKNOWLEDGED_BY_ENOUGH.name}
