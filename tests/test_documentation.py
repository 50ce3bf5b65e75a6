"""The code in the documentation runs as it stands."""

from __future__ import annotations

import ast
import json
import re
import shlex
import subprocess
import sys
from itertools import groupby
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

import highwater
from checker.commands import cli
from checker.core.exits import Exit
from checker.kafka.cluster.schedule import easiest, every_schedule
from checker.kafka.cluster.vocabulary import Reach
from checker.telling.report.pages import part_of
from tests.benchmarks import bench_proof_table as proofs
from tests.support import readme
from tests.support.actions import action

DOCS = Path(__file__).parent.parent / "docs"


def blocks(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)


@pytest.mark.slow
def test_the_tutorial_is_true_word_for_word(tmp_path):
    page = (DOCS / "writing_a_protocol.md").read_text()
    steps = re.findall(r"^```(python|console)\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert [kind for kind, _ in steps].count("console") >= 5
    for kind, text in steps:
        if kind == "python":
            write_down(text, tmp_path)
        else:
            for asked in re.split(r"^(?=\$ )", text, flags=re.MULTILINE)[1:]:
                command, _, expected = asked.removeprefix("$ ").partition("\n")
                assert re.fullmatch(pattern_of(expected), output_of(command, tmp_path)), command


@pytest.mark.slow
def test_what_the_readme_shows_is_what_commands_print(tmp_path):
    (tmp_path / "topic.txt").write_text(readme.TOPIC)
    shown = readme.shown()
    assert len(shown) == readme.PAGE.count("\n    $ ") > 0
    for command, lines in shown:
        expected = re.sub(r"\\\([\d\\.]+\\ s\\\)", r"\\([\\d.]+ s\\)", pattern_of(lines))
        assert re.fullmatch(expected, output_of(command, tmp_path, progress=False)), command


def write_down(block: str, folder: Path) -> None:
    """Do what the first line of a block says: write a file, or replace one of its definitions."""
    head, _, text = block.partition("\n")
    match = re.fullmatch(r"# (\w+\.py)(?:, instead of (\w+))?", head)
    assert match is not None, head
    file = folder / match[1]
    if match[2] is None:
        file.write_text(text)
        return
    parts = file.read_text().split("\n\n")
    old = re.compile(rf"^(def {match[2]}\(|{match[2]} = )", re.MULTILINE)
    (place,) = (k for k, part in enumerate(parts) if old.search(part))
    parts[place] = text.rstrip("\n")
    file.write_text("\n\n".join(parts) + "\n")


def output_of(command: str, folder: Path, progress: bool = True) -> str:
    name, *arguments = shlex.split(command)
    start = {"explore": "explore_main", "highwater": "main"}.get(name)
    code = f"import sys; from highwater.__main__ import {start} as go; sys.argv[0] = {name!r}; go()"
    call = [sys.executable, *(["-c", code] if start else []), *arguments]
    if name == "python":
        arguments += ["-p", "no:cacheprovider", "-W", "ignore", "-p", "no:xdist"]
        call = [sys.executable, *arguments]
    done = subprocess.run(
        call, cwd=folder, capture_output=True, text=True, check=False, encoding="utf-8"
    )
    return done.stdout + (done.stderr if progress else "")


def pattern_of(expected: str) -> str:
    """`...` alone stands for lines, at the end of a line for the rest of it."""
    lines = []
    for line in expected.splitlines():
        if line == "...":
            lines.append(r"(?:.*\n)*?")
        else:
            rest = ".*" if line.endswith(" ...") else ""
            lines.append(re.escape(line.removesuffix("...")) + rest + r"\n")
    return "".join(lines)


@pytest.mark.parametrize(
    ("example", "bounds", "states", "depth", "transitions"),
    [
        ("two_phase_commit", {}, 288, 10, 1146 - 1),
        ("two_phase_commit", {"participants": 5}, 8_832, 16, None),
        ("paxos", {}, 3_921, 16, None),
    ],
)
def test_the_examples_have_the_counts_of_public_specifications(
    example, bounds, states, depth, transitions
):
    """tlaplus/Examples: TwoPhase and MCPaxosTiny; Stateright: 2pc with 5. TLC counts from 1."""
    answer = highwater.explore(str(DOCS / "examples" / f"{example}.py"), **bounds)
    assert answer, answer.summary
    assert (answer.result.distinct_states, answer.result.depth) == (states, depth)
    assert transitions in (None, answer.result.transitions)
    assert not answer.result.unreached


@pytest.mark.parametrize("example", ["two_phase_commit", "register"])
def test_the_examples_are_proved_for_all_sizes(example):
    file = str(DOCS / "examples" / f"{example}.py")
    assert highwater.prove(file, unbounded=True).verdict == "proved"
    assert highwater.explore(file)


@pytest.mark.parametrize(
    ("example", "setting", "steps"),
    [("register", "waits_for_backups", 5), ("paxos", "heeds_votes", 12)],
)
def test_the_examples_fail_without_what_they_are_about(example, setting, steps):
    answer = highwater.explore(str(DOCS / "examples" / f"{example}.py"), {setting: False})
    assert not answer
    assert [trace.depth for trace in answer.traces] == [steps]


def test_every_finding_says_in_400_words_what_a_reader_decides_by():
    heads = [
        "Affected",
        "How likely",
        "Shown by",
        "Noticed by",
        "What to do today",
        "Fixed in",
        "Fix",
    ]
    for page in (DOCS / "findings").glob("[0-9]*.md"):
        head, _, evidence = page.read_text(encoding="utf-8").partition("\n## ")
        block = head.split("\n\n")[2]
        assert re.findall(r"^- \*\*([A-Za-z ]+)\*\*:\s", block, re.MULTILINE) == heads, page.name
        assert len(head.split()) <= 400, page.name
        assert "## What to do today" not in evidence, page.name


def test_pages_name_methods_of_kafka_and_no_lines():
    lines = re.compile(r"\w+\.(?:java|scala)[`:, (]{1,3}\d{2,}|\b[PFRA] \d{3,4}\b|\blines? \d{3,}")
    for page in DOCS.rglob("*.md"):
        assert lines.findall(page.read_text(encoding="utf-8")) == [], page.name


def test_the_page_of_commands_names_each_command_and_each_exit_status():
    page = (DOCS / "commands.md").read_text()
    assert [name for name in cli.COMMANDS if not re.search(rf"`(highwater )?{name}\b", page)] == []
    statuses = page.split("\n## Exit statuses\n")[1]
    rows = {int(n): row for n, row in re.findall(r"^\| (\d+) \| (.*) \|$", statuses, re.MULTILINE)}
    assert list(rows) == sorted(Exit)
    for name in cli.COMMANDS:
        command = cli.highwater.get_command(click.Context(cli.highwater), name)
        assert command is not None
        told = (command.help or "").partition("Exit status")[2]
        for status in map(int, re.findall(r"\b\d+\b", told)):
            of_all = status in (Exit.OK, Exit.USAGE)
            assert of_all or re.search(rf"`{name}\b", rows[status]), (name, status)


def test_every_decision_has_a_number_of_its_own_and_a_page_that_leads_to_it():
    decisions = sorted(path.name for path in (DOCS / "decisions").glob("*.md"))
    numbers = [name.partition("-")[0] for name in decisions]
    assert len(set(numbers)) == len(numbers) > 30
    pages = "".join(page.read_text() for page in DOCS.glob("*.md") if page.name != "changelog.md")
    assert [name for name in decisions if f"decisions/{name}" not in pages] == []


def shown_by(notebook: dict[str, Any]) -> list[Any]:
    """What the last line of each code cell comes to, run in order as a notebook does."""
    space: dict[str, Any] = {}
    shown = []
    for number, cell in enumerate(c for c in notebook["cells"] if c["cell_type"] == "code"):
        parsed = ast.parse("".join(cell["source"]), f"cell {number}")
        last = parsed.body.pop()
        exec(compile(parsed, f"cell {number}", "exec"), space)
        assert isinstance(last, ast.Expr), "every cell shows something"
        shown.append(eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), space))
    return shown


