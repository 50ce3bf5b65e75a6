"""Random walks: what they find is real, the seed repeats them, and they claim no more than that."""

from __future__ import annotations

import json

import numpy as np
import pytest

from checker.commands.cli import highwater, run
from checker.core.engines.vectorised import Successors, VectorisedEngine
from checker.core.exits import Exit
from checker.core.search.explore import Explorer
from checker.core.search.simulate import ActionDraw, Budget, Simulation, Simulator
from checker.core.traces.trace import build_trace
from checker.core.verdict import Verdict
from model.ladder import LADDER
from model.language import every
from model.language.errors import UsageError
from model.language.protocol import Model
from model.protocols import protocol_named
from properties import properties_of
from properties.claims import always

OLD = ("truncate_to_high_watermark", "kip101", "kip279", "kip320_first_try")


def walk(model: Model, seed: int = 0, walks: int = 4_096, steps: int = 60) -> Simulation:
    properties = properties_of(model.protocol)
    budget = Budget(walks=walks, steps=steps)
    return Simulator(model, properties, seed, budget, cross_check=False).run()


def summary(result: Simulation) -> object:
    """Everything but the times."""
    findings = [(f.property.name, f.walk, f.steps) for f in result.violations]
    counts = (result.walks, result.steps, result.longest, result.distinct_states)
    return counts, result.actions, result.reached, sorted(result.premises), findings


@pytest.mark.parametrize("name", OLD)
def test_walks_find_what_is_wrong_with_old_protocols_and_it_replays(name):
    model = protocol_named(name).model()
    result = walk(model, walks=65_536)
    assert result.verdict is Verdict.VIOLATED
    for finding in result.violations:
        assert build_trace(model, finding.steps, finding.property).verdict == "violated"


def test_the_same_seed_gives_the_same_walks():
    model = protocol_named("async_isr").model()
    assert summary(walk(model, seed=7, walks=500)) == summary(walk(model, seed=7, walks=500))


def test_another_seed_gives_other_walks():
    model = protocol_named("kip320").model()
    assert summary(walk(model, seed=1, walks=50)) != summary(walk(model, seed=2, walks=50))


def test_walks_that_find_nothing_are_sampled_never_more():
    result = walk(protocol_named("kip320").model(), walks=500)
    assert result.verdict is Verdict.SAMPLED
    always = [p for p in result.properties if p.sense == "always"]
    assert {result.verdict_on(prop) for prop in always} == {Verdict.SAMPLED}


@pytest.mark.parametrize("protocol", LADDER[-1:], ids=lambda p: p.name)
def test_walks_stay_within_the_reachable_states(protocol):
    """Walks that run to their ends in a small model visit no state that search does not."""
    model = protocol.model({"replicas": 2, "max_leader_epoch": 1})
    everything = Explorer(model, ()).run().distinct_states
    result = Simulator(model, (), 3, Budget(walks=20_000), cross_check=False).run()
    assert everything / 2 < result.distinct_states <= everything


def test_every_action_that_is_enabled_is_taken():
    result = walk(protocol_named("kip320").model())
    assert all(count.taken for count in result.actions.values())
    assert all(count.taken <= count.enabled for count in result.actions.values())
    assert sum(count.taken for count in result.actions.values()) == result.steps


def test_no_walk_is_longer_than_asked():
    result = walk(protocol_named("kip320").model(), walks=200, steps=9)
    assert result.longest == 9
    assert result.steps <= 200 * 9


def drawn(steps: list[tuple[int, int]], walks: int) -> list[list[int]]:
    """Of steps given as walk and instance, how often each was drawn for each walk, of 4,000."""
    model = protocol_named("kip320").model()
    actions, random = ActionDraw(VectorisedEngine(model)), np.random.default_rng(5)
    rows, instances = zip(*steps, strict=True) if steps else ((), ())
    enabled = Successors(
        np.array(rows, np.int32), np.array(instances, np.uint16), np.empty((1, len(steps)), "u8")
    )
    weights = np.ones((len(actions.names), walks))
    found = [[0] * (len(steps) + 1) for _ in range(walks)]
    for _ in range(4_000):
        for walk, place in enumerate(actions.choose(enabled, weights, random.random((2, walks)))):
            found[walk][place] += 1
    return found


