"""Graphs in the formats of other tools: networkx, GraphML, JSON, DOT of Graphviz, Parquet.

GraphML and JSON are as networkx writes them, and read again by it. DOT is for looking at, so what
is too large to look at is refused; Parquet is for what is large.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import networkx as nx

from checker.core.files import prepare_directory, write_whole
from checker.core.graphs.tables import Column, Tables
from model.language.errors import UsageError
from model.language.naming import NONE

if TYPE_CHECKING:
    import pyarrow as pa

MOST_DRAWN = 300
"""Nodes of a graph that is drawn: more are not told apart on any screen."""

MOST_IN_NETWORKX = 500_000
"""Nodes and arrows together: networkx takes about a kilobyte for each."""

_COLOURS = {"possible": "#fff2b3", "certain": "#f6b26b", "lost": "#e06666", "unknown": "#dddddd"}


def as_networkx(tables: Tables) -> nx.MultiDiGraph[int]:
    """The graph with its attributes. Keys of parallel arrows are the steps' words."""
    size = len(tables.ids) + len(tables.begin)
    if size > MOST_IN_NETWORKX:
        raise UsageError(
            f"{len(tables.ids):,} nodes and {len(tables.begin):,} arrows: networkx is given "
            f"{MOST_IN_NETWORKX:,} together at most; choose smaller bounds, a view, or parquet"
        )
    graph: nx.MultiDiGraph[int] = nx.MultiDiGraph(**tables.about)
    ids = tables.ids.tolist()
    graph.add_nodes_from(zip(ids, _rows(tables.nodes, len(ids)), strict=True))
    rows = _rows(tables.arrows, len(tables.begin))
    for begin, end, row in zip(tables.begin.tolist(), tables.end.tolist(), rows, strict=True):
        graph.add_edge(ids[begin], ids[end], key=row["step"], **row)
    return graph


def _rows(columns: tuple[Column, ...], count: int) -> list[dict[str, Any]]:
    names = [column.name for column in columns]
    if not names:
        return [{} for _ in range(count)]
    plain = [column.plain() for column in columns]
    return [dict(zip(names, row, strict=True)) for row in zip(*plain, strict=True)]


def as_graphml(tables: Tables) -> str:
    """The graph as GraphML, which has no word for nothing: such attributes are left out."""
    written = io.BytesIO()
    graph = as_networkx(tables)
    for _, row in graph.nodes(data=True):
        for name in [name for name, value in row.items() if value is None]:
            del row[name]
    nx.write_graphml_xml(graph, written)
    return written.getvalue().decode()


def as_json(tables: Tables) -> str:
    """The graph as JSON: networkx's node-link data."""
    return json.dumps(nx.node_link_data(as_networkx(tables), edges="edges")) + "\n"


def as_dot(tables: Tables) -> str:
    """The graph as Graphviz takes it. Parallel arrows are drawn as one, with a line for each."""
    if len(tables.ids) > MOST_DRAWN:
        raise UsageError(
            f"{len(tables.ids):,} nodes: {MOST_DRAWN} at most are drawn; choose smaller bounds, a "
            "view with fewer fields, or what lies around a trace"
        )
    lines = ["digraph states {", '  node [shape=box, style="filled,rounded", fillcolor=white];']
    rows = _rows(tables.nodes, len(tables.ids))
    for number, row in zip(tables.ids.tolist(), rows, strict=True):
        lines.append(f"  {number} [{_node(number, row, tables.view)}];")
    together: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for begin, end, row in zip(
        tables.begin.tolist(), tables.end.tolist(), _rows(tables.arrows, len(tables.begin)),
        strict=True,
    ):  # fmt: skip
        together.setdefault((begin, end), []).append(row)
    ids = tables.ids.tolist()
    for (begin, end), arrows in together.items():
        label = "\\n".join(_quoted(row["step"]) for row in arrows)
        thick = ", color=red, penwidth=2" if any(row.get("settles") for row in arrows) else ""
        lines.append(f'  {ids[begin]} -> {ids[end]} [label="{label}"{thick}];')
    return "\n".join([*lines, "}"]) + "\n"


def _node(number: int, row: dict[str, Any], view: tuple[str, ...]) -> str:
    """A node's label and looks: of a quotient its values, else its number alone."""
    shown = [f"{name} {_word(row[name])}" for name in view] if "states" in row else [str(number)]
    title = "\\n".join(f"{n} {_word(row[n])}" for n in view if row[n] not in (None, False, "{}"))
    if "states" in row:
        shown.append(f"{row['states']:,} states")
        loss = next((name for name in ("lost", "certain", "possible") if row.get(name)), "")
    else:
        loss = row["loss"]
        shown += [f"{row['to_loss']} to a loss"] if row["to_loss"] else []
    label = "\\n".join(map(_quoted, shown))
    parts = [f'label="{label}"', f'tooltip="{title}"']
    parts += [f'fillcolor="{_COLOURS[loss]}"'] if loss in _COLOURS else []
    parts += ["penwidth=3"] if row.get("on_trace") else []
    return ", ".join(parts)


def _word(value: Any) -> str:
    if value is None:
        return NONE
    return str(value).lower() if isinstance(value, bool) else str(value)


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def prepare_for_parquet(directory: Path) -> None:
    """`UsageError` if Parquet cannot be written there; said before hours are spent."""
    from checker.core.stores.storage import require_pyarrow

    require_pyarrow()
    prepare_directory(directory)


def write_parquet(tables: Tables, directory: Path) -> None:
    """Write `nodes.parquet` and `arrows.parquet` into a directory that is prepared."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from checker.core.stores.storage import explained

    nodes = [Column("node", tables.ids), *tables.nodes]
    begin, end = tables.ids[tables.begin], tables.ids[tables.end]
    arrows = [Column("source", begin), Column("target", end), *tables.arrows]
    about = {key: json.dumps(value) for key, value in tables.about.items()}
    for name, columns in (("nodes", nodes), ("arrows", arrows)):
        table = pa.table({column.name: _array(column) for column in columns})
        buffer = pa.BufferOutputStream()
        pq.write_table(table.replace_schema_metadata(about), buffer)
        with explained(f"cannot write {directory}"):
            write_whole(directory / f"{name}.parquet", buffer.getvalue())


def _array(column: Column) -> pa.Array:
    import pyarrow as pa

    if column.values is None:
        return pa.array(column.numbers)
    return pa.array(column.values).take(pa.array(column.numbers))
