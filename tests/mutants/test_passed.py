"""What has passed is known of the very tree that it passed on, and of no other."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Literal

import pytest

from tests.conftest import PASSED as LEFT_OUT
from tests.conftest import pytest_collection_modifyitems
from tests.support import passed


@pytest.fixture
def tree(tmp_path, monkeypatch):
    monkeypatch.setattr(passed, "TREE", ("model", "pyproject.toml"))
    (tmp_path / "model" / "__pycache__").mkdir(parents=True)
    (tmp_path / "model" / "it.py").write_text("1\n")
    (tmp_path / "pyproject.toml").write_text("\n")
    return tmp_path


PHASES: tuple[Literal["setup", "call", "teardown"], ...] = ("setup", "call", "teardown")


def session(root: Path, begun: float, **outcomes: Literal["passed", "failed", "skipped"]) -> None:
    """A session in which each test has three phases of a second."""
    recorder = passed.Recorder(root, begun)
    for name, outcome in outcomes.items():
        for phase in PHASES:
            report = pytest.TestReport(
                name, ("", 0, ""), {}, outcome if phase == "call" else "passed", None, phase,
                duration=1.0,
            )  # fmt: skip
            recorder.pytest_runtest_logreport(report)
    recorder.pytest_sessionfinish()


LATER = 60.0
PASSED: Literal["passed"] = "passed"


def test_sessions_on_one_tree_add_up_and_what_failed_or_was_skipped_is_not_among_them(tree):
    session(tree, time.time() + LATER, a="passed", b="failed", c="skipped")
    assert passed.seconds_of_passed(tree) == {"a": 3}
    (tree / "model" / "__pycache__" / "it.pyc").write_text("compiled")
    session(tree, time.time() + LATER, d="passed", a="failed")
    assert passed.seconds_of_passed(tree) == {"d": 3}


@pytest.mark.parametrize("name", ["model/it.py", "model/new.py", "pyproject.toml"])
def test_a_tree_with_another_file_is_another_one(tree, name):
    session(tree, time.time() + LATER, a="passed")
    (tree / name).write_text("2\n")
    assert passed.seconds_of_passed(tree) == {}
    session(tree, time.time() + LATER, b="passed")
    assert passed.seconds_of_passed(tree) == {"b": 3}


def test_of_a_session_in_which_the_tree_changed_nothing_is_stored(tree):
    session(tree, time.time() - LATER, a="passed")
    assert passed.seconds_of_passed(tree) == {}


def test_what_is_stored_may_be_damaged(tree):
    session(tree, time.time() + LATER, a="passed")
    (path,) = (tree / ".pytest_cache").iterdir()
    path.write_text("{")
    assert passed.seconds_of_passed(tree) == {}


def test_a_test_takes_what_it_takes_with_all_parameters():
    known = {"f::a[1]": 2.0, "f::a[2]": 3.0, "f::ab": 7.0}
    assert passed.seconds_of("f::a", known) == 5
    assert passed.seconds_of("f::a[2]", known) == 3
    assert passed.seconds_of("f::b", known) is None


def test_a_group_is_no_part_of_a_tests_name(tree):
    names = ("f::a@spark", "f::b[x@y]")
    session(tree, time.time() + LATER, **dict.fromkeys(names, PASSED))
    assert passed.seconds_of_passed(tree).keys() == {"f::a", "f::b[x@y]"}


def test_a_session_that_is_killed_has_stored_what_passed_before(tree, monkeypatch):
    monkeypatch.setattr(passed, "STORED_EVERY", -2 * LATER)
    monkeypatch.setattr(passed.Recorder, "pytest_sessionfinish", lambda self: None)
    session(tree, time.time() + LATER, a="passed", b="failed", c="passed")
    assert passed.seconds_of_passed(tree) == {"a": 3, "c": 3}


def test_a_session_that_goes_on_leaves_out_what_has_passed():
    told = []
    config = SimpleNamespace(stash={LEFT_OUT: frozenset({"f::a[1]"})})
    config.hook = SimpleNamespace(pytest_deselected=lambda **call: told.append(call))
    items = [
        SimpleNamespace(nodeid=name, get_closest_marker={}.get) for name in ("f::a[1]", "f::a[2]")
    ]
    left, all_passed = list(items), items[:1]
    for chosen in (left, all_passed):
        list(pytest_collection_modifyitems(config, chosen))
    assert (told, left, all_passed) == ([{"items": items[:1]}], items[1:], items[:1])
