"""A kill matrix as a table and a picture: what its page says, and nothing else."""

from __future__ import annotations

import dataclasses
import functools
import json
import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from checker.commands.cli import highwater, run
from checker.core.exits import Exit
from checker.lab.experiments.kill_matrix import KillMatrix, Question, as_markdown, sweep_of
from checker.lab.experiments.kill_table import as_svg, read_page, read_table, table_of
from checker.lab.experiments.mutants import Outcome
from model.language.errors import UsageError
from model.protocols import protocol_named
from properties import properties_of

STORED = Path(__file__).parents[2] / "counterexamples" / "mutants"
PAGES = ("kafka", "kip320")
SVG = "{http://www.w3.org/2000/svg}"
SIZES = {"replicas": 2, "max_offset": 1, "max_version": 1}


@functools.cache
def matrix_of(first: bool) -> KillMatrix:
    """A small matrix, judged here."""
    model = protocol_named("async_isr").model(SIZES)
    question = Question.about(model, properties_of(model.protocol), first=first)
    original = question.original(cross_check=False)
    sweep = sweep_of(question, 0)
    assert sweep.run()
    return KillMatrix.of(sweep, question, original)


def subject(mutant: str) -> str:
    return mutant.partition(": ")[0]


def test_a_table_of_mutants_has_the_fate_of_each():
    matrix = matrix_of(first=False)
    table = table_of(matrix)
    assert list(table.rows.keys()) != [] and not table.counts
    said = {
        fate.mutant: {k: "lost" if d is None else str(d) for k, d in fate.killers.items()}
        if fate.outcome is Outcome.KILLED
        else {str(fate.outcome): "1"}
        for fate in matrix.fates
    }
    assert table.rows == said
    alive = {f.mutant: f.outcome for f in matrix.fates if f.outcome is not Outcome.KILLED}
    assert {each.mutant: each.outcome for each in table.survivors} == alive


def test_a_table_of_counts_adds_the_fates_up():
    matrix = matrix_of(first=True)
    table = table_of(matrix)
    assert table.counts
    noticed = Counter((subject(f.mutant), name) for f in matrix.fates for name in f.killers)
    noticed += Counter((subject(f.mutant), str(f.outcome)) for f in matrix.fates)
    said = {(row, c): int(v) for row, cells in table.rows.items() for c, v in cells.items()}
    assert said == dict(noticed)
    survived = [f.mutant for f in matrix.fates if f.outcome is Outcome.SURVIVED]
    assert sorted(each.mutant for each in table.survivors) == sorted(survived)
    assert survived


@pytest.mark.parametrize("first", [False, True], ids=["mutants", "counts"])
def test_what_survives_has_its_own_reason(first):
    matrix = matrix_of(first)
    alive = [f.mutant for f in matrix.fates if f.outcome is Outcome.SURVIVED]
    reasons = {mutant: f"Because of {k}." for k, mutant in enumerate(alive)}
    table = table_of(dataclasses.replace(matrix, reasons=reasons))
    said = {each.mutant: each.reason for each in table.survivors if each.mutant in reasons}
    assert len(said) > 1 and said.keys() == reasons.keys()
    assert all(said[mutant].startswith(reason) for mutant, reason in reasons.items())


@pytest.mark.parametrize("name", PAGES)
def test_a_picture_has_each_cell_of_its_page_and_says_it_in_letters(name):
    table = read_table(STORED / f"kill-matrix-{name}.md")
    picture = ElementTree.fromstring(as_svg(table, "#survivors"))
    groups = [(g.get("class"), g) for g in picture.iter(f"{SVG}g")]
    rows = [g for kind, g in groups if kind == "row"]
    assert [g.get("data-name") for g in rows] == list(table.rows)
    assert [g.get("data-name") for kind, g in groups if kind == "column"] == [*table.columns]
    for row, cells in zip(rows, table.rows.values(), strict=True):
        shown = [g for g in row.iter(f"{SVG}g") if g.get("class") == "cell"]
        found = {table.columns[int(g.get("data-column", ""))] for g in shown}
        assert found == set(cells)
        for cell in shown:
            column = table.columns[int(cell.get("data-column", ""))]
            letters = cell.findtext(f".//{SVG}text")
            if table.counts:
                assert letters == cells[column]
            assert letters and (cell.findtext(f".//{SVG}title") or "").startswith(
                row.get("data-name", "?")
            )
    assert picture.findtext(f"{SVG}title") == f"Kill matrix of {name}"
    assert table.summary in (picture.findtext(f"{SVG}desc") or "")


@pytest.mark.parametrize("name", PAGES)
def test_what_survives_is_there_with_its_reason(name):
    page = (STORED / f"kill-matrix-{name}.md").read_text()
    table = read_page(page, name)
    count = re.search(r", (\d+) survived", page)
    assert count is not None
    survived = [each for each in table.survivors if each.outcome == Outcome.SURVIVED]
    assert len(survived) == int(count[1]) > 0
    assert all(each.reason.strip() for each in survived)
    titles = [
        title.text or "" for title in ElementTree.fromstring(as_svg(table)).iter(f"{SVG}title")
    ]
    for each in survived:
        change = each.mutant.partition(": ")[2] if table.counts else each.mutant
        (row,) = [t for t in titles if t.startswith(f"{subject(each.mutant)}: ")
                  and each.reason in t and change in t]  # fmt: skip
        assert row


def test_names_and_reasons_may_hold_anything():
    page = as_markdown(matrix_of(first=True))
    evil = '<script>alert(1)</script>"&\x07'
    survivor = table_of(matrix_of(first=True)).survivors[0]
    table = read_page(page.replace(survivor.reason or "Not explained.", evil), "here")
    picture = as_svg(table, 'x"><script>')
    assert "<script" not in picture
    words = "".join(ElementTree.fromstring(picture).itertext())
    assert "<script>alert(1)</script>" in words and "\x07" not in words


@pytest.mark.parametrize(
    "text", ["", "# Kill matrix of `kafka`\n", "# Words\n\n| a |\n|---|\n| b |\n"]
)
def test_what_is_no_page_of_a_kill_matrix_is_refused(text, tmp_path):
    file = tmp_path / "page.md"
    file.write_text(text)
    with pytest.raises(UsageError, match="no page of a kill matrix"):
        read_table(file)
    with pytest.raises(UsageError, match="No such file"):
        read_table(tmp_path / "gone.md")


def test_the_command_draws_a_stored_page_and_searches_nothing(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("checker.lab.experiments.kill_matrix.Question.original", None)
    page, picture = STORED / "kill-matrix-kafka.md", tmp_path / "kafka.svg"
    command = ["mutate", "--stored", str(page), "--picture", str(picture)]
    assert run(highwater, command) == Exit.OK
    table = read_table(page)
    assert capsys.readouterr().out.endswith(f"{table.summary}\n")
    assert picture.read_text(encoding="utf-8") == as_svg(table)
    assert run(highwater, [*command, "--json"]) == Exit.OK
    assert json.loads(capsys.readouterr().out)["rows"] == {
        k: dict(v) for k, v in table.rows.items()
    }
    assert run(highwater, [*command, "--first"]) == Exit.USAGE
    assert "leave out first" in capsys.readouterr().err
