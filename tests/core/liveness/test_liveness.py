"""Liveness on graphs drawn by hand, each of a mistake that a liveness checker has made or could.

The numbers are of issues of TLC (tlaplus/tlaplus), of tla-rs (fabracht/tla-rs) and of what
Stateright's documentation says of its `eventually`.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from checker.core.liveness.search import LivenessSearch
from checker.core.search.limits import Limits
from checker.core.search.question import Options
from checker.core.verdict import Lasso, Verdict
from model.language import strong, weak
from model.language.errors import HighwaterError, UsageError
from model.protocols import PROTOCOLS
from properties import liveness_of
from properties.liveness import Kind, eventually
from tests.support.graphs import at, graph_model, judge, judged, promise
from tests.support.lab import protocol_of

EVENTUALLY, LEADS_TO = Kind.EVENTUALLY, Kind.LEADS_TO
AGAIN, AT_LAST = Kind.ALWAYS_EVENTUALLY, Kind.EVENTUALLY_ALWAYS


def walk(lasso: Lasso | None) -> tuple[list[int], list[int]]:
    """The places on the way and on the loop, by the edges that are taken."""
    assert lasso is not None
    ways = []
    for steps in (lasso.stem, lasso.loop):
        places = []
        for step in steps:
            places.append(step.arguments[0])
        ways.append(places)
    return ways[0], ways[1]


# --- stopping ------------------------------------------------------------------------------------


def test_without_fairness_a_run_may_stop_where_it_is():
    """tla-rs #62: stuttering that no step in the graph shows."""
    judgement = judge(graph_model({"step": [(0, 1)]}), promise(EVENTUALLY, at(1)))
    assert judgement.lasso == Lasso((), ())


@pytest.mark.parametrize("fair", [weak, strong])
def test_a_run_does_not_stop_where_something_fair_is_enabled(fair):
    model = graph_model({"step": [(0, 1)]}, fair("step"))
    assert judge(model, promise(EVENTUALLY, at(1))).verdict is Verdict.EXHAUSTED


def test_a_run_that_can_do_nothing_stops_for_ever():
    model = graph_model({"step": [(0, 1), (1, 2)]}, weak("step"))
    assert judge(model, promise(AT_LAST, at(2))).verdict is Verdict.EXHAUSTED
    judgement = judge(model, promise(AGAIN, at(1)))
    assert walk(judgement.lasso) == ([0, 1], [])


def test_a_step_that_changes_nothing_meets_no_fairness():
    """tla-rs #63 and #65: a fair action that may also leave everything as it is."""
    grow = {"grow": [(0, 1), (1, 2), (0, 0), (1, 1), (2, 2)]}
    model = graph_model(grow, weak("grow", by=[]))
    assert judge(model, promise(EVENTUALLY, at(2))).verdict is Verdict.EXHAUSTED


def test_an_action_that_only_changes_nothing_is_not_asked_for():
    model = graph_model({"idle": [(0, 0)], "step": [(0, 1)]}, weak("idle"))
    assert judge(model, promise(EVENTUALLY, at(1))).lasso == Lasso((), ())


def test_a_run_stops_in_the_middle_of_what_it_could_go_on_with():
    """TLC #971: two states and no fairness; the run that stops is one of the violations."""
    model = graph_model({"next": [(0, 1), (1, 0), (0, 0), (1, 1)]})
    for workers in (1, 2):
        judgement = judge(model, promise(AGAIN, at(0)), workers=workers)
        assert walk(judgement.lasso) == ([0], [])
        judgement = judge(model, promise(AT_LAST, at(0)), workers=workers)
        assert walk(judgement.lasso) == ([], [0, 1])
    assert judge(model, promise(AT_LAST, at(0, 1))).verdict is Verdict.EXHAUSTED


# --- circles -------------------------------------------------------------------------------------


def test_the_steps_of_a_component_count_and_not_its_states_alone():
    """TLC #201: another action goes the same way back; it is not the fair one that does."""
    both = {"a": [(0, 1), (1, 2), (2, 0)], "b": [(x, y) for x in range(3) for y in range(3)]}
    model = graph_model(both, weak("a", by=[]))
    lasso = judge(model, promise(AGAIN, at(2))).lasso
    assert lasso is not None
    assert any(step.action.name == "a" for step in lasso.loop)
    each = graph_model(both, strong("a"))
    assert judge(each, promise(AGAIN, at(2))).verdict is Verdict.EXHAUSTED


