"""Which rules a release has, and the preset that stands for it."""

from itertools import pairwise
from pathlib import Path

import pytest

from checker.kafka.conformance.plan import COMPARED, VARIED
from checker.kafka.guarantees.releases import mode_of
from checker.kafka.tables.releases import with_quorum_table, with_release_tables
from checker.lab.experiments.choices import Choice
from checker.lab.hunting.plan import plan_of
from model.kafka.choices import UpgradeTo
from model.kafka.presets import PRESETS, of_preset, preset_of
from model.kafka.protocol import KAFKA
from model.kafka.releases import RULES, SERIES, WHOSE, is_of_a_series, rules_of
from model.kafka.settings.modes import modes_of
from model.kafka.settings.whose import Whose
from model.kraft.protocol import KRAFT
from model.language import Role
from model.language.declare.history import version_of
from model.language.declare.settings import as_text, describe, named
from model.language.errors import UsageError
from model.protocols import releases_with, setting_sources

ROOT = Path(__file__).parents[3]
CHANGES = sorted({since for rule in RULES.values() for _, first in rule.values for since in first})
RELEASES = sorted({*CHANGES, *map(version_of, SERIES), *(version_of(f"{s}.1") for s in SERIES)})


@pytest.mark.parametrize("version", RELEASES, ids=lambda v: ".".join(map(str, v)))
def test_every_release_has_a_preset_with_its_rules(version):
    for mode in modes_of(version):
        preset = preset_of(version, mode)
        assert PRESETS[preset] == rules_of(version, mode)
        assert of_preset(preset)[1] == mode_of(preset) == mode


@pytest.mark.parametrize(
    ("setting", "value", "told"),
    [
        ("hw.frozen.below.min.isr", "true", "since 3.7.0"),
        ("hw.frozen.below.min.isr", "false", "before 3.7.0"),
        ("epoch.file", "unsynced", "since 3.7.0, before 3.8.0"),
        ("empty.answer.keeps.fetched.epoch", "true", "before 3.5.1 and since 3.7.0"),
        ("reassignment.waits.for.all", "true", "before 4.3.0"),  # the fix of 60, taken back
        ("min.insync.replicas", "1", "since 0.8.2"),
        ("min.insync.replicas", "3", ""),
        ("reset.follower.leo.every.epoch", "true", ""),
        ("log.start.file", "at_once", None),
    ],
)
def test_which_releases_have_a_value_is_told_by_the_table(setting, value, told):
    assert releases_with(KAFKA, setting, value) == told


def test_a_fix_of_several_lines_counts_in_each_from_its_first_release_there():
    has = {
        version: rules_of(version_of(version))["answer.matches.request.epoch"]
        for version in ("3.8.9", "3.9.0", "3.9.1", "3.9.2", "4.0.0", "4.0.1", "4.0.9", "4.1.0")
    }
    assert [version for version, value in has.items() if value == "true"] == [
        "3.9.1", "3.9.2", "4.0.1", "4.0.9", "4.1.0"
    ]  # fmt: skip


def test_what_was_lost_again_is_lost_as_long_as_it_was():
    values = [
        rules_of(version_of(version))["empty.answer.keeps.fetched.epoch"]
        for version in ("3.5.0", "3.5.1", "3.6.2", "3.7.0")
    ]
    assert values == ["true", "false", "false", "true"]


@pytest.mark.parametrize(
    ("version", "preset"),
    [
        ("0.9.0.1", "kafka-0.10"), ("1.1.1", "kafka-0.11"), ("2.0.1", "kafka-2.0.1"),
        ("2.5.1", "kafka-2.4.1"), ("3.2.3", "kafka-3.0"), ("3.6.2", "kafka-3.6"),
        ("3.8.1", "kafka-3.8"), ("3.9.2", "kafka-3.9.1"), ("4.0", "kafka-4.0"),
        ("4.3.1", "kafka-4.3"), ("4.4.0", "kafka-4.3"),
    ],
)  # fmt: skip
def test_the_preset_of_a_release_is_the_newest_up_to_it_with_its_rules(version, preset):
    assert preset_of(version_of(version)) == preset


@pytest.mark.parametrize(
    ("asked", "preset"), [("4.4", "4.3"), ("kafka-9", "4.3"), ("3.9.2", "3.9.1")]
)
def test_a_release_that_is_no_preset_is_refused_with_the_newest_up_to_it(asked, preset):
    with pytest.raises(
        UsageError, match=f"'{asked}': the newest up to that release is kafka-{preset}; "
    ):
        KAFKA.model({}, None, asked)
    assert KAFKA.model({}, None, preset).preset == f"kafka-{preset}"
    assert KRAFT.model({}, None, "4.2").preset == "kafka-4.2"


def test_presets_are_in_order_and_each_but_one_is_not_as_the_one_before():
    for variant, alike in ((False, ["kafka-4.2"]), (True, [])):
        names = [n for n in PRESETS if n.endswith("-zookeeper") is variant and n != "kafka-fixed"]
        assert names == sorted(names, key=lambda name: version_of(of_preset(name)[0]))
        same = [name for before, name in pairwise(names) if PRESETS[before] == PRESETS[name]]
        assert same == alike


