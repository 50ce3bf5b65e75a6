"""The tables of the conformance harness are whole, and what compares can say no."""

import re
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from checker.core.engines.reference import ReferenceEngine
from checker.core.traces.trace import Trace, TraceVerdict
from checker.kafka.conformance import (
    quorums,
    tiers,
    transactions,
    wrong_quorums,
    wrong_transactions,
)
from checker.kafka.conformance.brokers import NOT_COMPARED, TABLE
from checker.kafka.conformance.compare import Kind, allowed_row, allowed_rows, compare
from checker.kafka.conformance.compared import QUORUMS, TIERS, TRANSACTIONS
from checker.kafka.conformance.harness import Harness, sources
from checker.kafka.conformance.observed import MEANS
from checker.kafka.conformance.plan import models, settings_of
from checker.kafka.conformance.process import Answer
from checker.kafka.conformance.projection import Projection
from checker.kafka.conformance.replays import (
    AT_ONCE,
    Cell,
    cell,
    departure,
    release_model,
    settings_named,
)
from checker.kafka.conformance.rows import NOTHING
from checker.kafka.conformance.sensitivity import Against, differing_walks, with_setting
from checker.kafka.conformance.table import BEGIN, END, Table, Traces, columns
from checker.kafka.conformance.walks import Walker
from checker.kafka.releases.jars import releases
from checker.lab.experiments.cases import read_case
from checker.telling.report.pages import part_of, with_part
from model.kafka.protocol import KAFKA
from model.kafka_tiered.protocol import KAFKA_TIERED
from model.kafka_transactions.protocol import KAFKA_TRANSACTIONS
from model.kraft.protocol import KRAFT
from model.language.errors import UsageError

JAVA = Path("checker/kafka/conformance/java")
CASES = Path("counterexamples/kafka")


@pytest.mark.parametrize(
    ("protocol", "table", "left_out"),
    [
        (KAFKA, TABLE, NOT_COMPARED),
        (KRAFT, quorums.TABLE, quorums.NOT_COMPARED),
        (KAFKA_TRANSACTIONS, transactions.TABLE, transactions.NOT_COMPARED),
        (KAFKA_TIERED, tiers.TABLE, tiers.NOT_COMPARED),
    ],
    ids=["kafka", "kraft", "kafka_transactions", "kafka_tiered"],
)
def test_every_variable_is_compared_or_has_a_reason(protocol, table, left_out):
    compared = {row.variable for row in table}
    for name in protocol.schema.variables:
        parts = {name, name.rpartition(".")[0], name.partition(".")[0]}
        assert (name in compared) != bool(parts & left_out.keys()), name


def _names(file, pattern):
    return re.findall(pattern, (JAVA / file).read_text("utf-8"))


def test_every_row_has_a_reader():
    readers = set(_names("common/Projection.java", r'case "([^"]+)" ->'))
    known = {row.name for row in TABLE}
    assert known <= readers
    assert readers - known <= {"consumer.processed", "consumer.committed"}
    readers = set(_names("kraft/RaftNumbers.java", r'readers\.put\("([^"]+)"'))
    assert readers == {row.name for row in quorums.TABLE}
    readers = set(_names("coordinator/TxnNumbers.java", r'readers\.put\("([^"]+)"'))
    assert readers == {row.name for row in transactions.TABLE}
    readers = set(_names("tiered/TieredNumbers.java", r'readers\.put\("([^"]+)",'))
    of_brokers = r'put\("([^"]+)" \+ b(?: \+ "([^"]+)")?,'
    for start, end in _names("tiered/TieredNumbers.java", of_brokers):
        readers |= {f"{start}{broker}{end}" for broker in range(2)}
    assert readers == {row.name for row in tiers.rows(KAFKA_TIERED.model(), "4.3.1")}


def test_every_action_is_mapped_and_nothing_else():
    mapped = _names("common/Steps.java", r'entry\("(\w+)"')
    assert sorted(mapped) == sorted(action.name for action in KAFKA.actions)
    mapped = _names("kraft/RaftActions.java", r'put\("(\w+)"')
    assert sorted(mapped) == sorted(action.name for action in KRAFT.actions)
    mapped = _names("coordinator/TxnActions.java", r'put\("(\w+)"')
    taken = {action.name for action in KAFKA_TRANSACTIONS.actions} - transactions.NOT_TAKEN.keys()
    assert sorted(mapped) == sorted(taken)
    mapped = _names("tiered/TieredActions.java", r'put\("(\w+)"')
    assert sorted(mapped) == sorted(action.name for action in KAFKA_TIERED.actions)


