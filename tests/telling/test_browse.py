"""Walks: what is enabled, what is kept, and a server that answers to its own page alone."""

from __future__ import annotations

import html
import json
import random
import threading
from pathlib import Path
from typing import Any

import pytest

import highwater
from checker.core.engines.agreement import require_agreement
from checker.core.engines.reference import ReferenceEngine
from checker.core.traces.itf import read_trace
from checker.core.traces.itf_values import plain_state, state_of
from checker.lab.experiments.cases import accepted_trace
from checker.lab.experiments.scenarios import read_scenario, replay
from checker.telling.browse.saving import keep
from checker.telling.browse.server import application
from checker.telling.browse.walk import Walk
from model.language.errors import HighwaterError, RejectedError, UsageError
from model.protocols import PROTOCOLS
from tests.support.traces import EVERY_PROTOCOL, random_walk

ROOT = Path(__file__).parents[2]
TOKEN = "a-token"
PORT = 4711


@pytest.fixture(scope="module")
def trace():
    return accepted_trace(Path("kip101-weak_isr"))


@pytest.fixture
def walk(trace):
    return Walk(trace.model)


@pytest.fixture
def lost(walk, trace):
    """The walk, and the number of its state in which a record is lost."""
    return walk, walk.add_trace(trace)


# Walking.


@pytest.mark.parametrize("protocol", EVERY_PROTOCOL.values(), ids=lambda p: p.name)
def test_what_is_enabled_is_what_the_reference_engine_says(protocol):
    model = protocol.model()
    run = random_walk(model, 6, seed=3)
    walk = Walk(model)
    at = walk.follow(0, [step.number for step in run.steps])
    engine = ReferenceEngine(model)
    told = {step["number"]: step for step in walk.enabled(at)}
    expected = dict(engine.successors(run.states[-1]))
    assert told.keys() == {instance.number for instance in expected}
    for instance, after in expected.items():
        there = walk.take(at, instance.number)
        assert walk.visited[there].state == after
        assert told[instance.number]["words"] == engine.words(run.states[-1], instance)


def test_a_step_that_was_taken_leads_to_the_same_state_again(walk):
    first = next(walk.enabled(0))["number"]
    assert walk.take(0, first) == walk.take(0, first) == 1
    assert len(walk.visited) == 2
    assert next(walk.enabled(0))["known"] == 1


def test_steps_that_are_not_enabled_are_refused(walk):
    possible = {step["number"] for step in walk.enabled(0)}
    other = next(i.number for i in walk.model.instances if i.number not in possible)
    for at, number in ((0, other), (0, 10_000), (0, -1), (7, 0), (-1, 0)):
        with pytest.raises(UsageError):
            walk.take(at, number)
    assert len(walk.visited) == 1


def test_a_step_says_what_it_would_violate(lost):
    walk, at = lost
    before = walk.numbers_to(at)[-2]
    (step,) = [s for s in walk.enabled(before) if s["known"] == at]
    assert "weak_isr" in step["violates"]
    assert "weak_isr" in walk.view(at)["visited"][at]["violates"]


def test_how_near_a_violation_is_from_each_state_of_a_trace(lost):
    walk, at = lost
    way = walk.numbers_to(at)
    for number in (4, 8, len(way) - 1):
        near = walk.near(way[number], 10, 60)
        assert len(near.steps) <= len(way) - 1 - number
        end = walk.follow(way[number], [step.number for step in near.steps])
        assert near.found in walk.violated(*walk.run_to(end)[0][-2:])


def test_the_engine_that_searches_is_compared_with_the_reference_engine_once(walk, monkeypatch):
    compared = []

    def note(*arguments):
        compared.append(arguments)
        return require_agreement(*arguments)

    monkeypatch.setattr("checker.core.search.explore.require_agreement", note)
    walk.near(0, 2, 60)
    walk.near(0, 3, 60)
    assert len(compared) == 1


def test_that_nothing_is_near_says_how_far_was_looked(walk):
    near = walk.near(0, 3, 60)
    assert near.found is None and not near.whole
    assert near.words.startswith("nothing is violated within 3 steps from here (")
    small = Walk(PROTOCOLS["kip320"].model({"replicas": 1}))
    assert small.near(0, 100, 60).words.startswith("nothing is violated in any state")


# States that are typed in.


@pytest.mark.parametrize("protocol", EVERY_PROTOCOL.values(), ids=lambda p: p.name)
def test_a_state_comes_back_from_what_people_edit(protocol):
    model = protocol.model()
    for state in random_walk(model, 8, seed=1).states:
        assert state_of(model, json.loads(json.dumps(plain_state(model, state)))) == state
    assert state_of(model, {}) == model.initial_state


