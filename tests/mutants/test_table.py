"""The table of mutants of the checker can be tried: each change is possible, each test exists."""

from __future__ import annotations

import re
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path

import pytest

mutants = import_module("tests.mutants.__main__")
ROOT = Path(__file__).parents[2]


def test_each_change_can_be_made_in_one_place_and_its_test_exists():
    table = mutants.read_mutants()
    assert {mutant.words: mutant.problem for mutant in table if mutant.problem} == {}
    assert [mutant.test for mutant in table if not exists(mutant.test)] == []


def exists(test: str) -> bool:
    file, _, name = test.partition("::")
    source = (ROOT / file).read_text(encoding="utf-8")
    return bool(re.search(rf"^def {re.escape(name.partition('[')[0])}\(", source, re.MULTILINE))


def test_every_part_of_the_checker_has_mutants_and_no_two_are_the_same():
    table = mutants.read_mutants()
    assert len(table) >= 40
    assert len({(m.file, m.find, m.replace) for m in table}) == len(table)


def test_a_change_that_is_not_possible_in_one_place_is_told():
    nowhere = mutants.Mutant("x", "", "checker/core/exits.py", "no such line", "", "")
    assert "stands 0 times" in nowhere.problem
    assert (
        "changes nothing"
        in mutants.Mutant("x", "", "checker/core/exits.py", "OK", "OK", "").problem
    )


@pytest.fixture
def copy_of(tmp_path, monkeypatch):
    """A function that copies the named parts of the tree into `tmp_path`."""
    with ExitStack() as stack:

        def copy(*tree):
            monkeypatch.setattr(mutants, "TREE", tree)
            return stack.enter_context(mutants.Copy(tmp_path))

        yield copy


def test_a_mutant_that_no_test_notices_is_told(tmp_path, copy_of):
    copy = copy_of("checker", "pyproject.toml", "model", "properties")
    (tmp_path / "tests").mkdir()
    test = tmp_path / "tests" / "test_it.py"
    test.write_text(
        "from checker.core.exits import Exit\n\ndef test_it():\n    assert Exit.OK == 0\n"
    )
    noticed = mutants.Mutant(
        "x", "", "checker/core/exits.py", "OK = 0", "OK = 3", "tests/test_it.py"
    )
    unseen = mutants.Mutant("x", "", "checker/core/exits.py", "= 20", "= 24", "tests/test_it.py")
    crashes = mutants.Mutant(
        "x",
        "",
        "checker/core/exits.py",
        "OK = 0",
        "OK = __import__('os').abort()",
        "tests/test_it.py",
    )
    nothing = mutants.Mutant("x", "", "checker/core/exits.py", "= 20", "= 25", "tests/nothing.py")
    with copy.prepared([noticed]):
        assert mutants.verdict(copy, noticed, 60) == mutants.verdict(copy, crashes, 60) == ""
        assert mutants.verdict(copy, unseen, 60) == "SURVIVED"
        assert "pytest ended with" in mutants.verdict(copy, nothing, 60)


def test_mutants_that_no_time_is_left_for_are_counted_and_not_tried(capsys):
    word = mutants.read_mutants()[0].words
    assert mutants.main([word, "--begin-within", "-1"]) == 0
    assert "1 mutants of the checker, 0 killed, 1 left out" in capsys.readouterr().out


@pytest.mark.slow
def test_a_mutant_that_makes_its_test_hang_is_noticed(tmp_path, monkeypatch, copy_of):
    copy = copy_of("pyproject.toml")
    (tmp_path / "tests").mkdir()
    (tmp_path / "it.py").write_text("ENDS = True\n")
    (tmp_path / "tests" / "test_it.py").write_text(
        "import it, pytest, time\n\n@pytest.mark.parametrize('n', [1, 2])\ndef test_it(n):\n"
        "    time.sleep(0.1)\n    while not it.ENDS: pass\n"
    )
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    test = "tests/test_it.py::test_it"
    hangs = mutants.Mutant("x", "", "it.py", "True", "False", test)
    with copy.prepared([hangs]):
        assert mutants.verdict(copy, hangs, 2) == ""
        assert 0.1 <= copy.seconds(f"{test}[1]") < copy.seconds(test) >= 0.2


def test_a_test_that_fails_without_a_mutant_is_told(tmp_path, copy_of):
    copy = copy_of("pyproject.toml")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_it.py").write_text("def test_it():\n    assert False\n")
    with copy.prepared([]), pytest.raises(SystemExit, match="fails without any mutant"):
        copy.seconds("tests/test_it.py::test_it")
