"""Replicas that operators move: who may lead and be eligible, and what a search meets."""

from __future__ import annotations

import pytest

from model.kafka.protocol import KAFKA
from model.language import all_of, any_of, every, implies, is_none, not_
from properties import Property
from properties.kafka.availability import reassignments_can_end
from properties.kafka.safety import acknowledged_records_survive
from tests.support.kafka import depths, explored_for, goes
from tests.support.reassignments import ENDS, UNDER_WAY, replaced_twice
from tests.support.tiers import first_and_slow

BOUNDS = {
    "crashes": 1, "preferred_elections": 0, "max_leader_epoch": 3, "replica_moves": 1,
}  # fmt: skip
SETTINGS = {"min.insync.replicas": "2", "replication.factor": "2"}


def searched(claims, preset="4.3", bounds=None, **settings):
    chosen = dict(KAFKA.preset(preset)) | SETTINGS | settings
    model = KAFKA.model(BOUNDS | (bounds or {}), chosen)
    return explored_for(claims, model, symmetry=True)


IN_SYNC = Property(
    "in_sync_is_replica", "whoever is in sync has a replica",
    lambda p: p.controller.replicas.includes(p.controller.isr),
)  # fmt: skip
LEADS = Property(
    "leader_is_replica", "whoever leads has a replica",
    lambda p: any_of(
        is_none(p.controller.leader),
        p.controller.replicas.intersection(
            p.brokers.where(lambda b: p.controller.leader == b)
        ).size > 0,
    ),
)  # fmt: skip
ELIGIBLE = Property(
    "eligible_is_replica", "whoever is eligible to lead has a replica",
    lambda p: p.controller.replicas.includes(p.controller.eligible),
)  # fmt: skip
EMPTY = Property(
    "no_replica_no_log", "a live broker that knows that it has no replica has no log",
    lambda p: every(
        implies(
            all_of(b.up, is_none(b.leader), b.leader_epoch == 0, b.log.end > 0),
            p.controller.replicas.contains(b),
        )
        for b in p.brokers
    ),
)  # fmt: skip


NO_EPOCH = Property(
    "a_replica_more_starts_no_leader_epoch",
    "a leader epoch starts with a replica less, or with an election, and never with one more",
    lambda p, after: any_of(
        after.controller.leader_epoch == p.controller.leader_epoch,
        after.controller.leader != p.controller.leader,
        not_(after.controller.replicas.includes(p.controller.replicas)),
    ),
    of_steps=True,
)  # fmt: skip
ANEW = Property(
    "a_replica_less_starts_a_leader_epoch", "who has read of an epoch knows the replicas of then",
    lambda p, after: implies(
        not_(after.controller.replicas.includes(p.controller.replicas)),
        after.controller.leader_epoch == p.controller.leader_epoch + 1,
    ),
    of_steps=True,
)  # fmt: skip
TAKES_OUT = Property(
    "taken_out_with_all_others_in_sync", "a replica goes once all that stay are in sync",
    lambda p, after: implies(
        all_of(
            not_(after.controller.replicas.includes(p.controller.replicas)),
            p.controller.adding.is_empty,
        ),
        after.controller.isr.includes(after.controller.replicas),
    ),
    of_steps=True,
)  # fmt: skip
ONE_BY_ONE = {
    "operator_add_replica",
    "operator_remove_replica",
    "operator_remove_replica_at_once",
    "operator_restore_replicas",
    "operator_move_replica_at_once",
}
REPLACED = {"crashes": 0, "reassignment_replacements": 1, "max_leader_epoch": 2}


@pytest.fixture(scope="module")
def unfixed():
    return searched([IN_SYNC, LEADS, ELIGIBLE, EMPTY])


@pytest.mark.slow
def test_only_replicas_lead_and_are_in_sync_and_others_keep_no_log(unfixed):
    assert list(depths(unfixed)) == ["eligible_is_replica"]


@pytest.mark.slow
def test_with_the_fix_only_replicas_are_eligible():
    assert depths(searched([ELIGIBLE], **{"elr.of.replicas.only": "true"})) == {}


@pytest.mark.slow
def test_a_search_meets_every_step_of_a_reassignment(unfixed):
    met = {name for name, counts in unfixed.actions.items() if counts.enabled}
    assert met >= {
        "operator_move_replica",
        "operator_cancel_reassignment",
        "controller_complete_reassignment",
        "broker_gain_replica",
        "broker_lose_replica",
    }
    assert "operator_move_partition" not in met
    assert not met & ONE_BY_ONE


