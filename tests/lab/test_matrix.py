"""The matrix: each cell says what a search of its own says, and nothing is computed twice."""

from __future__ import annotations

import functools
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from rich.console import Console

import checker.lab.experiments.matrix as matrix_module
from checker.core.engines.agreement import require_agreement
from checker.core.search.limits import Limits
from checker.lab.experiments.grid import Grid
from checker.lab.experiments.matrix import as_data, cells, read_matrix, run_search
from checker.lab.experiments.matrix_pages import as_markdown
from model.language.errors import UsageError
from properties import choose_properties

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


def computed(matrix, store=None, cross_check=False):
    """The results of a matrix, computed in this process."""
    sweep = matrix.sweep(workers=0, store=store, cross_check=cross_check)
    assert sweep.run()
    return sweep.results


@functools.cache
def small_results():
    """The results of the small matrix, and what a store of them holds."""
    with TemporaryDirectory() as folder:
        store = Path(folder) / "results.jsonl"
        return computed(small(Path(folder)), store), store.read_text()


def words(matrix, results):
    return [[cell.words for cell in row] for row in cells(matrix, results)]


@pytest.mark.slow
def test_cells_say_what_was_found(tmp_path):
    matrix = small(tmp_path)
    assert words(matrix, small_results()[0]) == [
        ["safe", "safe", "safe"],
        ["lost in 4 steps", "safe", "safe"],
        ["safe", "safe", "safe"],
    ]


def test_cells_of_one_row_and_the_same_faults_share_a_search(tmp_path):
    assert len(small(tmp_path).sweep().jobs) == 6  # nine cells


FINER = """
[finer]
mark = "early"
about = "only where an answer comes before its image"
settings = { "isr.answer.apart" = "true" }
"""


@pytest.mark.nightly("a sweep of a matrix twice")
def test_what_is_safe_is_so_in_the_finer_model_too(tmp_path):
    """What the model as it is violates has no mark; what a release mends has none either."""
    text = SMALL.replace("[bounds]", f"{FINER}[bounds]").replace(
        'name = "one place"\npreset = "kafka-4.1"', 'name = "mended"\npreset = "kafka-fixed"'
    )
    matrix = small(tmp_path, text=text)
    results = computed(matrix)
    assert words(matrix, results) == [
        ["lost in 12 steps (early)", "fails in 12 steps (early)", "safe"],
        ["lost in 4 steps", "fails in 10 steps (early)", "safe"],
        ["safe", "safe", "safe"],
    ]
    page = as_markdown(matrix, results, with_traces=True)
    assert "(early): only where an answer comes before its image." in page
    assert "receives the AlterPartition response: its ISR change is accepted" in page
    coarse = {search.name for search in matrix.searches.values()}
    partly = {name: result for name, result in results.items() if name in coarse}
    assert words(matrix, partly)[0] == ["not computed"] * 3


def test_what_has_a_setting_that_is_left_out_has_no_finer_search(tmp_path):
    finer = FINER + 'unless = { "acks" = "1", "isr.changes" = "zookeeper" }\n'
    matrix = small(tmp_path, text=SMALL.replace("[bounds]", f"{finer}[bounds]"))
    assert {row for row, _ in matrix.finer_searches} == {0, 2}


@pytest.mark.slow
def test_a_limit_makes_cells_say_so(tmp_path):
    matrix = small(tmp_path, Limits(depth=3))
    shown = words(matrix, computed(matrix))
    assert shown[0] == ["safe up to depth 3"] * 3
    assert shown[1][0] == "safe up to depth 3"


def without_time(results):
    return {name: {**result, "seconds": 0} for name, result in results.items()}


