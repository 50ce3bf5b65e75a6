"""What an application keeps: its settings as models, and the fewest faults that break a promise."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from checker.api.applications import ask_application
from checker.core.search.allowance import Allowance
from checker.kafka.guarantees import promises
from checker.kafka.guarantees.applications import Application, describe_application
from checker.kafka.guarantees.facets import Facet
from checker.kafka.guarantees.known_bugs import concerning
from checker.kafka.guarantees.promises import kept_by, searched
from model.language.declare.settings import as_text
from model.language.errors import UsageError

EXACTLY_ONCE = {"processing.guarantee": "exactly_once_v2"}


def described(kafka: str, settings: dict[str, str], clients: str | None = None) -> Application:
    return describe_application(kafka, [], settings, clients)


def rules(facet: Facet) -> dict[str, str]:
    return as_text(facet.choice.model.settings)


def models(application: Application) -> list[str]:
    return [facet.choice.protocol for facet in application.facets]


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        (EXACTLY_ONCE, ["kafka_transactions", "kafka_producer", "kafka_streams"]),
        ({"transactional.id": "a"}, ["kafka_transactions", "kafka_producer"]),
        ({"application.id": "a"}, ["kafka_producer", "kafka_group"]),
        ({"acks": "1"}, ["kafka_producer"]),
        ({"isolation.level": "read_committed"}, ["kafka_group"]),
        ({"acks": "1", "group.id": "a"}, ["kafka_producer", "kafka_group"]),
    ],
)
def test_what_is_configured_says_which_models_answer(settings, wanted):
    assert models(described("4.1", settings)) == wanted


def test_each_rule_is_that_of_the_side_that_has_it():
    old = {"acks": "all"}
    (facet,) = described("2.4", old, "4.1").facets
    assert (rules(facet)["first.sequence"], rules(facet)["enable.idempotence"]) == ("zero", "true")
    (facet,) = described("4.1", old, "2.4").facets
    assert (rules(facet)["first.sequence"], rules(facet)["enable.idempotence"]) == ("any", "false")


def test_the_rules_are_those_of_the_very_release():
    told = [rules(described(f"3.9.{n}", EXACTLY_ONCE).facets[0]) for n in (1, 2)]
    assert [each["stale.epoch.is.told"] for each in told] == ["false", "true"]


@pytest.mark.parametrize(
    ("brokers", "clients", "settings", "version"),
    [
        ("3.9", "3.9", {}, "0"),
        ("4.1", "4.1", {}, "2"),
        ("4.1", "3.9", {}, "0"),
        ("4.1", "3.9", {"transaction.version": "2"}, "0"),
        ("4.1", "4.1", {"transaction.version": "1"}, "0"),
    ],
)
def test_both_sides_have_to_know_a_transaction_version(brokers, clients, settings, version):
    found = described(brokers, EXACTLY_ONCE | settings, clients)
    assert rules(found.facets[0])["transaction.version"] == version


def test_a_transactional_producer_aborts_in_place_of_a_new_epoch_and_of_a_restart():
    producer = described("4.1", EXACTLY_ONCE).facets[1]
    assert producer.sizes["epoch_bumps"] == 0 and "producer_restarts" not in producer.faults
    assert rules(producer)["acks"] == "all"


def test_a_fault_that_the_settings_rule_out_is_not_searched():
    assert "power_losses" not in described("4.1", {"acks": "all"}).facets[0].possible
    assert "power_losses" in described("4.1", {"acks": "1"}).facets[0].possible


def test_files_of_streams_have_prefixes_and_other_keys(tmp_path):
    file = tmp_path / "app.properties"
    file.write_text("application.id=a\nproducer.acks=1\nproducer.linger.ms=5\nnum.stream.threads=2")
    found = describe_application("4.1", [file])
    assert rules(found.facets[0])["acks"] == "1"
    assert found.ignored == ("num.stream.threads",) and "linger.ms" in found.unused
    assert [told.name for told in found.read] == ["application.id", "acks"]


def test_readers_of_what_is_not_committed_see_what_is_aborted():
    (stated,) = described(
        "4.1", {"transactional.id": "a", "isolation.level": "read_uncommitted"}
    ).stated
    assert stated.is_kept is False and stated.instead == "isolation.level=read_committed"


@pytest.mark.parametrize(
    ("kafka", "settings", "words"),
    [
        ("0.10.2", {}, "0.11 to 4.4"),
        ("4.1", {"processing.guarantee": "exactly_once"}, "at_least_once, exactly_once_v2"),
        ("2.4", EXACTLY_ONCE, "begins with 2.6"),
        ("3.9", EXACTLY_ONCE | {"transaction.version": "2"}, "has no such version"),
        ("4.1", {"transactional.id": "a", "acks": "1"}, "refuses it of a transactional"),
        ("4.1", {"transactional.id": "a", "enable.idempotence": "false"}, "refuses it"),
        ("4.1", {"acks": "2"}, "acks"),
        ("4.1", {"isolation.level": "x", "transactional.id": "a"}, "valid are read_committed"),
        ("3.9", {"group.id": "a", "group.protocol": "consumer"}, "modelled from 4.0 on"),
        ("4.1", {"min.insync.replicas": "2"}, "no key of an application"),
    ],
)
def test_what_cannot_be_asked_is_refused(kafka, settings, words):
    with pytest.raises(UsageError, match=words):
        described(kafka, settings)


def test_a_fault_that_no_model_has_is_refused():
    with pytest.raises(UsageError, match="fault of this application"):
        ask_application("4.1", settings={"acks": "1"}, faults={"late_markers": 1})


# --- sets of faults, with searches that a table answers ------------------------------------------


@dataclass
class Judge:
    """Which sets of faults break which property; with other settings, which those break."""

    breaks: dict[str, list[dict[str, int]]]
    instead: dict[str, list[dict[str, int]]] = field(default_factory=dict)
    asked: list[tuple[dict[str, int], list[str]]] = field(default_factory=list)

    def cells(self, choice: Any, columns: Any, budget: Any) -> tuple[Any, ...]:
        now = {n: c for n, c in choice.bounds.items() if c and n in FAULTS}
        table = self.instead if choice.settings.get("acks") == "all" else self.breaks
        self.asked.append((now, [column.properties[0] for column in columns]))
        return tuple(Cell(column, now, table.get(column.properties[0], [])) for column in columns)


@dataclass
class Cell:
    column: Any
    now: dict[str, int]
    sets: list[dict[str, int]]

    @property
    def is_violated(self) -> bool:
        return any(all(self.now.get(n, 0) >= c for n, c in each.items()) for each in self.sets)

    @property
    def found(self) -> dict[str, Any]:
        return {"depth": 3, "property": self.column.properties[0]}


FACET = described("4.1", {"acks": "1"}).facets[0]
FAULTS = FACET.faults
IN_LOG, TWICE, ORDER = (column.properties[0] for column in FACET.columns)


def judged(monkeypatch, judge: Judge, most: int, faults: dict[str, int] | None = None) -> Any:
    monkeypatch.setattr(promises, "judged_cells", judge.cells)
    monkeypatch.setattr(promises, "is_safe", lambda cell: not cell.is_violated)
    return searched([FACET], faults or {}, most, Allowance(100, 100), lambda _: None)


def test_the_smallest_sets_are_found_and_no_larger_ones(monkeypatch):
    judge = Judge({
        IN_LOG: [{"power_losses": 1}, {"leader_changes": 1, "deletions": 1}],
        TWICE: [{"broker_errors": 2}, {"broker_errors": 1, "late_requests": 1}],
    })  # fmt: skip
    first, second, third = judged(monkeypatch, judge, 2)
    assert [dict(each.faults) for each in first.broken] == [{"power_losses": 1}]
    assert [dict(each.faults) for each in second.broken] == [
        {"broker_errors": 2}, {"broker_errors": 1, "late_requests": 1}
    ]  # fmt: skip
    assert (third.broken, third.searched, third.is_decided) == ((), 2, True)
    pairs = [names for now, names in judge.asked if sum(now.values()) == 2]
    assert pairs and all(IN_LOG not in names for names in pairs)


def test_faults_that_are_named_happen_no_more_often_than_is_said(monkeypatch):
    judge = Judge({TWICE: [{"broker_errors": 2}], ORDER: [{"deletions": 1}]})
    found = judged(monkeypatch, judge, 3, {"broker_errors": 1, "late_requests": 2})
    assert not any(promise.broken for promise in found)
    assert max(now.get("broker_errors", 0) for now, _ in judge.asked) == 1
    assert max(now.get("late_requests", 0) for now, _ in judge.asked) == 2


def test_a_change_keeps_a_promise_under_all_its_sets_and_breaks_no_other(monkeypatch):
    lost = {IN_LOG: [{"power_losses": 1}, {"leader_changes": 1}]}
    for instead, kept in (
        ({}, True),
        ({IN_LOG: [{"leader_changes": 1}]}, False),
        ({TWICE: [{"leader_changes": 1}]}, False),
    ):
        found = judged(monkeypatch, Judge(lost, instead), 1)
        broken = [promise for promise in found if promise.broken]
        changes, all_tried = kept_by(broken, found, Allowance(100, 100), lambda _: None)
        named = [each.change.words for each in changes if each.change.words == "acks=all"]
        assert (bool(named), all_tried) == (kept, True)


# --- and with the models -------------------------------------------------------------------------


@pytest.mark.slow
def test_a_late_marker_ends_the_next_transaction_before_4_2():
    answer = ask_application(
        "3.9", settings=EXACTLY_ONCE, faults={"late_markers": 1}, max_seconds=600
    )
    assert not answer and answer.traces["commits_were_requested"].depth == 19
    aborted = answer.promises[0]
    assert [dict(each.faults) for each in aborted.broken] == [{"late_markers": 1}]
    assert answer.changes[0].change.words == "brokers and clients of 4.2 with transaction.version=2"
    assert "broken by late markers 1 (19 steps)" in str(answer)


@pytest.mark.slow
def test_acks_1_loses_with_the_power_and_acks_all_does_not():
    answer = ask_application(
        "4.1", settings={"acks": "1", "enable.idempotence": "false"}, max_seconds=600,
        faults={"power_losses": 1},
    )  # fmt: skip
    assert [p.column.name for p in answer.promises if p.broken] == [
        "acknowledged records are in a log"
    ]
    assert answer.changes[0].change.words == "acks=all"


@pytest.mark.slow
@pytest.mark.parametrize(("kafka", "broken"), [("4.0", False), ("3.9", True)])
def test_a_task_of_streams_processes_each_input_once_unless_kafka_17507_is_there(kafka, broken):
    """3.9 is 3.9.0 here, where a group takes offsets over after the transaction is complete."""
    streams = described(kafka, EXACTLY_ONCE).facets[-1]
    found = searched([streams], {}, 2, Allowance(600, 2_000_000), lambda _: None)
    assert [promise.column.name for promise in found] == [
        "each input is processed once", "no input is skipped"
    ]  # fmt: skip
    for promise in found:
        assert (promise.searched, bool(promise.broken)) == (2, broken)
        assert all("late_completions" in dict(each.faults) for each in promise.broken)


def concerns(kafka: str, faults: dict[str, int], settings: dict[str, str]) -> dict[str, Any]:
    """The known bugs with the faults that they take."""
    facets = described(kafka, settings).facets
    return {one.bug.name: dict(one.faults) for one in concerning(facets, faults, 2)}


@pytest.mark.parametrize(
    ("kafka", "settings", "faults", "named", "not_named"),
    [
        ("4.3.1", EXACTLY_ONCE, {"coordinator_failovers": 2}, {"0034"}, {"0036", "141", "158"}),
        ("4.3.1", EXACTLY_ONCE, {"coordinator_failovers": 1}, set(), {"0034"}),
        ("4.1.0", EXACTLY_ONCE, {"late_markers": 1}, {"142"}, {"0034", "141"}),
        ("3.9.1", EXACTLY_ONCE, {"late_markers": 1}, set(), {"142"}),
        ("3.9.0", EXACTLY_ONCE, {"rebalances": 1, "late_completions": 1}, {"179"}, {"157"}),
        ("3.9.1", EXACTLY_ONCE, {"rebalances": 1, "late_completions": 1}, set(), {"179"}),
        ("3.4.0", {"transactional.id": "a"}, {"late_produces": 1}, {"141"}, {"179"}),
    ],
)
def test_a_known_bug_is_named_if_releases_and_faults_have_what_it_takes(
    kafka, settings, faults, named, not_named
):
    found = concerns(kafka, faults, settings)
    assert found.keys() >= named and not found.keys() & not_named
    assert all(needed.items() <= faults.items() for needed in found.values())


def test_without_named_faults_those_bugs_are_named_that_take_no_more_of_them():
    found = concerns("4.3.1", {}, EXACTLY_ONCE)
    assert found["0034"] == {"coordinator_failovers": 2}
    assert all(sum(needed.values()) <= 2 for needed in found.values())
