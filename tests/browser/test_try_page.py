"""The site's page to try Highwater on, served on loopback: the browser reaches nothing else."""

from __future__ import annotations

import shutil
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

pytestmark = [
    pytest.mark.browser,
    pytest.mark.xdist_group("site"),  # built once
    pytest.mark.skipif(shutil.which("npm") is None, reason="npm brings Python for browsers"),
]

PAGE = "docs/try.html"
IDLE = "#explore:not([disabled])"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address(site):
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(site)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def tried(chromium, address):
    """Open the page. At the end: no error, and nothing was asked of anybody else."""
    opened = []

    def at(width=1280, **options):
        context = chromium.new_context(viewport={"width": width, "height": 900}, **options)
        page = context.new_page()
        page.set_default_timeout(180_000)
        wrong: list[str] = []

        def reach(route):
            own = route.request.url.startswith((address, "data:", "blob:"))
            None if own else wrong.append(route.request.url)
            route.continue_() if own else route.abort()

        context.route("**/*", reach)
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
        opened.append((context, wrong))
        page.goto(address + PAGE)
        page.wait_for_selector(IDLE)
        return page

    yield at
    for context, wrong in opened:
        context.close()
        assert wrong == []


def explored(page) -> str:
    """Explore what is chosen; what the page says then."""
    page.click("#explore")
    page.wait_for_selector(IDLE)
    return str(page.inner_text("#said"))


def own(page, text: str) -> str:
    """Explore a protocol of one's own."""
    page.select_option("#protocol", "own")
    page.fill("#text", text)
    return explored(page)


def test_a_violation_is_found_and_its_trace_is_the_page_of_a_trace(tried):
    page = tried()
    page.select_option("#protocol", "kip101")
    assert explored(page) == (
        "kip101: violated: weak_isr after 11 steps, strong_isr after 11 steps; "
        "no shorter trace exists (5,491 states)"
    )
    trace = page.frame_locator("#trace")
    assert "in 11 steps" in trace.locator("h1").inner_text()
    trace.locator("#slider").press("End")
    assert "Step 11 of 11" in trace.locator("[aria-live=polite]").first.text_content()
    page.select_option("#which", label="strong_isr")
    trace.get_by_text("strong_isr is violated after 11 steps").wait_for()


def test_a_protocol_of_ones_own_is_edited_and_its_mistakes_are_told_in_one_line(tried):
    page = tried()
    page.select_option("#protocol", "own")
    page.wait_for_function("document.getElementById('text').value")
    text = page.input_value("#text")
    assert explored(page).startswith("register: exhausted, ") and not page.is_visible("#found")
    wrong = text.replace("setting(True", "setting(False")
    assert "violated: acknowledged_writes_survive after 5 steps" in own(page, wrong)
    assert not page.is_visible("#choice")
    trace = page.frame_locator("#trace")
    assert "acknowledged_writes_survive" in trace.locator("body").inner_text()

    line = text[: text.index("def write(")].count("\n") + 1
    mistake = own(page, text.replace("def write(", "fed write("))
    assert mistake == f"error: own.py:{line}: invalid syntax"
    assert not page.is_visible("#found")
    assert own(page, text).startswith("register: exhausted, ")


def test_a_search_ends_at_its_limit_or_when_it_is_stopped(tried):
    page = tried()
    page.select_option("#protocol", "kip320")
    page.fill("#states", "100")
    assert explored(page) == "kip320: unknown, 100 states: stopped by the limit of 100 states"
    page.select_option("#protocol", "own")
    page.fill("#text", "while True: pass")
    page.click("#explore")
    page.locator("#said", has_text="searching").wait_for()
    page.click("#stop")
    assert page.inner_text("#said") == "stopped by the user: nothing is known"
    page.select_option("#protocol", "kip320")
    assert "stopped by the limit of 100 states" in explored(page)


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_the_page_is_accessible_and_fits(tried, faults, width, scheme):
    page = tried(width, color_scheme=scheme)
    page.select_option("#protocol", "truncate_to_high_watermark")
    assert "weak_isr after 8 steps" in explored(page)
    assert faults(page) == []
    assert own(page, "1 +").startswith("error: own.py:1: ")
    assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_opened_as_a_file_the_page_says_that_it_has_to_be_served(chromium, site):
    page = chromium.new_page()
    page.goto((site / PAGE).as_uri())
    assert "serve the site" in page.inner_text("#said") and page.is_disabled("#explore")
    page.close()
