"""Laws of resuming, on a model with dead ends: it never matters in how many runs a search was made.

A store says the same after one run and after many, down to its bytes: what differs is the time that
the runs took.
"""

import itertools

import pytest

from checker.core.search.explore import Explorer, Limits, Options
from checker.core.search.question import Question
from checker.core.stores import journal as journal_module
from checker.core.stores.answers import exploration_of, levels_needed
from checker.core.stores.journal import StoredExplorer
from checker.core.stores.manifest import manifest_for
from checker.core.stores.store import Level, open_store
from tests.support.halting import HALTING, QUESTIONS
from tests.support.stores import essence, files
from tests.support.tiers import nightly

MODEL = HALTING.model()
FLAGS = ("keep_going", "deadlock", "exact", "symmetry")
PAIRWISE = {(0, 0, 0, 0), (1, 1, 1, 0), (1, 0, 0, 1), (0, 1, 0, 1), (0, 0, 1, 1)}
"""Each two of the flags together, off and on: in every run of the tests."""


def _options(chosen):
    return Options(**{name: bool(on) for name, on in zip(FLAGS, chosen, strict=True)})


COMBINATIONS = [
    _options(chosen)
    if chosen in PAIRWISE
    else nightly("each two flags together are in every run", _options(chosen))
    for chosen in itertools.product((0, 1), repeat=len(FLAGS))
]


def _name(value):
    if isinstance(value, Options):
        return "+".join(name for name in FLAGS if getattr(value, name)) or "plain"
    return str(value)


every_combination = pytest.mark.parametrize("options", COMBINATIONS, ids=_name)
every_question = pytest.mark.parametrize("name", ["all settled", "one holds", "nothing"])
every_depth = pytest.mark.parametrize("depth", [3, None])


def stored(location, properties, options, limits=None, on_progress=None):
    store = open_store(str(location), manifest_for(MODEL, properties, options), resume=True)
    return StoredExplorer(store, MODEL, properties, limits, options, on_progress)


def plain(properties, options, limits=None):
    return essence(Explorer(MODEL, properties, limits, options).run())


@every_combination
@every_question
@every_depth
def test_resuming_a_finished_search_changes_nothing(tmp_path, name, options, depth):
    properties = QUESTIONS[name]
    limits = Limits(depth=depth)
    expected = plain(properties, options, limits)
    assert essence(stored(tmp_path, properties, options, limits).run()) == expected
    before = files(tmp_path)
    for _ in range(2):
        search = stored(tmp_path, properties, options, limits)
        assert essence(search.run()) == expected
        assert files(tmp_path) == before
    told = exploration_of(search.store, MODEL, Question(properties, limits, options), "local")
    assert essence(told) == expected, "the store tells another story than the search"


@every_combination
@every_question
def test_a_search_in_many_runs_leaves_the_store_of_one(tmp_path, name, options):
    properties = QUESTIONS[name]
    whole = essence(stored(tmp_path / "one", properties, options).run())
    for depth in range(len(whole["levels"])):
        limits = Limits(depth=depth)
        found = stored(tmp_path / "many", properties, options, limits).run()
        assert essence(found) == plain(properties, options, limits)
    assert essence(stored(tmp_path / "many", properties, options).run()) == whole
    assert files(tmp_path / "many", timed=False) == files(tmp_path / "one", timed=False)


def _run_until_asked(location, properties, options, depth):
    """A run that is asked to stop while it builds a level."""

    def ask(progress):
        if progress.depth >= depth:
            search.request_stop()

    search: StoredExplorer = stored(location, properties, options, on_progress=ask)
    search.run()


@pytest.mark.parametrize("options", [Options(), Options(keep_going=True, deadlock=True, chunk=1)])
def test_a_search_that_is_stopped_anywhere_leaves_the_store_of_one(tmp_path, options):
    properties = QUESTIONS["one holds"]
    whole = essence(stored(tmp_path / "one", properties, options).run())
    for states in range(1, sum(whole["levels"])):
        found = stored(tmp_path / "many", properties, options, Limits(states=states)).run()
        assert found.distinct_states >= states
    for depth in range(1, len(whole["levels"]) + 1):
        _run_until_asked(tmp_path / "asked", properties, options, depth)
    for place in ("many", "asked"):
        assert essence(stored(tmp_path / place, properties, options).run()) == whole
        assert files(tmp_path / place, timed=False) == files(tmp_path / "one", timed=False)


@pytest.mark.parametrize("states", [1, 2, 8, 17])
def test_fewer_states_than_are_stored_are_too_many_at_once(tmp_path, states):
    options = Options()
    whole = essence(stored(tmp_path, (), options, Limits(depth=5)).run())
    before = {name: text for name, text in files(tmp_path).items() if name.endswith(".parquet")}
    found = stored(tmp_path, (), options, Limits(states=states)).run()
    assert found.stopped == f"the limit of {states} states"
    assert found.levels == whole["levels"]
    assert {name: text for name, text in files(tmp_path).items() if name in before} == before


@every_question
def test_going_on_with_another_flag_ends_like_a_search_with_it(tmp_path, name):
    """`--continue` is no part of what a store belongs to: a run may add it or leave it out."""
    properties = QUESTIONS[name]
    for options in (Options(), Options(keep_going=True), Options()):
        found = stored(tmp_path, properties, options).run()
        assert essence(found) == plain(properties, options)


# --- the store itself ------------------------------------------------------------------------


def test_a_level_is_committed_once_and_in_its_place(tmp_path):
    options = Options()
    search = stored(tmp_path, (), options, Limits(depth=3))
    search.run()
    store, before = search.store, files(tmp_path)
    for depth in (0, 3, 5):
        with pytest.raises(ValueError, match=f"level {depth} after 4 levels"):
            store.commit(Level(depth, ()))
    assert files(tmp_path) == before
    behind = open_store(str(tmp_path), store.manifest, resume=True)
    stored(tmp_path, (), options, Limits(depth=4)).run()
    before = files(tmp_path)
    with pytest.raises(ValueError, match="level 4 is there already"):
        behind.commit(Level(4, ()))
    assert files(tmp_path) == before


def test_nothing_comes_after_the_end(tmp_path):
    search = stored(tmp_path, (), Options())
    search.run()
    assert not search.store.levels[-1].size
    with pytest.raises(ValueError, match="after"):
        search.store.commit(Level(len(search.store.levels), ()))


def test_a_search_that_begins_too_early_does_not_write_levels_twice(tmp_path, monkeypatch):
    """Whatever rule is broken, a store is never made wrong by it."""
    options, properties = Options(keep_going=True, deadlock=True), QUESTIONS["all settled"]
    stored(tmp_path, properties, options).run()
    before = files(tmp_path)
    monkeypatch.setattr(journal_module, "levels_needed", lambda levels, _: levels[:-1])
    with pytest.raises(ValueError, match=r"level \d after \d levels"):
        stored(tmp_path, properties, options).run()
    assert files(tmp_path) == before


# --- mutants ---------------------------------------------------------------------------------


def test_a_store_with_a_rule_of_its_own_is_noticed(tmp_path, monkeypatch):
    options, properties = Options(keep_going=True, deadlock=True), QUESTIONS["all settled"]
    blind = Question(properties, options=Options(keep_going=True))
    stored(tmp_path, properties, options).run()
    monkeypatch.setattr(
        journal_module, "levels_needed", lambda levels, _: levels_needed(levels, blind)
    )
    with pytest.raises(ValueError, match=r"level \d after \d levels"):
        stored(tmp_path, properties, options).run()
