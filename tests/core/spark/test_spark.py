"""The search on a real Spark: golden counts, the very same traces, whatever the partitions."""

import csv
from itertools import pairwise
from pathlib import Path

import pytest

from checker.core.search.explore import Limits, Options
from checker.core.spark.query import query_spark
from checker.core.spark.session import require_java, require_master
from checker.core.stores.query import model_of, query_duckdb
from checker.core.stores.ready_queries import READY, ready_query
from checker.core.stores.store import Store
from model.language.errors import UsageError
from model.protocols import protocol_named
from properties import choose_properties
from tests.support import counted, verdicts
from tests.support.own import write_counter
from tests.support.stores import (
    DEAD_ENDS,
    SMALL,
    TINY,
    VIOLATED,
    copied,
    distributed,
    files,
    model_named,
    plain,
    stored,
)
from tests.support.tiers import first_and_nightly, nightly

pytestmark = pytest.mark.spark

GOLDEN = Path(__file__).parents[2] / "golden" / "ladder.csv"
BOUNDS = ("replicas", "log_size", "max_records", "max_leader_epoch")
ROWS = [
    row
    for row in csv.DictReader(GOLDEN.read_text().splitlines())
    if not row["property"] and row["max_leader_epoch"] == "2"
]
EVERY_TIME = {("truncate_to_high_watermark", 3)}


def _partitions(every_time):
    return [
        (row, count)
        if (row["protocol"], count) in every_time
        else nightly("other graphs, and other numbers of partitions", (row, count))
        for row in ROWS
        for count in (1, 3, 8)
    ]


def _name(value):
    return value["protocol"] if isinstance(value, dict) else str(value)


@pytest.mark.parametrize("partitions", [pytest.param(1, marks=pytest.mark.slow), 3])
def test_partitions_change_nothing(tmp_path, session, partitions):
    model = model_named("async_isr", {"replicas": 3, "max_offset": 1, "max_version": 2})
    options = Options(deadlock=True, keep_going=True)
    found = distributed(tmp_path, model, session, partitions, options)
    assert found == plain(model, options)
    assert sum(found["levels"]) == 1_460
    assert len(found["levels"]) - 1 == 13


@pytest.mark.slow
def test_the_trace_is_the_very_same(tmp_path, session):
    model = model_named("kip279", VIOLATED)
    found = distributed(tmp_path, model, session, 3, hand_over=2_000)
    assert [depth for _, depth, _ in found["violations"]] == [10, 10]
    assert found == plain(model)


@pytest.mark.nightly("another protocol, searched as the others are")
def test_a_consumer_group_has_the_same_states_and_traces(tmp_path, session):
    model = model_named("kafka_group", {"topic_partitions": 1, "generations": 2})
    found = distributed(tmp_path, model, session, 3, Options(keep_going=True), hand_over=500)
    assert found == plain(model, Options(keep_going=True))


@pytest.mark.nightly("the counts of one process, which Spark has to equal")
@pytest.mark.parametrize("row", counted.ROWS[1:], ids=counted.name_of)
def test_kraft_with_every_fix_has_the_states_that_spin_and_tlc_count(tmp_path, session, row):
    model = counted.model_of_row(row)
    found = distributed(tmp_path, model, session, 3, hand_over=500)
    assert found == plain(model)
    assert (sum(found["levels"]), found["transitions"] + 1) == counted.counts_of(row)


@pytest.mark.nightly("the counts of one process, which Spark has to equal")
@pytest.mark.parametrize("on", [False, True], ids=["rule off", "rule on"])
@pytest.mark.parametrize(
    "name", ["159-a_retried_marker_is_refused", "172-a_failed_load_is_acted_on"]
)
def test_a_rule_of_transactions_makes_the_difference_here_too(tmp_path, session, name, on):
    model = verdicts.wide(name, on)
    claims = choose_properties(model.protocol, [verdicts.CASES[name].violates])
    found = distributed(tmp_path, model, session, 3, hand_over=500, properties=claims)
    assert found == plain(model, properties=claims)
    column = "wide_states_with_the_fix" if on else "wide_states"
    assert sum(found["levels"]) == int(verdicts.rows()[name][column])


