"""`query`: SQL over a stored state space."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from checker.commands.common import (
    HELP,
    limited,
    output_options,
    print_json,
    protocol_option,
    write_output,
)

if TYPE_CHECKING:
    from checker.commands.ceiling import Ceiling


@click.command(context_settings=HELP)
@click.argument("store", metavar="STORE")
@click.argument("sql", metavar="[SQL]", required=False)
@click.option("--ready", metavar="NAME", help="a ready query: levels, actions, first-fired, ...")
@click.option("--columns", is_flag=True, help="the columns of the table of states")
@click.option(
    "--limit", type=click.IntRange(min=1), default=1000, show_default=True, help="rows at most"
)
@click.option("--engine", type=click.Choice(["duckdb", "spark"]), help="[default: by size]")
@click.option("--master", metavar="URL", default="local[*]", help="where Spark runs")
@protocol_option("the protocol of the store")
@limited()
@output_options
def command(ceiling: Ceiling, store: str, sql: str | None, **options: Any) -> int:
    """Ask the state space in STORE, which `explore --store` wrote.

    Tables: states (level, action, arguments, and a column a variable, such as
    replica_0_high_watermark), levels, actions, instances.

    \b
    highwater query DIR "SELECT level, count(*) FROM states
                         WHERE quorum_leader IS NULL GROUP BY level"
    highwater query DIR --ready lag
    """
    from checker.core.stores.query import columns_of, engine_for, model_of, query_duckdb
    from checker.core.stores.ready_queries import ready_query
    from checker.core.stores.storage import require_pyarrow
    from checker.core.stores.store import Store
    from model.language.errors import UsageError
    from model.protocols import protocol_named

    if (sql is not None) + (options["ready"] is not None) + options["columns"] != 1:
        raise UsageError("give one of: a query in SQL, --ready NAME, --columns")
    require_pyarrow()
    opened = Store.open(store)
    if not opened.levels:
        raise UsageError(f"{store} holds no level yet")
    if opened.unfinished and not options["quiet"]:
        click.echo(f"note: {opened.unfinished}", err=True)
    named = options["protocol"]
    model = model_of(opened, protocol_named(named) if named else None)
    columns = columns_of(model)
    if options["columns"]:
        return _show_columns(columns, options["as_json"])
    asked = sql if sql is not None else ready_query(options["ready"], columns)
    with ceiling:
        if (options["engine"] or engine_for(opened)) == "spark":
            from checker.core.spark.query import query_spark

            answer = query_spark(opened, model, asked, options["limit"], options["master"])
        else:
            answer = query_duckdb(opened, model, asked, options["limit"])
    if options["as_json"]:
        rows = [dict(zip(answer.columns, map(_plain, row), strict=True)) for row in answer.rows]
        print_json({"command": "query", "columns": answer.columns, "rows": rows,
                    "is_cut": answer.is_cut})  # fmt: skip
        return 0
    write_output(_table(answer.columns, answer.rows))
    if answer.is_cut and not options["quiet"]:
        click.echo(f"more rows than {options['limit']:,}: see --limit", err=True)
    return 0


def _show_columns(columns: list[str], as_json: bool) -> int:
    names = ["level", "action", "arguments", "number", "parent", "fingerprint", *columns]
    if as_json:
        print_json({"command": "query", "columns": names})
    else:
        write_output("\n".join(names) + "\n")
    return 0


def _table(columns: tuple[str, ...], rows: list[tuple[Any, ...]]) -> str:
    """Columns side by side, numbers to the right."""
    cells = [columns, *([_text(value) for value in row] for row in rows)]
    widths = [max(len(row[place]) for row in cells) for place in range(len(columns))]
    right = [all(isinstance(r[p], int | float | None) for r in rows) for p in range(len(columns))]
    lines = []
    for row in cells:
        parts = [
            text.rjust(width) if is_number else text.ljust(width)
            for text, width, is_number in zip(row, widths, right, strict=True)
        ]
        lines.append("  ".join(parts).rstrip())
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines) + "\n"


def _plain(value: Any) -> Any:
    """The value as JSON has it; kinds that JSON lacks as text."""
    return value if isinstance(value, bool | int | float | str | list | None) else str(value)


def _text(value: Any) -> str:
    if value is None:
        return "-"
    return str(value).lower() if isinstance(value, bool) else str(value)