@pytest.mark.nightly(
    "two processes that start with all comparisons; smaller sweeps of two workers are slow tests"
)
def test_processes_find_the_same_and_the_store_spares_them(tmp_path, monkeypatch):
    monkeypatch.undo()  # processes of their own compare as many states as users' do
    store = tmp_path / "results.jsonl"
    matrix = small(tmp_path)
    first = matrix.sweep(2, store)
    seen = []
    assert first.run(lambda name, result: seen.append(name))
    assert sorted(seen) == sorted(first.jobs)
    assert without_time(first.results) == without_time(computed(matrix, cross_check=True))

    again = matrix.sweep(2, store)
    assert again.run(lambda *_: pytest.fail("computed again"))
    assert again.results == first.results


@pytest.mark.slow
def test_a_crash_while_a_result_is_stored_loses_that_result_alone(tmp_path):
    store = tmp_path / "results.jsonl"
    matrix = small(tmp_path)
    store.write_text(small_results()[1][:-20])  # the last line is cut short
    resumed = matrix.sweep(0, store)
    assert len(resumed.results) == 5
    seen = []
    assert resumed.run(lambda name, _: seen.append(name))
    assert len(seen) == 1
    assert len(matrix.sweep(0, store).results) == 6


@pytest.mark.parametrize(
    "content",
    [b"mine\n", b"\xff\xfe\n", b"[" * 100_000, b"null\n", b'{"a": 1}\n', b'\n{"job": "x"}\n{}'],
    ids=["text", "bytes", "deep", "null", "object", "lines"],
)
def test_a_file_of_something_else_is_refused_and_stays(tmp_path, content):
    store = tmp_path / "thesis.txt"
    store.write_bytes(content)
    with pytest.raises(UsageError, match=r"thesis\.txt does not hold results"):
        small(tmp_path).sweep(store=store)
    assert store.read_bytes() == content


@pytest.mark.parametrize("store", ["/dev/full", "/dev/zero", "/proc/nowhere/x", "{0}/no/x"])
def test_a_store_that_cannot_be_is_refused_before_anything_is_computed(tmp_path, store):
    with pytest.raises(UsageError, match=r"does not hold results|cannot be made"):
        small(tmp_path).sweep(store=Path(store.format(tmp_path)))


@pytest.mark.parametrize("line", ['{"job": 5, "digest": [], "result": 7}', '{"jo'])
def test_a_line_of_results_that_is_damaged_counts_for_nothing(tmp_path, line):
    store = tmp_path / "results.jsonl"
    matrix = small(tmp_path)
    store.write_text(line + "\n" + small_results()[1])
    assert len(matrix.sweep(store=store).results) == 6


def test_results_of_other_sources_are_not_used_unless_asked_for(tmp_path, monkeypatch):
    store = tmp_path / "results.jsonl"
    matrix = small(tmp_path)
    store.write_text(small_results()[1])
    assert len(matrix.sweep(store=store).results) == 6
    monkeypatch.setattr(matrix_module, "code_digest", lambda: "another model")
    assert matrix.sweep(store=store).results == {}
    assert len(matrix.sweep(store=store, whatever_sources=True).results) == 6


@pytest.mark.slow
def test_results_of_another_specification_are_not_used(tmp_path):
    store = tmp_path / "results.jsonl"
    store.write_text(small_results()[1])
    edited = small(tmp_path, text=SMALL.replace("max_leader_epoch = 1", "max_leader_epoch = 2"))
    assert edited.sweep(store=store).results == {}
    assert small(tmp_path, Limits(depth=3)).sweep(store=store).results == {}


def test_a_stopped_matrix_shows_what_it_has(tmp_path):
    matrix = small(tmp_path)
    for workers in (0, 2):
        sweep = matrix.sweep(workers)
        sweep.stop()
        assert not sweep.run()
        assert {w for row in words(matrix, sweep.results) for w in row} == {"not computed"}
        assert {cell["verdict"] for cell in as_data(matrix, sweep.results)} == {"unknown"}


def test_a_violation_links_to_its_trace(tmp_path):
    matrix = small(tmp_path)
    page = as_markdown(matrix, small_results()[0], with_traces=True)
    assert "[lost in 4 steps](#trace-1)" in page
    section = page.partition("### Trace 1\n")[2]
    assert "*one: crash*" in section
    assert section.count("\n4. ") == 1
    assert "\n5. " not in section


