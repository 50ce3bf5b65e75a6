"""SQL over a store with Spark, where it is large or elsewhere."""

from __future__ import annotations

from checker.core.spark.jobs import check_files
from checker.core.spark.session import failure_reason, require_java, start_session
from checker.core.stores.decoding import states_view
from checker.core.stores.query import SMALL_TABLES, Answer, one_line, small_tables
from checker.core.stores.store import LEVELS, Store
from model.language.errors import UsageError
from model.language.protocol import Model


def query_spark(store: Store, model: Model, sql: str, limit: int, master: str) -> Answer:
    """Run one SELECT with Spark SQL."""
    require_java()
    session = start_session(master)
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    check_files(session.sparkContext, store)  # Spark's reader knows nothing of digests
    try:
        packed = session.read.option("basePath", store.storage.uri(LEVELS)).parquet(
            *[store.storage.uri(store.place(*each)) for each in store.files()]
        )
        packed.createOrReplaceTempView("packed")
        for name, rows in small_tables(store, model).items():
            session.createDataFrame(rows, SMALL_TABLES[name]).createOrReplaceTempView(name)
        session.sql(states_view(model)).createOrReplaceTempView("states")
        frame = session.sql(sql)
        rows = [tuple(row) for row in frame.limit(limit + 1).collect()]
    except Py4JJavaError as error:
        raise UsageError(f"the query fails: {failure_reason(error)}") from error
    except PySparkException as error:
        raise UsageError(f"the query fails: {one_line(str(error).partition(';')[0])}") from error
    return Answer(tuple(frame.columns), rows[:limit], len(rows) > limit)
