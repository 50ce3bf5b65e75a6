"""What limits promise: the search stops there, says so, and counts exactly what it visited."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from checker.core.search import explore as explore_module
from checker.core.search import lineage as lineage_module
from checker.core.search import simulate as simulate_module
from checker.core.search.explore import Explorer, Limits, Options, Progress
from checker.core.search.limits import peak_memory_bytes
from checker.core.search.simulate import Budget, Simulator
from checker.core.search.textbook import TextbookExplorer
from checker.core.search.visited_set import VisitedSet
from checker.core.verdict import Verdict
from model.protocols import PROTOCOLS
from properties import properties_of
from tests.support.counter import COUNTER, below
from tests.support.laws import denials, explore, numbers
from tests.support.textbook import search
from tests.support.variants import tiny

KIP320 = tiny("kip320")
LEVELS = search(KIP320).sizes
TOTAL = sum(LEVELS)
ENGINES = (Explorer, TextbookExplorer)


class _Clock:
    """A clock that only the comparison with the reference engine moves: by a hundred seconds."""

    now = 0.0

    def perf_counter(self):
        return self.now

    def compare(self, *_):
        self.now += 100.0


@pytest.mark.parametrize(
    "module, limited",
    [
        (explore_module, lambda: Explorer(KIP320, [], Limits(seconds=99.0))),
        (simulate_module, lambda: Simulator(KIP320, [], 0, Budget(seconds=99.0))),
    ],
)
def test_the_time_of_the_comparison_counts(monkeypatch, module, limited):
    clock = _Clock()
    monkeypatch.setattr(module, "time", clock)
    monkeypatch.setattr(module, "require_agreement", clock.compare)
    found = limited().run()
    assert found.stopped == "the limit of 99 seconds"
    assert found.seconds == 100.0


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("depth", [0, 5, len(LEVELS) - 1, 99])
def test_a_depth_limit_visits_exactly_the_states_up_to_it(engine, depth):
    found = engine(KIP320, [], Limits(depth=depth)).run()
    assert found.levels == LEVELS[: depth + 1]
    assert found.unfinished == 0
    assert found.stopped == ""
    reached_the_end = depth >= len(LEVELS)
    assert found.verdict is (Verdict.EXHAUSTED if reached_the_end else Verdict.BOUNDED)
    assert found.frontier == (0 if reached_the_end else LEVELS[depth])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("chunk", [7, 1000])
@pytest.mark.parametrize("states", [1, 17, TOTAL - 1])
def test_a_limit_of_states_visits_exactly_so_many_whatever_the_chunk_size(engine, chunk, states):
    found = engine(KIP320, properties_of(KIP320.protocol), Limits(states=states),
                   Options(chunk=chunk)).run()  # fmt: skip
    assert found.distinct_states == states
    assert found.unfinished >= 0
    assert found.levels == LEVELS[: len(found.levels)]
    assert sum(found.levels) <= states
    assert found.verdict is Verdict.UNKNOWN
    assert found.stopped == f"the limit of {states:,} states"
    reference = TextbookExplorer(KIP320, found.properties, Limits(states=states)).run()
    assert found.transitions == reference.transitions
    assert found.actions == reference.actions
    assert found.reached == reference.reached
    assert found.premises == reference.premises


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("states", [TOTAL, TOTAL + 1])
def test_a_limit_that_is_not_exceeded_changes_nothing(engine, states):
    found = engine(KIP320, [], Limits(states=states, seconds=600, memory=2**45)).run()
    assert found.levels == LEVELS
    assert found.verdict is Verdict.EXHAUSTED
    assert found.stopped == ""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "limits, words",
    [
        (Limits(seconds=0), "the limit of 0 seconds"),
        (Limits(memory=1_000_000), "the limit of 1 MB of memory"),
    ],
)
def test_out_of_time_or_memory_the_answer_is_unknown(engine, limits, words):
    found = engine(KIP320, [], limits).run()
    assert found.stopped == words
    assert found.verdict is Verdict.UNKNOWN
    assert found.distinct_states < TOTAL


@pytest.mark.parametrize("engine", ENGINES)
def test_a_request_to_stop_keeps_what_is_known(engine):
    levels = []

    def watch(progress):
        levels.append(progress.depth)
        if progress.depth == 6:
            running.request_stop()

    running = engine(KIP320, [], on_progress=watch)
    found = running.run()
    assert found.stopped == "interrupted"
    assert found.verdict is Verdict.UNKNOWN
    assert found.levels[:6] == LEVELS[:6]
    assert 0 < found.distinct_states < TOTAL
    assert levels == sorted(levels)


def test_a_violation_found_before_a_limit_is_still_reported():
    deny = denials(properties_of(KIP320.protocol))
    whole = explore(KIP320, deny, keep_going=True)
    first = min(whole.violations, key=lambda violation: violation.depth)
    states = sum(LEVELS[: first.depth + 1])
    found = explore(KIP320, [first.property], Limits(states=states), chunk=1)
    assert found.verdict is Verdict.VIOLATED
    assert numbers(found.violations[0].steps) == numbers(first.steps)


def test_a_violation_beyond_a_limit_of_states_is_not_reported():
    model = COUNTER.model({"limit": 9})
    assert explore(model, [below(5)]).verdict is Verdict.VIOLATED
    for states in (4, 5):
        assert explore(model, [below(5)], Limits(states=states)).verdict is Verdict.UNKNOWN


def test_a_property_is_bounded_up_to_the_depth_before_its_violation():
    for violation in explore(KIP320, denials(properties_of(KIP320.protocol)), keep_going=True
                             ).violations:  # fmt: skip
        before = explore(KIP320, [violation.property], Limits(depth=violation.depth - 1))
        assert before.verdict_on(violation.property) is Verdict.BOUNDED
        at = explore(KIP320, [violation.property], Limits(depth=violation.depth))
        assert at.verdict_on(violation.property) is Verdict.VIOLATED


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_progress_counts_up_to_the_result(workers, monkeypatch):
    monkeypatch.setattr(explore_module, "MIN_THREADED", 1)
    seen: list[Progress] = []
    found = Explorer(KIP320, [], None, Options(workers=workers, chunk=7), seen.append).run()
    assert [p.states for p in seen] == sorted(p.states for p in seen)
    assert seen[-1].states == found.distinct_states
    assert seen[-1].transitions == found.transitions
    assert all(p.expanded <= p.frontier for p in seen)
    finished = [p for p in seen if p.expanded == p.frontier]
    assert [p.frontier for p in finished] == LEVELS


def test_too_many_action_instances_are_refused_before_the_search(monkeypatch):
    from model.language.errors import UsageError

    monkeypatch.setattr(lineage_module, "_INSTANCE_BITS", 3)
    with pytest.raises(UsageError, match="32 action instances: at most 8 are possible"):
        Explorer(PROTOCOLS["kip101"].model(KIP320.bounds), [])


# --- deadlock -----------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_the_nearest_and_least_state_that_enables_nothing_is_a_deadlock(engine):
    model = COUNTER.model({"limit": 5})
    found = engine(model, [], None, Options(deadlock=True, chunk=1)).run()
    assert found.deadlock is not None
    assert [step.action.name for step in found.deadlock] == ["add_two", "add_two", "add"]


@pytest.mark.parametrize("engine", ENGINES)
def test_deadlocks_are_noted_only_when_asked_for(engine):
    assert engine(COUNTER.model({"limit": 5}), []).run().deadlock is None


@pytest.mark.slow
def test_a_deadlock_is_the_same_for_every_chunk_size_and_engine():
    for name in ("kip320", "async_isr", "kafka_producer"):
        model = tiny(name)
        expected = TextbookExplorer(model, [], Limits(states=400), Options(deadlock=True)).run()
        for chunk in (1, 7, 1000):
            found = explore(model, [], Limits(states=400), deadlock=True, chunk=chunk)
            assert found.deadlock == expected.deadlock
            assert found.distinct_states == expected.distinct_states


def test_nobody_asks_how_a_part_will_grow_while_it_does(monkeypatch):
    """A table that is just growing has no rows for a moment, of which no answer can be made."""
    adding: list[tuple[range, ...]] = []
    asked, meanwhile = [], list[object]()
    add, growth = VisitedSet.add, VisitedSet.growth

    def add_and_tell(self, batch, *parts):
        adding.append(parts)
        try:
            return add(self, batch, *parts)
        finally:
            adding.remove(parts)

    def look_and_ask(self, batch, *parts):
        asked.append(parts)
        meanwhile.extend(
            (parts, others)
            for others in list(adding)
            if not parts or not others or {*parts[0]} & {*others[0]}
        )
        return growth(self, batch, *parts)

    monkeypatch.setattr(VisitedSet, "add", add_and_tell)
    monkeypatch.setattr(VisitedSet, "growth", look_and_ask)
    options = Options(workers=2, chunk=8_192)
    limits = Limits(memory=2**45)
    found = Explorer(PROTOCOLS["kip320"].model(), [], limits, options).run()
    assert found.verdict is Verdict.EXHAUSTED
    assert len(asked) > 4 * 80
    assert not meanwhile


@pytest.mark.slow
def test_memory_is_counted_before_a_part_takes_it(monkeypatch):
    """With several workers one part grows after the other, so that each knows what there is."""
    grown, growing = [], []
    make_room = VisitedSet.make_room

    def tell(self, batch, parts):
        growing.append(parts)
        time.sleep(0.001)  # so that another thread comes in between, if it may
        before, promised = self.bytes, self.growth(batch, parts)
        make_room(self, batch, parts)
        assert self.bytes <= before + promised
        grown.append((len(growing), self.growth(batch, parts)))
        growing.pop()

    monkeypatch.setattr(VisitedSet, "make_room", tell)
    limits, options = Limits(memory=2**45), Options(workers=3, chunk=8_192)
    found = Explorer(PROTOCOLS["kip320"].model(), [], limits, options).run()
    assert found.verdict is Verdict.EXHAUSTED
    assert {*grown} == {(1, 0)}


def test_peak_memory_is_that_of_this_process_and_not_of_the_one_that_started_it():
    held = b"x" * 300_000_000
    code = "from checker.core.search.limits import peak_memory_bytes; print(peak_memory_bytes())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert peak_memory_bytes() > len(held) > int(done.stdout) > 1_000_000
