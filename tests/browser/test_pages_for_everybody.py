"""Pages of traces on phones and paper, in the dark, read aloud, and without scripts."""

from __future__ import annotations

import itertools

import pytest

from checker.telling.report.html import render_html
from tests.support.pages import STORED, stored, wider_than_the_page, with_a_detour

pytestmark = pytest.mark.browser


@pytest.fixture
def page(look, file_of, trace):
    return look(file_of(render_html(trace)))


@pytest.mark.parametrize(
    "name, scheme", [*zip(STORED, itertools.cycle(["light", "dark"]), strict=False)]
)
def test_nothing_is_cut_off_on_a_phone_and_axe_finds_nothing(look, file_of, faults, name, scheme):
    trace = stored(name)
    page = look(f"{file_of(render_html(trace))}#step={trace.depth}", 390, 844, color_scheme=scheme)
    page.locator("#strip summary").click()
    assert wider_than_the_page(page) == []
    assert faults(page) == []


@pytest.mark.parametrize("width", [800, 1280])
def test_axe_finds_nothing_on_wider_pages(look, file_of, faults, width):
    page = look(file_of(render_html(with_a_detour())), width)
    page.keyboard.press("End")
    page.click("#all-steps")
    assert wider_than_the_page(page) == []
    assert faults(page) == []


def test_light_and_dark_follow_the_system_and_the_switch(look, file_of, trace):
    page = look(file_of(render_html(trace)), color_scheme="dark")

    def paper():
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    dark = paper()
    page.click("#theme")
    assert page.inner_text("#theme") == "theme: light" and paper() != dark
    page.click("#theme")
    assert page.inner_text("#theme") == "theme: dark" and paper() == dark
    page.reload()
    assert page.inner_text("#theme") == "theme: dark" and paper() == dark


def test_steps_are_announced(page):
    live = page.locator("[aria-live=polite]").first
    page.keyboard.press("End")
    assert "Step 10 of 10" in live.text_content()
    assert "r2 log [0:e2] → []" in live.text_content()
    assert page.get_attribute("#slider", "aria-valuetext").startswith("step 10: r2 becomes")
    assert page.get_attribute(".rows", "aria-activedescendant") == "row-10"


def test_all_steps_are_printed(page, trace):
    page.emulate_media(media="print")
    assert not page.is_visible(".controls") and not page.is_visible("#space")
    for step in page.locator("section.step").all():
        assert step.is_visible()
    assert page.locator("section.step").count() == trace.depth + 1


def test_without_scripts_all_steps_can_be_read(chromium, file_of, trace):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(file_of(render_html(trace)))
    assert page.is_visible(f"#step-{trace.depth}") and not page.is_visible("#slider")
    context.close()
