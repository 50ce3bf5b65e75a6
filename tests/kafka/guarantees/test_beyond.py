"""What is known to be lost beyond an answer's bounds is a run of the cluster asked about."""

from __future__ import annotations

import shlex
from functools import cache

import pytest

from checker.core.traces.trace import build_trace
from checker.kafka.guarantees.beyond import known_beyond
from checker.lab.experiments.cases import stored_cases
from checker.lab.experiments.choices import Choice, steps_named
from model.kafka.protocol import KAFKA

TWO = {"min.insync.replicas": "2"}
CASES = {case.name: case for case in stored_cases()}


def cluster(preset, replicas=3, **settings):
    return Choice("kafka", preset, TWO | settings, {"crashes": 1, "replicas": replicas})


@cache
def beyond(preset, replicas=3, **settings):
    """What is known beyond a cluster's bounds: each stored loss is tried by its rules."""
    return known_beyond(cluster(preset, replicas, **settings))


def names(preset, **settings):
    return {known.case for known in beyond(preset, **settings)}


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["kafka-3.9.1", "kafka-4.1", "kafka-4.3"])
def test_what_is_known_happens_by_the_rules_of_the_cluster(preset):
    choice = cluster(preset)
    found = beyond(preset)
    assert found
    for known in found:
        case, bounds = CASES[known.case], CASES[known.case].broken.bounds
        surroundings = {
            name: value
            for name, value in case.broken.settings.items()
            if name not in KAFKA.preset(preset) and name not in TWO
        }
        fine = {name: value for name, value in case.broken.settings.items() if "answer" in name}
        fine.setdefault("fetch.answers", str(case.broken.model.settings.fetch_answers))
        model = KAFKA.model(bounds, choice.settings | surroundings | fine, preset)
        trace = build_trace(model, steps_named(model, case.steps), case.violates)
        assert trace.depth == known.steps
        assert f"--preset {preset} " in f"{known.explored} "
        assert sum(known.takes.values()) > 0


@pytest.mark.slow
def test_a_fix_of_a_release_takes_its_case_away():
    older, newer, fixed = map(names, ("kafka-4.1", "kafka-4.3", "kafka-fixed"))
    assert {case for case in older - newer if case.startswith("39-")}
    assert not {case for case in newer if case.startswith("39-")}
    assert {case for case in newer if case.startswith("36-")}
    assert fixed == {
        "84-an_unregistered_broker_is_taken_for_unclean",
        "86-a_truncation_that_a_power_loss_undoes",
    }


@pytest.mark.slow
def test_broker_epochs_are_checked_with_kraft_only():
    name = "22-a_replica_joins_with_an_empty_disk"
    assert name in names("kafka-3.9.1-zookeeper") - names("kafka-3.9.1")


def test_what_an_operator_sets_takes_cases_away():
    flushed = names("kafka-4.0", **{"log.flush.interval.messages": "1"})
    assert names("kafka-4.0") - flushed >= {"27-last_replica_standing"}


def test_what_the_cluster_has_not_takes_cases_away():
    """Finding 0014 takes a first partition with fewer replicas, and no fault brings that about."""
    name, first = "87-the_first_partition_has_one_replica", "first.partition.replicas"
    assert name not in names("kafka-4.3")
    assert name in names("kafka-4.3", **{first: "1"})


def test_each_loss_says_which_bug_it_is():
    about = {known.case: known.about for known in beyond("kafka-4.3")}
    assert about["37-a_pending_isr_member_is_forgotten"] == "finding 0002"
    assert about["49-an_append_is_checked_in_two_parts"].startswith("KAFKA-1148")
    assert not any("Catalogue" in words for words in about.values())


def test_cases_with_other_numbers_of_replicas_say_nothing():
    assert beyond("kafka-4.3", replicas=5) == ()


@pytest.mark.slow
def test_few_faults_come_first_and_each_is_told_in_a_line():
    found = beyond("kafka-4.3")
    faults = [sum(known.takes.values()) for known in found]
    assert faults == sorted(faults)
    (moved,) = (known for known in found if known.case.startswith("43-"))
    assert moved.words == (
        "shutdowns 2, replica moves 2, replication.factor=2: acknowledged records lost in 16 "
        "steps: 43-a_replica_is_moved_away_and_back (finding 0004)"
    )
    assert "--set replication.factor=2" in shlex.join(shlex.split(moved.explored))
