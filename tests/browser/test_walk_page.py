"""The page of a walk as people use it, in a real browser, over a real server."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from checker.core.traces.itf import read_trace
from checker.kafka.audit.as_state import as_state
from checker.kafka.audit.directories import find_replicas
from checker.kafka.audit.judgement import judge
from checker.telling.browse.given import read_state
from checker.telling.browse.walk import Walk
from model.protocols import protocol_named
from tests.support.kafka_logs import Disk, Wanted, batches_of
from tests.support.pages import wider_than_the_page

pytestmark = pytest.mark.browser


@pytest.fixture
def walk(trace):
    return Walk(trace.model)


@pytest.fixture
def page(look, served, walk):
    page = look(served(walk))
    page.wait_for_selector("#choices button")
    return page


def choose(page, words: str) -> None:
    """Take the enabled step of these words."""
    many = int(page.inner_text("#where").split()[-1])
    page.locator("#choices button", has_text=words).first.click()
    expect(page.locator("#where")).to_have_text(f"{many + 1} of {many + 1}")


def test_steps_are_taken_and_taken_back(page, walk):
    assert page.locator("#choices li").count() == len(list(walk.enabled(0)))
    assert (
        "quorum leader none → r1" in page.locator("#choices li", has_text="elects r1").inner_text()
    )
    choose(page, "controller elects r1")
    assert page.inner_text("#said") == "Step 1 of 1: controller elects r1."
    choose(page, "r1 becomes leader in epoch 0")
    assert "r1 leader" in " ".join(page.locator("#state .card").nth(1).inner_text().split())
    page.click("#undo")
    expect(page.locator("#where")).to_have_text("1 of 1")
    choose(page, "controller removes r0")
    tree = page.locator("#tree li").all_inner_texts()
    assert tree == [
        "0. initial state",
        "1. controller elects r1",
        "3. controller removes r0 from the ISR",
        "2. r1 becomes leader in epoch 0",
    ]
    page.locator("#tree button", has_text="2. r1 becomes").click()
    expect(page.locator("#said")).to_contain_text("becomes leader")
    assert len(walk.visited) == 4


def test_a_trace_is_walked_along_and_left(look, served, walk, trace):
    page = look(served(walk, walk.add_trace(trace)))
    page.wait_for_selector("#choices button")
    assert page.inner_text("#where") == "10 of 10"
    assert "violates weak_isr" in page.inner_text("#tree")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.click("#return")
    expect(page.locator("#where")).to_have_text("1 of 1")
    choose(page, "r0 becomes leader in epoch 0")
    assert len(walk.visited) == trace.depth + 2


def test_how_near_a_violation_is(look, served, walk, trace):
    page = look(served(walk, walk.numbers_to(walk.add_trace(trace))[8]))
    page.wait_for_selector("#choices button")
    page.fill("#depth", "4")
    page.click("#near button")
    page.wait_for_selector("#nearest button")
    assert page.inner_text("#nearest").startswith("weak_isr is violated 2 steps from here")
    page.click("#nearest button")
    expect(page.locator("#where")).to_have_text("10 of 10")
    assert "falls" in page.inner_text("#said")


def test_a_walk_begins_in_a_state_that_is_typed(page, walk):
    page.click("text=Begin in a state of your own")
    state = json.loads(page.input_value("#typed"))
    state["next_leader_epoch"] = 7
    page.fill("#typed", json.dumps(state))
    page.click("#begin button")
    page.wait_for_selector("#problem:visible")
    assert "next_leader_epoch is 7: valid is" in page.inner_text("#problem")
    assert len(walk.visited) == 1
    state["next_leader_epoch"] = 1
    page.fill("#typed", json.dumps(state))
    page.click("#begin button")
    expect(page.locator("#said")).to_contain_text("typed in")
    assert not page.is_visible("#problem")


@pytest.mark.parametrize(
    "kind, suffix", [("trace", ".itf.json"), ("test", ".py"), ("scenario", ".toml")]
)
def test_a_walk_is_kept(look, served, walk, trace, tmp_path, kind, suffix):
    page = look(served(walk, walk.add_trace(trace)))
    page.wait_for_selector("#choices button")
    with page.expect_download() as waiting:
        page.click(f"[data-keep={kind}]")
    path = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(path)
    assert path.name.endswith(suffix) and "weak_isr" in path.read_text()
    if kind == "trace":
        assert read_trace(path).steps == trace.steps


def test_a_page_whose_server_has_gone_says_so(chromium, walk):
    import threading

    from checker.telling.browse.server import Server

    server = Server(walk)
    thread = threading.Thread(target=server.run)
    thread.start()
    context = chromium.new_context()
    page = context.new_page()
    page.goto(server.address)
    page.wait_for_selector("#choices button")
    server.stop()
    thread.join(timeout=30)
    page.locator("#choices button").first.click()
    page.wait_for_selector("#problem:visible")
    assert "has ended" in page.inner_text("#problem")
    context.close()


@pytest.mark.parametrize("width, scheme", [(390, "dark"), (1280, "light")])
def test_axe_finds_nothing_and_nothing_is_cut_off(look, served, faults, walk, trace, width, scheme):
    page = look(served(walk, walk.add_trace(trace)), width, color_scheme=scheme)
    page.wait_for_selector("#choices button")
    page.click("text=Begin in a state of your own")
    assert wider_than_the_page(page) == []
    assert faults(page) == []


def test_a_walk_from_disks_says_where_it_began_and_goes_on(look, served, faults, tmp_path):
    logs = batches_of([1, 1], [0, 4]), [*batches_of([1]), Wanted(1, 2, (b"other",))]
    paths = [Disk(log, k, 2).write(tmp_path / str(k)) for k, log in enumerate(logs)]
    (group,) = find_replicas(paths).groups
    file = tmp_path / "state.json"
    file.write_text(json.dumps(as_state(judge(group)).data()))
    given = read_state(file)
    own = Walk(protocol_named("kafka").model(dict(given.bounds)))
    page = look(served(own, own.begin(given.values, given.words)))
    page.wait_for_selector("#choices button")
    assert "orders-0 as it was found on disks, perhaps unreachable" in page.inner_text("#tree")
    assert page.locator("#state .card", has_text="down").count() == 2
    first = page.locator("#choices li", has_text="b0 restarts").inner_text()
    assert "b0 role down → none; b0 epoch 0 → 2" in first
    choose(page, "b0 restarts")
    assert faults(page) == []