def test_an_action_that_goes_between_the_states_of_a_circle_is_taken_only_if_it_is_that_one():
    """`b` leads where `a` does. A run of `a` alone is unfair to `b`, whatever states it visits."""
    edges = {"a": [(0, 1), (1, 0)], "b": [(0, 1), (0, 2)]}
    each = graph_model(edges, strong("b"), weak("a"))
    assert judge(each, promise(EVENTUALLY, at(2))).verdict is Verdict.EXHAUSTED
    one = graph_model(edges, strong("b", by=[]), weak("a"))
    lasso = judge(one, promise(EVENTUALLY, at(2))).lasso
    assert lasso is not None
    assert [str(step) for step in lasso.loop] == ["b(edge=0)", "a(edge=1)"]


def test_an_unfair_circle_breaks_nothing():
    """tla-rs #59: fairness narrows the runs down; an unfair circle is none of them."""
    model = graph_model({"spin": [(0, 1), (1, 0)], "leave": [(0, 2), (1, 2)]}, weak("leave", by=[]))
    assert judge(model, promise(EVENTUALLY, at(2))).verdict is Verdict.EXHAUSTED


def test_fairness_is_asked_of_the_circle_and_not_of_the_component_around_it():
    """tla-rs #59: the fair action is taken around the states that still owe, never among them."""
    edges = {"hold": [(0, 1), (1, 2), (2, 1)], "release": [(1, 0), (2, 0)]}
    model = graph_model(edges, weak("release", by=[]))
    prop = promise(LEADS_TO, at(0), at(1))
    assert judge(model, prop).verdict is Verdict.EXHAUSTED
    lasso = judge(graph_model(edges), prop).lasso
    assert walk(lasso) == ([0], [])


def test_weak_and_strong_fairness_differ_where_an_action_comes_and_goes():
    edges = {"turn": [(0, 1), (1, 0)], "leave": [(0, 2)]}
    held = promise(EVENTUALLY, at(2))
    both = weak("turn")
    judgement = judge(graph_model(edges, both, weak("leave")), held)
    assert walk(judgement.lasso) == ([], [0, 1])
    assert judge(graph_model(edges, both, strong("leave")), held).verdict is Verdict.EXHAUSTED


def test_removing_states_again_and_again_finds_the_circle_that_is_left():
    """Each removal for strong fairness splits what is left; the circle 4, 5 owes nothing."""
    edges = {
        "turn": [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 4), (5, 0), (1, 0), (2, 1), (3, 2)],
        "leave": [(0, 6)],
        "jump": [(1, 6), (3, 6)],
    }
    model = graph_model(edges, strong("leave"), strong("jump", by=[]), weak("turn", by=[]))
    judgement = judge(model, promise(EVENTUALLY, at(6)))
    assert walk(judgement.lasso) == ([0, 1, 2, 3], [4, 5])


def test_a_circle_in_a_graph_whose_ways_join_is_seen():
    """Stateright's `eventually` takes a state seen before for the end of a run that is fine."""
    joins = {"a": [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)], "b": [(4, 3)]}
    model = graph_model(joins, weak("a", "b", by=[]))
    judgement = judge(model, promise(EVENTUALLY, at(1)))
    assert walk(judgement.lasso) == ([1, 3], [4, 0])
    assert judge(model, promise(EVENTUALLY, at(3))).verdict is Verdict.EXHAUSTED


def test_a_circle_through_the_first_state_is_seen():
    model = graph_model({"turn": [(0, 1), (1, 0)]}, weak("turn"))
    judgement = judge(model, promise(EVENTUALLY, at(2)))
    assert walk(judgement.lasso) == ([], [0, 1])


def test_the_loop_is_a_real_circle_and_a_short_one():
    """tla-rs #64: what is told must be steps that there are; and a run that stops is shorter."""
    edges = {"go": [(0, 1), (1, 2), (2, 0)]}
    assert walk(judge(graph_model(edges), promise(AT_LAST, at(1, 2))).lasso) == ([], [])
    model = graph_model(edges, weak("go"))
    assert walk(judge(model, promise(AT_LAST, at(1, 2))).lasso) == ([], [0, 1, 2])