@pytest.mark.parametrize(
    ("of", "unseen"),
    [
        (QUORUMS, wrong_quorums.UNSEEN),
        (TRANSACTIONS, wrong_transactions.UNSEEN),
        (TIERS, {}),
    ],
    ids=["kraft", "kafka_transactions", "kafka_tiered"],
)
def test_every_setting_is_tried_wrong(of, unseen):
    settings = set(settings_named(of.protocol.model()))
    assert settings == of.wrong.keys() | unseen.keys()
    assert not of.wrong.keys() & unseen.keys()


@pytest.mark.parametrize(
    ("setting", "value", "parts"),
    [("pre.vote", "true", False), ("pre.vote", "false", True), ("observers", "1", True)],
)
def test_a_model_parts_from_walks_of_another_where_it_takes_no_such_step(setting, value, parts):
    model = KRAFT.model({"appends": 1}, quorums.settings_of("4.3.1"))
    walker = Walker(model, "4.3.1", 3)
    walks = list(walker.walks(4, 20))
    other = with_setting(model, setting, value)
    found = Against(other, "4.3.1").partings(walker.projection, walks)
    for walk, parting in zip(walks, found, strict=True):
        trace = Trace(model, None, TraceVerdict.RUN, _states(walk), walk.steps)
        if setting == "observers":
            assert parting is not None and parting.step == 0
        else:
            assert (parting and parting.step) == departure(trace, other, "4.3.1")
    assert any(found) is parts


@pytest.mark.parametrize(("value", "kept"), [("true", 0), ("false", 4)])
def test_walks_that_another_model_takes_alike_are_not_taken_on_kafka(value, kept):
    model = KRAFT.model({"appends": 1}, quorums.settings_of("4.3.1"))
    walker = Walker(model, "4.3.1", 3)
    walks = list(walker.walks(4, 20))
    against = Against(with_setting(model, "pre.vote", value), "4.3.1")
    chosen = differing_walks(against, walker.projection, walks)
    assert len(chosen) == kept
    assert all(against.partings(walker.projection, chosen))


def test_what_the_driver_does_means_actions_that_there_are():
    names = {action.name for action in KAFKA.actions}
    assert all(set(actions) <= names for actions in MEANS.values())
    driven = set(re.findall(r'event\("([^"]+)"', (JAVA / "common/Driver.java").read_text("utf-8")))
    assert driven == MEANS.keys()


@pytest.mark.parametrize("version", releases())
def test_every_release_has_each_adapter_once(version):
    adapters = [path.name for path in sources(version) if path.parent.name.startswith("since-")]
    assert sorted(adapters) == [
        "LastingFetchers.java",
        "SteppedFetcher.java",
        "SteppedFetchers.java",
    ]


def test_the_adapter_is_the_newest_that_is_not_newer():
    assert "since-4.0" in {path.parent.name for path in sources("4.0.1")}
    with pytest.raises(UsageError, match=r"no adapter for Kafka 3\.4\.0"):
        sources("3.4.0")


def test_allowed_rows_have_reasons_and_cover_nothing_else():
    assert all(row.reason.strip() for row in allowed_rows())
    early = Kind("controller_elect_last_known_leader", ("brokers.leader", "brokers.leader_epoch"))
    assert allowed_row(early, "4.1.0") is not None
    fenced = Kind("broker_restart", ("brokers.leader", "controller.leader"))
    assert allowed_row(fenced, "4.0.1") is not None
    assert allowed_row(fenced, "4.1.0") is None
    log = Kind("controller_elect_last_known_leader", ("brokers.leader", "brokers.log.end"))
    assert allowed_row(log, "4.1.0") is None
    failed = Kind("controller_elect_last_known_leader", ("brokers.leader",), "no request")
    assert allowed_row(failed, "4.1.0") is None


@pytest.fixture(scope="module")
def walked():
    """The walks of a seed, and what of them is compared."""
    model = models("4.1.0", {}, {"min.insync.replicas": "2", "isr.answer.apart": "true"})[0]
    walker = Walker(model, "4.1.0", 7)
    return walker.projection, list(walker.walks(4, 20))


@pytest.mark.slow
def test_a_seed_gives_the_same_walks(walked):
    walks = walked[1]
    again = next(iter(Walker(walks[0].model, "4.1.0", 7).walks(4, 20)))
    assert again.steps == walks[0].steps


def _states(walk):
    """The walk's states by the reference engine."""
    engine = ReferenceEngine(walk.model)
    states = [engine.initial()]
    for step in walk.steps:
        after = engine.step(states[-1], step)
        assert after is not None
        states.append(after)
    return tuple(states)


def test_expected_states_are_those_of_the_reference_engine(walked):
    projection, walks = walked
    for walk in walks[:1]:
        assert (projection.of_states(_states(walk)) == walk.expected).all()


