"""Kafka's remote storage does what the model does, and tells each of its rules from the other."""

from contextlib import nullcontext
from pathlib import Path

import pytest

from checker.kafka.conformance import tiers
from checker.kafka.conformance.compare import Tally, compare, compare_walks
from checker.kafka.conformance.compared import TIERS
from checker.kafka.conformance.cover import cover
from checker.kafka.conformance.projection import Projection
from checker.kafka.conformance.replays import cell, departure, release_model
from checker.kafka.conformance.sensitivity import with_setting, wrong_value
from checker.kafka.conformance.shorten import walk_of
from checker.kafka.conformance.tiered_brokers import TieredBrokers
from checker.kafka.conformance.walks import Walker
from checker.lab.experiments.cases import read_case, read_cases
from checker.lab.experiments.choices import steps_named
from model.kafka_tiered.protocol import KAFKA_TIERED
from model.language.errors import UsageError
from tests.support.classes import NEWEST
from tests.support.remote_runs import (
    BARE,
    BARE_BOUNDS,
    BOUNDS,
    COVERED,
    CUT_OFF,
    DROPPED,
    FOLLOWED,
    LONG,
    RESTARTED,
    SHORT,
    STARTS_AT_NOTHING,
)
from tests.support.tiers import RELEASES, first_and_nightly

pytestmark = [pytest.mark.kafka, pytest.mark.xdist_group("tiers")]
CASES = Path("counterexamples/kafka_tiered")

RULES = {
    "tier.indexes.before.truncating": "126-a_replica_without_leader_epochs",
    "tier.build.is.resumed": "183-a_replica_dies_before_its_epochs_are_written",
    "tier.build.moves.local.start": "160-a_replica_that_was_built_does_not_look_in_the_store",
    "restart.keeps.log.start": "161-a_restart_raises_the_log_start",
    "remote.start.is.looked.up": "161-a_new_leader_starts_where_nothing_is",
    "remote.expiry.takes.furthest": "162-segments_that_overlap_expire_together",
    "remote.end.is.there": "180-tiering_is_switched_off_and_on_again",
    "untiered.log.is.local": "184-an_untiered_log_starts_below_its_records",
    "remote.end.by.lineage": "140-copied_of_an_epoch_beyond_ones_own_log",
    "remote.map.drops.covered": "a_covered_segment_stays_listed",
    "remote.map.keeps.longer": "128-a_late_copy_hides_a_longer_one",
    "truncation.below.local.keeps.start": "129-a_truncation_below_the_first_local_segment",
    "remote.read.ends": "130-a_read_beyond_the_epoch",
    "remote.deletion.is.fenced": "174-a_former_leader_deletes_a_segment",
    "remote.start.by.lineage": "182-a_new_leader_starts_in_a_lost_segment",
}
"""For each rule a stored trace that is possible on one side of it alone."""


@pytest.fixture(scope="module")
def brokers():
    with TieredBrokers(NEWEST) as running:
        yield running


def _taken(brokers, model, names):
    """What comes of steps on Kafka, held against the model."""
    projection = Projection(model, brokers.version)
    walk = walk_of(model, projection, steps_named(model, names))
    assert walk is not None
    answer = brokers.run(model, projection, walk.steps)
    return compare(projection, walk.steps, walk.expected, answer, walk.between)


@pytest.mark.parametrize("case", read_cases(CASES), ids=lambda case: case.name)
def test_kafka_departs_from_a_stored_trace_where_its_releases_model_does(brokers, case):
    found = cell(brokers, case.stored_trace())
    assert found.step == found.predicted, found.words


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_that_is_wrong_in_the_model_is_noticed(brokers, rule):
    trace = read_case(CASES / RULES[rule]).stored_trace()
    right = release_model(trace.model, brokers.version)
    wrong = with_setting(right, rule, wrong_value(rule, brokers.version, TIERS))
    step = cell(brokers, trace).step or None
    assert departure(trace, right, brokers.version) == step
    assert departure(trace, wrong, brokers.version) != step


FIXED = {
    "0033": "174-a_former_leader_deletes_a_segment",
    "0028": "126-a_replica_without_leader_epochs",
    "0030": "128-a_late_copy_hides_a_longer_one",
    "0031": "129-a_truncation_below_the_first_local_segment",
    "0032": "130-a_read_beyond_the_epoch",
    "0039": "180-tiering_is_switched_off_and_on_again",
    "0043": "184-an_untiered_log_starts_below_its_records",
    "0041": "182-a_new_leader_starts_in_a_lost_segment",
    "0042": "183-a_replica_dies_before_its_epochs_are_written",
}
"""For each finding whose fix is a rule of the model, the trace that it prevents."""