@pytest.mark.slow
def test_numbers_are_made_smaller_on_the_way(tmp_path, session):
    model = model_named("kip320", SMALL)
    limits = Limits(depth=12)
    found = distributed(tmp_path, model, session, 3, limits=limits, hand_over=300, numbers=1 << 28)
    assert found == plain(model, limits=limits)
    levels = Store.open(str(tmp_path)).levels
    assert any(b.numbers < a.numbers for a, b in pairwise(levels[7:]))


@pytest.mark.slow
def test_resuming_a_finished_search_changes_nothing(tmp_path, session):
    model = model_named("truncate_to_high_watermark", DEAD_ENDS)
    options = Options(keep_going=True, deadlock=True)
    expected = plain(model, options)
    place, whole = tmp_path / "parts", tmp_path / "whole"
    for depth in (3, 5, None):
        distributed(place, model, session, 2, options, Limits(depth=depth))
    before = files(place)
    assert distributed(place, model, session, 2, options) == expected
    assert files(place) == before
    assert distributed(whole, model, session, 2, options) == expected
    assert files(whole, timed=False) == files(place, timed=False)


def test_a_local_store_goes_on_with_spark_and_back(tmp_path, session):
    model = model_named("kip320", SMALL)
    stored(tmp_path, model, limits=Limits(depth=16))
    found = distributed(tmp_path, model, session, 2, limits=Limits(depth=18))
    assert found == plain(model, limits=Limits(depth=18))
    assert stored(tmp_path, model) == plain(model)


@pytest.mark.slow
def test_damage_that_a_worker_meets_is_told_in_one_line(tmp_path, session):
    model = model_named("kip320", SMALL)
    stored(tmp_path, model, limits=Limits(depth=14))
    [path] = (tmp_path / "levels" / "level=14").glob("*.parquet")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0x10
    path.write_bytes(bytes(content))
    with pytest.raises(UsageError, match="is damaged: level 14 has a file") as caught:
        distributed(tmp_path, model, session, 2)
    assert "\n" not in str(caught.value)
    assert len(Store.open(str(tmp_path)).levels) == 15
    assert not (tmp_path / "levels" / "level=15").exists()