def test_a_state_that_differs_is_told(walked):
    projection, walks = walked
    walk = walks[0]
    right = walk.expected.astype(np.int64)
    assert compare(projection, walk.steps, walk.expected, Answer(right)).difference is None
    wrong = right.copy()
    wrong[5, 3] += 1
    found = compare(projection, walk.steps, walk.expected, Answer(wrong)).difference
    assert found is not None and found.step == 5
    assert found.numbers[0][0] == projection.label(3)
    unseen = right.copy()
    unseen[5, 3] = NOTHING
    assert compare(projection, walk.steps, walk.expected, Answer(unseen)).difference is None


@pytest.mark.slow
def test_a_step_that_kafka_could_not_take_is_told(walked):
    projection, walks = walked
    walk = walks[0]
    right = walk.expected.astype(np.int64)
    refused = Answer(right, failures={4: ["the leader does not ask for 2"]})
    found = compare(projection, walk.steps, walk.expected, refused).difference
    assert found is not None and (found.step, found.kind.failure) == (
        4,
        "the leader does not ask for #",
    )
    stopped = compare(projection, walk.steps, walk.expected, Answer(right[:3], stopped="gone"))
    assert stopped.difference is not None and stopped.difference.step == 3


def test_a_patch_has_the_fix_of_its_patch():
    key = "answer.matches.request.epoch"
    has = {v: settings_of(v)[key] for v in ("3.8.1", "3.9.0", "3.9.1", "4.0.0", "4.0.1", "4.1.0")}
    assert list(has.values()) == ["false", "false", "true", "false", "true", "true"]


@pytest.mark.parametrize(
    ("case", "version", "step"),
    [
        ("18-an_answer_from_an_earlier_epoch", "3.9.0", None),
        ("18-an_answer_from_an_earlier_epoch", "3.9.1", 12),
        ("36-positions_from_a_missed_epoch", "4.3.1", None),
        ("14-a_diverging_fetch_is_counted", "3.6.2", 8),
    ],
)
def test_the_model_of_a_release_predicts_where_it_departs(case, version, step):
    traces = Traces(read_case(CASES / case), read_case(CASES / case).stored_trace())
    trace, _ = traces.for_release(version)
    assert trace is not None
    assert departure(trace, release_model(trace.model, version), version) == step


class Silent:
    """Stands in for a harness whose classes cannot be made: no state, and why."""

    version, fix = "4.3.1", ""

    def run(self, model, projection, steps):
        return Answer(np.zeros((0, len(projection.rows)), np.int64), stopped="no such class")


@pytest.mark.parametrize(
    "case", ["36-positions_from_a_missed_epoch", "18-an_answer_from_an_earlier_epoch"]
)
def test_what_fails_before_any_step_is_no_agreement(case):
    found = cell(cast(Harness, Silent()), read_case(CASES / case).stored_trace())
    assert (found.step, found.words, found.is_right) == (AT_ONCE, "no such class", False)
    assert found.text.startswith("start (predicted ")


def test_a_projection_leaves_out_what_the_release_has_not():
    model = KAFKA.model({}, settings_of("3.9.1"))
    names = {row.variable for row, _ in Projection(model, "3.9.1").rows}
    assert "controller.eligible" not in names
    assert "controller.eligible" in {row.variable for row, _ in Projection(model, "4.0.0").rows}


def test_a_page_gets_its_table_between_the_marks():
    table = Table(
        ("3.9.0", "4.1.0"), {"x": {"3.9.0": Cell(0, 0, ""), "4.1.0": Cell(3, 4, "w")}}, {"x": 9}
    )
    page = with_part(f"before\n{BEGIN}\nold\n{END}\nafter", BEGIN, END, table.markdown())
    assert page.startswith("before\n") and page.endswith("\nafter") and "old" not in page
    assert "| 9 | end | 3 (predicted 4) |" in page
    assert table.wrong == [("x", "4.1.0", Cell(3, 4, "w"))]
    assert columns(part_of(page, BEGIN, END)) == table.versions
    assert columns("no table yet") == ()


@pytest.mark.parametrize(
    "page",
    ["", BEGIN, END, f"{BEGIN} x {BEGIN} {END}", f"{BEGIN} x {END} {END}", f"{END} {BEGIN} {END}"],
)
def test_a_page_without_its_marks_is_refused_and_left_alone(page):
    with pytest.raises(UsageError, match="the page needs one line"):
        with_part(page, BEGIN, END, "table")


def test_a_fix_that_no_setting_says_is_refused_with_what_shows_it():
    with pytest.raises(UsageError, match=r"no setting of the model says .* --patched"):
        release_model(KAFKA.model(), "4.3.1", "0040-looked-up-in-each-epoch")