def test_a_choice_is_enabled_and_evenly_one_of_the_actions_then_of_their_instances():
    model = protocol_named("kip320").model()
    first, *_ = (i for i in model.instances if i.action.name == "leader_write")
    others = [i.number for i in model.instances if i.action.name == "controller_elect_leader"]
    steps = [(0, first.number), (2, others[0]), (2, others[1]), (2, others[2])]
    if first.number < others[0]:
        steps.insert(1, (2, first.number))
    else:
        steps.append((2, first.number))
    of_first, of_second, of_third = drawn(steps, 3)
    alone = steps.index((2, first.number))
    assert of_first[steps.index((0, first.number))] == 4_000
    assert of_second[-1] == 4_000  # none
    assert 1_850 < of_third[alone] < 2_150
    for number in others[:3]:
        assert 550 < of_third[steps.index((2, number))] < 780
    assert sum(of_third) == 4_000
    assert of_third[-1] == 0


def test_walks_that_can_do_nothing_end():
    assert drawn([], 2) == [[4_000], [4_000]]


@pytest.mark.parametrize("name", ["kip320", "kafka"])
def test_machine_code_walks_where_the_programs_walk(name):
    model = protocol_named(name).model()
    properties = properties_of(model.protocol)
    by_programs, by_machine_code = (
        Simulator(
            model,
            properties,
            4,
            Budget(walks=300, steps=40),
            compile_after=after,
            cross_check=False,
        ).run()
        for after in (None, 0.0)
    )
    assert summary(by_programs) == summary(by_machine_code)


@always("all_in_sync", "nobody ever leaves the ISR")
def all_in_sync(cluster):
    return every(cluster.quorum.isr.contains(replica) for replica in cluster.replicas)


@pytest.mark.parametrize("seed", range(6))
def test_a_violation_is_seen_of_a_step_that_no_walk_takes(seed):
    """In the initial state a leader may be elected as well, by three of six steps."""
    result = Simulator(
        protocol_named("kip320").model(),
        [all_in_sync],
        seed,
        Budget(walks=1, steps=1),
        cross_check=False,
    ).run()
    (found,) = result.violations
    assert [step.action.name for step in found.steps] == ["controller_shrink_isr"]
    assert result.actions["controller_shrink_isr"].enabled == 3


def test_a_limit_of_time_stops_the_walks():
    model = protocol_named("kip320").model()
    result = Simulator(model, (), 0, Budget(seconds=0.0)).run()
    assert result.stopped
    assert result.steps == 0


def test_a_negative_seed_is_refused():
    with pytest.raises(UsageError, match="seed cannot be -1"):
        Simulator(protocol_named("kip320").model(), (), -1)


def invoke(capsys, *arguments: str) -> tuple[int, str]:
    status = run(highwater, ["simulate", *arguments])
    return status, capsys.readouterr().out


@pytest.mark.slow
def test_the_command_prints_a_trace_the_seed_and_what_was_covered(capsys, tmp_path):
    status, out = invoke(
        capsys,
        "kip279",
        "--property",
        "strong_isr",
        "--seed",
        "5",
        "--trace-dir",
        str(tmp_path),
        "--stats",
    )
    assert status == Exit.VIOLATED
    for words in ("strong_isr is violated after 10 steps", "seed 5", "leader_write", "steps/s"):
        assert words in out
    assert run(highwater, ["replay", str(tmp_path / "kip279-strong_isr.itf.json")]) in (
        Exit.OK,
        Exit.VIOLATED,
    )


def test_the_command_prints_one_json_object(capsys):
    status, out = invoke(capsys, "kip320", "--walks", "100", "--seed", "1", "--json")
    data = json.loads(out)
    assert status == Exit.OK
    assert data["verdict"] == "sampled"
    assert (data["walks"], data["seed"]) == (100, 1)
    assert data["actions"]["leader_write"]["taken"] > 0


@pytest.mark.parametrize("option", [("--walks", "0"), ("--seed", "-1"), ("--replicas", "99")])
def test_wrong_options_are_named(capsys, option):
    assert run(highwater, ["simulate", *option]) == Exit.USAGE
    assert option[0] in capsys.readouterr().err.replace("replicas cannot", "--replicas cannot")