def thinned(given, first, leave_out):
    """A state without what is as at first, wherever `leave_out` says so."""
    if not isinstance(given, dict) or any(name in given for name in ("#set", "#bigint")):
        return given
    if list(given) == ["#map"]:
        usual = {json.dumps(key): value for key, value in first["#map"]}
        pairs = [(key, value, usual[json.dumps(key)]) for key, value in given["#map"]]
        kept = [(k, v, u) for k, v, u in pairs if v != u or not leave_out()]
        return {"#map": [[k, thinned(v, u, leave_out)] for k, v, u in kept]}
    return {
        name: thinned(value, first[name], leave_out)
        for name, value in given.items()
        if value != first[name] or not leave_out()
    }


@pytest.mark.parametrize("protocol", EVERY_PROTOCOL.values(), ids=lambda p: p.name)
def test_what_is_left_out_of_a_state_is_as_at_first(protocol):
    model = protocol.model()
    first = plain_state(model, model.initial_state)
    draw = random.Random(2)
    for state in random_walk(model, 8, seed=3).states:
        whole = plain_state(model, state)
        some = thinned(whole, first, lambda: draw.random() < 0.5)
        least = thinned(whole, first, lambda: True)
        assert state_of(model, some) == state_of(model, least) == state
        assert len(json.dumps(least)) < len(json.dumps(whole))


@pytest.mark.parametrize(
    "values, words",
    [
        ([], "must be an object"),
        ({"brokers": 3}, "unknown field 'brokers'"),
        ({"quorum": {"leader": "r9", "leader_epoch": 0, "isr": {"#set": []}}}, "'r9'"),
        ({"quorum": {"leader": "r0", "leader_epoch": 99, "isr": {"#set": []}}}, "valid is"),
        ({"quorum": {"leader": "r0", "isr": {}}}, "lacks the field"),
        ({"quorum": {"leader": "r0", "other": 1}}, "unknown field 'other'"),
        ({"replicas": {"#map": [["r9", {}]]}}, "r9"),
        ({"replicas": {"#map": [["r0", {}], ["r0", {}]]}}, "twice"),
        ({"replicas": {"#map": [3]}}, "pairs"),
        ({"next_leader_epoch": True}, "must be an integer"),
    ],
)
def test_what_is_no_state_is_refused_in_one_line(walk, values, words):
    with pytest.raises(HighwaterError, match=words) as refused:
        walk.begin(values)
    assert "\n" not in str(refused.value)
    assert len(walk.visited) == 1


def test_a_walk_begins_where_one_says(lost):
    walk, at = lost
    before = walk.visited[walk.numbers_to(at)[-2]].state
    begun = walk.begin(plain_state(walk.model, before))
    assert walk.visited[begun].before is None and walk.visited[begun].state == before
    assert len(walk.near(begun, 4, 60).steps) == 1


# Keeping.


def test_a_walk_is_kept_as_a_trace_that_replays(lost, trace, tmp_path):
    kept = keep(lost[0], lost[1], "trace")
    path = tmp_path / kept.name
    path.write_text(kept.text)
    stored = read_trace(path)
    assert (stored.steps, stored.property, str(stored.verdict)) == (
        trace.steps, "weak_isr", "violated",
    )  # fmt: skip
    assert kept.name == "kip101-weak_isr.itf.json"


def test_a_walk_is_kept_as_a_scenario_that_replays(lost, trace, tmp_path):
    kept = keep(lost[0], lost[1], "scenario")
    path = tmp_path / kept.name
    path.write_text(kept.text)
    (run,) = read_scenario(path).runs
    assert replay(run).steps == trace.steps
    assert "violated weak_isr" in kept.text and "holds well_formed" in kept.text


def test_a_walk_is_kept_as_a_test_that_passes_and_can_fail(lost):
    kept = keep(lost[0], lost[1], "test")
    assert kept.name == "test_kip101_weak_isr.py"

    def run_test(text):
        names: dict[str, Any] = {}
        exec(compile(text, kept.name, "exec"), names)
        (test,) = [value for name, value in names.items() if name.startswith("test_")]
        test()

    run_test(kept.text)
    broken = kept.text.replace("    'leader_write(leader=r0)',\n", "")
    assert broken != kept.text
    with pytest.raises(RejectedError, match="is not enabled in the state before it"):
        run_test(broken)


def test_a_walk_from_a_state_of_ones_own_is_kept_if_it_ends_in_a_violation(lost, tmp_path):
    walk, at = lost
    way = walk.numbers_to(at)
    begun = walk.begin(plain_state(walk.model, walk.visited[way[-2]].state))
    with pytest.raises(UsageError, match="nothing is violated here"):
        keep(walk, begun, "trace")
    end = walk.take(begun, walk.visited[at].step.number)
    path = tmp_path / "kept.itf.json"
    path.write_text(keep(walk, end, "trace").text)
    assert str(read_trace(path).verdict) == "not_inductive"
    with pytest.raises(UsageError, match="begins in the initial state"):
        keep(walk, end, "scenario")


