"""State machines for Hypothesis: a test of a wrong protocol fails, with a short trace."""

from __future__ import annotations

import re
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

import pytest
from hypothesis import seed, settings

from checker.api.stateful import (
    DEFAULT_SETTINGS,
    PropertyViolationError,
    World,
    state_machine,
)
from checker.core.engines.reference import ReferenceEngine
from checker.core.search.explore import Explorer
from checker.core.traces.itf import read_trace
from model.language import every
from model.language.errors import UsageError
from model.protocols import protocol_named
from properties import choose_properties
from properties.claims import always
from tests.support.tiers import first_and_nightly
from tests.support.variants import walked_states


def run(machine, seed_number=0, **changes):
    """Run the machine's test with a fixed seed, remembering nothing between runs."""
    machine.settings = settings(DEFAULT_SETTINGS, database=None, **changes)
    seed(seed_number)(machine.runTest._hypothesis_state_machine_class)
    machine("runTest").runTest()


def test_a_wrong_protocol_fails_with_its_shortest_trace_which_is_stored_and_replays(tmp_path):
    machine = state_machine(
        "truncate_to_high_watermark", properties=["strong_isr"], trace_dir=tmp_path
    )
    with pytest.raises(PropertyViolationError) as failure:
        run(machine)
    assert "strong_isr is violated after 8 steps" in str(failure.value)
    trace = read_trace(tmp_path / "truncate_to_high_watermark-strong_isr.itf.json")
    assert (trace.depth, trace.verdict) == (8, "violated")
    assert trace.steps == failure.value.steps


@pytest.mark.slow
def test_kip320_passes_and_runs_go_deep(tmp_path):
    machine: Any = state_machine("kip320", trace_dir=tmp_path)
    run(machine, max_examples=12)
    assert machine.effort.steps > 300
    assert not list(tmp_path.iterdir())


def test_protocol_settings_are_kept():
    machine: Any = state_machine("kip320", {"fence_truncation": "false"}, trace_dir=None)
    world = machine.runTest._hypothesis_state_machine_class.world
    assert not world.model.settings.fence_truncation


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "depth"), [("truncate_to_high_watermark", 8), ("kip101", 10), ("kip279", 10)]
)
def test_old_protocols_are_found_out_with_the_default_settings(name, depth, tmp_path):
    with pytest.raises(PropertyViolationError) as failure:
        run(state_machine(name, properties=["strong_isr"], trace_dir=tmp_path), seed_number=3)
    assert depth <= len(failure.value.steps) <= depth + 2


@pytest.mark.slow
@pytest.mark.parametrize("seed_number", first_and_nightly("the same from other seeds", *range(5)))
def test_a_missing_fence_is_found_with_the_default_settings_whatever_the_seed(seed_number):
    """12 steps deep: some seconds each, where blind runs took minutes and found nothing."""
    machine = state_machine(
        "kip320", {"fence_fetch": False}, properties=["weak_isr"], trace_dir=None
    )
    with pytest.raises(PropertyViolationError) as failure:
        run(machine, seed_number=seed_number)
    assert len(failure.value.steps) == 12


@always("ends_never_fall", "no log becomes shorter", of_steps=True)
def ends_never_fall(before, after):
    return every(after.replicas[r].log.end >= r.log.end for r in before.replicas)


def test_own_properties_and_properties_of_steps_are_checked():
    machine = state_machine(
        protocol_named("truncate_to_high_watermark"),
        properties=[*choose_properties(protocol_named("kip101"), ["well_formed"]), ends_never_fall],
        trace_dir=None,
    )
    with pytest.raises(PropertyViolationError, match="ends_never_fall"):
        run(machine)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"protocol": "kip321"}, "did you mean"),
        ({"protocol": "kip320", "replicas": 0}, "replicas cannot be 0"),
        ({"protocol": "kip320", "records": 1}, "no bound of kip320"),
        ({"protocol": "kip320", "properties": ["strong"]}, "no property of kip320"),
        ({"protocol": "kip320", "settings": {"fence": True}}, "no setting"),
    ],
)
def test_wrong_names_are_refused_when_the_machine_is_built(arguments, words):
    with pytest.raises(UsageError, match=words):
        state_machine(**arguments)


@pytest.mark.slow
def test_the_machine_is_a_test_case_that_pytest_collects(tmp_path):
    file = tmp_path / "test_mine.py"
    file.write_text(
        "from hypothesis import settings\n"
        "from checker.api.stateful import state_machine\n"
        "TestKip320 = state_machine('kip320', replicas=2, trace_dir=None)\n"
        "TestKip320.settings = settings(TestKip320.settings, max_examples=2, database=None)\n"
    )
    plain = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(file)]
    result = subprocess.run(plain, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert "1 passed" in result.stdout, result.stdout
    assert issubclass(state_machine("kip320", trace_dir=None), unittest.TestCase)


# --- the parts ----------------------------------------------------------------------------------


def machine_of(name, properties=()):
    made: Any = state_machine(name, properties=properties, trace_dir=None)
    return made.runTest._hypothesis_state_machine_class


def begun(machine, seed_number, number):
    """A run of the machine, begun as Hypothesis does."""
    begun = machine()
    begun.begin(seed_number, number)
    return begun


def test_every_enabled_step_can_be_drawn_and_no_other():
    machine = machine_of("kip320")
    for state in walked_states(machine.world.model, 12, 5):
        enabled = {i.number for i, _ in ReferenceEngine(machine.world.model).successors(state)}
        drawn: set[int] = set()
        for number in range(1_000 if enabled else 0):
            one = begun(machine, number, 0)
            one.state = state
            one.step(1)
            drawn.add(one.taken[-1].number)
            if drawn == enabled:
                break
        assert drawn == enabled


def test_what_a_run_does_depends_on_the_numbers_that_are_drawn_alone():
    def taken(machine):
        one = begun(machine, 7, 12)
        ends = []
        for number in [3, 3, 3, 0, 5] * 12:
            one.step(number)
            ends.append((one.state, [s.number for s in one.taken]))
        return ends

    machine = machine_of("kip320", ["well_formed"])
    first = taken(machine)
    assert taken(machine) == first  # what is remembered changes nothing
    assert taken(machine_of("kip320", ["well_formed"])) == first
    assert len({state for state, _ in first}) > 30  # the same numbers do not repeat a run


def test_a_step_to_a_violation_is_taken_wherever_one_is_enabled():
    machine = machine_of("truncate_to_high_watermark", ["strong_isr"])
    world = machine.world
    steps = Explorer(world.model, world.invariants).run().violations[0].steps
    state: Any = world.initial
    for step in steps[:-1]:
        state = world.step(state, step)
    for number in range(10):
        one = begun(machine, number, 0)
        one.state = state
        one.step(number)
        with pytest.raises(PropertyViolationError):
            one.properties_hold()


def test_remembered_steps_are_those_of_the_reference_engine():
    world = World(protocol_named("kip320").model(), ())
    engine = ReferenceEngine(world.model)
    for start in range(12):
        for state in walked_states(world.model, 3, start):
            expected = [(i.number, after) for i, after in engine.successors(state)]
            found = [p for steps in world.ways(state).steps.values() for p in steps.items()]
            assert sorted(found) == expected


def test_the_code_in_the_documentation_builds_machines():
    page = Path(__file__).parents[2] / "docs" / "testing.md"
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    space: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, str(page), "exec"), space)
    assert issubclass(space["TestNoFence"], unittest.TestCase)
    assert space["TestKip320"].settings.max_examples == 20_000