@pytest.mark.slow
def test_columns_of_several_properties_show_the_one_that_fails_first(tmp_path):
    both = '["exposed_records_survive", "acknowledged_records_survive"]'
    text = SMALL.replace('property = "exposed_records_survive"', f"property = {both}")
    matrix = small(tmp_path, text=text)
    row = [*cells(matrix, computed(matrix))][1]
    assert (row[1].words, row[1].found["property"]) == (
        "fails in 4 steps", "acknowledged_records_survive",
    )  # fmt: skip


FIXES = """
[[fix]]
name = "no help"
settings = { "min.insync.replicas" = "2" }
[[fix]]
name = "wait for all"
settings = { acks = "all" }
where = { acks = ["1"] }
[[fix]]
name = "elsewhere"
settings = { acks = "0" }
where = { acks = ["0"] }
"""


@pytest.mark.slow
def test_with_fixes_a_cell_says_which_prevent_the_loss(tmp_path):
    matrix = small(tmp_path, text=SMALL + FIXES)
    shown = words(matrix, computed(matrix))
    assert shown[1][0].startswith("**wait for all** after 4, then nothing (exhausted, ")
    assert shown[0][0].startswith("nothing (exhausted, ")


@pytest.mark.slow
def test_with_fixes_what_was_compared_is_told_of_all_searches_together(tmp_path):
    matrix = small(tmp_path, text=SMALL + FIXES)
    search = matrix.searches[1, 0]
    fix = next(fix for fix in matrix.fixes if fix.name == "wait for all")
    fixed = search.choice.with_settings(fix.settings)
    prop = choose_properties(search.choice.model.protocol, search.properties)
    parts = [require_agreement(choice.model, prop) for choice in (search.choice, fixed)]
    found = run_search(search)["cross_check"]
    assert found == {name: sum(getattr(part, name) for part in parts) for name in found}
    assert run_search(search, cross_check=False)["cross_check"] is None


@pytest.mark.slow
def test_with_fixes_that_do_not_help_a_cell_says_so(tmp_path):
    text = SMALL + FIXES.replace('["1"]', '["all"]')
    matrix = small(tmp_path, text=text)
    assert words(matrix, computed(matrix))[1][0] == "**no fix here** after 4"


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


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('acks = "all" }', 'ack = "all" }', "no setting is called 'ack'"),
        ('acks = ["1"]', 'ack = ["1"]', "names no setting: ack"),
        ('name = "no help"\n', "", "no 'name'"),
    ],
)
def test_wrong_fixes_are_usage_errors_before_anything_runs(tmp_path, before, after, message):
    with pytest.raises(UsageError, match=message):
        small(tmp_path, text=SMALL + FIXES.replace(before, after, 1))


# --- tables --------------------------------------------------------------------------------------

GRID = Grid(["", "one column", "another"], [["row", "safe in the end", "7"]], "title")


def test_a_table_is_shown_as_wide_as_the_terminal_allows():
    wide, narrow = (GRID.text(Console(width=width)) for width in (80, 40))
    assert max(map(len, wide.splitlines())) <= 80
    assert any("one column" in line and "another" in line for line in wide.splitlines())
    assert max(map(len, narrow.splitlines())) <= 40
    assert not any("one column" in line and "another" in line for line in narrow.splitlines())
    for shown in (wide, narrow):
        assert "safe in the end" in " ".join(shown.split())


def test_short_cells_have_letters_for_columns():
    lines = Grid(["mutant", "x", "y"], [["drop it", "12", ""]]).text(Console(width=20))
    assert lines == "columns: a x, b y\n\n   a     b  mutant\n  12     .  drop it\n"


def test_a_markdown_table_has_numbers_to_the_right():
    table = Grid(["what", "n"], [["a", "1"]], numbers=frozenset({"n"})).markdown()
    assert table == ["| what | n |", "|---|---:|", "| a | 1 |"]