def test_kafka_supports_zookeeper_up_to_3_9_and_kraft_from_3_3_on():
    modes = {text: modes_of(version_of(text)) for text in ("3.2.3", "3.3", "3.9.2", "4.0")}
    assert list(modes.values()) == [
        ("zookeeper",), ("kraft", "zookeeper"), ("kraft", "zookeeper"), ("kraft",)
    ]  # fmt: skip


@pytest.mark.parametrize("version", [v for v in RELEASES if len(modes_of(v)) > 1])
def test_with_zookeeper_the_controller_is_as_in_3_2_but_lets_only_live_brokers_join(version):
    zookeeper, kraft = rules_of(version, "zookeeper"), rules_of(version)
    of_controller = {name for name, whose in WHOSE.items() if whose is Whose.CONTROLLER}
    assert {name for name in RULES if zookeeper[name] != kraft[name]} <= of_controller
    before = rules_of(version_of("3.2"))
    changed = {name for name in of_controller if zookeeper[name] != before[name]}
    assert changed == {"isr.unfenced.brokers.only"}


SINCE_ANOTHER = {
    "acks": "0.8.0",  # the setting is as old as Kafka's replication; its default changed
    "min.insync.replicas": "0.8.2.0",
    "replica.lag.max.messages": "0.8.0",
    "unclean.leader.election.enable": "0.8.2.0",
    "fetch.answers": "0.8.0",
    "truncation": "0.11.0",  # by leader epochs; later releases have other ways
    "eligible.leader.replicas": "4.0.0",  # there, and off until 4.1
    "last.known.leader.election": "4.0.0",
}


@pytest.mark.parametrize("name", RULES)
def test_since_when_is_the_release_with_what_the_fixed_preset_has(name):
    since = setting_sources(KAFKA)[name].since
    value = PRESETS["kafka-fixed"][name]
    assert since == SINCE_ANOTHER.get(name, RULES[name].since(value))


@pytest.mark.parametrize(
    ("name", "since"),
    [
        ("reassignment.waits.for.all", "0.8.2"),  # lost in 4.3
        ("empty.answer.keeps.fetched.epoch", "3.7.0"),  # lost in 3.5.1, and back
        ("epoch.file", "3.8.0"),
    ],
)
def test_a_rule_is_as_old_as_the_last_release_that_it_came_with(name, since):
    assert setting_sources(KAFKA)[name].since == since


def test_the_defaults_are_those_of_4_1():
    defaults = as_text(KAFKA.settings())
    assert {name: defaults[name] for name in RULES} == PRESETS["kafka-4.1"]


def test_whatever_releases_differ_in_has_an_owner_or_is_a_default():
    differing = {name for name, rule in RULES.items() if len(rule.values) > 1}
    defaults = {"acks", "fetch.answers", "unclean.leader.election.enable"}
    assert differing - set(WHOSE) == defaults


def test_one_may_upgrade_to_each_release():
    assert [each.value for each in UpgradeTo if each is not UpgradeTo.NONE] == [
        name for name in PRESETS if name not in {"kafka-0.8.2", "kafka-fixed"}
    ]


@pytest.mark.parametrize(
    "text", ["5", "4", "", "4.1.x", "4.1.0.0.0", "3.10.1", "0.8.1", "\u0664.\u0661"]
)
def test_what_is_no_release_is_none(text):
    assert not is_of_a_series(text)


def test_the_page_shows_the_tables():
    page = (ROOT / "counterexamples" / "matrix" / "presets.md").read_text(encoding="utf-8")
    assert page == with_release_tables(page)
    wrong = page.replace("`true` 3.9.1, 4.0.1", "`true` 3.9.0, 4.0.1")
    assert wrong != page
    assert wrong != with_release_tables(wrong)


def test_the_page_of_kraft_shows_which_releases_have_which_bug():
    page = (ROOT / "docs" / "kraft.md").read_text(encoding="utf-8")
    assert page == with_quorum_table(page)
    assert "| `fetch.offset.may.fall` | before 3.0.0 |" in page
    assert "| `observer.flushes.before.fetch` | since 3.5.0, before 3.9.0 |" in page


def test_how_fine_the_model_is_the_hunt_draws_and_no_rule_but_a_feature():
    roles = {name: info.role for name, info in describe(KAFKA.settings).items()}
    drawn = plan_of(KAFKA, Choice("kafka", "kafka-fixed")).settings.keys()
    assert named(KAFKA.settings, role=Role.FINENESS) <= drawn
    assert {name for name in drawn if roles[name] is Role.RULE} == {"last.known.leader.election"}


def test_classes_are_compared_by_what_is_no_rule():
    fine = {name for values in COMPARED for name in values}
    assert fine <= named(KAFKA.settings, role=Role.FINENESS)
    assert fine <= VARIED.keys()