@pytest.mark.parametrize(
    ("fix", "version"),
    first_and_nightly(
        RELEASES, *((fix, version) for fix in FIXED for version in ("3.9.1", "4.1.0", NEWEST))
    ),
)
def test_with_a_fix_the_classes_leave_the_trace_where_the_model_does(fix, version):
    trace = read_case(CASES / FIXED[fix]).stored_trace()
    with TieredBrokers(version, fix) as fixed:
        found = cell(fixed, trace)
    assert found.step == found.predicted > 0, found.words


RUNS = {
    "local.deletion.moves.log.start": ({**BOUNDS, "brokers": 3}, STARTS_AT_NOTHING),
    "restart.keeps.last.epoch": (BARE_BOUNDS, (*BARE, *RESTARTED, FOLLOWED)),
}
"""For each rule that no stored trace tells on these classes, a run at whose end it shows."""


def test_each_rule_has_a_trace_or_a_run():
    assert TIERS.wrong.keys() == RULES.keys() | RUNS.keys()


@pytest.mark.parametrize("rule", RUNS)
def test_a_rule_without_a_stored_trace_is_noticed_by_a_run(brokers, rule):
    bounds, run = RUNS[rule]
    right = KAFKA_TIERED.model(bounds, tiers.settings_of(brokers.version))
    assert _taken(brokers, right, run).difference is None
    wrong = _taken(brokers, with_setting(right, rule, "true"), run)
    assert wrong.difference is not None
    assert "brokers.log_start" in wrong.difference.kind.readings


@pytest.mark.parametrize("version", first_and_nightly(RELEASES, NEWEST, "4.1.0", "3.9.1"))
def test_with_the_fix_of_a_rule_the_classes_take_its_run_as_the_model_does(version):
    bounds, run = RUNS["restart.keeps.last.epoch"]
    model = KAFKA_TIERED.model(bounds, tiers.settings_of(version))
    with TieredBrokers(version, "0044") as fixed:
        found = _taken(fixed, with_setting(model, "restart.keeps.last.epoch", "true"), run)
    assert (found.agreed, found.difference) == (len(run) + 1, None)


@pytest.mark.parametrize(
    "names",
    [(*DROPPED, SHORT), (*COVERED, LONG), CUT_OFF],
    ids=["dropped", "covered", "cut off"],
)
def test_kafka_takes_the_runs_that_the_maps_are_told_by(brokers, names):
    model = KAFKA_TIERED.model(BOUNDS, tiers.settings_of(brokers.version))
    found = _taken(brokers, model, names)
    assert (found.agreed, found.difference) == (len(names) + 1, None)


@pytest.mark.parametrize("between", [(), RESTARTED], ids=["at once", "restarted"])
def test_a_log_that_is_empty_is_truncated_as_the_model_says(brokers, between):
    model = KAFKA_TIERED.model(BARE_BOUNDS, tiers.settings_of(brokers.version))
    found = _taken(brokers, model, (*BARE, *between, FOLLOWED))
    assert (found.agreed, found.difference) == (len(BARE) + len(between) + 2, None)


def test_kafka_deletes_no_segment_that_its_map_has_lost(brokers):
    """As a model would without the rule that none is lost by: the mend of finding 0030."""
    settings = {**tiers.settings_of(brokers.version), "remote.map.keeps.longer": "true"}
    found = _taken(brokers, KAFKA_TIERED.model(BOUNDS, settings), (*DROPPED, LONG))
    assert found.difference is not None and found.difference.step == len(DROPPED)


@pytest.mark.parametrize("version", first_and_nightly(RELEASES, NEWEST, "4.1.0", "3.9.1"))
def test_kafka_takes_walks_of_the_model(brokers, version):
    tally = Tally(version)
    with TieredBrokers(version) if version != NEWEST else nullcontext(brokers) as running:
        for model in TIERS.models(version, {}, {}, None):
            walker = Walker(model, version, 7)
            compare_walks(running, walker.projection, walker.walks(2, 30), tally)
    assert tally.unknown == [], [tally.shortest(kind) for kind in tally.unknown]
    assert tally.agreed > 100


def test_kafka_takes_every_step_of_a_small_graph(brokers):
    bounds = {"log_size": 1, "refused_reads": 1}
    (model,) = TIERS.covered_models(NEWEST, bounds, {}, None)
    tally = Tally(NEWEST)
    found = cover(brokers, model, tally)
    assert tally.unknown == [], [tally.shortest(kind) for kind in tally.unknown]
    assert len(found.compared) == found.graph.edges > 50


