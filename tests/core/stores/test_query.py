"""Queries: columns say what the state says, ready queries run, mistakes are told in one line."""

import itertools
import shutil

import pytest

from checker.core.engines.layout import Layout
from checker.core.engines.reference import ReferenceEngine
from checker.core.search.explore import Options
from checker.core.stores.decoding import column_name, singular, state_columns
from checker.core.stores.level_files import read_level
from checker.core.stores.manifest import Manifest, manifest_for
from checker.core.stores.query import columns_of, engine_for, model_of, query_duckdb
from checker.core.stores.ready_queries import READY, ready_query
from checker.core.stores.store import Store
from model.language.declare.domains import Booleans, Integers, Reference
from model.language.errors import UsageError
from model.protocols import PROTOCOLS
from tests.support.stores import TINY, copied, everything, model_named, stored
from tests.support.traces import WEATHER


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    location = tmp_path_factory.mktemp("query")
    copied(location, model_named("kip320", TINY))
    return Store.open(str(location))


@pytest.fixture(scope="module")
def ask(store):
    model = model_of(store)
    return lambda sql, limit=100_000: query_duckdb(store, model, sql, limit)


# --- columns ---------------------------------------------------------------------------------


def _as_sql(cell, number):
    """The value that a cell's number stands for, worked out without SQL."""
    match cell.variable.domain:
        case Booleans():
            return bool(number)
        case Reference():
            return None if number == -1 else number
        case Integers(names=names) if names is not None:
            return names(number).name.lower()
        case Integers(none=none):
            return None if number == none else number
    return number


@pytest.mark.parametrize("name", ["kip320", "async_isr"])
def test_columns_hold_what_the_states_hold(tmp_path, name):
    model = model_named(name, TINY if name == "kip320" else {})
    copied(tmp_path, model)
    opened, layout = Store.open(str(tmp_path)), Layout(model)
    columns = ", ".join(columns_of(model))
    answer = query_duckdb(
        opened, model, f"SELECT {columns} FROM states ORDER BY level, number", 10**6
    )
    found = iter(answer.rows)
    for level in opened.levels:
        rows = read_level(opened, level.depth, layout.words)
        for state in layout.unpack(rows.words):
            expected = tuple(map(_as_sql, model.cells, state))
            assert next(found) == expected
    assert next(found, None) is None


def test_a_number_is_null_only_where_its_domain_says_that_it_is_none(tmp_path):
    model = WEATHER.model()
    stored(tmp_path, model)
    sql = "SELECT trend, record, day FROM states WHERE trend < 0 ORDER BY level, number LIMIT 1"
    assert query_duckdb(Store.open(str(tmp_path)), model, sql, 1).rows == [(-1, -1, -1)]
    sql = "SELECT trend, record, day FROM states WHERE level = 0"
    assert query_duckdb(Store.open(str(tmp_path)), model, sql, 1).rows == [(0, -1, None)]


@pytest.mark.parametrize("name", sorted(PROTOCOLS))
def test_columns_have_names_of_their_own(name):
    names = [column.name for column in state_columns(model_named(name))]
    assert len(set(names)) == len(names)
    assert all(part.isidentifier() for part in names)


def test_columns_are_named_after_their_place():
    names = [column_name(cell) for cell in model_named("kip320").cells]
    for expected in (
        "replica_0_high_watermark", "replica_2_log_1_epoch", "quorum_leader", "request_1_isr",
        "next_record_id",
    ):  # fmt: skip
        assert expected in names
    names = [column_name(cell) for cell in model_named("kafka").cells]
    assert "broker_0_follower_leo_1" in names
    assert singular("class") == "class"


def test_a_trace_can_be_read_in_sql(ask):
    """Each state's parent is a state of the level before."""
    answer = ask(
        "SELECT count(*), count(p.number) FROM states s "
        "LEFT JOIN states p ON p.level = s.level - 1 AND p.number = s.parent WHERE s.level > 0"
    )
    [(states, parents)] = answer.rows
    assert states == parents > 0


def test_actions_are_named(ask, store):
    model = model_of(store)
    known = {action.name for action in model.protocol.actions}
    answer = ask("SELECT DISTINCT level, action, arguments FROM states ORDER BY level")
    assert answer.rows[0] == (0, None, None)
    assert {action for _, action, _ in answer.rows[1:]} <= known
    assert all("=" in arguments for _, _, arguments in answer.rows[1:])


# --- ready queries ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(READY))
def test_every_ready_query_runs(ask, store, name):
    answer = ask(ready_query(name, columns_of(model_of(store))))
    assert answer.rows
    assert not answer.is_cut


def test_states_per_level_and_action_add_up(ask, store):
    columns = columns_of(model_of(store))
    levels = ask(ready_query("levels", columns)).rows
    actions = ask(ready_query("actions", columns)).rows
    for level, rows in itertools.groupby(actions, key=lambda row: row[0]):
        assert sum(row[2] for row in rows) == dict(levels)[level]
    assert sum(count for _, count in levels) == store.states


def test_actions_fire_first_where_the_reference_engine_says(ask, store):
    model = model_of(store)
    engine = ReferenceEngine(model)
    first: dict[str, int] = {}
    level, seen, depth = {engine.initial()}, {engine.initial()}, 0
    while level and len(first) < len(model.protocol.actions):
        depth += 1
        steps = [step for state in level for step in engine.successors(state)]
        for instance, _ in steps:
            first.setdefault(instance.action.name, depth)
        level = {after for _, after in steps} - seen
        seen |= level
    answer = ask(ready_query("first-fired", columns_of(model)))
    assert {row[0]: row[1] for row in answer.rows if row[1]} == first