@pytest.mark.slow
def test_the_notebook_runs_and_shows_what_it_says():
    notebook = json.loads((DOCS / "examples" / "highwater.ipynb").read_text())
    assert notebook["nbformat"] == 4
    assert all(not cell.get("outputs") for cell in notebook["cells"])  # made when it is opened
    lost, without, steps, levels, proved = shown_by(notebook)
    assert "8 steps" in "".join("".join(cell["source"]) for cell in notebook["cells"])
    assert "strong_isr after 8 steps" in lost._repr_html_()
    assert lost._repr_html_().count("<details>") == 1
    assert "weak_isr after 12 steps" in without._repr_html_()
    assert len(steps) == 12 and steps[0] == "controller_elect_leader"
    assert sum(levels) > 100 and levels[0] == 1
    assert "proved" in proved._repr_html_() and "<details>" not in proved._repr_html_()


def test_the_workflow_in_the_documentation_uses_options_that_exist():
    page = (DOCS / "ci.md").read_text()
    [workflow] = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    steps = yaml.safe_load(workflow)["jobs"]["protocol"]["steps"]
    [inputs] = [step["with"] for step in steps if step["uses"].startswith("OWNER/highwater@")]
    assert inputs.keys() <= action()["inputs"].keys()
    calls = [*re.findall(r"^explore .*", page, re.MULTILINE), *inputs["protocols"].splitlines()]
    assert len(calls) == 3
    explore = cli.highwater.get_command(click.Context(cli.highwater), "explore")
    assert explore is not None
    known = {option for param in explore.params for option in param.opts}
    for call in calls:
        assert {word for word in call.split() if word.startswith("--")} <= known


