"""Runs for ever as traces: twice around on the reference engine, stored, read again, and told."""

from __future__ import annotations

import dataclasses
import json

import pytest

from checker.core.liveness.search import LivenessSearch
from checker.core.traces.itf import read_trace, trace_as_itf, write_trace
from checker.core.traces.lasso import Rounds
from checker.core.traces.trace import Trace, TraceVerdict, build_trace, check_trace
from checker.telling.report.html import render_html
from checker.telling.report.markdown import render_markdown
from checker.telling.report.mermaid import render_mermaid
from checker.telling.report.text import render_text
from model.language import strong, weak
from model.language.errors import RejectedError, UsageError
from model.protocols import PROTOCOLS
from properties import choose_liveness
from properties.liveness import Kind
from tests.support.graphs import at, graph_model, promise

KIP320 = PROTOCOLS["kip320"]
SMALL = {"log_size": 1, "max_records": 1, "max_leader_epoch": 0}
TURN = {"turn": [(0, 1), (1, 2), (2, 1)], "leave": [(1, 3)]}


def trace_of(model, prop, fairness) -> Trace:
    """The lasso that a search finds, as a trace."""
    (judgement,) = LivenessSearch(model, (), (prop,), fairness).run().liveness
    assert judgement.lasso is not None
    lasso = judgement.lasso
    rounds = Rounds(len(lasso.stem), prop, tuple(fairness), judgement.member)
    steps = (*lasso.stem, *lasso.loop)
    return build_trace(model, steps, prop.name, verdict=TraceVerdict.UNFULFILLED, rounds=rounds)


@pytest.fixture(scope="module")
def flapping() -> Trace:
    """Leader and quorum that change the ISR round and round; the record is never committed."""
    fairness = [
        weak("become_leader", "become_follower", by=["request"]),
        weak("leader_expand_isr", "leader_shrink_isr", by=[]),
    ]
    model = KIP320.model(SMALL)
    return trace_of(model, choose_liveness(KIP320, "records_commit"), fairness)


@pytest.fixture(scope="module")
def stopped() -> Trace:
    """A run that stops before it has done what it should."""
    return trace_of(KIP320.model(SMALL), choose_liveness(KIP320, "records_commit"), [])


def turning(**changes):
    """The lasso 0, 1, 2, 1, ... of a graph, which never comes to 3."""
    model = graph_model(TURN)
    prop = promise(Kind.EVENTUALLY, at(3))
    rounds = Rounds(1, prop, (weak("turn"), weak("leave")))
    steps = [model.instances[n] for n in (0, 1, 2)]
    trace = build_trace(model, steps, "promise", verdict="unfulfilled", rounds=rounds)
    return dataclasses.replace(trace, rounds=dataclasses.replace(rounds, **changes))


def test_a_fair_circle_is_accepted():
    check_trace(turning())
    check_trace(turning(fairness=()))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"start": 0}, "is not state 0, where the loop starts"),
        ({"start": 3}, "unfair to turn"),
        ({"start": 7}, "there are states 0 to 3"),
        ({"fairness": (strong("leave"),)}, "unfair to leave\\(edge=0\\), which is strongly fair"),
        ({"fairness": (weak("turn"), weak("turn", "leave", by=[]))}, None),
        ({"promise": promise(Kind.EVENTUALLY, at(2))}, "promise holds in state 2"),
        ({"promise": promise(Kind.EVENTUALLY, at(0))}, "promise holds in state 0"),
        ({"promise": promise(Kind.ALWAYS_EVENTUALLY, at(0))}, None),
        ({"promise": promise(Kind.ALWAYS_EVENTUALLY, at(2))}, "promise holds in state 2"),
        ({"promise": promise(Kind.EVENTUALLY_ALWAYS, at(2))}, None),
        ({"promise": promise(Kind.EVENTUALLY_ALWAYS, at(1, 2))}, "holds all along the loop"),
        ({"promise": promise(Kind.LEADS_TO, at(3), at(0))}, None),
        ({"promise": promise(Kind.LEADS_TO, at(3), at(2))}, None),
        ({"promise": promise(Kind.LEADS_TO, at(1), at(0))}, "promise holds in state 1"),
        ({"promise": promise(Kind.LEADS_TO, at(0), at(0))}, "promise is not owed"),
        ({"promise": promise(Kind.LEADS_TO, at(3), at(3))}, "promise is not owed"),
        ({"member": "r7"}, "promise is not about 'r7'"),
    ],
)
def test_what_is_wrong_with_a_loop_is_said(changes, words):
    if words is None:
        check_trace(turning(**changes))
        return
    with pytest.raises(RejectedError, match=words):
        check_trace(turning(**changes))


