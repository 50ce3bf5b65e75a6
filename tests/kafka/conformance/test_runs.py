"""Runs that Kafka's classes once took otherwise than the model, and how such a run is shortened."""

import pytest

from checker.core.traces.trace import Trace, TraceVerdict
from checker.kafka.conformance.compare import Tally, compare_walks
from checker.kafka.conformance.plan import models
from checker.kafka.conformance.replays import replay
from checker.kafka.conformance.shorten import shorten, walk_of
from checker.kafka.conformance.walks import Walker
from checker.lab.experiments.choices import steps_named
from tests.support.classes import CHOSEN, NEWEST, VERSION
from tests.support.epoch_runs import LOADED, START_MOVED, TWO_LOGS, late_model, written
from tests.support.kafka import after

pytestmark = [pytest.mark.kafka, pytest.mark.xdist_group("classes")]
AT_ONCE = CHOSEN | {"isr.answer.apart": "false", "fetch.answers": "at_once"}


def _run(model, lines):
    states = tuple(after(model, *lines[:taken]) for taken in range(len(lines) + 1))
    return Trace(model, None, TraceVerdict.RUN, states, steps_named(model, lines))


INDEX_LEFT_OVER = (
    "leader_propose_shrink(leader=b0, follower=b1)",
    "controller_apply_isr_change()",
    "operator_change_min_isr()",
    "leader_apply_metadata(broker=b0)",
    "leader_propose_expand(leader=b0, follower=b1)",
    "controller_apply_isr_change()",
)


@pytest.mark.parametrize(
    "leaves",
    [
        (
            "controller_elect_preferred_leader(broker=b1)", "operator_unregister_broker(broker=b1)",
            "controller_fence_leader(broker=b1, successor=b0)",
        ),
        (
            "operator_unregister_broker(broker=b1)", "broker_shut_down(broker=b0)",
            "controller_fence_leader(broker=b0, successor=b1)",
            "controller_fence_last_leader(broker=b1)",
        ),
    ],
)  # fmt: skip
def test_a_leader_left_in_the_index_of_the_elr_is_unregistered_in_two_epochs(newest, leaves):
    bounds = {
        "replicas": 2, "unregistrations": 1, "min_isr_changes": 1, "preferred_elections": 1,
        "shutdowns": 1,
    }  # fmt: skip
    model = models(NEWEST, bounds, AT_ONCE | {"min.insync.replicas.later": "1"})[0]
    run = _run(model, (*INDEX_LEFT_OVER, *leaves))
    states = run.states
    (epoch,) = (c.position for c in model.cells if c.name == "controller.leader_epoch")
    assert states[-1][epoch] == states[-2][epoch] + 2
    checked = replay(newest, run)
    assert (checked.agreed, checked.difference) == (len(states), None)


STALLED = {"preferred_elections": 2, "stalled_fetches": 1, "stalled_reads": 1}
NOTED_BEFORE_AN_ELECTION = (
    "leader_propose_shrink(leader=b0, follower=b1)",
    "controller_apply_isr_change()",
    "leader_apply_metadata(broker=b0)",
    "leader_stall_after_noting(leader=b0, follower=b1)",
    "leader_propose_expand(leader=b0, follower=b1)",
    "controller_apply_isr_change()",
    "controller_elect_preferred_leader(broker=b1)",
    "leader_apply_metadata(broker=b1)",
    "producer_send(leader=b1)",
    "controller_elect_preferred_leader(broker=b0)",
    "leader_apply_metadata(broker=b0)",
    "leader_propose_shrink(leader=b0, follower=b1)",
    "controller_apply_isr_change()",
    "leader_apply_metadata(broker=b0)",
    "leader_expand_by_stalled_fetch(leader=b0, follower=b1)",
)
AFTER_LEADING_WITHOUT_A_RECORD = (
    "producer_send(leader=b0)",
    "controller_elect_preferred_leader(broker=b1)",
    "leader_apply_metadata(broker=b1)",
    "controller_elect_preferred_leader(broker=b0)",
    "leader_apply_metadata(broker=b0)",
    "follower_apply_metadata(broker=b1)",
    "leader_stall_between_reads(leader=b0, follower=b1)",
    "follower_take_stalled_record(leader=b0, follower=b1)",
)


@pytest.mark.parametrize("lines", [NOTED_BEFORE_AN_ELECTION, AFTER_LEADING_WITHOUT_A_RECORD])
def test_a_stalled_fetch_goes_on_from_where_it_was_sent(newest, lines):
    (model,) = models(NEWEST, STALLED, AT_ONCE)
    checked = replay(newest, _run(model, lines))
    assert (checked.agreed, checked.difference) == (len(lines) + 1, None)


@pytest.mark.parametrize(
    "lines",
    [LOADED, written(LOADED, 9), START_MOVED, written(START_MOVED, 7), TWO_LOGS],
    ids=["loaded", "loaded, written", "start moved", "start moved, written", "two logs"],
)
def test_the_file_of_epochs_is_late_for_all_that_goes(newest, lines):
    checked = replay(newest, _run(late_model(), lines))
    assert (checked.agreed, checked.difference) == (len(lines) + 1, None)


def test_of_a_disagreement_made_short_no_step_can_be_left_out(harness):
    wrong = CHOSEN | {"hw.frozen.below.min.isr": "false"}
    (model,) = models(VERSION, {}, wrong)
    walker, tally = Walker(model, VERSION, 3), Tally(VERSION)
    compare_walks(harness, walker.projection, walker.walks(60, 30), tally)
    assert tally.unknown and not tally.shortened
    kind = tally.unknown[0]
    run = shorten(harness, model, walker.projection, tally.shortest(kind))
    assert run[0].kind == kind and run[0].step == len(run[1]) < tally.shortest(kind)[0].step
    for place in range(len(run[1]) - 1):
        rest = (*run[1][:place], *run[1][place + 1 :])
        assert not _departs(harness, walk_of(model, walker.projection, rest), walker, kind)


def _departs(harness, walk, walker, kind):
    if walk is None:
        return False
    tally = Tally(VERSION)
    compare_walks(harness, walker.projection, iter([walk]), tally)
    return kind in tally.kinds
