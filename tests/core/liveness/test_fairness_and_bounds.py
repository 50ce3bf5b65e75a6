"""Fairness as it is written and changed, and what only a bound keeps from going on."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from checker.core.liveness.room import with_room
from checker.core.liveness.search import LivenessSearch
from checker.core.search.limits import Limits
from checker.core.search.question import Options
from checker.core.verdict import Verdict
from model.language import Fairness, strong, weak
from model.language.errors import UsageError
from model.language.fair_groups import groups_of
from model.language.fairness import changed
from model.protocols import PROTOCOLS
from properties import choose_liveness
from properties.liveness import Kind, eventually
from tests.support.counter import COUNTER, LIMIT
from tests.support.graphs import at, graph_model, judge, promise


def test_groups_are_told_apart_by_parameters():
    model = PROTOCOLS["kip320"].model({})
    (fetch,) = [a for a in model.protocol.actions if a.name == "follower_replicate"]
    sizes = {
        None: 9, (): 1, ("follower",): 3, ("follower", "leader"): 9,
    }  # fmt: skip
    for by, size in sizes.items():
        groups = groups_of(model, [weak(fetch, by=by)])
        assert len(groups) == size
        assert sum(len(group.instances) for group in groups) == 9


def test_groups_of_several_actions_join_where_their_parameters_agree():
    model = PROTOCOLS["kip320"].model({})
    (first, *_) = groups_of(model, [weak("become_leader", "become_follower", by=["request"])])
    actions = {model.instances[n].action.name for n in first.instances}
    assert actions == {"become_leader", "become_follower"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=none", (weak("b", by=["x"]),)),
        ("a=strong", (weak("b", by=["x"]), strong("a", by=["x"]))),
        ("a()=strong", (weak("b", by=["x"]), strong("a", by=[]))),
        ("c=weak", (weak("a", "b", by=["x"]), weak("c"))),
        ("c(x, y)=weak", (weak("a", "b", by=["x"]), weak("c", by=["x", "y"]))),
    ],
)
def test_fairness_is_changed_for_one_action_alone(text, expected):
    assert changed([weak("a", "b", by=["x"])], [text]) == expected


@pytest.mark.parametrize("text", ["a", "a=fair", "=weak", "a(b=weak"])
def test_what_is_no_change_of_fairness_is_refused(text):
    with pytest.raises(UsageError, match="write ACTION=weak"):
        changed([], [text])


def test_fairness_of_what_there_is_not_is_refused():
    with pytest.raises(UsageError, match="no action of graph is called 'gone'"):
        judge(graph_model({"go": [(0, 1)]}, weak("gone")), promise(Kind.EVENTUALLY, at(1)))
    with pytest.raises(UsageError, match="no parameter of go is called 'who'"):
        judge(
            graph_model({"go": [(0, 1)]}, weak("go", by=["who"])), promise(Kind.EVENTUALLY, at(1))
        )


CUT_COUNTER = dataclasses.replace(COUNTER, cut_by=(LIMIT,))


def counted(limit: int, *fairness: Fairness, **options: Any) -> Verdict:
    """Whether a counter that counts by two comes to 5, where that is not what a bound forbids."""
    prop = eventually("five", "the count comes to five")(lambda c: c.count == 5)
    model = CUT_COUNTER.model({"limit": limit})
    search = LivenessSearch(model, (), (prop,), fairness, **options)
    (judgement,) = search.run().liveness
    return judgement.verdict


def test_what_only_a_bound_forbids_is_not_a_lack_of_progress():
    assert counted(5, weak("add_two")) is Verdict.HELD_UP
    assert counted(5, weak("add_two"), weak("add")) is Verdict.EXHAUSTED
    assert counted(5) is Verdict.VIOLATED


def test_a_bound_that_cuts_nothing_off_holds_nothing_up():
    prop = eventually("five", "the count comes to five")(lambda c: c.count == 5)
    search = LivenessSearch(COUNTER.model({"limit": 5}), (), (prop,), (weak("add_two"),))
    (judgement,) = search.run().liveness
    assert judgement.verdict is Verdict.VIOLATED


def test_there_is_room_for_one_more_of_what_is_cut_off():
    kafka = PROTOCOLS["kafka"].model({"shutdowns": 1})
    larger = with_room(kafka)
    assert larger is not None
    grown = {name: value for name, value in larger.bounds.items() if value != kafka.bounds[name]}
    assert grown == {"log_size": 2, "max_records": 2, "max_leader_epoch": 4}
    assert larger.settings == kafka.settings
    assert with_room(COUNTER.model({"limit": 5})) is None
    assert with_room(CUT_COUNTER.model({"limit": 10_000})) is None


def test_least_fairness_counts_what_is_taken_beyond_the_bounds_alone():
    """Nothing counts by two up to 1; with room for one more, only that keeps a run at 0 unfair."""
    prop = eventually("counted", "something is counted")(lambda c: c.count > 0)
    model = CUT_COUNTER.model({"limit": 1})
    search = LivenessSearch(model, (), (prop,), (weak("add_two"),))
    (judgement,) = search.run().liveness
    assert judgement.verdict is Verdict.HELD_UP
    least = search.least(prop)
    assert least.declared_suffices
    assert least.fairness == (weak("add_two"),)


def test_a_partition_that_waits_for_an_epoch_beyond_the_bound_is_held_up():
    """Its election needs one more leader epoch than there are: nobody is to blame but the bound."""
    faults = {"shutdowns": 1, "crashes": 0, "preferred_elections": 0}
    model = PROTOCOLS["kafka"].model({**faults, "max_leader_epoch": 1})
    prop = choose_liveness(model.protocol, "an_eligible_broker_is_elected")
    options = Options(cross_check=False)
    (judgement,) = LivenessSearch(model, (), (prop,), options=options).run().liveness
    assert judgement.verdict is Verdict.HELD_UP


def test_a_graph_that_is_not_complete_answers_only_by_what_it_shows():
    """TLC #839: states that a constraint cuts off make every promise look kept."""
    fair = (weak("add"), weak("add_two"))
    assert counted(9, *fair, limits=Limits(depth=2)) is Verdict.BOUNDED
    assert counted(9, *fair, limits=Limits(states=4)) is Verdict.UNKNOWN
    assert counted(9, limits=Limits(depth=2)) is Verdict.VIOLATED
    assert counted(9, limits=Limits(depth=0)) is Verdict.BOUNDED
    assert counted(9, *fair, limits=Limits(seconds=0.0)) is Verdict.UNKNOWN