def test_pages_tell_the_schedule_that_takes_least_and_the_readme_is_sorted_by_it():
    reaches = {}
    for finding, group in groupby(every_schedule(), lambda schedule: schedule.finding):
        schedule = easiest(group)
        command = f"highwater reproduce {finding} --schedule {schedule.name}"
        how = f"{schedule.shown_by} (`{command}`; `--control`: {schedule.control})."
        [page] = (DOCS / "findings").glob(f"{finding}-*.md")
        words = " ".join(page.read_text(encoding="utf-8").split())
        assert f"- **Shown by**: {how} - **Noticed by**" in words, how
        reaches[finding] = schedule.reach
    short = {Reach.OPERATION: "ordinary operation", Reach.FAULT: "faults", Reach.HELD: "held back"}
    table = re.findall(r"^(\| \[\d{4}\].*)$", (DOCS.parent / "README.md").read_text(), re.MULTILINE)
    rows = [(re.findall(r"\[(\d{4})\]", row), row.split(" | ")[3]) for row in table]
    told = [(reaches[finding], said) for findings, said in rows for finding in findings]
    assert [said for _, said in told] == [short[reach] for reach, _ in told]
    assert [reach for reach, _ in told] == sorted(reaches.values())


def test_the_page_of_proofs_has_a_row_for_each_question_and_is_asked_only_what_it_does_not_say():
    page = (DOCS / "proofs.md").read_text(encoding="utf-8")
    told = proofs.told(page)
    assert part_of(page, proofs.BEGIN, proofs.END) == f"\n\n{proofs.tables(told)}\n"
    assert all(re.fullmatch(r"[\d.]+ s|open|–", cell.said) for cell in told.values())
    *_, last = proofs.questions()
    known = {asked: cell for asked, cell in told.items() if cell.said != proofs.NOT_ASKED}
    missing = [" ".join(question.arguments) for question in proofs.to_ask(told)]
    assert sorted([*known, *missing]) == sorted(told)
    emptied = proofs.tables(told | {" ".join(last.arguments): proofs.Cell()})
    again = proofs.told(f"{proofs.BEGIN}\n\n{emptied}\n{proofs.END}")
    assert [*filter(lambda q: q not in proofs.to_ask(told), proofs.to_ask(again))] == [last]
