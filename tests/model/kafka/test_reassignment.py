"""Replicas that operators move: who may lead and be eligible, and what a search meets."""

from __future__ import annotations

import pytest

from checker.search.explore import Explorer, Options
from model.kafka.protocol import KAFKA
from model.language import all_of, any_of, every, implies, is_none, not_
from properties import Property

BOUNDS = {
    "crashes": 1, "preferred_elections": 0, "max_leader_epoch": 3, "replica_moves": 1,
}  # fmt: skip
SETTINGS = {"min.insync.replicas": "2", "replication.factor": "2"}


def searched(claims, preset="4.3", bounds=None, **settings):
    chosen = dict(KAFKA.preset(preset)) | SETTINGS | settings
    model = KAFKA.model(BOUNDS | (bounds or {}), chosen)
    return Explorer(model, claims, options=Options(symmetry=True, keep_going=True)).run()


def names(result):
    return [violation.property.name for violation in result.violations]


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


@pytest.fixture(scope="module")
def unfixed():
    return searched([IN_SYNC, LEADS, ELIGIBLE, EMPTY])


def test_only_replicas_lead_and_are_in_sync_and_others_keep_no_log(unfixed):
    assert names(unfixed) == ["eligible_is_replica"]


def test_with_the_fix_only_replicas_are_eligible():
    assert names(searched([ELIGIBLE], **{"elr.of.replicas.only": "true"})) == []


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
        return names(searched([claim], preset, {"crashes": 0, "max_leader_epoch": 1}))

    assert (ends("4.1"), ends("4.3")) == ([], ["all_are_in_sync"])
