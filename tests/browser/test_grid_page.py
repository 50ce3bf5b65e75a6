"""The grid of guarantees in a real browser: filtered as one types, and kept in the address."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from checker.experiments.matrix import read_matrix
from checker.experiments.matrix_picture import as_svg
from checker.search.limits import Limits

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
SHOWN = """name => [...document.querySelectorAll(`g.${name}`)]
    .filter(group => getComputedStyle(group).display !== "none").map(group => group.dataset.name)"""
CELLS = """() => [...document.querySelectorAll("g.cell")]
    .filter(cell => cell.getBoundingClientRect().width > 0).length"""


@pytest.fixture
def matrix():
    return read_matrix(ROOT / "counterexamples" / "matrix" / "guarantees.toml", Limits())


@pytest.fixture
def address(matrix, tmp_path):
    """A page with the grid and its script, as the site has them but without its frame."""
    spec = spec_from_file_location("build_site", ROOT / "scripts" / "build_site.py")
    assert spec is not None and spec.loader is not None
    build_site = module_from_spec(spec)
    spec.loader.exec_module(build_site)
    page = build_site.grid_page("Grid", "Words.", as_svg(matrix, {}))
    script = (ROOT / "scripts" / "site" / "grid.js").read_text(encoding="utf-8")
    linked = '<script src="grid.js" defer></script>'
    assert linked in page
    file = tmp_path / "grid.html"
    file.write_text("<!doctype html>" + page.replace(linked, f"<script>{script}</script>"))
    return file.as_uri()


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
