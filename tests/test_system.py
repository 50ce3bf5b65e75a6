"""Every row of `docs/system.md` is there, and every name in it exists."""

from __future__ import annotations

import ast
import re
import shlex
from functools import cache
from pathlib import Path

import click
import pytest

from checker.commands.cli import highwater
from checker.core.files import COUNTEREXAMPLES
from checker.lab.experiments.scenarios import read_scenarios
from model.protocols import PROTOCOLS
from properties import liveness_of, properties_of

ROOT = Path(__file__).parent.parent
ROWS = [f"S{number}" for number in range(1, 15)]
PARTS = ("model", "properties", "scenario", "test", "command")


@cache
def rows() -> dict[str, dict[str, list[str]]]:
    """The names in each part of each row."""
    page = (ROOT / "docs" / "system.md").read_text()
    found = {}
    for section in page.split("\n## ")[1:]:
        row, _, body = section.partition(":")
        parts = re.findall(r"^\| \*\*(\w+)\*\* \| (.*) \|$", body, re.MULTILINE)
        assert [name for name, _ in parts] == list(PARTS), row
        found[row] = {name: re.findall(r"`([^`]+)`", text) for name, text in parts}
    return found


def test_every_row_is_there_with_all_its_parts():
    assert list(rows()) == ROWS
    for row, parts in rows().items():
        empty = [name for name, names in parts.items() if not names]
        assert not empty, row


@pytest.mark.parametrize("row", ROWS)
def test_actions_and_properties_exist(row):
    actions = {action.name for each in PROTOCOLS.values() for action in each.actions}
    claims = {prop.name for each in PROTOCOLS.values() for prop in properties_of(each)}
    claims |= {promise.name for each in PROTOCOLS.values() for promise in liveness_of(each)}
    assert set(rows()[row]["model"]) <= actions
    assert set(rows()[row]["properties"]) <= claims


def test_every_scenario_is_a_rows_and_says_so():
    stories = {story.name: story for story in read_scenarios(COUNTEREXAMPLES / "scenarios")}
    named = {name: row for row, parts in rows().items() for name in parts["scenario"]}
    assert set(named) == set(stories)
    for name, row in named.items():
        assert stories[name].source.startswith(f"{row}:"), name


@pytest.mark.parametrize("row", ROWS)
def test_the_tests_exist(row):
    for name in rows()[row]["test"]:
        file, _, function = name.partition("::")
        tree = ast.parse((ROOT / file).read_text())
        assert function in {n.name for n in tree.body if isinstance(n, ast.FunctionDef)}, name


@pytest.mark.parametrize("row", ROWS)
def test_the_commands_can_be_read(row):
    for text in rows()[row]["command"]:
        arguments = shlex.split(text)
        if arguments[0] == "highwater":
            arguments = arguments[1:]
        command = highwater.get_command(click.Context(highwater), arguments[0])
        assert command is not None
        context = command.make_context(arguments[0], arguments[1:])
        assert context.params


def test_a_story_takes_steps_of_its_row():
    for row, parts in rows().items():
        for name in parts["scenario"]:
            text = (COUNTEREXAMPLES / "scenarios" / f"{name}.toml").read_text()
            assert any(action in text for action in parts["model"]), row
