"""Brokers of two releases: each end is a pure release, and each rule goes by its owner's."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from checker.core.digest import definition_digest
from checker.core.engines.agreement import require_agreement
from checker.core.engines.reference import ReferenceEngine
from checker.core.search.explore import Explorer, Options
from checker.core.traces.trace import build_trace, check_trace
from model.kafka import upgrade
from model.kafka.choices import UpgradeTo
from model.kafka.initial_state import start
from model.kafka.presets import PRESETS
from model.kafka.protocol import KAFKA
from model.kafka.releases import WAITS_FOR_FEATURES, WHOSE
from model.kafka.settings.whose import Whose
from model.kafka.state import TopicPartition
from model.language import protocol
from model.language.capture import capture_action
from model.language.cases import Case, captured_by_cases
from model.language.declare.settings import as_text, describe
from model.language.errors import DisagreementError, UsageError
from model.protocols import setting_sources
from properties import choose_properties, promised_properties
from tests.support.kafka import DURABILITY, SAFE, kafka_model, reachable
from tests.support.laws import check_engines_agree
from tests.support.tiers import first_and_slow, slow_but
from tests.support.variants import walked_states

SMALL = {"replicas": 2, "max_leader_epoch": 2, "crashes": 1, "shutdowns": 1}
MIXES = [
    ("kafka-3.5", "kafka-3.7", {}),
    ("kafka-3.7", "kafka-3.9", {"epoch.cache": "kept"}),
    ("kafka-4.0", "kafka-4.1", {}),
    ("kafka-4.1", "kafka-4.1", {"eligible.leader.replicas": "false"}),
    ("kafka-2.0", "kafka-2.1", {}),
    ("kafka-2.1", "kafka-2.1", {"fetch.fenced.by.epoch": "false"}),
    ("kafka-2.1", "kafka-2.7", {}),
    ("kafka-2.7", "kafka-2.7", {"isr.changes": "zookeeper", "maximal.isr": "false"}),
    ("kafka-0.11", "kafka-2.0", {}),
    ("kafka-4.2", "kafka-4.3", {}),
]
"""Older and newer: in their code, or where features were switched off in these alone."""

mixes = pytest.mark.parametrize(
    ("older", "newer", "settings"), slow_but(MIXES[::4], MIXES), ids=str
)
few_mixes = pytest.mark.parametrize(
    ("older", "newer", "settings"), first_and_slow(*MIXES[::4]), ids=str
)


def mixed_model(older, newer, settings, **bounds):
    chosen = {**SAFE, **settings, "upgrade.to": newer}
    return kafka_model(
        older, chosen, **{**SMALL, "upgrades": 3, "controller_upgrades": 1, **bounds}
    )


def pure(model, upgraded):
    """The model as if every broker and the controller were of the older, or newer, release."""
    rules = upgrade.changed_by_upgrade(model.settings) if upgraded else {}
    return replace(model, settings=replace(model.settings, upgrade_to=UpgradeTo.NONE, **rules))


def start_upgraded(partition: TopicPartition) -> None:
    """As `start`, with all upgraded."""
    start(partition)
    partition.controller.upgraded = True
    for broker in partition.brokers:
        broker.upgraded = True


# --- each end is a pure release ------------------------------------------------------------------


@pytest.mark.slow
@mixes
def test_as_long_as_nobody_is_upgraded_all_is_as_in_the_older_release(older, newer, settings):
    model = mixed_model(older, newer, settings, upgrades=0, controller_upgrades=0)
    assert len(model.at_once) > 1
    assert definition_digest(model) == definition_digest(pure(model, upgraded=False))


@pytest.mark.slow
@few_mixes
def test_with_all_upgraded_at_first_all_is_as_in_the_newer_release(older, newer, settings):
    began = KAFKA.variant("kafka_upgraded", "all upgraded", start=start_upgraded)
    model = mixed_model(older, newer, settings, crashes=0)
    there = began.model(dict(model.bounds), as_text(model.settings))
    shown, count = reachable(there, "upgraded")
    assert (shown, count) == reachable(pure(model, upgraded=True), "upgraded")
    assert count > 200


def test_two_releases_that_differ_in_nothing_are_one():
    model = mixed_model("kafka-3.9", "kafka-4.0", {}, crashes=0)
    shown, count = reachable(model, "upgraded")
    alone, fewer = reachable(pure(model, upgraded=False), "upgraded")
    assert shown == alone and count > fewer


@pytest.mark.parametrize("new", [False, True], ids=["older", "newer"])
@pytest.mark.parametrize(("older", "newer", "settings"), first_and_slow(*MIXES[::2]), ids=str)
def test_where_all_are_of_one_release_each_step_is_that_releases(older, newer, settings, new):
    model = mixed_model(older, newer, settings)
    upgraded = [cell.position for cell in model.cells if cell.variable.name.endswith("upgraded")]
    assert len(upgraded) == 3
    here, there = ReferenceEngine(model), ReferenceEngine(pure(model, new))
    steps = [i for i in model.instances if not i.action.name.endswith("upgrade")]
    taken = 0
    for state in walked_states(model, 20, seed=3, depth=40):
        whole = tuple(new if p in upgraded else value for p, value in enumerate(state))
        for step in steps:
            after = here.step(whole, step)
            assert after == there.step(whole, step), str(step)
            taken += after is not None
    assert taken > 20


# --- each rule goes by its owner's ---------------------------------------------------------------


def test_a_rule_is_the_leaders_the_followers_or_the_controllers():
    """By hand: in a fetch each side brings its own rules, and nobody else's."""
    model = mixed_model("kafka-3.5", "kafka-3.7", {"epoch.cache": "kept"}, replicas=3)
    (leader, follower) = ("leader", "follower")
    frozen = "hw_frozen_below_min_isr"
    for case in model.cases["follower_fetch_record"]:
        new = {fact.argument: is_so for fact, is_so in case.facts}
        at = {name: new[number] for number, name in enumerate((follower, leader))}
        assert getattr(case.settings, frozen) is at[leader]
        assert (case.settings.epoch_file == "unsynced") is at[follower]
        assert case.settings.shrink_starts_epoch == "always"  # which waits for metadata.version
    (case,) = model.cases["controller_fail_over"]
    assert case.settings == model.settings
    features = mixed_model("kafka-3.7", "kafka-3.7", {"isr.shrink.starts.epoch": "always"})
    found = features.cases["controller_fail_over"]
    assert [case.settings.shrink_starts_epoch for case in found] == ["always", "never"]
    assert [is_so for case in found for _, is_so in case.facts] == [False, True]