def test_steps_are_run_from_a_script_by_their_names():
    steps = ["controller_elect_leader(leader=r0)", "become_leader(leader=r0, request=0)"]
    assert highwater.run("kip320", steps).depth == 2
    with pytest.raises(RejectedError, match="not enabled"):
        highwater.run("kip320", steps[1:])
    with pytest.raises(UsageError, match="did you mean 'become_leader"):
        highwater.run("kip320", ["become_leader(leader=r0, request=7)"])
    with pytest.raises(RejectedError, match="does not hold"):
        highwater.run("kip320", steps, property="weak_isr")


# The server.


@pytest.fixture
def client(lost):
    walk, at = lost
    app = application(walk, at, TOKEN, threading.Lock(), lambda: PORT)
    return app.test_client()


def ask(client, what, body, token=TOKEN, host=f"127.0.0.1:{PORT}", **headers):
    content = body if isinstance(body, str) else json.dumps(body)
    headers = {"Host": host, "Content-Type": "application/json"} | headers
    return client.post(f"/{token}/{what}", data=content, headers=headers)


def test_the_page_and_its_data_are_served(client):
    page = client.get(f"/{TOKEN}/", headers={"Host": f"localhost:{PORT}"})
    assert page.status_code == 200 and "Enabled steps here" in page.text
    assert page.headers["Cache-Control"] == "no-store"
    assert "script-src 'sha256-" in html.unescape(page.text)
    assert "unsafe-inline" not in page.text
    view = ask(client, "view", {"at": 3}).json
    assert view["at"] == 3 and view["way"] == [0, 1, 2, 3] and len(view["run"]["steps"]) == 3


@pytest.mark.parametrize(
    "token, headers, status",
    [
        (TOKEN, {"Host": f"evil.example:{PORT}"}, 400),
        (TOKEN, {"Host": "127.0.0.1:1"}, 400),
        (TOKEN, {"Host": "127.0.0.1"}, 400),
        ("another", {}, 403),
        (TOKEN[:-1], {}, 403),
        ("", {}, 403),
        (TOKEN, {"Origin": "https://evil.example"}, 403),
        (TOKEN, {"Origin": "null"}, 403),
        (TOKEN, {"Content-Type": "text/plain"}, 415),
    ],
)
def test_nobody_else_is_answered(client, token, headers, status):
    headers = dict(headers)
    host = headers.pop("Host", f"127.0.0.1:{PORT}")
    found = ask(client, "view", {"at": 0}, token, host, **headers)
    assert found.status_code == status
    assert found.text.count("\n") == 1 and "kip101" not in found.text
    page = client.get(f"/{token}/", headers={"Host": host} | headers)
    assert (page.status_code == 200) is (status == 415)


@pytest.mark.parametrize(
    "what, body, words",
    [
        ("view", "{", "not JSON"),
        ("view", "[" * 100_000, "not JSON"),
        ("view", [], "must be an object"),
        ("view", {}, "at must be a number"),
        ("view", {"at": True}, "at must be a number"),
        ("view", {"at": 99}, "no state 99 was visited"),
        ("follow", {"at": 0, "steps": ["x"]}, "steps must be a list of numbers"),
        ("follow", {"at": 0, "steps": [10_000]}, "there is no step 10000"),
        ("near", {"at": 0, "depth": 0, "seconds": 5}, "depth must be a number"),
        ("near", {"at": 0, "depth": 3, "seconds": 1e9}, "seconds must be a number"),
        ("begin", {"state": "{,}"}, "not JSON: line 1"),
        ("begin", {"state": "[" * 100_000}, "nested too deeply"),
        ("begin", {"state": '{"a": 1}'}, "unknown field 'a'"),
        ("begin", {"state": 3}, "state must be text"),
        ("save", {"at": 0, "kind": "poem"}, "valid are trace, test, scenario"),
    ],
)
def test_bad_input_is_refused_in_one_line_and_loses_nothing(client, lost, what, body, words):
    before = list(lost[0].visited)
    found = ask(client, what, body)
    assert found.status_code == 400
    assert words in found.json["error"] and "\n" not in found.json["error"]
    assert lost[0].visited == before


def test_what_does_not_exist_is_not_found(client):
    assert ask(client, "poem", {}).status_code == 404
    assert client.get(f"/{TOKEN}/view", headers={"Host": f"127.0.0.1:{PORT}"}).status_code == 405


def test_too_much_is_refused(client):
    assert ask(client, "begin", " " * (5 << 20)).status_code == 413
