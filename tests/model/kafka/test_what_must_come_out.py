"""What operators ask of the broker model, line by line: the verdict, its depth, the states seen."""

from __future__ import annotations

import pytest

from checker.core.verdict import Verdict
from tests.support.kafka import DURABILITY, FIX_36, SAFE, after, depths, explored, kafka_model
from tests.support.tiers import nightly

SAFE_41 = SAFE | FIX_36
LOSS = ("exposed_records_survive", "acknowledged_records_survive")
MILLIONS = "four million states or more; smaller bounds are searched on every change"


def test_the_newest_version_with_fix_36_loses_nothing():
    model = kafka_model("kafka-4.1", SAFE_41, crashes=1, preferred_elections=2)
    result = explored(model, symmetry=True)
    assert result.verdict is Verdict.EXHAUSTED
    assert (result.depth, result.distinct_states) == (32, 361_360)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "depth", "states"),
    [
        ({}, 32, 971_085),
        nightly(MILLIONS, ({"false_fencings": 1}, 35, 4_954_909)),
        nightly(MILLIONS, ({"false_fencings": 1, "crashes": 0, "power_losses": 1}, 35, 6_401_235)),
        nightly(MILLIONS, ({"log_size": 2, "max_records": 2}, 38, 10_331_114)),
    ],
)
def test_nor_with_more_faults_or_more_records(more, depth, states):
    bounds = {"crashes": 1, "preferred_elections": 2} | more
    result = explored(kafka_model("kafka-4.1", SAFE_41, **bounds))
    assert result.verdict is Verdict.EXHAUSTED
    assert (result.depth, result.distinct_states) == (depth, states)


EDIT = {"reset.follower.leo.after.skipped.epoch": "true"}
FETCHED = (
    "producer_send(leader=b0)",
    "follower_fetch_record(follower=b1, leader=b0)",
    "leader_handle_fetch(leader=b0, follower=b1)",
)
SKIPPED = (
    "controller_elect_preferred_leader(broker=b2)",
    "leader_apply_metadata(broker=b2)",
    "broker_crash(broker=b2, checkpoint=0)",
    "controller_fence_leader(broker=b2, successor=b0)",
    "leader_apply_metadata(broker=b0)",
)
NEXT = (
    "broker_crash(broker=b2, checkpoint=0)",
    "controller_fence_broker(broker=b2)",
    "leader_apply_metadata(broker=b0)",
)


@pytest.mark.parametrize(
    ("steps", "fix", "mark"),
    [
        (SKIPPED, {}, 1),
        (SKIPPED, EDIT, 0),
        (SKIPPED, FIX_36, 0),
        (NEXT, EDIT, 1),
        (NEXT, FIX_36, 0),
    ],
)
def test_the_edit_of_0001_forgets_where_an_epoch_was_skipped_and_not_in_the_next(steps, fix, mark):
    """Up to 3.5 an ISR shrink begins a leader epoch, of the same leader."""
    settings = SAFE | fix | {"isr.shrink.starts.epoch": "always"}
    model = kafka_model("kafka-4.1", settings, crashes=1, preferred_elections=1)
    at = {(cell.variable.name, *cell.index): cell.position for cell in model.cells}
    assert after(model, *FETCHED, *steps)[at["brokers.high_watermark", 0]] == mark


@pytest.mark.slow
def test_with_the_edit_of_0001_nothing_is_lost():
    bounds = {"crashes": 1, "preferred_elections": 2, "max_leader_epoch": 3}
    result = explored(kafka_model("kafka-4.1", SAFE | EDIT, **bounds), symmetry=True)
    assert result.verdict is Verdict.EXHAUSTED
    assert (result.depth, result.distinct_states) == (35, 734_581)


NO_LAST_KNOWN_LEADER = {"last.known.leader.election": "false"}


@pytest.mark.nightly(MILLIONS)
def test_nor_with_a_crash_a_false_fencing_and_a_power_loss_if_the_last_leader_has_no_privilege():
    faults = {"crashes": 1, "false_fencings": 1, "power_losses": 1, "preferred_elections": 2}
    result = explored(kafka_model("kafka-4.1", SAFE_41 | NO_LAST_KNOWN_LEADER, **faults))
    assert result.verdict is Verdict.EXHAUSTED
    assert (result.depth, result.distinct_states) == (38, 21_435_392)


BOTH = {"isr.answer.apart": "true", "fetch.answers": "in_flight"}
FACTOR_2 = {"replication.factor": "2"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "bounds", "depth", "states"),
    [
        (BOTH, {"crashes": 1, "preferred_elections": 1}, 32, 206_062),
        nightly(
            MILLIONS,
            (BOTH, {"crashes": 1, "preferred_elections": 2, "false_fencings": 1}, 39, 11_439_085),
        ),
        nightly(MILLIONS, ({}, {"preferred_elections": 3, "stalled_fetches": 1}, 37, 4_761_523)),
        (FACTOR_2, {"replica_moves": 1, "crashes": 1, "preferred_elections": 1}, 38, 285_236),
        (FACTOR_2, {"replicas": 4, "partition_moves": 1, "shutdowns": 1}, 33, 218_656),
        ({}, {"shutdowns": 2, "lost_directories": 1, "preferred_elections": 1}, 37, 972_269),
        nightly(
            MILLIONS, ({}, {"controlled_shutdowns": 2, "preferred_elections": 2}, 40, 6_927_885)
        ),
        nightly(MILLIONS, (
            {"min.insync.replicas.later": "3"},
            {"min_isr_changes": 1, "power_losses": 1, "preferred_elections": 1}, 35, 1_041_761,
        )),
        nightly(MILLIONS, (
            {"min.insync.replicas.later": "1"},
            {"min_isr_changes": 1, "topic_deletions": 1, "crashes": 2, "preferred_elections": 1},
            38, 4_128_844,
        )),
    ],
)  # fmt: skip
def test_with_the_fix_of_every_finding_nothing_is_lost_however_fine(
    settings, bounds, depth, states
):
    model = kafka_model("kafka-fixed", SAFE | settings, **({"max_leader_epoch": 3} | bounds))
    result = explored(model, symmetry=True)
    assert result.verdict is Verdict.EXHAUSTED
    assert (result.depth, result.distinct_states) == (depth, states)