def test_what_two_releases_differ_in_has_an_owner_or_is_an_operators():
    releases = [name for name in PRESETS if name != "kafka-fixed"]
    differing = {
        name
        for older, newer in pairwise(releases)
        for name, value in as_text(KAFKA.model({}, {}, newer).settings).items()
        if value != as_text(KAFKA.model({}, {}, older).settings)[name]
    }
    assert differing - WHOSE.keys() == {"acks", "unclean.leader.election.enable", "fetch.answers"}
    assert WAITS_FOR_FEATURES <= WHOSE.keys() <= describe(KAFKA.settings).keys()
    assert all(setting_sources(KAFKA)[name].since for name in WHOSE)
    assert set(UpgradeTo) == {"none", *releases} - {"kafka-0.8.2"}


CONTROLLERS = {
    "ClusterControlManager", "ConfigurationControlManager", "PartitionChangeBuilder",
    "PartitionReassignmentReplicas", "ReplicationControlManager",
}  # fmt: skip
ON_BOTH_SIDES = {"isr.unfenced.brokers.only", "broker.epoch.checked"}
"""A leader looks at these before it asks; in the model the controller alone does."""


def test_the_controllers_rules_are_in_the_controllers_classes():
    for name, whose in WHOSE.items():
        of_controller = setting_sources(KAFKA)[name].place.partition(".")[0] in CONTROLLERS
        assert (whose is Whose.CONTROLLER) is (of_controller or name in ON_BOTH_SIDES), name


BASES = [
    *({**KAFKA.preset(name)} for name in ("kafka-4.1", "kafka-2.7", "kafka-0.11")),
    {**KAFKA.preset("kafka-3.9"), "epoch.cache": "kept"},
    {**KAFKA.preset("kafka-4.1"), "replication.factor": "2"},
]


@pytest.mark.parametrize("action", KAFKA.actions, ids=lambda action: action.name)
def test_a_rule_changes_no_step_that_its_owner_has_no_part_in(action):
    """Without that, the step would go by the older release, whoever is upgraded."""
    parameters = KAFKA.parameters[action.name]
    names = tuple(parameter.name for parameter in parameters)
    without = [name for name in WHOSE if upgrade._fact(WHOSE[name], names) is None]
    values = {name: {PRESETS[preset][name] for preset in PRESETS if name in PRESETS[preset]}
              for name in without}  # fmt: skip
    for base in BASES:
        for name in without:
            chosen = [KAFKA.model({}, {**base, name: value}).settings for value in values[name]]
            captured = [
                capture_action(action.name, action.function, KAFKA.schema, each, parameters)
                for each in chosen
                if (each.truncation == "high_watermark") is (base["truncation"] == "high_watermark")
            ]
            assert all(each == captured[0] for each in captured), name


