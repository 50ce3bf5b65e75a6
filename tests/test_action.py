"""The action for GitHub: its steps run as a runner runs them, on jobs of every kind of end."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from checker.core.exits import Exit
from tests.support.actions import ROOT, Job, action, installed, told_in
from tests.support.own import write_counter
from tests.support.scripts import script

TINY = "--replicas 2 --log-size 1 --max-records 1 --max-leader-epoch 1"


@pytest.fixture
def job(tmp_path):
    """Runs the action on an empty checkout, or one with a protocol of one's own, to its end."""

    def run(own: bool = False, changes: tuple[tuple[str, str], ...] = (), **inputs: str):
        job = Job(tmp_path, {"protocols": "counter.py", **inputs})
        job.workspace.mkdir()
        if own:
            write_counter(job.workspace, *changes)
        return job.run(**installed(job))

    return run


@pytest.mark.slow
def test_a_property_of_ones_own_is_annotated_at_its_line(job):
    done = job(own=True)
    assert done.status == Exit.VIOLATED
    assert done.results == {"verdict": "violated", "property": "below_two"}
    [told] = told_in(done.log)
    assert (told.level, told.values["title"]) == (
        "error", "counter: below_two is violated after 2 steps",
    )  # fmt: skip
    file, line = told.place
    assert file == "counter.py"
    lines = (done.workspace / file).read_text().splitlines()
    assert lines[line - 1].startswith('@always("below_two"')
    assert told.message == "c0 counts 2\n1. c0 counts on\n2. c0 counts on"
    assert "**violated**: below_two after 2 steps" in done.summary
    assert "## 2. c0 counts on" in done.summary


def test_a_wrong_name_is_told_in_one_line_and_ends_as_the_command_does(job):
    done = job(protocols="kip999")
    assert done.status == Exit.USAGE
    assert done.results == {"verdict": "error", "property": ""}
    [told] = told_in(done.log)
    assert told.level == "error" and told.message.startswith("no protocol is called 'kip999'")
    assert f"error: {told.message}\n" == done.errors
    assert "# kip999: no answer, exit status 2\n" in done.summary and told.message in done.summary


def test_a_job_that_names_nothing_says_so(job):
    done = job(protocols="\n")
    assert (done.status, [told.level for told in told_in(done.log)]) == (Exit.USAGE, ["error"])


@pytest.mark.slow
def test_a_protocol_that_holds(job):
    done = job(protocols="kip320", arguments=TINY)
    assert (done.status, done.errors) == (Exit.OK, "")
    assert done.results == {"verdict": "exhausted", "property": ""}
    [told] = told_in(done.log)
    assert (told.level, told.place) == ("notice", None)
    assert "| `strong_isr` | exhausted |" in done.summary
    assert done.used == ["actions/setup-python@v5", "actions/cache@v4"]


@pytest.mark.slow
def test_all_protocols_are_explored_and_the_first_that_fails_is_the_jobs(job):
    changes = (("c.count < 2 for", "c.count < 9 for"),)
    names = f"counter.py\nkip320 {TINY}\n\nkip101 --property weak_isr\nnope\n"
    done = job(own=True, changes=changes, protocols=names)
    assert done.status == Exit.VIOLATED
    assert done.results == {"verdict": "violated", "property": "weak_isr"}
    told = told_in(done.log)
    assert [each.level for each in told] == ["notice", "notice", "error", "error"]
    assert told[2].place is None  # Highwater's own files are not the job's
    assert [name in done.summary for name in ("# counter:", "# kip320:", "# kip101:", "# nope:")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seconds", "arguments"), [("0.001", ""), ("300", "--max-states 5")], ids=["time", "states"]
)
def test_what_a_limit_cuts_off_is_told_as_such(job, seconds, arguments):
    done = job(protocols="kip320", seconds=seconds, arguments=arguments)
    assert done.status == Exit.LIMIT
    assert done.results == {"verdict": "unknown", "property": ""}
    [told] = told_in(done.log)
    assert told.level == "error" and "stopped by the limit of" in told.message
    assert "stopped by the limit of" in done.summary


