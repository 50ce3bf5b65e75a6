"""SQL over a store: what its tables are, and DuckDB, which reads stores of moderate size.

Tables: `states`, one row a state with a column a cell; `levels`; `actions`, how often each was
enabled and first to reach a state, by level; `instances`, the actions with their arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

from checker.core.digest import definition_digest
from checker.core.stores.decoding import state_columns, states_view
from checker.core.stores.level_files import check_content
from checker.core.stores.store import Store
from checker.distribution import require
from model.language.errors import LimitError, UsageError
from model.language.protocol import Model, Protocol
from model.protocols import PROTOCOLS, protocol_named
from properties import Property, choose_properties

DUCKDB_BYTES = 20 << 30
"""A store beyond this size is given to Spark, unless asked otherwise."""


@dataclass(frozen=True)
class Answer:
    """A query's result: at most as many rows as were asked for; `is_cut` if there were more."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    is_cut: bool


def model_of(store: Store, protocol: Protocol | None = None) -> Model:
    """The model whose states a store holds, of `protocol` if it is one of the user's own.

    `UsageError` if it is defined otherwise now.
    """
    manifest = store.manifest
    identity = manifest.model
    if protocol is None and identity["protocol"] not in PROTOCOLS:
        raise UsageError(
            f"{store.location} is of {identity['protocol']}, one of your own protocols: give "
            "--protocol FILE.py"
        )
    protocol = protocol or protocol_named(identity["protocol"])
    if protocol.name != identity["protocol"]:
        raise UsageError(f"{store.location} is of {identity['protocol']}, not of {protocol.name}")
    model = protocol.model(identity["bounds"], identity["settings"])
    if definition_digest(model, properties_asked(store, protocol)) != manifest.digest:
        if PROTOCOLS.get(protocol.name) is not protocol:
            raise UsageError(f"{store.location}: {protocol.name} has changed since it was written")
        raise UsageError(
            f"{store.location} was written by version {manifest.version}, which defines "
            f"{protocol.name} otherwise: query it with that version"
        )
    return model


def properties_asked(store: Store, protocol: Protocol) -> tuple[Property, ...]:
    """The properties that the search of the store was asked for."""
    names = store.manifest.properties
    return choose_properties(protocol, names) if names else ()


def engine_for(store: Store) -> str:
    """The engine that suits a store's size."""
    return "duckdb" if store.bytes <= DUCKDB_BYTES else "spark"


def columns_of(model: Model) -> list[str]:
    """The names of the columns of a state."""
    return [column.name for column in state_columns(model)]


# --- small tables ----------------------------------------------------------------------------


def _instances(model: Model) -> Iterator[tuple[int, str, str]]:
    for instance in model.instances:
        words = ", ".join(f"{name}={value}" for name, value in instance.named_arguments.items())
        yield instance.number, instance.action.name, words


def _levels(store: Store) -> Iterator[tuple[int, int]]:
    for level in store.levels:
        if level.size:
            yield level.depth, level.size


def _actions(store: Store, model: Model) -> Iterator[tuple[int, str, int, int]]:
    """Differences between levels, since each holds totals."""
    names = [instance.action.name for instance in model.instances]
    for before, level in zip(store.levels, store.levels[1:], strict=False):
        counts = {action.name: [0, 0] for action in model.protocol.actions}
        for place, kind in enumerate(("enabled", "new")):
            for number, count in getattr(level, kind).items():
                counts[names[number]][place] += count - getattr(before, kind).get(number, 0)
        for name, (enabled, new) in counts.items():
            yield level.depth, name, enabled, new


SMALL_TABLES = {
    "instances": "instance INTEGER, action STRING, arguments STRING",
    "levels": "level INTEGER, states BIGINT",
    "actions": "level INTEGER, action STRING, enabled BIGINT, new BIGINT",
}


def small_tables(store: Store, model: Model) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of the tables in `SMALL_TABLES`."""
    return {
        "instances": list(_instances(model)),
        "levels": list(_levels(store)),
        "actions": list(_actions(store, model)),
    }


# --- DuckDB ----------------------------------------------------------------------------------


def query_duckdb(store: Store, model: Model, sql: str, limit: int) -> Answer:
    """Run one SELECT with DuckDB, which may read the store's files and nothing else."""
    require("querying needs DuckDB", "duckdb")
    import duckdb

    for depth, file in store.files():  # DuckDB knows nothing of digests
        check_content(store.storage, depth, file)
    connection = duckdb.connect()

    def answer() -> Answer:
        _prepare_duckdb(connection, store, model)
        statements = connection.extract_statements(sql)
        kinds = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)
        if len(statements) != 1 or statements[0].type not in kinds:
            raise UsageError("a query is one SELECT, for example: SELECT count(*) FROM states")
        result = connection.execute(statements[0])
        rows = result.fetchmany(limit + 1)
        columns = tuple(entry[0] for entry in result.description)
        return Answer(columns, rows[:limit], len(rows) > limit)

    try:
        return _apart(answer, connection.interrupt)
    except duckdb.Error as error:
        raise UsageError(f"the query fails: {one_line(str(error))}") from error
    finally:
        connection.close()


def _apart(work: Callable[[], Answer], interrupt: Callable[[], None]) -> Answer:
    """What `work` gives, in a thread of its own: DuckDB heeds no Ctrl-C while it works."""
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(work)
        try:
            return future.result()
        except (KeyboardInterrupt, LimitError):
            while not future.done():
                interrupt()  # which is in vain between two statements
                wait([future], timeout=0.05)
            raise


def _prepare_duckdb(connection: Any, store: Store, model: Model) -> None:
    connection.execute("SET enable_progress_bar = false")  # which goes to standard output
    for name, rows in small_tables(store, model).items():
        connection.execute(f"CREATE TABLE {name} ({SMALL_TABLES[name]})")
        if rows:
            marks = ", ".join("?" * len(rows[0]))
            connection.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)
    paths = [store.storage.path(store.place(*each)) for each in store.files()]
    readable = paths if store.storage.is_local else []
    listed = ", ".join("'" + path.replace("'", "''") + "'" for path in readable)
    connection.execute(f"SET allowed_paths = [{listed}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    if store.storage.is_local:
        packed = f"read_parquet([{listed}], hive_partitioning = true)"
        connection.execute(f"CREATE VIEW packed AS SELECT * FROM {packed}")
    else:
        connection.register("packed", _elsewhere(store, paths))
    connection.execute(f"CREATE VIEW states AS {states_view(model)}")


def _elsewhere(store: Store, paths: list[str]) -> Any:
    """The rows of files that are not on this machine, which pyarrow brings as they are needed."""
    import pyarrow as pa
    from pyarrow import dataset

    by_level = dataset.partitioning(pa.schema([("level", pa.int64())]), flavor="hive")
    return dataset.dataset(
        paths, filesystem=store.storage.filesystem, format="parquet", partitioning=by_level
    )


def one_line(text: str) -> str:
    """An engine's complaint in one line."""
    lines: Sequence[str] = [line.strip() for line in text.splitlines() if line.strip()]
    return " ".join(lines)[:300]
