"""What producers are promised: each promise can fail, holds where it should, and is not vacuous."""

from __future__ import annotations

import pytest

from checker.core.engines.reference import ReferenceEngine
from checker.core.proofs.bounded.bounded_check import BoundedChecker
from checker.core.verdict import Verdict
from model.kafka_producer.protocol import KAFKA_PRODUCER
from model.kafka_producer.state import Answer, Batch, Status, Topic
from model.language import action, require
from properties import Sense, choose_liveness, choose_properties, promised_properties, properties_of
from tests.support.judged import judge
from tests.support.laws import check_is_broken, explore
from tests.support.tiers import first_and_slow, slow_but

ALWAYS = [p for p in properties_of(KAFKA_PRODUCER) if p.sense is Sense.ALWAYS]
NEEDED = {
    "batches_are_whole": {"power_losses": 1},
    "a_key_keeps_its_order": {"broker_errors": 1},
    "acknowledged_records_are_in_a_log": {"broker_errors": 1},
    "no_gap": {"broker_errors": 1},
    "out_of_order_means_a_gap": {"refused_batches": 1, "keys": 2, "max_records": 3},
    "sticky_partitions_get_a_full_batch": {"keyless_records": 3, "max_records": 3},
}
DEPTHS = {
    "batches_are_whole": 4,
    "a_key_has_one_partition": 2,
    "a_key_keeps_its_order": 6,
    "no_record_is_appended_twice": 4,
    "acknowledged_records_are_in_a_log": 2,
    "no_gap": 4,
    "out_of_order_means_a_gap": 9,
    "sticky_partitions_get_a_full_batch": 3,
    "failed_records_are_in_no_log": 3,
    "well_formed": 3,
}
MENDED = {"first.sequence": "zero_if_empty", "epoch.bump": "after_all"}


@action("the producer receives the answer to {batch}, and keeps it")
def producer_receive_answer(topic: Topic, batch: Batch) -> None:
    """The mistake: only the status changes."""
    require(batch.status == Status.IN_FLIGHT, batch.answer == Answer.APPENDED)

    batch.status = Status.ACKNOWLEDGED


MISTAKES = {
    "a producer that keeps the answer to a batch": KAFKA_PRODUCER.variant(
        "mutant", "", producer_receive_answer
    )
}


def _broken(prop):
    if prop.broken_by in MISTAKES:
        return MISTAKES[prop.broken_by].model()
    _, *changes = prop.broken_by.split()
    return KAFKA_PRODUCER.model(NEEDED.get(prop.name), dict(c.split("=") for c in changes))


@pytest.mark.parametrize("prop", ALWAYS, ids=lambda prop: prop.name)
def test_what_is_said_to_break_a_property_breaks_it_and_the_report_says_where(prop):
    assert check_is_broken(_broken(prop), prop) == DEPTHS[prop.name]


@pytest.mark.parametrize("prop", slow_but(ALWAYS[::3], ALWAYS), ids=lambda prop: prop.name)
def test_what_breaks_a_property_has_a_fix_with_which_the_same_search_is_exhausted(prop):
    model = _broken(prop)
    if prop.name == "failed_records_are_in_no_log":
        model = KAFKA_PRODUCER.model({"lost_connections": 0, "broker_errors": 0}, {"retries": "0"})
    elif prop.name == "acknowledged_records_are_in_a_log":
        model = KAFKA_PRODUCER.model(model.bounds, {"acks": "1"})
    else:
        model = KAFKA_PRODUCER.model(
            model.bounds, {**MENDED, "acks": "1" if prop.name == "batches_are_whole" else "all"}
        )
    found = explore(model, [prop])
    assert found.verdict is Verdict.EXHAUSTED
    assert prop.name == "failed_records_are_in_no_log" or not found.is_vacuous(prop)


FAULTS = ("broker_errors", "refused_batches", "expired_batches", "late_requests")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("faults", "states"),
    [
        ({}, 807),
        ({"max_records": 3, "log_size": 4, "broker_errors": 2, "epoch_bumps": 2}, 2_021),
        *first_and_slow(
            ({"keys": 2, "broker_errors": 1, "leader_changes": 1, "deletions": 1}, None),
            ({"max_records": 3, "log_size": 4, **dict.fromkeys(FAULTS[:3], 1)}, None),
            ({"max_records": 3, "log_size": 4, **dict.fromkeys(FAULTS[1:], 1)}, None),
        ),
    ],
)
def test_with_every_fix_an_idempotent_producer_keeps_all_its_promises(faults, states):
    model = KAFKA_PRODUCER.model({"epoch_bumps": 2} | faults, MENDED)
    promised = promised_properties(model)
    assert {p.name for p in ALWAYS} - {p.name for p in promised} == {"failed_records_are_in_no_log"}
    found = explore(model, promised)
    assert found.verdict is Verdict.EXHAUSTED
    assert states in (None, found.distinct_states)
    for prop in promised:
        assert prop.sense is Sense.ALWAYS or found.verdict_on(prop) is Verdict.REACHED, prop.name


@pytest.mark.parametrize(
    "preset",
    slow_but(["kafka-0.11", "kafka-3.2", "kafka-4.3", "kafka-fixed"], KAFKA_PRODUCER.presets),
)
def test_at_the_default_bounds_a_release_with_idempotence_fails_and_the_fixed_one_not(
    preset,
):
    """One error that may be retried and a lost connection suffice; without it less is promised."""
    model = KAFKA_PRODUCER.model(settings=KAFKA_PRODUCER.presets[preset])
    found = explore(model, promised_properties(model))
    fails = model.settings.enable_idempotence and preset != "kafka-fixed"
    assert found.verdict is (Verdict.VIOLATED if fails else Verdict.EXHAUSTED)


