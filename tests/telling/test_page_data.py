"""What a page is told of a run: all of every state, as changes; hues; where properties fall."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checker.core.engines.reference import ReferenceEngine
from checker.core.traces.trace import build_trace
from checker.lab.experiments.cases import accepted_trace
from checker.telling.report.html import render_html
from checker.telling.report.page_data import PageData, trace_data
from checker.telling.report.places import LogPlace, places_of
from checker.telling.report.why import why
from model.protocols import PROTOCOLS
from tests.support.traces import golden_kip279, short_walks, unsafe_isr

KAFKA = Path(__file__).parents[2] / "counterexamples" / "kafka"
GOLDEN = golden_kip279()
WALKS = short_walks()
TRACES = [GOLDEN, unsafe_isr(), *WALKS]


def states_of(data):
    """The states that a page makes of the changes."""
    last: dict[str, Any] = {"v": [], "c": {}, "l": []}
    for number, change in enumerate(data["states"]):
        values = list(last["v"]) if number else change["v"]
        for place, words in change["v"] if number else ():
            values[place] = words
        last = {"v": values, "c": {**last["c"], **change["c"]}, "l": change.get("l", last["l"])}
        yield last


@pytest.mark.parametrize("trace", TRACES)
def test_the_changes_add_up_to_every_state(trace):
    whole = PageData(trace.model)
    assert [*states_of(trace_data(trace))] == [whole.state(state) for state in trace.states]


@pytest.mark.parametrize("trace", TRACES)
def test_whatever_differs_between_states_shows(trace):
    """Two states of a run that differ in any cell do not look alike."""
    shown = [json.dumps(state, sort_keys=True) for state in states_of(trace_data(trace))]
    for state, page in zip(trace.states, shown, strict=True):
        for other, other_page in zip(trace.states, shown, strict=True):
            assert (state == other) is (page == other_page)


@pytest.mark.parametrize("trace", TRACES)
def test_every_scalar_that_can_change_is_listed_or_on_a_card(trace):
    data = trace_data(trace)
    listed = {(data["owners"][owner], name) for owner, name, _ in data["places"]}
    for place in places_of(trace.model):
        on_card = place.owner.has_log and place.name in ("epoch", "HW", "ISR")
        if not isinstance(place, LogPlace) and place.cell.low < place.cell.high and not on_card:
            assert (place.owner.name, place.name) in listed


def test_properties_fall_where_the_reference_engine_says():
    data = trace_data(GOLDEN)
    engine, claim = ReferenceEngine(GOLDEN.model), GOLDEN.claim
    assert claim is not None
    false = {p["name"]: p["false"] for p in data["properties"]}
    assert false[GOLDEN.property] == [
        n for n, state in enumerate(GOLDEN.states) if not engine.holds(claim.claim, state)
    ]
    assert false[GOLDEN.property][-1] == GOLDEN.depth


def test_a_property_of_steps_falls_at_the_state_after_the_step():
    trace = accepted_trace(KAFKA / "36-positions_from_a_missed_epoch")
    falls = {p["name"]: p["false"] for p in trace_data(trace)["properties"]}
    assert falls["epochs_grow"] == [] and falls[trace.property][0] == trace.depth


def test_logs_say_what_is_acknowledged_and_exposed():
    model = PROTOCOLS["kafka"].model(settings={"acks": "1"})
    sent = next(i for i in model.instances if i.action.name == "producer_send")
    seen = set()
    for trace in (
        build_trace(model, [sent]),
        accepted_trace(KAFKA / "36-positions_from_a_missed_epoch"),
    ):
        cells = trace.model.positions
        for state, page in zip(trace.states, states_of(trace_data(trace)), strict=True):
            for card in page["c"].values():
                for offset, (text, _, acknowledged, exposed) in enumerate(card["log"]):
                    record = int(text.partition(":")[0])
                    assert acknowledged == state[cells["records.acknowledged", (record,)]]
                    assert exposed == int(state[cells["offsets.exposed", (offset,)]] == record)
                    seen.add((acknowledged, exposed))
    assert seen == {(0, 0), (1, 0), (1, 1)}


def test_who_leads_is_told_by_the_controller_and_by_each():
    model = PROTOCOLS["kip320"].model()
    elect = [i for i in model.instances if i.action.name == "controller_elect_leader"]
    become = next(i for i in model.instances if i.action.name == "become_leader")
    trace = build_trace(model, [elect[0], become, elect[1]])
    last = [*states_of(trace_data(trace))][-1]
    assert last["l"][:2] == [["controller", "r1", "1"], ["r0", "r0", "0"]]
    assert last["c"]["r0"]["role"] == "presumed"


def test_an_action_has_one_hue_on_every_page_of_its_protocol():
    one, other = (PageData(PROTOCOLS["kafka"].model({"replicas": n})).hues() for n in (2, 3))
    assert one == other and len(set(one.values())) > 0.7 * len(one)


def test_the_causes_of_a_page_are_those_of_the_text():
    reason = why(GOLDEN)
    assert reason is not None and trace_data(GOLDEN)["causes"] == {}
    data = trace_data(GOLDEN, reason)
    assert data["spare"] == list(reason.needless or ())
    for number, links in enumerate(reason.links, 1):
        told = data["causes"].get(str(number), [])
        assert [step for step, _ in told] == [link.step for link in links]
        assert all(step < number for step, _ in told)
        for (_, words), link in zip(told, links, strict=True):
            assert all(value.words in words and value.owner in words for value in link.left)
    written = render_html(GOLDEN).split('id="data">')[1].split("</script>")[0]
    assert json.loads(written)["causes"] == data["causes"] != {}


@pytest.mark.parametrize("trace", TRACES)
def test_a_page_without_its_data_is_small(trace):
    page = render_html(trace)
    start = page.index('id="data">')
    data = page[start : page.index("</script>", start)]
    assert len(page.encode()) - len(data.encode()) < 200_000
    assert "<" not in data.removeprefix('id="data">')
