"""The page of a trace as people use it, in a real browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from checker.core.liveness.search import LivenessSearch
from checker.core.traces.lasso import Rounds
from checker.core.traces.trace import build_trace
from checker.telling.report.html import render_html
from checker.telling.report.why import why
from model.language import (
    Annotated,
    Bound,
    Entity,
    Members,
    Protocol,
    State,
    action,
    integers,
    sequence,
    weak,
)
from model.language import members as family
from model.protocols import PROTOCOLS
from model.replicated_log import LOG_SIZE, MAX_LEADER_EPOCH, MAX_RECORDS, Log
from properties import choose_liveness
from tests.support.fleet import long_run
from tests.support.pages import needless, stored, wider_than_the_page, with_a_detour

pytestmark = pytest.mark.browser
ROOT = Path(__file__).parents[2]


@pytest.fixture
def page(look, file_of, trace):
    return look(file_of(render_html(trace)))


def shown(page) -> int:
    """The step that every part of the page says it shows."""
    selected = page.locator(".row[aria-selected=true]")
    assert selected.count() == 1
    number = int(selected.get_attribute("id").removeprefix("row-"))
    assert page.input_value("#slider") == str(number)
    assert page.inner_text("#where").startswith(f"{number} of ")
    assert page.inner_text("#said").startswith(f"Step {number} of ")
    assert page.evaluate("location.hash") == f"#step={number}"
    return number


# Walking through.


def test_buttons_step_through_the_trace(page, trace):
    assert shown(page) == 0
    assert page.is_disabled("#back") and page.is_enabled("#on")
    for number in range(1, trace.depth + 1):
        page.click("#on")
        assert shown(page) == number
    assert page.is_disabled("#on")
    page.click("#back")
    assert shown(page) == trace.depth - 1
    page.click("#first")
    assert shown(page) == 0
    page.click("#last")
    assert shown(page) == trace.depth


def test_keys_step_through_the_trace(page, trace):
    for key, number in (
        ("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", trace.depth),
        ("ArrowRight", trace.depth), ("ArrowLeft", trace.depth - 1), ("Home", 0), ("ArrowLeft", 0),
    ):  # fmt: skip
        page.keyboard.press(key)
        assert shown(page) == number
    page.focus(".rows")
    page.keyboard.press("ArrowDown")
    assert shown(page) == 1


def test_keys_that_are_typed_into_the_search_move_nothing(page):
    page.keyboard.press("/")
    page.keyboard.type("elects")
    page.keyboard.press("ArrowLeft")
    assert shown(page) == 0
    assert page.inner_text("#found") == "3 found"
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert shown(page) == 2
    page.keyboard.press("Shift+Enter")
    assert shown(page) == 1
    page.keyboard.press("Escape")
    assert page.locator(".row.miss").count() == 0


def test_the_search_finds_what_steps_changed(page):
    page.fill("#search", "log [0:e2] →")
    assert page.inner_text("#found") == "1 found"


def test_the_slider_and_the_rows_choose_a_step(page):
    page.focus("#slider")
    page.keyboard.press("ArrowRight")
    assert shown(page) == 1
    page.click("#row-3")
    assert shown(page) == 3


def test_it_plays_to_the_end_and_stops(look, file_of, trace):
    page = look(file_of(render_html(trace)))
    page.clock.install()
    page.reload()
    page.click("#play")
    assert page.inner_text("#play") == "pause"
    page.clock.run_for(900 * 3)
    assert shown(page) == 3
    page.keyboard.press("Home")
    page.clock.run_for(900 * (trace.depth + 2))
    assert shown(page) == trace.depth and page.inner_text("#play") == "play"


def test_the_address_chooses_a_step(look, file_of, trace):
    address = file_of(render_html(trace))
    page = look(f"{address}#step=7")
    assert shown(page) == 7
    page.evaluate("location.hash = '#step=4'")
    expect(page.locator("#where")).to_have_text("4 of 10")
    assert shown(page) == 4
    for wrong in ("#step=99999999", "#step=-1", "#step=x", "#<b>"):
        page.goto("about:blank")
        page.goto(address + wrong)
        assert page.locator(".row[aria-selected=true]").count() == 1


# What is shown.


def test_the_state_is_whole_at_every_step(look, file_of, trace):
    """Each value of every state that is not empty can be read on the page."""
    page = look(file_of(render_html(trace)))
    root = trace.model.positions
    for number, state in enumerate(trace.states):
        text = page.inner_text("#state")
        for k in range(3):
            card = page.locator("#state .card").nth(k)
            words = " ".join(card.inner_text().split())
            assert f"HW {state[root['replicas.high_watermark', (k,)]]}" in words or "→" in words
            end = state[root["replicas.log.end", (k,)]]
            assert card.locator(".cell:not(.cut):not(.none)").count() == end
        epoch = state[root["quorum.leader_epoch", ()]]
        assert epoch < 0 or re.search(rf"epoch[^\n]*{epoch}", text)
        if number < trace.depth:
            page.click("#on")


def test_what_a_step_changed_is_marked_and_can_be_shown_alone(page):
    page.keyboard.press("End")
    whole = page.locator("#state .card").count()
    assert "LEO 1 → 0" in page.inner_text("#state .card.changed")
    assert page.locator("#state .cell.cut").count() == 1
    page.check("#diff")
    assert 0 < page.locator("#state .card").count() < whole
    page.check("#whole")
    few = page.locator("#state .pairs li").count()
    page.check("#empty")
    assert page.locator("#state .pairs li").count() > few


def test_messages_crashes_and_beliefs_are_drawn(look, file_of):
    trace = stored("36-positions_from_a_missed_epoch")
    page = look(file_of(render_html(trace)))
    names = page.locator(".lane-names span").all_inner_texts()
    assert names == ["producer", "controller", "b0", "b1", "b2"]
    assert page.locator("#space .crash").count() == 1
    assert page.locator("#space .life.leads").count() >= 3
    assert page.locator("#space .message").count() == page.locator("#space .head-of").count() > 10
    page.goto(page.url.partition("#")[0] + "#step=12")
    leads = page.inner_text("#state .leaders")
    assert "b1 says" in leads and "the controller says otherwise" in leads


def test_properties_are_green_until_they_fall(page, trace):
    falls = page.get_by_role("button", name=f"violated at step {trace.depth}")
    assert falls.count() == 2
    falls.first.click()
    assert shown(page) == trace.depth
    assert "weak_isr falls" in page.inner_text("#said")
    red = page.locator(".strip li", has_text="weak_isr").locator("rect.false")
    assert (red.get_attribute("x"), red.get_attribute("width")) == (str(trace.depth), "1")


def test_a_loop_goes_round(look, file_of, flapping):
    page = look(file_of(render_html(flapping)))
    assert page.locator(".row.again").count() == flapping.depth - flapping.rounds.start
    assert page.locator("#space .loop").count() == 1
    assert "for ever" in page.inner_text("#strip button")
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")
    assert shown(page) == flapping.rounds.start + 1


@pytest.fixture(scope="module")
def flapping():
    """Leader and quorum that change the ISR round and round; the record is never committed."""
    model = PROTOCOLS["kip320"].model({"log_size": 1, "max_records": 1, "max_leader_epoch": 0})
    fairness = (
        weak("become_leader", "become_follower", by=["request"]),
        weak("leader_expand_isr", "leader_shrink_isr", by=[]),
    )
    promise = choose_liveness(model.protocol, "records_commit")
    (judgement,) = LivenessSearch(model, (), (promise,), fairness).run().liveness
    assert judgement.lasso is not None
    rounds = Rounds(len(judgement.lasso.stem), promise, fairness, judgement.member)
    steps = (*judgement.lasso.stem, *judgement.lasso.loop)
    return build_trace(model, steps, promise.name, verdict="unfulfilled", rounds=rounds)


# Causes.


def test_causes_are_shown_on_hover_and_by_keyboard(look, file_of, trace):
    """The causes of a step are those that the text names, and theirs."""
    reason = why(trace)
    assert reason is not None
    page = look(file_of(render_html(trace)))
    for number in (0, *range(1, trace.depth + 1)):
        page.hover(f"#row-{number}")
        direct = {link.step for link in reason.links[number - 1]} if number else set()
        assert numbers_of(page, ".row.cause") == sorted(direct)
        assert numbers_of(page, ".row.behind") == sorted(behind(reason, number) - direct)
    page.mouse.move(2, 2)
    page.focus(".rows")
    page.keyboard.press("End")
    marked = numbers_of(page, ".row.cause, .row.behind")
    assert marked == sorted(behind(reason, trace.depth)) != []
    assert page.locator("#space .because").count() >= len(marked)
    told = page.locator("#needed").inner_text()
    assert all(f"step {link.step} (" in told for link in reason.links[-1])


def numbers_of(page, rows):
    """The numbers of the steps of the rows that are marked so."""
    return [int(row.get_attribute("id").removeprefix("row-")) for row in page.locator(rows).all()]


def behind(reason, number):
    """The steps that a step needed, and what they needed."""
    found = {link.step for link in reason.links[number - 1]} if number else set()
    return found.union(*(behind(reason, step) for step in found))


def test_a_step_that_the_end_does_not_need_is_said_to_be_so(look, file_of):
    trace = with_a_detour()
    spare = needless(trace)
    page = look(file_of(render_html(trace)))
    assert page.locator(".row.spare").count() == len(spare) == 1
    page.evaluate(f"location.hash = '#step={spare[0]}'")
    expect(page.locator("#needed")).to_contain_text("The end does not need this step.")


# Names that look like code.

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"&'`${1}{{7*7}}<!--"
WORKERS = Bound("workers", default=2, minimum=1, words=HOSTILE)


class Worker(Entity):
    """Its name is an attack."""

    _label = HOSTILE
    log: Log = sequence(LOG_SIZE)
    count: Annotated[int, integers(0, 3)] = 0


class Hostile(State):
    """A state of them."""

    workers: Members[Worker] = family(WORKERS)


@action("{worker} " + HOSTILE.replace("{", "{{").replace("}", "}}"))
def attack(hostile: Hostile, worker: Worker) -> None:
    """Append, in words that are an attack."""
    worker.log.append(id=0, epoch=0)
    worker.count = worker.count + 1


def test_hostile_names_are_shown_as_they_are_and_do_nothing(look, file_of):
    bounds = (WORKERS, LOG_SIZE, MAX_RECORDS, MAX_LEADER_EPOCH)
    model = Protocol("hostile", HOSTILE, Hostile, (attack,), bounds).model()
    trace = build_trace(model, [model.instances[0], model.instances[1]])
    page = look(file_of(render_html(trace)))
    page.click("#all-steps")
    page.keyboard.press("End")
    assert page.locator("#row-1 .words").inner_text().count(HOSTILE) == 2
    assert page.locator("#state h3").first.inner_text() == f"{HOSTILE}0"
    assert page.locator("img, script[src], iframe").count() == 0
    assert page.evaluate("document.scripts.length") == 2


# Large ones.


def test_500_steps_of_7_brokers_move_without_lag(look, file_of):
    """In processor time, so that what else the machine does plays no part: people see 50 ms."""
    page = look(file_of(render_html(long_run(500, 7))), 390, 844)
    assert page.locator(".row").count() == 501
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def seconds() -> float:
        found = session.send("Performance.getMetrics")["metrics"]
        return float({metric["name"]: metric["value"] for metric in found}["TaskDuration"])

    page.keyboard.press("End")
    before = seconds()
    page.evaluate(
        """async () => {
            for (let k = 0; k < 100; k += 1) {
              document.body.dispatchEvent(
                new KeyboardEvent("keydown", { key: "ArrowLeft", bubbles: true }));
              await new Promise(requestAnimationFrame);
            }
        }"""
    )
    spent = seconds() - before
    assert shown(page) == 400
    assert 0 < spent / 100 < 0.05, spent
    assert wider_than_the_page(page) == []
