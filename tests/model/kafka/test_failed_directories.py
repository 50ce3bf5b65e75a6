"""Log directories that fail under a running broker: what the broker still does, what that costs."""

from __future__ import annotations

import pytest

from checker.core.verdict import Verdict
from model.kafka import log_dir_failure
from model.kafka.protocol import KAFKA
from model.language import all_of, any_of, every, implies, is_none, not_
from properties import Property
from properties.kafka import availability, isr, safety
from tests.support.kafka import depths, explored_for
from tests.support.tiers import first_and_slow

QUIET = {"crashes": 0, "preferred_elections": 0}
TINY = {"replicas": 2, "log_size": 1, "max_records": 1, "max_leader_epoch": 2}
KEPT = safety.acknowledged_records_survive
LED = availability.live_replicas_have_a_leader


def searched(claims, bounds, preset="fixed", **settings):
    chosen = dict(KAFKA.preset(f"kafka-{preset}")) | {"min.insync.replicas": "2"} | settings
    model = KAFKA.model(QUIET | bounds, chosen)
    return explored_for(claims, model, symmetry=True)


def holds_in_steps(name, words, holds):
    return Property(name, words, holds, of_steps=True)


IDLE = holds_in_steps(
    "an_offline_replica_does_nothing",
    "a replica whose directory has failed leads and follows nobody, and its log stays as it is",
    lambda p, after: every(
        implies(
            all_of(b.directory_failed, b.up, after.brokers[b].up),
            all_of(
                is_none(after.brokers[b].leader),
                not_(after.brokers[b].is_online),
                after.brokers[b].log.end == b.log.end,
            ),
        )
        for b in p.brokers
    ),
)
NOT_ELECTED = holds_in_steps(
    "whose_directory_is_known_to_have_failed_is_not_elected",
    "nobody becomes leader whose directory the controller knows to have failed",
    lambda p, after: every(
        any_of(
            not_(p.controller.offline.contains(b)),
            after.controller.leader != b,
            p.controller.leader == b,
            not_(after.controller.offline.contains(b)),
        )
        for b in p.brokers
    ),
)


@pytest.mark.slow
def test_an_offline_replica_does_nothing_and_is_not_elected():
    result = searched([IDLE, NOT_ELECTED], {**TINY, "failed_directories": 1, "shutdowns": 1})
    assert (depths(result), result.verdict) == ({}, Verdict.EXHAUSTED)


@pytest.mark.slow
def test_every_step_of_a_failure_is_taken():
    result = searched([KEPT], {"failed_directories": 1, "shutdowns": 2}, preset="4.3")
    names = {
        action.name
        for action in KAFKA.actions
        if action.function.__module__ == log_dir_failure.__name__
    }
    assert len(names) == 8
    assert all(result.actions[name].enabled for name in names)


@pytest.mark.slow
def test_without_the_guard_an_offline_replica_would_follow(monkeypatch):
    """The claim can fail: a broker that reads metadata with its directory gone breaks it."""
    from model.kafka.state import Broker

    monkeypatch.setattr(Broker, "is_online", property(lambda self: self.up))
    offline = holds_in_steps(
        IDLE.name, IDLE.words,
        lambda p, after: every(
            implies(all_of(b.directory_failed, b.up), is_none(after.brokers[b].leader))
            for b in p.brokers
        ),
    )  # fmt: skip
    assert depths(searched([offline], {**TINY, "failed_directories": 1})) == {IDLE.name: 2}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "lost"),
    [
        pytest.param({"directory.failure.leaves.elr": "false"}, 16, marks=pytest.mark.slow),
        ({"registration.counts.directories": "false"}, 15),
        ({}, None),
    ],
)
def test_one_failure_and_two_clean_stops_lose_a_record_unless_both_fixes_are_on(settings, lost):
    bounds = {"failed_directories": 1, "shutdowns": 2}
    result = searched(
        [KEPT, LED, isr.partition_has_leader_when_a_candidate_lives], bounds, **settings
    )
    assert depths(result) == ({KEPT.name: lost} if lost else {})
    assert bool(lost) or result.verdict is Verdict.EXHAUSTED


@pytest.mark.slow
def test_to_leave_the_elr_is_not_enough_while_the_isr_may_be_joined(monkeypatch):
    """An ISR change that was under way takes in a replica that is known to be offline."""
    from model.kafka import replication_control

    def as_released(partition):
        controller = partition.controller
        unfenced = every(
            any_of(not_(controller.request.contains(m)), not_(m.fenced)) for m in partition.brokers
        )
        return all_of(
            not_(controller.request.is_empty), unfenced, not_(controller.joiner_restarted)
        )

    monkeypatch.setattr(replication_control, "request_is_acceptable", as_released)
    found = searched([KEPT, LED], {"failed_directories": 1, "shutdowns": 2})
    assert depths(found) == {KEPT.name: 21}


@pytest.mark.slow
@pytest.mark.parametrize(
    "faults",
    first_and_slow(
        {"failed_directories": 1, "crashes": 1}, {"failed_directories": 2, "shutdowns": 1}
    ),
)
def test_one_failure_more_than_is_promised_loses_nothing_where_three_must_be_in_sync(faults):
    result = searched([KEPT], faults, **{"min.insync.replicas": "3"})
    assert (depths(result), result.verdict) == ({}, Verdict.EXHAUSTED)


@pytest.mark.slow
def test_there_is_none_with_zookeeper_and_no_more_than_are_allowed():
    def fails(preset, count):
        model = KAFKA.model(QUIET | TINY | {"failed_directories": count}, KAFKA.preset(preset))
        return "broker_fail_directory" in {g.instance.action.name for g in model.ground_actions}

    assert fails("kafka-4.3", 1)
    assert not fails("kafka-2.7", 1) and not fails("kafka-4.3", 0)
