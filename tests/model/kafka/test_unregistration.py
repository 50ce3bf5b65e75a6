"""Brokers that an operator unregisters: what the controller makes of them, and what that costs."""

from __future__ import annotations

import pytest

from checker.core.verdict import Verdict
from model.kafka.protocol import KAFKA
from model.language import all_of, any_of, every, implies, not_
from properties import Property
from properties.kafka import availability, safety
from tests.support.kafka import depths, explored_for

FIXED = {"min.insync.replicas": "2", "reset.follower.leo.every.epoch": "true"}
BOUNDS = {"crashes": 0, "preferred_elections": 0, "unregistrations": 1}
TINY = {"replicas": 2, "log_size": 1, "max_records": 1, "max_leader_epoch": 2}


def searched(claims, bounds, preset="4.3", **settings):
    chosen = dict(KAFKA.preset(f"kafka-{preset}")) | FIXED | settings
    model = KAFKA.model(BOUNDS | bounds, chosen)
    return explored_for(claims, model, symmetry=True)


def holds_in_steps(name, words, holds):
    return Property(name, words, holds, of_steps=True)


FORGOTTEN = holds_in_steps(
    "an_unregistered_broker_stays_fenced",
    "a broker that the controller has forgotten takes no part before it has started again",
    lambda p, after: every(
        implies(
            not_(b.is_registered),
            all_of(
                after.brokers[b].fenced,
                after.controller.leader != b,
                not_(after.controller.isr.contains(b)),
                any_of(after.brokers[b].unregistered, not_(b.up)),
            ),
        )
        for b in p.brokers
    ),
)
UNCLEAN = holds_in_steps(
    "a_later_registration_is_unclean",
    "who registers after it was forgotten has no place in the ELR, though it had stopped cleanly",
    lambda p, after: every(
        implies(
            all_of(not_(b.is_registered), after.brokers[b].is_registered),
            not_(after.controller.eligible.contains(b)),
        )
        for b in p.brokers
    ),
)
ELR_KEPT = holds_in_steps(
    "the_elr_is_kept", "unregistering a broker takes nobody out of the ELR",
    lambda p, after: implies(
        p.spent.unregistrations != after.spent.unregistrations,
        after.controller.eligible.includes(p.controller.eligible),
    ),
)  # fmt: skip


ONE_EPOCH = holds_in_steps(
    "one_epoch_a_step", "no step begins two leader epochs",
    lambda p, after: after.controller.leader_epoch <= p.controller.leader_epoch + 1,
)  # fmt: skip


@pytest.mark.slow
def test_the_controller_forgets_a_broker_and_takes_it_for_unclean_when_it_is_back():
    claims = [FORGOTTEN, UNCLEAN, ELR_KEPT]
    result = searched(claims, {**TINY, "shutdowns": 2})
    assert (depths(result), result.verdict) == ({}, Verdict.EXHAUSTED)
    assert result.actions["operator_unregister_broker"].enabled


def test_without_the_rule_a_broker_would_keep_its_place(monkeypatch):
    """The claims can fail: a model whose controller still compares broker epochs breaks one."""
    from model.kafka import partition_change

    monkeypatch.setattr(
        partition_change, "registers_cleanly", lambda _, broker: broker.stopped_cleanly
    )
    assert list(depths(searched([FORGOTTEN, UNCLEAN], {**TINY, "shutdowns": 2}))) == [UNCLEAN.name]


@pytest.mark.slow
def test_alone_it_loses_nothing_with_elr_and_without():
    for settings in ({}, {"eligible.leader.replicas": "false"}):
        bounds = {"unregistrations": 2, "shutdowns": 1, "max_leader_epoch": 2}
        result = searched([safety.acknowledged_records_survive], bounds, **settings)
        assert (depths(result), result.verdict) == ({}, Verdict.EXHAUSTED)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("unregistrations", "known", "lost"), [(1, "true", 16), (0, "true", None), (1, "false", None)]
)
def test_it_counts_as_an_unclean_stop_where_the_last_known_leader_may_lead(
    unregistrations, known, lost
):
    bounds = {"unregistrations": unregistrations, "shutdowns": 1, "power_losses": 1}
    chosen = {"last.known.leader.election": known}
    result = searched([safety.acknowledged_records_survive], bounds, **chosen)
    assert [len(violation.steps) for violation in result.violations] == ([lost] if lost else [])


LEFT = holds_in_steps(
    "an_unregistered_broker_leaves_the_elr", "a broker that is forgotten is in no ELR",
    lambda _, after: every(
        implies(not_(b.is_registered), not_(after.controller.eligible.contains(b)))
        for b in after.brokers
    ),
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("leaves", "stuck"), [("false", 8), ("true", None)])
def test_who_is_unregistered_blocks_the_last_known_leader_unless_it_leaves_the_elr(leaves, stuck):
    bounds = {"crashes": 1, "shutdowns": 1}
    claims = [availability.live_replicas_have_a_leader, LEFT]
    result = searched(claims, bounds, **{"unregistration.leaves.elr": leaves})
    lengths = {violation.property.name: len(violation.steps) for violation in result.violations}
    assert lengths.get("live_replicas_have_a_leader") == stuck
    assert (LEFT.name in lengths) == bool(stuck)
    assert bool(stuck) or result.verdict is Verdict.EXHAUSTED


@pytest.mark.slow
def test_there_is_none_with_zookeeper_and_no_more_than_are_allowed():
    def unregister(preset, count):
        model = KAFKA.model(BOUNDS | TINY | {"unregistrations": count}, KAFKA.preset(preset))
        names = [ground.instance.action.name for ground in model.ground_actions]
        return "operator_unregister_broker" in names

    assert unregister("kafka-4.3", 1) and unregister("kafka-3.5", 1)
    assert not unregister("kafka-2.7", 1) and not unregister("kafka-4.3", 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("updated", "last"),
    [
        ("false", {"controller_fence_leader", "controller_fence_last_leader"}),
        ("true", set()),
    ],
)
def test_a_leader_that_is_left_in_the_index_begins_two_epochs_as_it_is_unregistered(updated, last):
    """Its change is written for its place in the ISR and for the index, unless that is in order."""
    chosen = {"min.insync.replicas.later": "1", "clearing.updates.elr.index": updated}
    found = set()
    for fault in ({"preferred_elections": 1}, {"shutdowns": 1}):
        bounds = {**TINY, "max_leader_epoch": 3, "min_isr_changes": 1, **fault}
        result = searched([ONE_EPOCH], bounds, **chosen)
        found |= {violation.steps[-1].action.name for violation in result.violations}
    assert found == last