def test_a_run_for_ever_has_its_own_verdict(flapping):
    with pytest.raises(RejectedError, match="is not of a run for ever"):
        check_trace(dataclasses.replace(flapping, verdict="violated"))
    with pytest.raises(RejectedError, match="nothing says where the run goes round"):
        check_trace(dataclasses.replace(flapping, rounds=None, property=None))


def test_a_lasso_is_stored_and_read_again(flapping, stopped, tmp_path):
    for number, trace in enumerate((flapping, stopped)):
        path = tmp_path / f"{number}.itf.json"
        write_trace(trace, path)
        document = json.loads(path.read_text())
        assert document["loop"] == trace.rounds.start
        again = read_trace(path)
        assert (again.states, again.steps, again.rounds) == (
            trace.states, trace.steps, trace.rounds,
        )  # fmt: skip
        assert trace_as_itf(again) == path.read_text()


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (lambda d: d.update(loop=99), UsageError, "loop must be the number of a state"),
        (lambda d: d.update(loop=True), UsageError, "loop must be the number of a state"),
        (lambda d: d.update(loop=0), RejectedError, "where the loop starts"),
        (lambda d: d.pop("loop"), UsageError, "unknown field 'member'"),
        (lambda d: d["#meta"].update(property="weak_isr"), UsageError, "no liveness property"),
        (lambda d: d["#meta"].update(member="r9"), RejectedError, "not about 'r9'"),
        (lambda d: d["#meta"].update(fairness=[7]), UsageError, "must be an object"),
        (lambda d: d["#meta"]["fairness"][0].update(strength="firm"), UsageError, "weak or strong"),
        (lambda d: d["#meta"]["fairness"][0].update(actions=["x"]), UsageError, "no action of"),
        (lambda d: d["#meta"]["fairness"][0].update(by=["x"]), UsageError, "no parameter of"),
        (lambda d: d["#meta"]["fairness"].append(
            {"strength": "strong", "actions": ["follower_replicate"], "by": None}
        ), RejectedError, "unfair to follower_replicate"),
    ],
)  # fmt: skip
def test_a_stored_lasso_that_is_none_is_refused(change, error, words, flapping, tmp_path):
    document = json.loads(trace_as_itf(flapping))
    change(document)
    path = tmp_path / "changed.itf.json"
    path.write_text(json.dumps(document))
    with pytest.raises(error, match=words):
        read_trace(path)


@pytest.mark.slow
def test_reports_show_where_it_goes_round(flapping, stopped):
    count = len(flapping.steps) - flapping.rounds.start
    text = render_text(flapping)
    assert text.count("from here on round and round:") == 1
    assert f"goes on with step {flapping.rounds.start + 1} for ever" in text
    assert render_html(flapping).count('class="step again"') == count
    mermaid = render_mermaid(flapping).splitlines()
    assert mermaid.count("    loop for ever") == mermaid.count("    end") == 1
    assert "**From here on round and round:**" in render_markdown(flapping)
    for render in (render_text, render_markdown, render_mermaid, render_html):
        told = " ".join(render(stopped).split())
        assert f"The run stops in state {stopped.depth}" in told
        assert "round and round:" not in told
    assert all(len(line) <= 80 for line in text.splitlines())


def test_a_report_says_how_fairness_is_met(flapping):
    told = " ".join(render_text(flapping).split())
    assert "leader_expand_isr | leader_shrink_isr, weak: taken by step" in told
    assert "not enabled on the loop" in told
