"""What may happen to a cluster: faults one by one, and upgrades in their stages."""

from __future__ import annotations

import pytest

import highwater
from checker.core.search.allowance import Allowance
from checker.core.search.explore import Explorer
from checker.core.search.limits import Limits
from checker.core.traces.trace import check_trace
from checker.kafka.guarantees.cluster import describe_cluster
from checker.kafka.guarantees.faults import Faults, choice_of
from checker.kafka.guarantees.releases import release_named, target_named
from checker.kafka.guarantees.upgrade import mixed_words, stages
from checker.kafka.guarantees.verdicts import RETURN, STATES, judged_cells
from checker.lab.experiments.choices import Choice
from model.language.errors import UsageError
from tests.support.asked import NO_LIMIT, TINY, TWO, asked, losses


def test_a_rolling_restart_is_controlled_shutdowns_in_turn():
    cluster = describe_cluster("4.1", settings=TWO)
    choice = choice_of(cluster, Faults(rolling_restart=True))
    assert choice.settings["shutdowns.in.turn"] == "true"
    assert choice.bounds["controlled_shutdowns"] == 3 and choice.bounds["crashes"] == 0
    assert choice.bounds["preferred_elections"] == 1
    old = choice_of(describe_cluster("2.1"), Faults(rolling_restart=True))
    assert old.bounds["shutdowns"] == 3 and "controlled_shutdowns" not in old.bounds


def test_without_rebalancing_no_leader_moves_back(tmp_path):
    file = tmp_path / "server.properties"
    file.write_text("auto.leader.rebalance.enable=false\n")
    choice = choice_of(describe_cluster("4.1", [file]), Faults(rolling_restart=True))
    assert choice.bounds["preferred_elections"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("in_turn", [True, False])
def test_in_turn_no_two_brokers_are_down_at_once(in_turn):
    settings = {"shutdowns.in.turn": str(in_turn).lower()}
    bounds = {"crashes": 0, "preferred_elections": 0, "controlled_shutdowns": 3, **TINY}
    model = Choice("kafka", "kafka-4.1", settings, bounds).model
    found = Explorer(model, [one_down()], Limits(depth=10)).run()
    assert bool(found.violations) is not in_turn
    assert in_turn or found.violations[0].depth <= 8


def one_down():
    from model.language import every, implies, not_
    from properties.claims import always

    @always(
        "one_down", "no two brokers are down at once", broken_by="shutdowns that are not in turn"
    )
    def claim(partition):
        return every(
            implies(not_(a.up), every(implies(not_(b.up), a == b) for b in partition.brokers))
            for a in partition.brokers
        )

    return claim


@pytest.mark.slow
def test_a_change_of_min_isr_is_a_fault():
    assert Faults(min_isr_to=1).words == "min.insync.replicas changed to 1"
    assert losses("4.1", "min.insync.replicas=2", 1, power_losses=1).lost
    assert not losses("4.1", "min.insync.replicas=2", power_losses=1).lost


@pytest.mark.slow
def test_a_leader_that_was_replaced_before_min_isr_is_lowered_loses_nothing_by_that():
    """It did, in seven steps, where brokers applied the change at once (number 98 is the other)."""
    assert not losses("4.3", "min.insync.replicas=2", 1, false_fencings=1).lost


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "name what may happen"),
        ({"crashes": 0}, "name what may happen"),
        ({"min_isr_to": 4}, "valid are 1 to 3"),
        ({"min_isr_to": 1}, "already; valid is another number of 1 to 3"),
        ({"upgrade_to": "4.0"}, "from 4.1 to 4.0 is no upgrade: valid are 4.2, 4.3"),
        ({"upgrade_to": "4.1.1"}, "no rule of the model changes.*--rolling-restart"),
        ({"crashes": 10**9}, "crashes cannot be 1000000000: valid are 0 to 16"),
        ({"crashes": 1, "nonsense": 2}, "nonsense"),
    ],
)
def test_what_cannot_be_asked_is_refused(arguments, words):
    with pytest.raises(UsageError, match=words):
        highwater.ask("4.1", **arguments)


def test_an_upgrade_has_its_stages_and_says_whose_rules_change():
    cluster = describe_cluster("4.0", settings=TWO)
    found = stages(cluster, release_named("4.1"))
    assert [stage.cluster.release.alike for stage in found] == ["4.0", "4.0", "4.1", "4.1", "4.1"]
    assert [bool(stage.changed) for stage in found] == [False, True, False, True, False]
    assert found[2].cluster.settings["eligible.leader.replicas"] == "false"
    said = mixed_words(found)
    assert (
        "4.0 and 4.1 at once: by each broker's own release go answer.matches.request.epoch" in said
    )
    assert "the controller changes eligible.leader.replicas, last.known.leader.election" in said
    budgets = [choice_of(stage.cluster, Faults(upgrade_to=release_named("4.1"))).bounds
               for stage in found]  # fmt: skip
    assert [bounds.get("upgrades", 0) for bounds in budgets] == [0, 3, 0, 0, 0]
    assert [bounds.get("controller_upgrades", 0) for bounds in budgets] == [0, 0, 0, 1, 0]


def test_between_releases_without_a_difference_nothing_is_mixed():
    same = stages(describe_cluster("3.9", settings=TWO), release_named("4.0"))
    assert "nothing new" in mixed_words(same) and len(same) == 2
    newer = stages(describe_cluster("4.2", settings=TWO), release_named("4.3"))
    assert "each broker's" not in mixed_words(newer) and len(newer) == 3


def test_a_mix_that_the_model_does_not_know_is_told_and_not_judged():
    found = stages(describe_cluster("0.10", settings=TWO), release_named("0.11"))
    assert [stage.unknown[:7] for stage in found if stage.unknown] == ["records"]
    assert "not judged, records that were written before 0.11" in mixed_words(found)


@pytest.mark.nightly("ten seconds; tests of upgrades hold the stages")
def test_brokers_of_two_releases_are_judged_and_lose_no_more_than_each():
    answer = asked("2.0", "acks=all", upgrade_to="2.1", replicas=2, max_leader_epoch=3)
    names = [part.name for part in answer.parts]
    assert sum(name.startswith("in between") for name in names) == 2
    between = [part for part in answer.parts if part.name.startswith("in between")]
    assert all(part.judged.is_decided for part in between)
    for part in between:
        for trace in part.traces.values():
            check_trace(trace)


@pytest.mark.slow
def test_switching_elr_on_while_a_partition_is_offline_leaves_it_so():
    """In neither stage does it stay without a leader once all replicas are back."""
    verdicts = {}
    for stage in stages(describe_cluster("4.0", settings=TWO), release_named("4.1"))[2:]:
        choice = choice_of(stage.cluster, Faults({"crashes": 2}, sizes=TINY))
        (cell,) = judged_cells(choice, (RETURN,), Allowance(NO_LIMIT, STATES))
        verdicts[stage.name] = cell.words
    off, between, on = verdicts.values()
    assert (off, on) == ("safe", "safe") and between.startswith("none in ")


def test_zookeeper_to_kraft_is_no_rolling_upgrade():
    with pytest.raises(UsageError, match="a migration, which is not modelled"):
        stages(describe_cluster("2.7"), target_named("4.0", describe_cluster("2.7").release))
    old = describe_cluster("3.0", settings=TWO)
    target = target_named("3.6", old.release)
    assert target.mode is old.release.mode
    assert "isr.unfenced.brokers.only" in stages(old, target)[1].changed