def test_lag_counts_what_followers_lack(ask, store):
    answer = ask(ready_query("lag", columns_of(model_of(store))))
    [(expected,)] = ask(
        "SELECT count(*) FROM states WHERE quorum_leader = 0 "
        "AND replica_0_log_end - replica_1_log_end = 1"
    ).rows
    [(others,)] = ask(
        "SELECT count(*) FROM states WHERE quorum_leader = 2 "
        "AND replica_2_log_end - replica_1_log_end = 1"
    ).rows
    counts = {(follower, lag): states for follower, lag, states in answer.rows}
    assert counts["replica_1", 1] == expected + others > 0


def test_a_query_that_does_not_fit_the_protocol_is_told():
    model = model_named("async_isr")
    with pytest.raises(UsageError, match="needs"):
        ready_query("lag", columns_of(model))


# --- mistakes --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELEC", "syntax error"),
        ("SELECT quorum_leder FROM states", "quorum_leader"),
        ("SELECT 1; SELECT 2", "one SELECT"),
        ("", "one SELECT"),
        ("DROP VIEW states", "one SELECT"),
        ("COPY states TO 'out.csv'", "one SELECT"),
        ("INSERT INTO levels VALUES (1, 1)", "one SELECT"),
        ("SELECT * FROM read_csv('pyproject.toml')", "Permission Error"),
        ("SELECT * FROM read_text('/etc/hostname')", "Permission Error"),
    ],
)
def test_mistakes_are_told_in_one_line(ask, sql, words):
    with pytest.raises(UsageError, match=words) as caught:
        ask(sql)
    assert "\n" not in str(caught.value)


def test_more_rows_than_asked_for_are_noticed(ask, store):
    assert ask("SELECT * FROM states", limit=5).is_cut
    assert len(ask("SELECT * FROM states", limit=5).rows) == 5
    assert not ask("SELECT * FROM states", limit=store.states).is_cut


def test_an_unknown_ready_query_names_the_valid_ones():
    with pytest.raises(UsageError, match="did you mean 'levels'"):
        ready_query("level", [])


def test_a_store_whose_protocol_has_changed_is_refused(tmp_path):
    model = model_named("kip320", TINY)
    mine = manifest_for(model, everything(model), Options())
    changed = Store.create(str(tmp_path), Manifest(**(mine.__dict__ | {"digest": "0" * 64})))
    with pytest.raises(UsageError, match="defines kip320 otherwise"):
        model_of(changed)


def test_small_local_stores_need_no_jvm(store, monkeypatch):
    assert engine_for(store) == "duckdb"
    monkeypatch.setattr("checker.core.stores.query.DUCKDB_BYTES", 0)
    assert engine_for(store) == "spark"


# --- the command -----------------------------------------------------------------------------


def test_a_damaged_page_is_refused(tmp_path, store):
    """One flipped byte, wherever in the data: a checksum says so, and there is no answer."""
    place = tmp_path / "store"
    shutil.copytree(store.storage.root, place)
    file = max(place.rglob("*.parquet"), key=lambda path: path.stat().st_size)
    content = bytearray(file.read_bytes())
    content[len(content) // 3] ^= 1
    file.write_bytes(content)
    damaged = Store.open(str(place))
    with pytest.raises(UsageError, match="is damaged"):
        query_duckdb(damaged, model_of(damaged), "SELECT count(fingerprint) FROM states", 10)


@pytest.fixture
def highwater(capsys):
    """Runs `highwater`; its exit status, output and complaints."""
    from checker.commands.cli import highwater as group
    from checker.commands.cli import run

    def command(*arguments):
        status = run(group, arguments)
        done = capsys.readouterr()
        return status, done.out, done.err

    return command


def test_the_command_prints_a_table(highwater, store):
    status, out, err = highwater("query", store.location, "SELECT 1 AS one, 'x' AS letter")
    assert (status, err) == (0, "")
    assert [line.split() for line in out.splitlines()] == [["one", "letter"], ["---", "------"],
                                                           ["1", "x"]]  # fmt: skip


def test_the_command_prints_json(highwater, store):
    import json

    status, out, _ = highwater("query", store.location, "--ready", "levels", "--json")
    assert status == 0
    told = json.loads(out)
    assert told["columns"] == ["level", "states"]
    sizes = [level.size for level in store.levels if level.size]
    assert told["rows"] == [{"level": n, "states": size} for n, size in enumerate(sizes)]
    assert sum(sizes) == store.states


def test_values_that_json_lacks_become_text(highwater, store):
    status, out, _ = highwater("query", store.location, "SELECT 1.5::DECIMAL AS d", "--json")
    assert status == 0
    assert '"d": "1.5' in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["{store}"], "give one of"),
        (["{store}", "SELECT 1", "--ready", "levels"], "give one of"),
        (["{store}", "--ready", "nothing"], "valid are"),
        (["/nonexistent", "SELECT 1"], "holds no store"),
        (["{store}", "SELECT 1", "--limit", "0"], "--limit"),
    ],
)
def test_wrong_usage_is_told_in_one_line(highwater, store, arguments, words):
    status, out, err = highwater("query", *[a.format(store=store.location) for a in arguments])
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert words in err