@pytest.mark.slow
def test_a_deadlock_is_named(job):
    done = job(own=True, arguments="--deadlock --property somebody_counts")
    assert done.status == Exit.DEADLOCK
    assert done.results["property"] == "deadlock"
    [told] = told_in(done.log)
    lines = (done.workspace / told.place[0]).read_text().splitlines()
    assert lines[told.place[1] - 1].startswith("@action")


# A workflow with the action, as `act` runs it: what it would fetch from GitHub is a stub.
WORKFLOW = """
on: [push]
jobs:
  protocol:
    runs-on: here
    steps:
      - run: mkdir highwater && cp "$OWN"/* . && echo "raise RuntimeError" >highwater/__init__.py
      - id: found
        uses: owner/highwater@main
        with: {protocols: counter.py, python-version: ""}
      - if: always()
        run: echo "it says ${{ steps.found.outputs.verdict }} ${{ steps.found.outputs.property }}"
"""
STUB = """
name: cache
inputs: {path: {}, key: {}, restore-keys: {}}
runs:
  using: composite
  steps: [{shell: bash, run: 'echo "${{ inputs.key }}, ${{ inputs.path }}"'}]
"""


@pytest.mark.slow
def test_a_runner_of_workflows_installs_it_and_explores(tmp_path):
    own, stub = tmp_path / "own", tmp_path / "stub"
    for folder in (own, stub):
        folder.mkdir()
    write_counter(own)
    (tmp_path / "job.yml").write_text(WORKFLOW)
    (stub / "action.yml").write_text(STUB)
    pip = [sys.executable, "-m", "pip", "cache", "dir"]
    kept = subprocess.run(pip, capture_output=True, text=True, check=True).stdout.strip()
    variables = {"OWN": own, "PIP_CACHE_DIR": kept, "PYTHONPATH": ""}
    ended = subprocess.run(
        [Path(sys.executable).with_name("act"), "push", "--workflows", "job.yml",
         "--platform", "here=-self-hosted", "--no-cache-server",
         *(f"--env={name}={value}" for name, value in variables.items()),
         "--local-repository", f"owner/highwater@main={ROOT}",
         "--local-repository", f"actions/cache@v4={stub}",
         "--local-repository", f"actions/setup-python@v5={stub}"],
        cwd=tmp_path, env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "home")},
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert ended.returncode != 0
    lines = [line.partition("]")[2].strip(" |") for line in ended.stdout.splitlines()]
    said = [line.partition("::") for line in lines if "::error " in line]
    [told] = told_in("".join("::" + line for _, _, line in said))
    assert (told.place[0], told.message) == (
        "counter.py",
        "c0 counts 2\n1. c0 counts on\n2. c0 counts on",
    )
    assert "it says violated below_two" in lines, ended.stdout
    assert any(
        "**violated**: below_two after 2 steps" in line for line in ended.stdout.splitlines()
    )
    assert any(line.startswith("highwater-Linux-") for line in lines)


def test_the_cache_is_named_by_what_machine_code_is_made_from(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    digest = script("explore_in_ci").digest
    write_counter(tmp_path)
    named = [digest([["kip320"]]), digest([["counter.py", "--depth", "3"]])]
    assert named == [digest([["kip320", "--depth", "3"]]), digest([["./counter.py:COUNTER"]])]
    (tmp_path / "beside.py").write_text("LIMIT = 2\n")
    assert len({*named, digest([["counter.py"]])}) == 3


def test_every_input_reaches_a_shell_as_a_variable_and_is_told_on_the_page():
    told = action()
    for step in told["runs"]["steps"]:
        assert "${{" not in step.get("run", ""), "an input would be read as shell"
    page = (ROOT / "docs" / "ci.md").read_text()
    for name in (*told["inputs"], *told["outputs"]):
        assert f"`{name}`" in page
