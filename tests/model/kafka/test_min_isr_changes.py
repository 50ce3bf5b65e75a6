"""`min.insync.replicas` is changed: who goes by which number when, and what that costs."""

from __future__ import annotations

import pytest

from checker.core.search.explore import Explorer, Options
from checker.core.verdict import Verdict
from model.kafka.protocol import KAFKA
from model.language import all_of, every, implies, not_, some
from properties import Property
from properties.kafka import safety
from tests.support.tiers import first_and_slow

BOUNDS = {
    "log_size": 1, "max_records": 1, "max_leader_epoch": 2, "crashes": 0,
    "preferred_elections": 0, "min_isr_changes": 1,
}  # fmt: skip
TWO = {"replicas": 2, "crashes": 1, "false_fencings": 1}
LOWERED = {"min.insync.replicas": "2", "min.insync.replicas.later": "1"}
RAISED = {"min.insync.replicas": "2", "min.insync.replicas.later": "3"}
SURVIVE = safety.acknowledged_records_survive


def model_of(changed, bounds, preset="kafka-fixed", **settings):
    return KAFKA.model(BOUNDS | bounds, dict(KAFKA.preset(preset)) | changed | settings)


def searched(model, *claims):
    return Explorer(model, claims, options=Options(symmetry=True, cross_check=False)).run()


def goes_by_former(broker):
    return broker.min_isr_unread + broker.min_isr_next > 0


REPLACED_BEFORE = Property(
    "who_was_replaced_before_the_change_does_not_read_of_it",
    "a leader that was replaced before the change, and has not read so, does not go by it",
    lambda p: every(
        implies(
            all_of(p.controller.min_isr_changed_last > 0, b.leads, not_(p.is_in_office(b))),
            all_of(b.min_isr_unread > 0, b.min_isr_next == 0),
        )
        for b in p.brokers
    ),
)
BEHIND = Property(
    "who_has_not_read_of_the_partition_does_not_read_of_the_change",
    "a leader that has not read what was written before the change does not read of that",
    lambda p: every(
        implies(
            all_of(
                p.controller.min_isr_changed_last > 0,
                p.is_in_office(b),
                not_(p.controller.leader_is_current),
            ),
            all_of(b.min_isr_unread > 0, b.min_isr_next == 0),
        )
        for b in p.brokers
    ),
)
TWO_IMAGES = Property(
    "who_has_read_more_goes_by_it",
    "who has read an image with the change in it goes by it once it reads more",
    lambda p, after: every(
        implies(
            all_of(
                goes_by_former(b),
                b.min_isr_unread == 0,
                b.leader_epoch != after.brokers[b].leader_epoch,
            ),
            not_(goes_by_former(after.brokers[b])),
        )
        for b in p.brokers
    ),
    of_steps=True,
)
DOWN = Property(
    "who_is_down_reads_all_as_it_starts",
    "a broker that is down has nothing to read late",
    lambda p: every(implies(not_(b.up), not_(goes_by_former(b))) for b in p.brokers),
)
FOLLOWERS = Property(
    "followers_go_by_no_number",
    "what a broker that does not lead reads next does not matter",
    lambda p: every(implies(not_(b.leads), b.min_isr_next == 0) for b in p.brokers),
)


@pytest.mark.slow
@pytest.mark.parametrize("apart", ["false", "true"])
@pytest.mark.parametrize(
    "changed",
    first_and_slow(
        LOWERED, {**LOWERED, "min.insync.replicas": "1", "min.insync.replicas.later": "2"}
    ),
)
def test_brokers_read_of_the_change_in_its_place(changed, apart):
    model = model_of(changed, TWO, **{"isr.answer.apart": apart})
    result = searched(model, REPLACED_BEFORE, BEHIND, TWO_IMAGES, DOWN, FOLLOWERS)
    assert result.verdict is Verdict.EXHAUSTED
    assert result.actions["leader_read_min_isr"].enabled


@pytest.mark.slow
def test_a_leader_that_was_replaced_does_not_go_by_a_number_that_is_lowered_after_that():
    """It loses nothing then. It did where brokers applied the change at once: in seven steps."""
    result = searched(model_of(LOWERED, {"false_fencings": 1}), SURVIVE)
    assert result.verdict is Verdict.EXHAUSTED


@pytest.mark.slow
def test_an_elr_that_was_kept_is_empty_once_its_member_leads_that_reaches_the_lowered_minimum():
    """Or the next member is elected, without what the first has acknowledged alone."""
    bounds = {"replicas": 2, "shutdowns": 3, "max_leader_epoch": 5}
    assert searched(model_of(LOWERED, bounds), SURVIVE).verdict is Verdict.EXHAUSTED


@pytest.mark.slow
def test_a_leader_that_reads_late_of_a_raised_number_acknowledges_what_the_elr_lacks():
    bounds = {"false_fencings": 1}
    result = searched(model_of(RAISED, bounds, **{"elr.min.isr.read.by.all": "false"}), SURVIVE)
    assert [violation.property for violation in result.violations] == [SURVIVE]
    assert searched(model_of(RAISED, bounds), SURVIVE).verdict is Verdict.EXHAUSTED


def enters_by_former(name, is_waited_for):
    """While one of these goes by the former number, 1, nobody enters the ELR where one stays."""
    return Property(
        name,
        "nobody enters the ELR by a number that one of these brokers has not read",
        lambda p, after: implies(
            all_of(
                some(all_of(is_waited_for(b), goes_by_former(b)) for b in p.brokers),
                not_(p.controller.eligible.includes(after.controller.eligible)),
            ),
            after.controller.isr.is_empty,
        ),
        of_steps=True,
    )


RAISED_FROM_ONE = {"min.insync.replicas": "1", "min.insync.replicas.later": "2"}
ACTIVE = enters_by_former("active_brokers_are_waited_for", lambda b: not_(b.fenced))
FENCED = enters_by_former("fenced_brokers_are_waited_for", lambda b: b.fenced)


@pytest.mark.slow
def test_for_the_elr_active_brokers_are_waited_for_and_no_others():
    bounds = {"false_fencings": 1, "max_leader_epoch": 1}
    with_fix = searched(model_of(RAISED_FROM_ONE, bounds), ACTIVE, FENCED)
    assert [violation.property for violation in with_fix.violations] == [FENCED]
    assert searched(model_of(RAISED_FROM_ONE, bounds), ACTIVE).verdict is Verdict.EXHAUSTED
    off = model_of(RAISED_FROM_ONE, bounds, **{"elr.min.isr.read.by.all": "false"})
    assert [found.property for found in searched(off, ACTIVE).violations] == [ACTIVE]


def test_with_zookeeper_brokers_read_of_it_at_once():
    model = model_of(LOWERED, {"replicas": 2}, preset="kafka-3.0")
    never = Property("never", "no", lambda p: every(not_(goes_by_former(b)) for b in p.brokers))
    result = searched(model, never)
    assert result.verdict is Verdict.EXHAUSTED
    assert result.actions["operator_change_min_isr"].enabled
    assert "leader_read_min_isr" not in model.possible_actions