def test_a_loop_takes_every_fair_action_that_it_must():
    edges = {"in": [(0, 1), (0, 2), (0, 3)], "out": [(1, 0), (2, 0), (3, 0)]}
    model = graph_model(edges, strong("in"), weak("out", by=[]))
    _, loop = walk(judge(model, promise(EVENTUALLY, at(4))).lasso)
    lasso = judge(model, promise(EVENTUALLY, at(4))).lasso
    assert lasso is not None
    assert {str(s) for s in lasso.loop} >= {f"in(edge={n})" for n in range(3)}
    assert len(loop) == 6


def test_the_way_there_is_a_shortest_one():
    edges = {"far": [(0, 1), (1, 2), (2, 3)], "near": [(0, 4), (4, 3)], "spin": [(3, 5), (5, 3)]}
    model = graph_model(edges, weak("far"), weak("near"), weak("spin"))
    assert walk(judge(model, promise(AT_LAST, at(0, 1, 2, 4))).lasso) == ([0, 1], [0, 1])


# --- what is owed --------------------------------------------------------------------------------


def test_what_leads_to_asks_for_counts_from_where_it_is_owed():
    edges = {"go": [(0, 1), (1, 2), (0, 3), (3, 4), (4, 3)]}
    model = graph_model(edges, weak("go", by=[]))
    assert judge(model, promise(LEADS_TO, at(2), at(1))).verdict is Verdict.EXHAUSTED
    assert walk(judge(model, promise(LEADS_TO, at(2), at(0))).lasso) == ([2], [3, 4])
    assert judge(model, promise(LEADS_TO, at(0), at(0))).verdict is Verdict.EXHAUSTED


def test_a_promise_that_nothing_makes_owed_is_vacuous():
    model = graph_model({"go": [(0, 1)]}, weak("go"))
    judgement = judge(model, promise(LEADS_TO, at(0), at(5)))
    assert not judgement.owed
    assert judge(model, promise(LEADS_TO, at(1), at(0))).owed


def test_what_nothing_makes_owed_is_never_broken():
    """TLC #604: a premise that is false everywhere, on runs that stop and on runs that go round."""
    edges = {"go": [(0, 1), (1, 2), (2, 1)]}
    for fairness in ((), (weak("go"),), (strong("go"),)):
        judgement = judge(graph_model(edges, *fairness), promise(LEADS_TO, at(0), at(5)))
        assert (judgement.verdict, judgement.owed) == (Verdict.EXHAUSTED, False)


def test_what_holds_for_good_at_last_need_not_hold_before():
    """TLC #1037: the way to where it holds for good is no violation, nor is its first state."""
    model = graph_model({"next": [(0, 1), (1, 2), (2, 3), (3, 4), (4, 4)]}, weak("next", by=[]))
    assert judge(model, promise(AT_LAST, at(4))).verdict is Verdict.EXHAUSTED
    assert judge(model, promise(AT_LAST, at(0))).verdict is Verdict.VIOLATED


def test_what_holds_again_and_again_does_not_hold_for_good():
    """tla-rs #62: "for good from some time on" is judged, and not taken for "at some time"."""
    model = graph_model({"go": [(0, 1), (1, 2), (2, 1)]}, weak("go", by=[]))
    assert judge(model, promise(EVENTUALLY, at(1))).verdict is Verdict.EXHAUSTED
    assert judge(model, promise(AGAIN, at(1))).verdict is Verdict.EXHAUSTED
    assert walk(judge(model, promise(AT_LAST, at(1))).lasso) == ([0], [1, 2])
    assert judge(model, promise(AT_LAST, at(1, 2))).verdict is Verdict.EXHAUSTED


def test_the_loop_goes_through_the_state_that_breaks_the_promise():
    """tla-rs #66: of a component with several circles the one that is told shows the violation."""
    near = {"go": [(0, 1), (1, 2), (2, 0), (1, 3), (3, 4), (4, 1)]}
    model = graph_model(near, weak("go", by=[]))
    lasso = judge(model, promise(AT_LAST, at(0, 1, 2, 3))).lasso
    stem, loop = walk(lasso)
    places = [near["go"][edge][1] for edge in (*stem, *loop)]
    assert 4 in places[len(stem) :]
    assert places[-1] == (near["go"][stem[-1]][1] if stem else 0)
    assert all(near["go"][a][1] == near["go"][b][0] for a, b in itertools.pairwise(loop))


