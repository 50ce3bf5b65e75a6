"""The matrix: each cell says what a search of its own says, and nothing is computed twice."""

from __future__ import annotations

from pathlib import Path

import pytest

import checker.experiments.matrix as matrix_module
from checker.experiments.matrix import Computation, Limits, as_data, cells, read_matrix, run_search
from checker.experiments.matrix_pages import as_markdown, page_name, write_pages
from model.language.errors import UsageError

SPECIFICATION = Path(__file__).parents[2] / "counterexamples" / "matrix" / "guarantees.toml"

SMALL = """
title = "small"
protocol = "kafka"
[bounds]
max_leader_epoch = 1
preferred_elections = 0
[[row]]
name = "all"
preset = "kafka-4.1"
settings = { "min.insync.replicas" = "2" }
[[row]]
name = "one"
preset = "kafka-4.1"
settings = { "acks" = "1" }
[[row]]
name = "one place"
preset = "kafka-4.1"
settings = { "preferred.leader" = "first_replica" }
[[column]]
name = "crash"
property = "acknowledged_records_survive"
fails = "lost"
bounds = { crashes = 1 }
[[column]]
name = "crash, seen"
property = "exposed_records_survive"
bounds = { crashes = 1 }
[[column]]
name = "nothing"
property = "acknowledged_records_survive"
bounds = { crashes = 0 }
"""


NO_LIMITS = Limits()


def small(tmp_path, limits=NO_LIMITS, text=SMALL):
    path = tmp_path / "small.toml"
    path.write_text(text)
    return read_matrix(path, limits)


def computed(matrix, store=None):
    """The matrix computed in this process."""
    computation = Computation(matrix, store=store)
    for search in list(matrix.searches.values()):
        if search.key not in computation.results:
            computation.results[search.key] = result = run_search(search)
            computation._keep(result)
    return computation


def words(computation):
    return [[cell.words for cell in row] for row in cells(computation)]


def test_cells_say_what_was_found(tmp_path):
    assert words(computed(small(tmp_path))) == [
        ["safe", "safe", "safe"],
        ["lost in 4 steps", "safe", "safe"],
        ["safe", "safe", "safe"],
    ]


def test_cells_of_one_row_and_the_same_faults_share_a_search(tmp_path):
    computation = Computation(small(tmp_path))
    assert computation.total == 6  # nine cells


def test_a_limit_makes_cells_say_so(tmp_path):
    shown = words(computed(small(tmp_path, Limits(depth=3))))
    assert shown[0] == ["safe up to depth 3"] * 3
    assert shown[1][0] == "safe up to depth 3"


def test_processes_find_the_same_and_the_store_spares_them(tmp_path):
    store = tmp_path / "results.jsonl"
    first = Computation(small(tmp_path), workers=2, store=store)
    seen = []
    assert first.run(lambda search, result: seen.append(search.key))
    assert len(seen) == first.total == len(store.read_text().splitlines())
    assert words(first) == words(computed(small(tmp_path)))

    store.write_text(store.read_text() + '{"key": "cut sh')  # a crash while writing
    again = Computation(small(tmp_path), workers=2, store=store)
    assert again.run(lambda *_: pytest.fail("computed again"))
    assert words(again) == words(first)


def test_results_of_other_sources_are_not_used(tmp_path, monkeypatch):
    store = tmp_path / "results.jsonl"
    computed(small(tmp_path), store)
    assert len(Computation(small(tmp_path), store=store).results) == 6
    monkeypatch.setattr(matrix_module, "code_digest", lambda: "another model")
    assert Computation(small(tmp_path), store=store).results == {}


def test_a_stopped_matrix_shows_what_it_has(tmp_path):
    computation = Computation(small(tmp_path))
    computation.stop()
    assert not computation.run()
    assert {w for row in words(computation) for w in row} == {"not computed"}
    assert {cell["verdict"] for cell in as_data(computation)} == {"unknown"}


def test_a_violation_links_to_a_page_with_its_trace(tmp_path):
    computation = computed(small(tmp_path))
    assert write_pages(computation, tmp_path / "pages") == 1
    cell = next(cell for row in cells(computation) for cell in row if cell.is_violated)
    assert f"[lost in 4 steps](pages/{page_name(cell)})" in as_markdown(computation, "pages")
    page = (tmp_path / "pages" / page_name(cell)).read_text()
    assert "acknowledged_records_survive is violated after 4 steps" in page


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('property = "exposed_records_survive"', 'property = "exposed"', "no property of kafka"),
        ('preset = "kafka-4.1"', 'preset = "kafka-9"', "no preset of kafka is called"),
        ('"acks" = "1"', '"acks" = "2"', "setting acks cannot be '2'"),
        ("crashes = 1 }", "crash = 1 }", "no bound of kafka is called 'crash'"),
        ('title = "small"', "", "no 'title'"),
        ("[bounds]", "[bounds", "small.toml"),
    ],
)
def test_wrong_specifications_are_usage_errors_before_anything_runs(
    tmp_path, before, after, message
):
    with pytest.raises(UsageError, match=message):
        small(tmp_path, text=SMALL.replace(before, after, 1))


def test_the_published_matrix_is_well_formed():
    assert len(read_matrix(SPECIFICATION, Limits()).searches) > 100
