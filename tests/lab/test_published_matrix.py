"""What is published of the matrix is what searches find."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from checker.core.search.limits import Limits
from checker.core.traces.trace import build_trace
from checker.lab.experiments.choices import steps_named
from checker.lab.experiments.matrix import as_grid, cells, read_matrix
from checker.lab.experiments.matrix_pages import as_markdown
from tests.support.tiers import nightly

ROOT = Path(__file__).parents[2]
GUARANTEES, DOCS = ROOT / "counterexamples" / "matrix" / "guarantees.toml", ROOT / "docs"


@pytest.mark.nightly("171 stories, most of them of a model of their own")
def test_the_published_page_is_what_the_stored_results_say():
    """Each trace is replayed to be told; another test searches anew."""
    matrix = read_matrix(GUARANTEES, Limits())
    sweep = matrix.sweep(store=GUARANTEES.with_suffix(".jsonl"), whatever_sources=True)
    assert sweep.is_complete
    assert len(sweep.jobs) == 347
    page = GUARANTEES.with_suffix(".md").read_text()
    assert page == as_markdown(matrix, sweep.results, with_traces=True)


def test_the_overview_in_the_docs_is_what_the_stored_results_say():
    matrix = read_matrix(GUARANTEES, Limits())
    sweep = matrix.sweep(store=GUARANTEES.with_suffix(".jsonl"), whatever_sources=True)
    assert (DOCS / "guarantees.md").read_text() == as_markdown(matrix, sweep.results)


def test_of_the_stored_violations_each_tenth_is_one():
    """All of them are told on the page, for which each is replayed: a test that is slow."""
    matrix = read_matrix(GUARANTEES, Limits())
    store = GUARANTEES.with_suffix(".jsonl")
    results = matrix.sweep(store=store, whatever_sources=True).results
    violated = [cell for row in cells(matrix, results) for cell in row if cell.is_violated]
    assert len(violated) == 171
    for cell in violated[::10]:
        model = cell.search.choice.model
        trace = build_trace(model, steps_named(model, cell.found["steps"]), cell.found["property"])
        assert trace.depth == cell.found["depth"]


def said(results):
    """What the results say, however it was found and whatever was compared for it."""
    return {name: (result["properties"], result["states"]) for name, result in results.items()}


@pytest.mark.nightly("347 searches visit 232 million classes of states")
def test_stored_results_are_found_anew():
    matrix = read_matrix(GUARANTEES, Limits())
    stored = matrix.sweep(store=GUARANTEES.with_suffix(".jsonl"), whatever_sources=True)
    anew = matrix.sweep(2)
    assert anew.run()
    assert said(anew.results) == said(stored.results)


FIXES_BY_VERSION = GUARANTEES.with_name("fixes.toml")


def rows_of_fixes(versions):
    """The rows of the table of missing fixes for these versions, and whether the page has each."""
    matrix = read_matrix(FIXES_BY_VERSION, Limits())
    rows = tuple(row for row in matrix.rows if row.choice.preset in versions)
    chosen = replace(matrix, rows=rows)
    sweep = chosen.sweep(workers=0, cross_check=False)
    assert sweep.run()
    table = as_grid(chosen, sweep.results).markdown()[2:]
    page = (DOCS / "broker-model.md").read_text()
    return {line: line in page for line in table}


def test_the_table_of_missing_fixes_has_a_row_for_each_version_of_the_matrix():
    matrix = read_matrix(FIXES_BY_VERSION, Limits())
    page = (DOCS / "broker-model.md").read_text()
    assert len(matrix.rows) == 8
    assert all(f"| {row.name} | **" in page for row in matrix.rows)


@pytest.mark.slow
@pytest.mark.parametrize(
    "version",
    [
        "4.1",
        *(
            nightly("each of the other rows takes a minute", version)
            for version in ("0.10", "0.11", "2.0", "2.1", "2.7", "3.5", "4.0")
        ),
    ],
)
def test_the_table_of_missing_fixes_is_found_anew(version):
    rows = rows_of_fixes({f"kafka-{version}"})
    assert list(rows.values()) == [True], rows
