"""The table of mutants of the checker can be tried: each change is possible, each test exists."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

mutants = import_module("tests.mutants.__main__")
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("mutant", mutants.read_mutants(), ids=lambda mutant: mutant.words)
def test_the_change_can_be_made_in_one_place_and_its_test_exists(mutant):
    assert mutant.problem == ""
    file, _, name = mutant.test.partition("::")
    source = (ROOT / file).read_text(encoding="utf-8")
    assert re.search(rf"^def {re.escape(name.partition('[')[0])}\(", source, re.MULTILINE)


def test_every_part_of_the_checker_has_mutants_and_no_two_are_the_same():
    table = mutants.read_mutants()
    assert len(table) >= 40
    assert len({(m.file, m.find, m.replace) for m in table}) == len(table)


def test_a_change_that_is_not_possible_in_one_place_is_told():
    nowhere = mutants.Mutant("x", "", "checker/exits.py", "no such line", "", "")
    assert "stands 0 times" in nowhere.problem
    assert "changes nothing" in mutants.Mutant("x", "", "checker/exits.py", "OK", "OK", "").problem


def test_a_mutant_that_no_test_notices_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(mutants, "COPIED", ("checker", "pyproject.toml", "model", "properties"))
    copy = mutants.Copy(tmp_path)
    (tmp_path / "tests").mkdir()
    test = tmp_path / "tests" / "test_it.py"
    test.write_text("from checker.exits import Exit\n\ndef test_it():\n    assert Exit.OK == 0\n")
    noticed = mutants.Mutant("x", "", "checker/exits.py", "OK = 0", "OK = 3", "tests/test_it.py")
    unseen = mutants.Mutant("x", "", "checker/exits.py", "= 20", "= 24", "tests/test_it.py")
    crashes = mutants.Mutant(
        "x", "", "checker/exits.py", "OK = 0", "OK = __import__('os').abort()", "tests/test_it.py"
    )
    assert mutants.verdict(copy, noticed) == mutants.verdict(copy, crashes) == ""
    assert mutants.verdict(copy, unseen) == "SURVIVED"
    assert "pytest ended with" in mutants.verdict(
        copy, mutants.Mutant("x", "", "checker/exits.py", "= 20", "= 25", "tests/nothing.py")
    )