@pytest.mark.slow
def test_two_unclean_stops_are_too_many_where_the_last_known_leader_may_lead():
    faults = {"crashes": 1, "power_losses": 1, "max_leader_epoch": 3}
    lost = explored(kafka_model("kafka-4.1", SAFE_41, **faults), *LOSS, symmetry=True)
    assert depths(lost) == dict.fromkeys(LOSS, 15)
    mended = kafka_model("kafka-4.1", SAFE_41 | NO_LAST_KNOWN_LEADER, **faults)
    safe = explored(mended, symmetry=True)
    assert safe.verdict is Verdict.EXHAUSTED


def test_as_kafka_is_an_acknowledged_record_is_lost():
    model = kafka_model("kafka-4.1", SAFE, crashes=1, preferred_elections=2, max_leader_epoch=3)
    assert depths(explored(model, *LOSS, symmetry=True)) == dict.fromkeys(LOSS, 12)


@pytest.mark.slow
def test_an_unclean_election_loses_what_was_acknowledged():
    settings = SAFE_41 | {"unclean.leader.election.enable": "true"}
    model = kafka_model("kafka-4.1", settings, crashes=2)
    assert depths(explored(model, *LOSS, symmetry=True)) == dict.fromkeys(LOSS, 12)


@pytest.mark.parametrize(
    ("faults", "lost_after"),
    [
        ({"crashes": 1}, None),
        ({"crashes": 2}, 10),
        ({"crashes": 1, "preferred_elections": 1}, 9),
        ({"crashes": 1, "false_fencings": 1}, 9),
    ],
)
def test_truncation_to_the_high_watermark_needs_a_crash_and_something_more(faults, lost_after):
    model = kafka_model("kafka-0.10", SAFE, max_leader_epoch=3, **faults)
    result = explored(model, "exposed_records_survive", symmetry=True)
    if lost_after is None:
        assert result.verdict is Verdict.EXHAUSTED
    else:
        assert depths(result) == {"exposed_records_survive": lost_after}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("preset", "settings", "depth"),
    [
        ("kafka-0.11", {}, 11),  # 9
        pytest.param("kafka-2.0", {}, 11, marks=pytest.mark.slow),  # 9
        ("kafka-2.0", {"join.isr.from.epoch.start": "true"}, 14),  # 10
    ],
)
def test_kip_101_and_kip_279_lose_records_to_elections(preset, settings, depth):
    faults = {"crashes": 1, "preferred_elections": 2, "max_leader_epoch": 3}
    model = kafka_model(preset, SAFE_41 | settings, **faults)
    found = explored(model, "exposed_records_survive", symmetry=True)
    assert depths(found) == {"exposed_records_survive": depth}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shrinks", "states"), [("by_controller", 2_257_205), ("never", 1_852_339)]
)
def test_kip_320_with_fix_36_loses_nothing_to_elections(shrinks, states):
    faults = {"crashes": 1, "preferred_elections": 2, "max_leader_epoch": 3}
    settings = SAFE_41 | {"isr.shrink.starts.epoch": shrinks}
    result = explored(kafka_model("kafka-2.1", settings, **faults), *DURABILITY)
    assert result.verdict is Verdict.EXHAUSTED
    assert (result.depth, result.distinct_states) == (36, states)


@pytest.mark.slow
def test_before_elr_a_lone_isr_member_takes_what_it_lost_with_it():
    result = explored(kafka_model("kafka-2.1", SAFE_41, power_losses=1), *LOSS, symmetry=True)
    assert depths(result) == {"exposed_records_survive": 7}


@pytest.mark.slow
def test_kip_101_leaves_logs_that_differ_for_good():
    settings = SAFE_41 | {"truncation": "leader_epoch"}
    model = kafka_model("kafka-4.1", settings, preferred_elections=2, log_size=2, max_records=3)
    assert depths(explored(model, "isr_logs_agree", symmetry=True)) == {"isr_logs_agree": 10}


@pytest.mark.slow
def test_a_fenced_isr_member_costs_no_record():
    settings = SAFE_41 | {"isr.unfenced.brokers.only": "false"}
    model = kafka_model("kafka-4.1", settings, crashes=1, preferred_elections=2)
    found = explored(model, "isr_members_unfenced", *LOSS, symmetry=True)
    assert depths(found) == {"isr_members_unfenced": 6}


@pytest.mark.parametrize(
    ("min_isr", "accepted"), [(3, False), (2, True)], ids=["min ISR 3", "min ISR 2"]
)
def test_with_one_broker_down_writes_need_a_smaller_min_isr(min_isr, accepted):
    from checker.core.engines.reference import ReferenceEngine
    from checker.core.traces.trace import build_trace
    from checker.lab.experiments.choices import steps_named

    settings = SAFE_41 | {"min.insync.replicas": str(min_isr)}
    model = kafka_model("kafka-4.1", settings, crashes=1)
    lines = [
        "broker_crash(broker=b2, checkpoint=0)",
        "controller_fence_broker(broker=b2)",
        "leader_apply_metadata(broker=b0)",
    ]
    state = build_trace(model, steps_named(model, lines)).states[-1]
    enabled = {i.action.name for i, _ in ReferenceEngine(model).successors(state)}
    assert ("producer_send" in enabled) is accepted
