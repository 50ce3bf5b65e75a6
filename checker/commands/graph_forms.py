"""The forms in which `graph` writes a graph: for networkx, for Graphviz, for what is large."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from checker.commands.forms import FolderForm, Form

if TYPE_CHECKING:
    from checker.core.graphs.tables import Tables


def _graphml(tables: Tables) -> str:
    from checker.core.graphs.export import as_graphml

    return as_graphml(tables)


def _dot(tables: Tables) -> str:
    from checker.core.graphs.export import as_dot

    return as_dot(tables)


def _json(tables: Tables) -> str:
    from checker.core.graphs.export import as_json

    return as_json(tables)


def _prepare_parquet(directory: Path) -> None:
    from checker.core.graphs.export import prepare_for_parquet

    prepare_for_parquet(directory)


def _parquet(tables: Tables, directory: Path) -> None:
    from checker.core.graphs.export import write_parquet

    write_parquet(tables, directory)


FORMS: tuple[Form[Tables] | FolderForm[Tables], ...] = (
    Form("graphml", "for Gephi, yEd, networkx", _graphml),
    Form("dot", "for Graphviz", _dot),
    Form("json", "networkx's node-link data", _json),
    FolderForm("parquet", "tables of any size", _prepare_parquet, _parquet),
)
