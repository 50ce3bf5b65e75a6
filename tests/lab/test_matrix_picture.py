"""The picture of a matrix: a cell for each row and column, told by letters besides its colour."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from checker.core.search.limits import Limits
from checker.lab.experiments.matrix import cells, read_matrix
from checker.lab.experiments.matrix_picture import as_svg, letters

SPECIFICATIONS = Path(__file__).parents[2] / "counterexamples" / "matrix"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def guarantees():
    path = SPECIFICATIONS / "guarantees.toml"
    matrix = read_matrix(path, Limits())
    return matrix, matrix.sweep(store=path.with_suffix(".jsonl"), whatever_sources=True).results


def groups(picture, name):
    return [group for group in picture.iter(f"{SVG}g") if group.get("class") == name]


def test_a_picture_has_each_row_and_column_and_each_cell_says_what_the_matrix_says(guarantees):
    matrix, results = guarantees
    picture = ElementTree.fromstring(as_svg(matrix, results))
    columns, rows = groups(picture, "column"), groups(picture, "row")
    assert [group.get("data-name") for group in columns] == [c.name for c in matrix.columns]
    assert [group.get("data-name") for group in rows] == [row.name for row in matrix.rows]
    for row, told in zip(rows, cells(matrix, results), strict=True):
        shown = [group.findtext(f".//{SVG}title") for group in groups(row, "cell")]
        assert shown == [f"{c.row.name}: {c.column.name}: {c.words}" for c in told]


def test_a_cell_stands_under_the_heading_of_its_column(guarantees):
    picture = ElementTree.fromstring(as_svg(*guarantees))
    across = [group.get("transform", "").split(",")[0] for group in groups(picture, "column")]
    for row in groups(picture, "row"):
        assert [g.get("transform", "").split(",")[0] for g in groups(row, "cell")] == across


def test_what_differs_in_colour_differs_in_letters_which_the_key_explains(guarantees):
    matrix, results = guarantees
    picture = ElementTree.fromstring(as_svg(matrix, results))
    colours: dict[str, set[str]] = {}
    for cell in groups(picture, "cell"):
        short = (cell.findtext(f".//{SVG}text") or "").split()[0]
        rectangle = cell.find(f".//{SVG}rect")
        assert rectangle is not None
        colours.setdefault(short, set()).add(rectangle.get("fill", ""))
    assert all(len(fills) == 1 for fills in colours.values())
    assert len(set.union(*colours.values())) == len(colours)
    (key,) = groups(picture, "key")
    assert {text.text for text in key.iter(f"{SVG}text") if text.get("class")} == set(colours)


def test_a_violation_says_how_it_fails_and_after_how_many_steps(guarantees):
    matrix, results = guarantees
    picture = ElementTree.fromstring(as_svg(matrix, results))
    shown = [cell.findtext(f".//{SVG}text") for cell in groups(picture, "cell")]
    told = [cell for row in cells(matrix, results) for cell in row]
    violated = [(text, cell) for text, cell in zip(shown, told, strict=True) if cell.is_violated]
    assert len(violated) > 50
    for text, cell in violated:
        assert text == f"{letters(cell)} {cell.found['depth']}"
        assert letters(cell)[0] == cell.column.fails[0].upper()
    assert {text for text, cell in zip(shown, told, strict=True) if cell.words == "safe"} == {"S"}


def test_cells_without_an_answer_are_not_safe(guarantees):
    matrix, _ = guarantees
    picture = ElementTree.fromstring(as_svg(matrix, {}))
    assert {cell.findtext(f".//{SVG}text") for cell in groups(picture, "cell")} == {"?"}


def test_cells_lead_where_they_are_told_to_and_nothing_in_names_is_markup(guarantees):
    matrix, results = guarantees
    row, column = matrix.rows[0].name, matrix.columns[3].name
    picture = ElementTree.fromstring(as_svg(matrix, results, {(row, column): 'a"<b>&c'}))
    (link,) = picture.iter(f"{SVG}a")
    assert link.get("href") == 'a"<b>&c'
    assert (link.get("aria-label") or "").startswith(f"{row}: {column}: ")