@pytest.mark.slow
def test_until_4_2_a_reassignment_waits_for_all_replicas_that_stay():
    """With one of them down, the move cannot end: it can since 4.3 (KAFKA-19975)."""

    def ends(preset):
        claim = Property(
            "all_are_in_sync", "whoever has a replica when a move has ended is in sync",
            lambda p, after: implies(
                all_of(
                    not_(p.controller.removing.is_empty),
                    after.controller.removing.is_empty,
                    after.controller.replicas.includes(p.controller.adding),
                ),
                after.controller.isr.includes(after.controller.replicas),
            ),
            of_steps=True,
        )  # fmt: skip
        return list(depths(searched([claim], preset, {"crashes": 0, "max_leader_epoch": 1})))

    assert (ends("4.1"), ends("4.3")) == ([], ["all_are_in_sync"])


@pytest.mark.slow
@pytest.mark.parametrize("preset", [pytest.param("4.1", marks=pytest.mark.slow), "4.3"])
def test_a_replica_more_and_a_replica_less(preset):
    bounds = {
        "replica_moves": 0, "replica_additions": 1, "replica_removals": 1, "max_leader_epoch": 2,
        "reassignment_replacements": 1,
    }  # fmt: skip
    claims = [IN_SYNC, LEADS, EMPTY, NO_EPOCH, ANEW, reassignments_can_end]
    alone = dict(bounds, reassignment_replacements=0)
    result = searched([*claims, TAKES_OUT], preset, alone)
    assert depths(result) == {}
    met = {name for name, counts in result.actions.items() if counts.enabled}
    assert met >= ONE_BY_ONE - {"operator_restore_replicas", "operator_move_replica_at_once"}
    replaced = searched(claims, preset, bounds)
    assert list(depths(replaced)) == ([reassignments_can_end.name] if preset == "4.3" else [])
    assert replaced.actions["operator_restore_replicas"].enabled


@pytest.mark.parametrize("end", ENDS)
def test_a_reassignment_ends_as_another_takes_its_place_of_which_enough_are_in_sync(end):
    ends = [preset for preset in ("4.1", "4.3") if goes(replaced_twice(preset), *UNDER_WAY, end)]
    assert ends == ENDS[end]


@pytest.mark.slow
def test_since_4_3_a_reassignment_that_is_taken_back_by_another_never_ends():
    """Its list of added replicas stays, of which all are removed: they never are in sync."""
    fix = {"replacing.sets.both.lists": "true"}
    for preset, settings, depth in (("4.1", {}, None), ("4.3", {}, 2), ("4.3", fix, None)):
        found = searched([reassignments_can_end], preset, REPLACED, **settings).violations
        assert [len(violation.steps) for violation in found] == ([depth] if depth else [])


@pytest.mark.slow
def test_a_replica_that_is_wanted_back_is_removed_all_the_same():
    """The list of removed replicas stays: the request changes nothing, and with the fix it does."""

    def wanted_back(**settings):
        bounds = REPLACED | {"replica_additions": 1, "max_leader_epoch": 0}
        both = Property(
            "both_stay", "what was moved away is not asked for again with what it moved to",
            lambda p: not_(
                all_of(
                    p.controller.removing.is_empty,
                    p.spent.reassignment_replacements == 1,
                    p.spent.replica_additions == 1,
                )
            ),
        )  # fmt: skip
        return list(depths(searched([both], "4.3", bounds, **settings)))

    assert (wanted_back(), wanted_back(**{"replacing.sets.both.lists": "true"})) == (
        [],
        ["both_stay"],
    )


@pytest.mark.slow
def test_where_nobody_asks_for_more_the_states_are_as_many_as_before():
    """As counted before replicas could be added, removed, or a reassignment replaced."""
    fixed = {"reset.follower.leo.every.epoch": "true"}
    counts = [searched([], preset, **fixed).distinct_states for preset in ("4.1", "4.3")]
    assert counts == [29_614, 25_275]
    no_moves = {"replica_moves": 0, "preferred_elections": 1}
    assert searched([], "4.3", no_moves, **{"replication.factor": "0"}).distinct_states == 94_208


@pytest.mark.slow
@pytest.mark.parametrize(("preset", "lengths"), first_and_slow(("4.1", [17]), ("4.3", [])))
def test_a_reassignment_that_is_cancelled_may_leave_a_record_on_too_few_replicas(preset, lengths):
    """Since 4.3 a single replica that is added ends the reassignment as it joins."""
    bounds = {"crashes": 0, "power_losses": 1}
    fixed = {"reset.follower.leo.every.epoch": "true", "elr.of.replicas.only": "true"}
    found = searched([acknowledged_records_survive], preset, bounds, **fixed).violations
    assert [len(violation.steps) for violation in found] == lengths
