"""What is drawn: within the plan, the same for a seed, with what it needs, and only what counts."""

from __future__ import annotations

from collections import Counter

import pytest

from checker.lab.experiments.choices import Choice
from checker.lab.hunting.hunt import Bag
from checker.lab.hunting.plan import FOLDER, Plan, Round, Tolerance, plan_of, read_plan
from model.language.declare.settings import as_text, describe
from model.language.errors import UsageError
from model.protocols import PROTOCOLS, protocol_named

KAFKA = protocol_named("kafka")
FIXED = Choice("kafka", "kafka-fixed")


def draws(given: Choice, count: int, seed: int = 0) -> list[Choice]:
    plan = plan_of(protocol_named(given.protocol), given)
    return [Round(given, seed, number).draw(plan) for number in range(count)]


@pytest.fixture(scope="module")
def drawn():
    return draws(FIXED, 300)


def test_a_round_draws_the_same_again_and_another_round_or_seed_another(drawn):
    again = draws(FIXED, 8)
    assert [each.arguments for each in again] == [each.arguments for each in drawn[:8]]
    assert len({each.arguments for each in drawn}) == len(drawn)
    assert draws(FIXED, 1, seed=1)[0].arguments != drawn[0].arguments


def test_every_value_and_fault_of_the_plan_is_drawn(drawn):
    plan = plan_of(KAFKA, FIXED)
    seen: Counter[tuple[str, str]] = Counter()
    for choice in drawn:
        chosen = {**as_text(choice.model.settings), **choice.model.bounds}
        seen.update((name, str(value)) for name, value in chosen.items())
    for name, values in (*plan.sizes.items(), *plan.settings.items()):
        for value in values:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            assert seen[name, text], f"{name}={text} is never drawn"
    assert all(any(choice.model.bounds[name] for choice in drawn) for name in plan.faults)


def test_of_kraft_every_value_is_drawn_and_nothing_of_which_nothing_is_promised():
    rounds = [each.model for each in draws(Choice("kraft", "kafka-fixed"), 150)]
    plan = plan_of(protocol_named("kraft"), Choice("kraft", "kafka-fixed"))
    for name, values in plan.settings.items():
        assert len({as_text(each.settings)[name] for each in rounds}) == len(set(values)), name
    static = [each for each in rounds if as_text(each.settings)["kraft.version"] == "0"]
    assert not any(each.bounds["disk_losses"] or each.bounds["voter_changes"] for each in static)


def test_fixes_stay_as_the_preset_has_them(drawn):
    plan = plan_of(KAFKA, FIXED)
    free = {*plan.settings, *(name for values in plan.needs.values() for name in values)}
    fixed = as_text(FIXED.model.settings)
    for choice in drawn:
        now = as_text(choice.model.settings)
        assert {name for name in now if now[name] != fixed[name]} <= free


def test_what_is_given_is_not_drawn():
    given = Choice("kafka", "kafka-4.3", {"min.insync.replicas": "3"}, {"replicas": 4})
    for choice in draws(given, 30):
        assert choice.model.settings.min_insync_replicas == 3
        assert choice.model.bounds["replicas"] == 4


def test_what_rounds_tried_together_and_an_hour_more_would_is_counted():
    """By another way: every choice of names of the plan is looked for in what each round drew."""
    plan = plan_of(KAFKA, FIXED)
    models = [each.model for each in draws(FIXED, 30)]
    names = [
        {*(f"{name}={as_text(model.settings)[name]}" for name in plan.settings),
         *(name for name in plan.faults if model.bounds[name])}
        for model in models
    ]  # fmt: skip
    done = [
        {"settings": as_text(model.settings), "bounds": model.bounds, "seconds": 360.0}
        for model in models[:20]
    ]  # ten rounds an hour
    bag = Bag(plan, tuple(done), Round(FIXED, 0, 0))
    for size, each in zip((2, 3), bag.together, strict=True):
        times = each.times
        assert all(len({*some} & {*plan.faults}) >= size - 1 for some in times)
        assert times == {some: sum(n.issuperset(some) for n in names[:20]) for some in times}
        assert each.tried == sum(any(n.issuperset(s) for n in names[:20]) for s in times)
        later = [some for some in times if any(n.issuperset(some) for n in names[20:])]
        assert each.added == sum(not times[some] for some in later) > 0


def test_a_fault_brings_what_it_needs(drawn):
    moved = [c for c in drawn if c.model.bounds["replica_moves"]]
    deleted = [c for c in drawn if c.model.bounds["record_deletions"]]
    assert moved and all(c.model.settings.replication_factor for c in moved)
    assert deleted and all(c.model.settings.epoch_cache == "kept" for c in deleted)


def test_nothing_is_drawn_of_which_nothing_is_promised(drawn):
    racks = 0
    for choice in drawn:
        bounds, settings = choice.model.bounds, choice.model.settings
        mates = max(Counter(settings.broker_rack.numbers(bounds["replicas"])).values())
        lost = [bounds["power_losses"], bounds["disk_losses"], mates * bounds["rack_failures"]]
        if any(lost):
            assert sum(lost) + bounds["crashes"] < settings.min_insync_replicas
        racks += bounds["rack_failures"] > 0 and mates > 1
    assert racks, "no rack of several brokers fails"