def test_eventually_is_about_the_first_state_on():
    """What held once may be false for ever after; `eventually` is content with that."""
    model = graph_model({"go": [(0, 1), (1, 2)]}, weak("go"))
    assert judge(model, promise(EVENTUALLY, at(1))).verdict is Verdict.EXHAUSTED
    assert judge(model, promise(EVENTUALLY, at(0))).verdict is Verdict.EXHAUSTED
    assert judge(model, promise(AT_LAST, at(1))).lasso is not None
    assert judge(model, promise(AGAIN, at(1))).lasso is not None


def test_each_member_is_promised_it_by_itself():
    """tla-rs #59: fairness and promises for each member, not for somebody."""

    def raise_flags(state):
        state.nodes[1].flag = True

    model = protocol_of(raise_flags).model({"nodes": 2, "rows": 1, "size": 1})

    @eventually("flagged", "every node gets its flag", of="nodes")
    def flagged(state, node):
        return node.flag

    (judgement,) = LivenessSearch(model, (), (flagged,), (weak("raise_flags"),)).run().liveness
    assert (judgement.verdict, judgement.member) == (Verdict.VIOLATED, "n0")
    assert judgement.lasso == Lasso(tuple(model.instances[:1]), ())


# --- what is known of the graph ------------------------------------------------------------------


def test_a_state_that_is_not_expanded_is_no_place_to_stop():
    """Nothing is known of its steps: that it has none is no violation."""
    model = graph_model({"go": [(0, 1), (1, 2), (2, 3)]}, weak("go"))
    search = LivenessSearch(model, (), (promise(EVENTUALLY, at(3)),), limits=Limits(depth=2))
    (judgement,) = search.run().liveness
    assert judgement.verdict is Verdict.BOUNDED


def test_a_search_that_takes_two_states_for_one_is_noticed(monkeypatch):
    from checker.core.liveness import graph
    from checker.core.search import visited_set

    monkeypatch.setattr(visited_set, "fingerprints", lambda words: (words & 1 | 2)[0])
    with pytest.raises(HighwaterError, match="two states for one"):
        judge(graph_model({"go": [(0, 2), (2, 3), (3, 1)]}), promise(EVENTUALLY, at(1)))
    assert graph.MOST_STATES > 10**9


# --- nothing else matters ------------------------------------------------------------------------


@pytest.mark.slow
def test_workers_chunks_and_machine_code_change_nothing():
    model = PROTOCOLS["kip320"].model({"log_size": 1, "max_records": 1, "max_leader_epoch": 1})
    results = []
    for options in (
        Options(cross_check=False, compile_after=None, chunk=10**6),
        Options(cross_check=False, compile_after=0.0, chunk=97),
        Options(cross_check=False, workers=2, chunk=1_000),
    ):
        for fairness in ((), model.protocol.fairness, (strong("follower_replicate"),)):
            search = LivenessSearch(
                model, (), liveness_of(model.protocol), fairness, options=options
            )
            results.append(search.run().liveness)
    assert results[:3] == results[3:6] == results[6:]
    assert any(judgement.lasso for judgement in results[0])


def test_states_that_share_a_fingerprint_are_told_apart(monkeypatch):
    from checker.core.liveness import graph

    monkeypatch.setattr(graph, "fingerprints", lambda words: words[0] & np.uint64(1))
    edges = {"go": [(0, 2), (2, 4), (4, 1), (1, 3), (3, 5)]}
    model = graph_model(edges, weak("go"))
    assert judge(model, promise(EVENTUALLY, at(5))).verdict is Verdict.EXHAUSTED
    assert walk(judge(model, promise(AGAIN, at(3))).lasso) == ([0, 1, 2, 3, 4], [])


def test_symmetry_is_refused():
    """TLC #59: a circle of classes need not be one of states, and fairness tells members apart."""
    with pytest.raises(UsageError, match="not checked with --symmetry"):
        judged(graph_model({"go": [(0, 1)]}), promise(EVENTUALLY, at(1)), symmetry=True)