def test_a_query_of_a_damaged_store_is_refused_by_the_workers(tmp_path, session):
    """Spark's own reader would answer: one bit of a footer, or of a page, is nothing to it."""
    model = model_named("kip320", TINY)
    stored(tmp_path, model, limits=Limits(depth=3))
    [path] = (tmp_path / "levels" / "level=2").glob("*.parquet")
    content = bytearray(path.read_bytes())
    content[len(content) // 4] ^= 1
    path.write_bytes(content)
    with pytest.raises(UsageError, match="is damaged: level 2 has a file") as caught:
        query_spark(Store.open(str(tmp_path)), model, "SELECT 1", 10, "local[2]")
    assert "\n" not in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("name", first_and_nightly("other queries", *sorted(READY)))
def test_spark_and_duckdb_answer_alike(tmp_path, session, name):
    model = model_named("kip320", TINY)
    copied(tmp_path, model)
    store = Store.open(str(tmp_path))
    from checker.core.stores.query import columns_of

    sql = ready_query(name, columns_of(model_of(store)))
    ours = query_duckdb(store, model, sql, 10_000)
    theirs = query_spark(store, model, sql, 10_000, "local[2]")
    assert ours.rows
    assert [tuple(row) for row in theirs.rows] == [tuple(row) for row in ours.rows]
    assert theirs.columns == ours.columns


@pytest.mark.slow
def test_a_query_that_fails_on_spark_is_told_in_one_line(tmp_path, session, capfd):
    model = model_named("kip320", TINY)
    copied(tmp_path, model)
    with pytest.raises(UsageError, match=r"the query fails: .*`nothing_like_it`") as caught:
        query_spark(
            Store.open(str(tmp_path)), model, "SELECT nothing_like_it FROM states", 10, "local[2]"
        )
    assert "\n" not in str(caught.value)
    assert capfd.readouterr().err == ""


# --- the golden rows -------------------------------------------------------------------------


@pytest.mark.nightly("the golden counts of one process, which Spark has to equal")
@pytest.mark.parametrize(("row", "partitions"), _partitions({("kip320", 8)}), ids=_name)
def test_states_and_depth_equal_those_of_tlc(tmp_path, session, row, partitions):
    model = model_named(row["protocol"], {name: int(row[name]) for name in BOUNDS})
    found = distributed(tmp_path, model, session, partitions, properties=(), hand_over=5_000)
    assert sum(found["levels"]) == int(row["distinct"])
    assert len(found["levels"]) - 1 == int(row["depth"])
    assert found == plain(model, properties=())


@pytest.mark.slow
@pytest.mark.parametrize(("row", "partitions"), _partitions(EVERY_TIME), ids=_name)
def test_verdicts_and_traces_equal_those_of_one_process(tmp_path, session, row, partitions):
    model = model_named(row["protocol"], {name: int(row[name]) for name in BOUNDS})
    assert distributed(tmp_path, model, session, partitions, hand_over=1_000) == plain(model)


# --- before anything starts ------------------------------------------------------------------


@pytest.fixture
def refused(capsys):
    """Runs `explore`, which refuses what is asked for, and in one line; this is the line."""
    from checker.commands.cli import highwater, run

    def explore(*arguments):
        assert run(highwater, ["explore", "kip320", *arguments]) == 2
        done = capsys.readouterr()
        assert done.out == ""
        assert done.err.count("\n") == 1
        return done.err

    return explore


def _old_java(directory, version):
    java = directory / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2020-01-01' >&2\n")
    java.chmod(0o755)


@pytest.mark.parametrize(
    ("version", "words"), [(None, "there is none"), ("1.8.0_402", "Java 8"), ("11.0.2", "Java 11")]
)
def test_a_missing_or_old_java_is_told_before_anything_starts(
    tmp_path, monkeypatch, refused, version, words
):
    if version is not None:
        _old_java(tmp_path, version)
    store = tmp_path / "store"
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    told = refused("--engine", "spark", "--store", str(store))
    assert words in told
    assert "Java 17 or newer" in told
    assert not store.exists()


def test_a_java_that_is_new_enough_is_taken(tmp_path, monkeypatch):
    _old_java(tmp_path, "21.0.1")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    require_java()


@pytest.mark.parametrize("master", ["here", "spark://", "spark://127.0.0.1:1", "local[", ""])
def test_a_master_that_cannot_be_is_told(master):
    with pytest.raises(UsageError, match=r"not a place where Spark runs|no Spark master answers"):
        require_master(master)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--partitions", "3"], "--partitions goes with --engine spark"),
        (["--master", "local"], "--master goes with --engine spark"),
        (["--resume"], "--resume goes with --store"),
        (["--engine", "reference", "--store", "x"], "--store goes with --engine local or spark"),
        (["--engine", "spark", "--max-memory", "1GB"], "spark.executor.memory"),
    ],
)
def test_options_that_do_not_go_together_are_told(arguments, words, tmp_path, monkeypatch, refused):
    monkeypatch.chdir(tmp_path)
    assert words in refused(*arguments)
    assert list(tmp_path.iterdir()) == []


def test_a_protocol_of_ones_own_goes_to_the_workers(tmp_path, session):
    model = protocol_named(str(write_counter(tmp_path))).model()
    options = Options(keep_going=True)
    found = distributed(tmp_path / "store", model, session, 2, options)
    assert found == plain(model, options)
    assert found["levels"] == [1, 2, 3]
