"""What transactions promise: each promise can fail, and holds with every fix, under faults."""

from __future__ import annotations

from dataclasses import replace

import pytest

from checker.core.search.explore import Explorer
from checker.core.search.question import Options
from checker.core.verdict import Judgement, Verdict
from model.kafka_transactions.presets import PRESETS
from model.kafka_transactions.protocol import KAFKA_TRANSACTIONS
from model.kafka_transactions.state import ONGOING, Partition, Sent, TransactionalId
from model.language import action, require
from properties import (
    Sense,
    choose_properties,
    liveness_of,
    promised_properties,
    properties_of,
)
from tests.support.judged import judge
from tests.support.laws import check_is_broken, explore
from tests.support.tiers import slow_but

ALWAYS = [p for p in properties_of(KAFKA_TRANSACTIONS) if p.sense is Sense.ALWAYS]
BY_SETTINGS = [p for p in ALWAYS if p.broken_by.split()[0] == KAFKA_TRANSACTIONS.name]
ONE = {"topic_partitions": 1}
TWO_FAILOVERS = {"transactions": 1, "coordinator_failovers": 2, "transaction_timeouts": 1}
NEEDED = {
    "partitions_decide_alike": TWO_FAILOVERS,
    "commits_were_requested": ONE | {"coordinator_failovers": 1, "load_failures": 1},
    "committed_stays": ONE
    | {"coordinator_failovers": 1, "stale_answers": 1, "transaction_timeouts": 1},
    "no_hanging_transaction": ONE | {"transactions": 1, "late_produces": 1},
    "fenced_producers_append_nothing": ONE
    | {"transactions": 1, "late_produces": 1, "producer_restarts": 1},
    "the_coordinator_can_go_on": {"transactions": 1, "coordinator_failovers": 1},
    "an_open_transaction_can_be_fenced": ONE
    | {"transactions": 3, "transaction_timeouts": 1, "new_producer_ids": 1, "producer_epochs": 5},
    "fenced_only_after_a_timeout": ONE | {"transactions": 1, "late_produces": 1},
    "a_refused_record_is_abortable": ONE | {"transactions": 1, "transaction_timeouts": 1},
}
DEPTHS = {
    "partitions_decide_alike": 20,
    "commits_were_requested": 22,
    "committed_stays": 24,
    "no_hanging_transaction": 12,
    "fenced_producers_append_nothing": 14,
    "the_coordinator_can_go_on": 12,
    "an_open_transaction_can_be_fenced": 25,
    "fenced_only_after_a_timeout": 5,
    "a_refused_record_is_abortable": 7,
}


def _broken(prop):
    _, *changes = prop.broken_by.split()
    return KAFKA_TRANSACTIONS.model(NEEDED[prop.name], dict(c.split("=") for c in changes))


@pytest.mark.parametrize("prop", BY_SETTINGS, ids=lambda prop: prop.name)
def test_what_is_said_to_break_a_promise_breaks_it_and_the_report_says_where(prop):
    assert check_is_broken(_broken(prop), prop) == DEPTHS[prop.name]


@action("the producer gives up its record for {partition}, and keeps it")
def keeps_its_record(txn: TransactionalId, partition: Partition) -> None:
    """The mistake: an epoch without a record."""
    require(partition.record == Sent.SENT)

    partition.late_record.epoch = 1


@action("the producer gives up its record for {partition}, and a marker comes of it")
def leaves_a_marker(txn: TransactionalId, partition: Partition) -> None:
    """The mistake: an epoch without a marker."""
    require(partition.record == Sent.SENT)

    partition.late_marker.epoch = 1


@action("the producer gives up its record for {partition}, and any state is a marker's")
def leaves_no_marker(txn: TransactionalId, partition: Partition) -> None:
    """The mistake: what no marker says."""
    require(partition.record == Sent.SENT)

    partition.late_marker.kind = ONGOING


@pytest.mark.parametrize("wrong_step", [keeps_its_record, leaves_a_marker, leaves_no_marker])
def test_what_is_dead_and_not_blank_is_noticed(wrong_step):
    (prop,) = choose_properties(KAFKA_TRANSACTIONS, ["well_formed"])
    mistake = replace(wrong_step, name="producer_give_up")
    wrong = KAFKA_TRANSACTIONS.variant("wrong", prop.broken_by, mistake)
    (violation,) = explore(wrong.model({"late_produces": 1}), [prop]).violations
    assert violation.depth == 2


FAILOVER = {"coordinator_failovers": 1}
TAKES = {
    "fenced_producers_append_nothing": "late_produces",
    "an_open_transaction_can_be_fenced": "new_producer_ids",
}
"""A bound without which no state makes the premise true."""
WHERE = {
    "no faults": ({}, 662),
    "a failover": (FAILOVER, 9_488),
    "a failover and a restart": (
        FAILOVER | {"producer_restarts": 1, "producer_epochs": 6},
        59_627,
    ),
    "epochs that run out": (
        ONE
        | {"transactions": 3, "producer_restarts": 1, "transaction_timeouts": 1}
        | FAILOVER
        | {"new_producer_ids": 2, "producer_epochs": 8},
        40_897,
    ),
    "two failovers and a time-out": (
        {"coordinator_failovers": 2, "transaction_timeouts": 1},
        419_745,
    ),
    "all that may be late": (
        FAILOVER
        | dict.fromkeys(("late_markers", "late_produces", "late_requests", "lost_responses"), 1)
        | {"producer_epochs": 6},
        1_594_023,
    ),
}