def test_a_turn_that_an_open_batch_has_kept_going_is_over_once_that_is_sent():
    """KAFKA-14156: two batches of one record are a turn of two, and no open batch keeps it."""
    model = KAFKA_PRODUCER.model({"keyless_records": 3})
    engine, state = ReferenceEngine(model), None

    def after(state, name, *arguments):
        (step,) = [
            one for one in model.instances if one.action.name == name and one.arguments == arguments
        ]
        return engine.step(state, step)

    state = tuple(engine.initial())
    for _ in range(2):
        assert after(state, "application_send_without_key", 0) is not None
        state = after(state, "application_send_without_key", 0)
        kept = after(state, "application_send_without_key", 1)
        assert kept is None
        (batch,) = [b.number for b in engine.view(state).batches if b.status == Status.QUEUED]
        state = after(state, "sender_send_batch", batch)
    assert after(state, "application_send_without_key", 0) is not None
    assert after(state, "application_send_without_key", 1) is not None


@pytest.mark.parametrize(
    ("bounds", "settings"), first_and_slow(({"lost_connections": 2}, {}), ({}, MENDED))
)
def test_keys_are_interchangeable(bounds, settings):
    model = KAFKA_PRODUCER.model({"keys": 2, "broker_errors": 1} | bounds, settings)
    promised = promised_properties(model)
    whole, classes = explore(model, promised), explore(model, promised, symmetry=True)
    assert (whole.verdict, whole.depth) == (classes.verdict, classes.depth)
    assert classes.distinct_states < whole.distinct_states


@pytest.mark.slow
def test_it_keeps_them_with_everything_that_may_happen_at_once():
    faults = ("broker_errors", "refused_batches", "late_requests", "leader_changes")
    bounds = {"max_records": 3, "log_size": 4, "keys": 2, "epoch_bumps": 2}
    model = KAFKA_PRODUCER.model(bounds | dict.fromkeys(faults, 1), MENDED)
    found = explore(model, promised_properties(model))
    assert (found.verdict, found.distinct_states) == (Verdict.EXHAUSTED, 1_054_297)


def test_a_producer_without_idempotence_keeps_the_order_with_one_request_in_flight():
    chosen = {"enable.idempotence": "false", "max.in.flight.requests.per.connection": "1"}
    model = KAFKA_PRODUCER.model({"broker_errors": 1, "leader_changes": 1}, chosen)
    promised = promised_properties(model)
    assert "a_key_keeps_its_order" in {p.name for p in promised}
    assert "no_record_is_appended_twice" not in {p.name for p in promised}
    assert explore(model, promised).verdict is Verdict.EXHAUSTED


@pytest.mark.parametrize("fault", ["", "producer_restarts", "late_requests"])
def test_a_producer_without_retries_keeps_the_order_unless_it_dies_or_a_request_is_late(fault):
    """Who takes its place sends again what was not acknowledged; and a request that timed out may
    be handled after the next one, which goes over a new connection. Hunts found both."""
    chosen = {"enable.idempotence": "false", "retries": "0"}
    faults = {fault: 1} if fault else {}
    model = KAFKA_PRODUCER.model({"max_records": 2, "broker_errors": 1} | faults, chosen)
    order = choose_properties(KAFKA_PRODUCER, ["a_key_keeps_its_order"])
    assert bool(explore(model, order).violations) == bool(fault)
    promised = {p.name for p in promised_properties(model)}
    assert ("a_key_keeps_its_order" in promised) != bool(fault)


@pytest.mark.parametrize(
    ("preset", "idempotent"), [("kafka-0.11", False), ("kafka-3.0", False), ("kafka-3.2", True)]
)
def test_by_default_a_producer_is_idempotent_since_3_2(preset, idempotent):
    model = KAFKA_PRODUCER.model({}, KAFKA_PRODUCER.preset(preset))
    promised = {p.name for p in promised_properties(model)}
    assert ("no_gap" in promised) is idempotent


@pytest.mark.parametrize(
    "setting", ["acks=1", "retries=0", "max.in.flight.requests.per.connection=6"]
)
def test_idempotence_is_off_where_something_that_it_needs_is_configured_away(setting):
    model = KAFKA_PRODUCER.model({}, dict([setting.split("=")]))
    assert "no_gap" not in {p.name for p in promised_properties(model)}


@pytest.mark.slow
@pytest.mark.parametrize("name", first_and_slow("a_key_has_one_partition", "no_gap"))
def test_bounded_checking_finds_the_same_depth(name):
    (prop,) = choose_properties(KAFKA_PRODUCER, [name])
    found = BoundedChecker(_broken(prop), [prop]).run(DEPTHS[name])
    assert found.verdict is Verdict.VIOLATED
    assert len(found.steps) == DEPTHS[name]


# --- liveness -----------------------------------------------------------------------------------


def test_a_batch_that_can_never_be_in_order_is_sent_for_ever():
    """Number 68 of the catalogue."""
    prop = choose_liveness(KAFKA_PRODUCER, "every_batch_is_answered")
    assert prop.broken_by == "kafka_producer first.sequence=any"
    judgement = judge(KAFKA_PRODUCER.model({"broker_errors": 1}), prop.name)
    assert judgement.verdict is Verdict.VIOLATED and judgement.lasso is not None


@pytest.mark.slow
@pytest.mark.parametrize("faults", first_and_slow({"refused_batches": 1}, {}, {"late_requests": 1}))
def test_else_every_batch_is_answered(faults):
    bounds = {"broker_errors": 1, "epoch_bumps": 2}
    model = KAFKA_PRODUCER.model(bounds | faults, MENDED)
    assert judge(model, "every_batch_is_answered").verdict is Verdict.EXHAUSTED
