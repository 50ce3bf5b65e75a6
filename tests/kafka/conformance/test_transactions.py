"""Kafka's own coordinators and partitions take the steps of the model, and no other model's."""

from pathlib import Path

import pytest

from checker.core.engines.reference import ReferenceEngine
from checker.kafka.conformance.compare import Tally, compare_walks
from checker.kafka.conformance.compared import TRANSACTIONS
from checker.kafka.conformance.coordinators import TransactionCoordinators
from checker.kafka.conformance.cover import cover
from checker.kafka.conformance.replays import cell
from checker.kafka.conformance.sensitivity import sensitivity
from checker.kafka.conformance.walks import Walker
from checker.lab.experiments.cases import read_case
from model.kafka_transactions.protocol import KAFKA_TRANSACTIONS
from model.language.errors import UsageError
from tests.support.tiers import RELEASES, first_and_nightly, nightly

pytestmark = [pytest.mark.kafka, pytest.mark.xdist_group("coordinators")]
RELEASED = ("4.3.1", "4.1.0", "4.0.1", "3.9.1")
VERSIONS = first_and_nightly(RELEASES, *RELEASED)
WALKS = "the engines of five models are compiled"
CASES = Path("counterexamples/kafka_transactions")
_KEPT: dict[str, TransactionCoordinators] = {}


@pytest.fixture(scope="module", autouse=True)
def _kept():
    """Coordinators of the release that was asked last run on until another is asked."""
    yield
    while _KEPT:
        _KEPT.popitem()[1].__exit__(None, None, None)


def running(version):
    """Coordinators of a release, which run on for the next test."""
    if version not in _KEPT:
        while _KEPT:
            _KEPT.popitem()[1].__exit__(None, None, None)
        _KEPT[version] = TransactionCoordinators(version).__enter__()
    return _KEPT[version]


@pytest.mark.slow
def test_coordinators_and_partitions_take_walks_of_the_model():
    """With version 2; the others at night."""
    _take_walks("4.3.1", 1)


@pytest.mark.parametrize("version", [nightly(RELEASES, version) for version in RELEASED])
def test_coordinators_of_each_release_take_walks_of_each_model(version):
    _take_walks(version, None)


def _take_walks(version, models):
    tally = Tally(version)
    for model in TRANSACTIONS.models(version, {}, {}, None)[:models]:
        walker = Walker(model, version, 7)
        compare_walks(running(version), walker.projection, walker.walks(10, 40), tally)
    assert tally.unknown == [], [tally.shortest(kind) for kind in tally.unknown]
    assert tally.agreed > 200


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    "case",
    (
        "170-decided_by_an_uncommitted_record",
        "170-a_partition_is_added_by_a_record_that_is_lost",
        "171-an_abandoned_load_sends_markers",
        "172-a_failed_load_is_acted_on",
        "173-answered_by_an_old_coordinator",
        "173-verified_by_an_old_coordinator",
        "142-a_late_marker",
        "155-verified_and_then_aborted",
        "157-a_fatal_error_for_a_stale_epoch",
        "158-an_epoch_that_was_not_logged",
        "159-a_retried_marker_is_refused",
    ),
)
def test_a_stored_trace_parts_from_the_classes_where_the_model_of_the_release_does(case, version):
    """The suspects' traces, which no release prevents, are taken to their end."""
    found = cell(running(version), read_case(CASES / case).stored_trace())
    assert found.is_right, found.words
    if "170" <= case < "174" and version == "4.3.1":
        assert found.step == 0


@pytest.mark.nightly(WALKS)
@pytest.mark.parametrize("transaction_version", ["2", "0"])
def test_every_step_of_a_small_graph_is_taken(transaction_version):
    bounds = {"coordinator_failovers": 1, "load_failures": 1}
    settings = {"transaction.version": transaction_version}
    (model,) = TRANSACTIONS.covered_models("4.3.1", bounds, settings, None)
    tally = Tally("4.3.1")
    found = cover(running("4.3.1"), model, tally)
    assert tally.unknown == [], [tally.shortest(kind) for kind in tally.unknown]
    assert (found.behind, found.disagreed) == (0, set())
    assert "coordinator_fail_to_load" in tally.actions


@pytest.mark.nightly(WALKS)
@pytest.mark.parametrize("setting", TRANSACTIONS.wrong)
def test_a_wrong_model_is_noticed(setting):
    (found,) = sensitivity("4.3.1", seed=1, most=8_000, steps=60, chosen=[setting], of=TRANSACTIONS)
    assert found.states is not None
    assert found.difference is not None and "no action" not in found.difference.words


def test_what_the_model_takes_for_dead_is_compared_in_walks_and_blank_in_stored_traces():
    """The coordinator that was replaced has led, and its cache is still there."""
    for blank, has in (("true", False), ("false", True)):
        bounds = {"coordinator_failovers": 1}
        model = KAFKA_TRANSACTIONS.model(bounds, {"dead.values.are.blank": blank})
        engine = ReferenceEngine(model)
        fails = [each for each in model.instances if each.action.name == "coordinator_fail_over"]
        after = next(filter(None, (engine.step(engine.initial(), each) for each in fails)), None)
        assert after is not None
        assert bool(after[model.positions["coordinators.status", (0,)]]) is has


def test_an_older_release_is_refused():
    with pytest.raises(UsageError, match=r"valid are 3\.9\.0 and newer"):
        TransactionCoordinators("3.8.1")