# --- all that is said of models is said of mixed ones --------------------------------------------


@pytest.mark.slow
@few_mixes
def test_the_engines_agree_on_a_mix(older, newer, settings):
    model = mixed_model(older, newer, settings)
    check_engines_agree(model, walked_states(model, 20, seed=1, depth=40))
    require_agreement(model, choose_properties(KAFKA, DURABILITY))


@pytest.mark.slow
def test_a_mix_that_is_captured_wrongly_is_refused(monkeypatch):
    """The functions go by the state's cases, so the net notices captured ones that do not."""

    def swapped(action, cases, schema, parameters):
        turned = [Case(c.settings, tuple((f, not so) for f, so in c.facts)) for c in cases]
        return captured_by_cases(action, turned, schema, parameters)

    model = mixed_model("kafka-4.1", "kafka-4.1", {"eligible.leader.replicas": "false"})
    monkeypatch.setattr(protocol, "captured_by_cases", swapped)
    with pytest.raises(DisagreementError):
        require_agreement(model)


def test_a_trace_through_a_mix_replays_and_says_who_was_upgraded():
    settings = {"upgrade.to": "kafka-4.1", "acks": "1", "min.insync.replicas": "2"}
    model = kafka_model("kafka-4.0", settings, crashes=2, upgrades=1, log_size=1, max_records=1)
    (lost,) = choose_properties(KAFKA, ["acknowledged_records_survive"])
    (found,) = Explorer(model, [lost], options=Options(cross_check=False)).run().violations
    trace = build_trace(model, found.steps, lost)
    check_trace(trace)


def test_a_broker_is_upgraded_while_it_is_down_and_no_more_than_are_allowed():
    model = mixed_model("kafka-3.5", "kafka-3.7", {}, upgrades=1)
    cells = {cell.name: cell.position for cell in model.cells}
    engine = ReferenceEngine(model)
    steps = [i for i in model.instances if i.action.name == "broker_upgrade"]
    state = engine.initial()
    assert [engine.step(state, step) for step in steps] == [None, None]
    down = list(state)
    down[cells["brokers.up[0]"]] = down[cells["brokers.up[1]"]] = 0
    first = engine.step(tuple(down), steps[0])
    assert first is not None and first[cells["brokers.upgraded[0]"]]
    assert engine.step(first, steps[1]) is None


def test_claims_that_ask_by_a_mixed_rule_are_not_promised_and_are_refused_by_name():
    model = mixed_model("kafka-3.5", "kafka-3.7", {})
    (asks,) = choose_properties(KAFKA, ["leader_exposes_what_the_isr_holds"])
    with pytest.raises(UsageError, match="leader_exposes_what_the_isr_holds asks by settings"):
        model.claim(asks.claim)
    assert not model.is_one_claim(asks.claim)
    assert mixed_model("kafka-4.2", "kafka-4.3", {}).is_one_claim(asks.claim)
    assert {prop.name for prop in promised_properties(model)} >= set(DURABILITY)


@pytest.mark.parametrize(
    ("older", "newer", "settings", "reason"),
    [
        ("kafka-2.7", "kafka-3.5", {}, "from ZooKeeper to KRaft is a migration"),
        ("kafka-0.10", "kafka-0.11", {}, "before 0.11 name no leader epoch"),
        ("kafka-2.0", "kafka-2.1", {"epoch.cache": "kept"}, "leave out epoch.cache=kept"),
        (
            "kafka-3.7", "kafka-3.9", {"epoch.cache": "kept", "broker.rack": "together"},
            "leave out epoch.cache=kept",
        ),
    ],
)  # fmt: skip
def test_what_is_no_upgrade_that_the_model_knows_is_refused(older, newer, settings, reason):
    with pytest.raises(UsageError, match=rf"^upgrade\.to={newer} cannot be: .*{reason}"):
        mixed_model(older, newer, settings)


@pytest.mark.slow
def test_a_mix_is_neither_release():
    """So that the laws above are of something."""
    model = mixed_model(
        "kafka-4.1", "kafka-4.1", {"eligible.leader.replicas": "false"}, shutdowns=0
    )
    shown, _ = reachable(model, "upgraded")
    older, newer = (reachable(pure(model, new), "upgraded")[0] for new in (False, True))
    assert shown - older - newer