ELECTED_AGAIN = (
    "leader_append(leader=b0)", "leader_append(leader=b0)",
    "follower_fetch(follower=b1, leader=b0)", "follower_fetch(follower=b1, leader=b0)",
    "leader_raise_high_watermark(leader=b0)", "leader_raise_high_watermark(leader=b0)",
    "leader_find_remote_end(broker=b0, base=0)",
    "leader_begin_copy(broker=b0, segment=0, end=1)",
    "leader_finish_copy(broker=b0, segment=0)", "controller_elect(broker=b1)",
    "leader_find_remote_end(broker=b1, base=1)",
    "leader_begin_copy(broker=b1, segment=1, end=2)",
    "leader_finish_copy(broker=b1, segment=1)", "leader_expire(broker=b1, segment=0)",
    "controller_elect(broker=b0)", "leader_begin_copy(broker=b0, segment=2, end=2)",
)  # fmt: skip
"""b0 leads again, knows nothing of b1's time, and copies what b1 has copied."""

REFUSED = (
    "leader_append(leader=b0)", "leader_append(leader=b0)",
    "leader_raise_high_watermark(leader=b0)", "leader_raise_high_watermark(leader=b0)",
    "leader_find_remote_end(broker=b0, base=0)",
    "leader_begin_copy(broker=b0, segment=0, end=1)",
    "leader_finish_copy(broker=b0, segment=0)",
    "leader_begin_copy(broker=b0, segment=1, end=2)",
    "leader_finish_copy(broker=b0, segment=1)", "broker_delete_local(broker=b0, start=2)",
    "follower_is_refused(follower=b1, leader=b0, segment=1)",
    "leader_expire(broker=b0, segment=0)",
)  # fmt: skip
"""The store has refused b1 the epochs, and what b1 is about to fetch expires."""


@pytest.mark.parametrize("version", first_and_nightly(RELEASES, NEWEST, "4.1.0", "3.9.1"))
def test_each_release_does_what_is_suspected_of_it(brokers, version):
    with TieredBrokers(version) if version != NEWEST else nullcontext(brokers) as running:
        _counts_overlaps_twice(running)
        _goes_on_without_epochs_once_what_it_fetches_has_expired(running)
        again = KAFKA_TIERED.model(
            {**BOUNDS, "max_leader_epoch": 2, "copies": 3}, tiers.settings_of(version)
        )
        found = _taken(running, again, ELECTED_AGAIN)
        assert (found.agreed, found.difference) == (len(ELECTED_AGAIN) + 1, None)
        for name in ("0041", "0042"):
            traced = cell(running, read_case(CASES / FIXED[name]).stored_trace())
            assert (traced.departs_at, traced.is_right) == (None, True), traced.words


def _counts_overlaps_twice(running):
    """A pass deletes the longer segment by size, though room for one record means to keep it."""
    model = KAFKA_TIERED.model(BOUNDS, tiers.settings_of(running.version))
    alone = (
        *COVERED[:7], "leader_begin_copy(broker=b0, segment=0, end=2)", COVERED[8],
    )  # fmt: skip
    for names, leader, segment, deleted_with in ((COVERED, 1, 1, {0, 1}), (alone, 0, 0, {0})):
        for room in (0, 1, 2):
            (start,) = _goes_on(
                running, model, names,
                [["no model: leader_expire_by_size", leader, segment, room]],
                [["brokers.log_start", leader]],
            )  # fmt: skip
            assert start == (2 if room in deleted_with else 0), (names, room)


def _goes_on_without_epochs_once_what_it_fetches_has_expired(running):
    """Finding 0028 where a segment expires: it has record 2, and no epoch of what is below."""
    bounds = {**BOUNDS, "log_size": 3, "refused_reads": 1}
    model = KAFKA_TIERED.model(bounds, tiers.settings_of(running.version))
    fetch = ["no model: follower_fetch_once", 1]
    cells = [["brokers.log_start", 1], ["brokers.end", 1]]
    cells += [["brokers.lineage", 1, offset] for offset in range(3)]
    more = [fetch, fetch, ["leader_append", 0], fetch]
    assert _goes_on(running, model, REFUSED, more, cells) == [1, 3, -1, -1, 0]


def _goes_on(running, model, names, more, cells):
    """What the cells hold after a run of the model, and steps that it has not."""
    walk = walk_of(model, Projection(model, running.version), steps_named(model, names))
    assert walk is not None
    answer = running.beyond(model, walk.steps, more, cells)
    assert (answer.failures, answer.stopped) == ({}, "")
    return answer.states[-1].tolist()


def test_a_release_without_tasks_of_their_own_is_refused():
    with pytest.raises(UsageError, match=r"valid are 3\.9\.0 and newer"):
        TieredBrokers("3.6.2")
