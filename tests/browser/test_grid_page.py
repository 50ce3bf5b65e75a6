"""The grid of guarantees in a real browser: filtered as one types, and kept in the address."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.core.search.limits import Limits
from checker.lab.experiments.kill_table import read_table
from checker.lab.experiments.matrix import read_matrix
from checker.lab.experiments.matrix_picture import as_svg
from tests.support.scripts import script
from tests.support.tiers import nightly

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
SHOWN = """name => [...document.querySelectorAll(`g.${name}`)]
    .filter(group => getComputedStyle(group).display !== "none").map(group => group.dataset.name)"""
CELLS = """() => [...document.querySelectorAll("g.cell")]
    .filter(cell => cell.getBoundingClientRect().width > 0).length"""


@pytest.fixture
def matrix():
    return read_matrix(ROOT / "counterexamples" / "matrix" / "guarantees.toml", Limits())


def builder():
    """The script that builds the site."""
    return script("build_site")


def written(page: str, file: Path) -> str:
    """The address of a page with its script and style, as the site has them, without its frame."""
    own = ROOT / "scripts" / "site"
    script, style = ((own / name).read_text(encoding="utf-8") for name in ("grid.js", "site.css"))
    linked = '<script src="grid.js" defer></script>'
    assert linked in page
    page = page.replace(linked, f"<style>{style}</style>") + f"<script>{script}</script>"
    file.write_text(f"<!doctype html>{page}", encoding="utf-8")
    return file.as_uri()


@pytest.fixture
def address(matrix, tmp_path):
    """A page with the grid of guarantees."""
    page = builder().grid_page("Grid", "Words.", as_svg(matrix, {}))
    return written(page, tmp_path / "grid.html")


@pytest.fixture
def kills(tmp_path):
    """A page with the kill matrix of the broker model, and what survives."""
    build_site = builder()
    name = f"{build_site.MUTANTS}/kill-matrix-kafka.md"
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_text((ROOT / name).read_text())
    build_site.add_kill_matrices(tmp_path)
    own = (tmp_path / "docs" / "kill-matrix-kafka-grid.md").read_text()
    return written(own, tmp_path / "kills.html")


def test_rows_and_columns_whose_names_have_every_word_stay(look, address, matrix):
    page = look(address)
    rows, columns = ([each.name for each in some] for some in (matrix.rows, matrix.columns))
    assert (page.evaluate(SHOWN, "row"), page.evaluate(SHOWN, "column")) == (rows, columns)
    page.fill("#rows", "ISR 4.1")
    page.fill("#columns", "power")
    asked = [name for name in rows if "ISR" in name and "4.1" in name]
    powers = [name for name in columns if "power" in name]
    assert 0 < len(asked) < len(rows) and 0 < len(powers) < len(columns)
    assert (page.evaluate(SHOWN, "row"), page.evaluate(SHOWN, "column")) == (asked, powers)
    assert page.evaluate(CELLS) == len(asked) * len(powers)
    said = f"{len(asked)} of {len(rows)} rows, {len(powers)} of {len(columns)} columns"
    assert page.text_content("#shown") == said
    page.reload()
    assert (page.evaluate(SHOWN, "row"), page.evaluate(SHOWN, "column")) == (asked, powers)
    page.fill("#rows", "")
    page.fill("#columns", "")
    assert page.evaluate(CELLS) == len(rows) * len(columns)
    assert page.url == address


def test_cells_move_under_the_headings_that_stay(look, address):
    page = look(address)
    page.fill("#columns", "rack")
    page.fill("#rows", "0.10")
    left = "g => g.transform.baseVal.consolidate().matrix.e"
    heading = page.eval_on_selector("g.column:not([style*=none])", left)
    cell = page.eval_on_selector("g.row:not([style*=none]) g.cell:not([style*=none])", left)
    assert heading == cell == float(page.get_attribute("svg", "data-left"))
    page.fill("#rows", "no such row")
    assert page.evaluate(CELLS) == 0
    assert page.text_content("#shown").startswith("0 of ")


LISTED = """() => [...document.querySelectorAll("li[data-name]")].filter(each => !each.hidden)
    .map(each => each.dataset.name)"""


def test_what_survives_is_filtered_with_the_rows(look, kills):
    page = look(kills)
    table = read_table(ROOT / "counterexamples" / "mutants" / "kill-matrix-kafka.md")
    assert page.evaluate(LISTED) == [each.mutant for each in table.survivors]
    page.fill("#rows", "fence_leader")
    assert page.evaluate(SHOWN, "row") == ["controller_fence_leader"]
    expected = [each.mutant for each in table.survivors_of("controller_fence_leader")]
    assert len(expected) > 3 and page.evaluate(LISTED) == expected
    page.fill("#columns", "surv")
    assert page.evaluate(CELLS) == 1
    page.click("g.row:not([style*=none]) g.cell:not([style*=none]) a")
    assert page.url.endswith("#survivors")


BOX = "group => { const box = group.getBoundingClientRect(); return [box.left, box.top]; }"


def test_names_stay_in_sight_while_one_scrolls(look, kills):
    page = look(kills)
    head, label, cell = "g.column", "g.names g:has(text)", "g.row g.cell"
    before = [page.eval_on_selector(some, BOX) for some in (head, label, cell)]
    moved = page.evaluate(
        """() => { const frame = document.querySelector(".picture");
        frame.scrollTo(120, 300); return [frame.scrollLeft, frame.scrollTop]; }"""
    )
    assert moved[1] == 300
    page.wait_for_function("() => document.querySelector('g.names').getAttribute('transform')")
    page.wait_for_function(
        "top => [...document.querySelectorAll('g.names')].some(each => "
        "each.getAttribute('transform') === `translate(0,${top})`)", arg=moved[1]
    )  # fmt: skip
    after = [page.eval_on_selector(some, BOX) for some in (head, label, cell)]
    assert after[0] == pytest.approx([before[0][0] - moved[0], before[0][1]])
    assert after[1] == pytest.approx([before[1][0], before[1][1] - moved[1]])
    assert after[2] == pytest.approx([before[2][0] - moved[0], before[2][1] - moved[1]])


LARGE = "a minute for larger grids of the same script"
PAGES = [
    "index.html", "docs/pages.html", "docs/findings/0001-stale-follower-positions.html",
    "docs/performance.html", "docs/kill-matrix-kip320-grid.html",
]  # fmt: skip
GRIDS = ["docs/kill-matrix-kafka-grid.html", "docs/guarantees-grid.html"]
LOOKS = [
    (1280, "light", PAGES),
    (390, "dark", PAGES),
    *(nightly(LARGE, (width, how, GRIDS)) for width in (1280, 390) for how in ("light", "dark")),
]


@pytest.mark.xdist_group("site")  # built once
@pytest.mark.parametrize(("width", "scheme", "pages"), LOOKS)
def test_pages_of_the_site_are_accessible_and_fit(chromium, site, faults, width, scheme, pages):
    context = chromium.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme
    )  # fmt: skip
    page = context.new_page()
    elsewhere: list[str] = []
    page.on("request", lambda r: None if r.url.startswith("file:") else elsewhere.append(r.url))
    for name in pages:
        page.goto((site / name).as_uri())
        assert faults(page) == [], name
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
    assert [url for url in elsewhere if not url.startswith("data:")] == []
    context.close()