@pytest.mark.parametrize("name", slow_but(["no faults", "a failover"], WHERE))
def test_with_every_fix_transactions_keep_their_promises(name):
    """All or nothing, for good, and only if asked for; the counts are kept."""
    bounds, states = WHERE[name]
    model = KAFKA_TRANSACTIONS.model(bounds, PRESETS["kafka-fixed"])
    promised = promised_properties(model)
    found = Explorer(model, promised, options=Options(cross_check=False)).run()
    assert (found.verdict, found.distinct_states) == (Verdict.EXHAUSTED, states)
    for prop in promised:
        excused = prop.name in TAKES and TAKES[prop.name] not in bounds
        assert excused or not found.is_vacuous(prop), prop.name
        assert prop.sense is Sense.ALWAYS or found.verdict_on(prop) is Verdict.REACHED, prop.name


@pytest.mark.parametrize("preset", slow_but(["kafka-4.3", "kafka-3.9"], PRESETS))
def test_every_release_keeps_them_if_one_coordinator_is_replaced_and_nothing_is_late(preset):
    """But for KAFKA-16352, which needs no more."""
    model = KAFKA_TRANSACTIONS.model(FAILOVER, PRESETS[preset])
    options = Options(cross_check=False, keep_going=True)
    found = Explorer(model, promised_properties(model), options=options).run()
    cancels = PRESETS[preset]["cancels.only.its.own.markers"] == "false"
    broken = {each.property.name for each in found.violations}
    assert broken == ({"the_coordinator_can_go_on"} if cancels else set())


@pytest.mark.parametrize("version", ["0", "2"])
def test_who_aborts_waits_until_what_was_decided_before_is_complete(version):
    """It is told CONCURRENT_TRANSACTIONS, not that it is fenced."""
    settings = {**PRESETS["kafka-fixed"], "transaction.version": version}
    model = KAFKA_TRANSACTIONS.model(ONE | {"late_produces": 1}, settings)
    claims = choose_properties(KAFKA_TRANSACTIONS, ["fenced_only_after_a_timeout"])
    assert explore(model, claims).verdict is Verdict.EXHAUSTED


def test_the_last_epoch_of_the_last_id_is_where_the_bounds_end():
    bounds = ONE | {"transactions": 3, "producer_restarts": 2}
    bounds |= {"new_producer_ids": 1, "producer_epochs": 5}
    model = KAFKA_TRANSACTIONS.model(bounds, PRESETS["kafka-fixed"])
    assert explore(model, ALWAYS).verdict is Verdict.EXHAUSTED


@pytest.mark.slow
def test_partitions_are_interchangeable():
    model = KAFKA_TRANSACTIONS.model(FAILOVER, PRESETS["kafka-fixed"])
    all_of_them = Explorer(model, [], options=Options(cross_check=False)).run()
    fewer = Explorer(model, [], options=Options(symmetry=True, cross_check=False)).run()
    assert all_of_them.distinct_states / 2 <= fewer.distinct_states < all_of_them.distinct_states
    assert len(fewer.levels) == len(all_of_them.levels)


ENDS = ONE | FAILOVER | {"transaction_timeouts": 3, "producer_epochs": 6}
"""Time-outs for each transaction, and for one that is lost with its coordinator."""


def judged(name: str, bounds: dict[str, int], *changes: str, **settings: str) -> Judgement:
    """The judgement on one property of `kafka-fixed`, with other settings and fairness."""
    chosen = {each.replace("_", "."): value for each, value in settings.items()}
    model = KAFKA_TRANSACTIONS.model(bounds, {**PRESETS["kafka-fixed"], **chosen})
    return judge(model, name, *changes)


every_end = pytest.mark.parametrize("name", [prop.name for prop in liveness_of(KAFKA_TRANSACTIONS)])


@every_end
def test_no_transaction_hangs_once_faults_are_over(name):
    assert judged(name, ENDS).verdict is Verdict.EXHAUSTED
    assert judged(name, ENDS, "partition_get_marker=none").verdict is Verdict.VIOLATED


@every_end
def test_it_does_where_a_retried_marker_is_refused_or_one_that_is_old_cancels_others(name):
    """KAFKA-19999, KAFKA-16352."""
    refused = judged(name, ENDS | {"topic_partitions": 2}, marker_retry_is_taken="false")
    assert refused.verdict is Verdict.VIOLATED
    cancelled = judged(name, ENDS, cancels_only_its_own_markers="false")
    assert cancelled.verdict is Verdict.VIOLATED