def test_a_tolerance_counts_settings_that_are_not_0():
    tolerance = Tolerance(["min.insync.replicas", "min.insync.replicas.later"])

    def covers(settings, **bounds):
        return tolerance.covers(KAFKA.model(bounds, settings))

    assert covers({"min.insync.replicas": "1"}, power_losses=0, crashes=2)
    assert covers({"min.insync.replicas": "2"}, power_losses=1, crashes=0)
    assert not covers({"min.insync.replicas": "2"}, power_losses=1, crashes=1)
    later = {"min.insync.replicas": "2", "min.insync.replicas.later": "1"}
    assert not covers(later, power_losses=1, crashes=0)


@pytest.mark.parametrize(("removals", "covered"), [(0, True), (1, True), (2, False)])
def test_no_more_must_be_in_sync_than_there_are_replicas(removals, covered):
    (tolerance,) = plan_of(KAFKA, FIXED).tolerances
    settings = {"replication.factor": "3", "min.insync.replicas": "3"}
    bounds = {"power_losses": 1, "crashes": 0, "replica_removals": removals}
    assert tolerance.covers(KAFKA.model(bounds, settings)) == covered


@pytest.mark.parametrize(
    ("racks", "stops"), [("spread", 1), ("aab", 2), ("abb", 2), ("aba", 2), ("together", 3)]
)
def test_a_rack_counts_for_as_many_as_are_in_the_largest(racks, stops):
    (tolerance,) = plan_of(KAFKA, FIXED).tolerances
    for wanted in (1, 2, 3, 4):
        settings = {"broker.rack": racks, "min.insync.replicas": str(wanted)}
        model = KAFKA.model({"rack_failures": 1, "crashes": 0}, settings)
        assert tolerance.covers(model) == (stops < wanted)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_protocol_can_be_drawn(name):
    chosen = draws(Choice(name), 12)
    assert len({each.arguments for each in chosen}) > 3


@pytest.mark.parametrize(
    ("preset", "drawn", "kept"),
    [
        ("kafka-fixed", {"group.protocol", "auto.offset.reset"}, {"commit.names.epoch"}),
        ("kafka-2.4", {"auto.offset.reset"}, {"group.protocol"}),
        ("kafka-4.3-consumer", {"auto.offset.reset"}, {"group.protocol"}),
    ],
    ids=["no rule", "not before the release", "not what the preset is about"],
)
def test_what_operators_choose_is_drawn_as_their_settings_declare_it(preset, drawn, kept):
    chosen = [as_text(each.model.settings) for each in draws(Choice("kafka_group", preset), 60)]
    varied = {name for name in chosen[0] if len({each[name] for each in chosen}) > 1}
    assert drawn <= varied and not kept & varied
    assigned = Counter(each["partition.assignment.strategy"] for each in chosen)
    assert len(assigned) == 4 and assigned["range"] > max(assigned["sticky"], 15)


@pytest.mark.parametrize(
    ("preset", "drawn"), [("kafka-2.4.1", False), ("kafka-4.0", True), ("kafka-fixed", True)]
)
def test_a_plan_draws_no_setting_that_the_release_came_before(preset, drawn):
    """Found by a hunt: before 4.0 there are no eligible leader replicas to lose a record by."""
    chosen = [as_text(each.model.settings) for each in draws(Choice("kafka", preset), 20)]
    assert len({each["follower.reads"] for each in chosen}) == 2
    assert (len({each["eligible.leader.replicas"] for each in chosen}) == 2) == drawn


def test_what_is_always_refused_ends_in_one_line():
    plan = Plan(sizes={"crashes": [1]}, settings={"broker.rack": ["aabb"]})
    with pytest.raises(UsageError, match=r"1,000 draws were refused.*broker\.rack"):
        Round(FIXED, 0, 0).draw(plan)


@pytest.mark.parametrize(
    ("text", "said"),
    [("[sizes]\nsheep = [1]", "no setting or bound 'sheep'"),
     ("[needs.crashes]\nsheep = [1]", "no setting or bound 'sheep'"),
     ("[needs.sheep]\ncrashes = [1]", "no setting or bound 'sheep'"),
     ("[[tolerance]]\nmany = {}", "fewer_than")],
)  # fmt: skip
def test_a_plan_that_is_not_well_formed_is_refused(tmp_path, text, said):
    (tmp_path / "plan.toml").write_text(text)
    with pytest.raises(UsageError, match=said):
        read_plan(tmp_path / "plan.toml", KAFKA)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_the_values_of_a_plan_are_valid(path):
    protocol = protocol_named(path.stem)
    plan, infos = read_plan(path, protocol), describe(protocol.settings)
    for values in (plan.settings, *plan.needs.values()):
        for name, some in values.items():
            for value in some:
                if name in infos:
                    infos[name].parse(str(value))
