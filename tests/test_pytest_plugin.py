"""The pytest plugin: marks and files become tests that fail with their traces."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from _pytest.pytester import SysModulesSnapshot

pytest_plugins = ["pytester"]

REGISTER = Path(__file__).parents[1] / "docs" / "examples" / "register.py"
PASSES = "@pytest.mark.highwater('kip320', replicas=2)\ndef test_it(): pass\n"
FAILS = (
    "@pytest.mark.highwater('truncate_to_high_watermark', properties=['strong_isr'])\n"
    "def test_it(): raise RuntimeError('the body runs')\n"
)


@pytest.fixture
def run(pytester, monkeypatch):
    """Run pytest on a test file of this text, with the plugin that its entry point names.

    What a run imports is kept, but for the test: NumPy cannot be imported twice.
    """

    def kept():
        return SysModulesSnapshot(preserve=lambda name: not name.startswith("test_"))

    monkeypatch.setattr(pytester, "_Pytester__take_sys_modules_snapshot", kept)
    monkeypatch.setattr(pytester, "_sys_modules_snapshot", kept())

    def run(text="", *options, **files):
        if text:
            files["test_it"] = f"import pytest\n{text}"
        if files:
            pytester.makepyfile(**files)
        return pytester.runpytest_inprocess("-p", "no:xdist", "-p", "no:cacheprovider", *options)

    return run


def test_a_mark_searches_and_the_body_runs_after_it(run):
    run(PASSES).assert_outcomes(passed=1)
    run(PASSES.replace("pass", "assert 1 == 2")).assert_outcomes(failed=1)


def test_a_violation_is_shown_as_its_trace_and_nothing_else(run):
    ended = run(FAILS)
    ended.assert_outcomes(failed=1)
    text = ended.stdout.str()
    assert "strong_isr is violated after 8 steps" in text
    assert "r0 advances its high watermark" in text
    assert "the body runs" not in text
    assert "Traceback" not in text and "pytest_plugin.py" not in text and "asking.py" not in text


def test_a_test_that_asks_for_the_answer_judges_it_itself(run):
    run(
        "@pytest.mark.highwater('kip320', {'fence_fetch': False}, properties=['weak_isr'],\n"
        "                       depth=3)\n"
        "def test_it(highwater_answer): assert highwater_answer.verdict == 'bounded'\n"
        "@pytest.mark.highwater('kip101')\n"
        "def test_broken(highwater_answer): assert not highwater_answer\n"
    ).assert_outcomes(passed=2)
    ended = run("def test_it(highwater_answer): pass")
    ended.assert_outcomes(errors=1)
    ended.stdout.fnmatch_lines("*needs a mark*")


@pytest.mark.parametrize(
    ("mark", "words"),
    [
        ("()", "needs a protocol"),
        ("('kip321')", "did you mean 'kip320'?"),
        ("('kip320', {'fence': 1})", "no setting"),
        ("('kip320', replicas=99)", "1 to 16"),
        ("('kip320', {}, 3)", "takes from 1 to 2 positional arguments"),
        ("('nowhere.py')", "no such file"),
    ],
)
def test_a_mistake_in_a_mark_is_one_line(run, mark, words):
    ended = run(f"@pytest.mark.highwater{mark}\ndef test_it(): pass")
    ended.assert_outcomes(failed=1)
    told = ended.stdout.str().partition("short test summary")[0]
    assert told.count(words) == 1 and "another exception" not in told
    assert "Traceback" not in told and "asking.py" not in told


def test_the_command_line_limits_every_search(run):
    run(FAILS.replace("raise RuntimeError('the body runs')", "pass"), "--highwater-depth=7")
    ended = run(FAILS.replace("raise RuntimeError('the body runs')", "pass"), "--highwater-depth=7")
    ended.assert_outcomes(passed=1)
    ended = run(PASSES, "--highwater-seconds=0")
    ended.assert_outcomes(failed=1)
    ended.stdout.fnmatch_lines("*stopped by the limit of 0 seconds*")
    for wrong in ("--highwater-depth=-1", "--highwater-seconds=nan"):
        assert run(PASSES, wrong).ret == pytest.ExitCode.USAGE_ERROR


def test_each_property_of_a_file_is_a_test(run):
    files = {"register": REGISTER.read_text()}
    ended = run("", "-o", "highwater_files=register.py", "-v", **files)
    names = [line.split()[0] for line in ended.outlines if "PASSED" in line]
    assert len(names) >= 1 and all(name.startswith("register.py::REGISTER::") for name in names)
    wrong = REGISTER.read_text().replace(
        "waits_for_backups: bool = setting(True", "waits_for_backups: bool = setting(False"
    )
    assert wrong != REGISTER.read_text()
    ended = run("", "-o", "highwater_files=broken.py", broken=wrong)
    assert ended.parseoutcomes()["failed"] == 1
    assert "is violated after 5 steps" in ended.stdout.str()
    assert "pytest_plugin.py" not in ended.stdout.str()


def test_a_file_that_declares_no_protocol_is_an_error_of_one_line(run):
    ended = run("", "-o", "highwater_files=empty.py", empty="x = 1")
    ended.assert_outcomes(errors=1)
    ended.stdout.fnmatch_lines("*empty.py declares no protocol*")
    assert "Traceback" not in ended.stdout.str()


def test_a_file_is_found_beside_the_test_that_names_it(run, pytester):
    folder = pytester.mkdir("below")
    (folder / "mine.py").write_text(REGISTER.read_text())
    (folder / "test_mine.py").write_text(
        "import pytest\n@pytest.mark.highwater('mine.py:REGISTER')\ndef test_it(): pass\n"
    )
    run("", str(folder / "test_mine.py")).assert_outcomes(passed=1)


@pytest.mark.slow
def test_a_state_machine_fails_with_its_trace_alone(run):
    ended = run(
        "from highwater.testing import state_machine\n"
        "TestIt = state_machine('truncate_to_high_watermark', trace_dir=None)\n",
        "-p", "no:randomly",
    )  # fmt: skip
    ended.assert_outcomes(failed=1)
    text = ended.stdout.str()
    assert "is violated after 8 steps" in text and "stateful.py" not in text


def test_the_plugin_costs_nothing_where_it_is_not_used(tmp_path):
    """In a process of its own: nothing of Highwater is imported but the plugin."""
    (tmp_path / "test_it.py").write_text(
        "import sys\n"
        "def test_it():\n"
        "    assert 'highwater.pytest_plugin' in sys.modules\n"
        "    heavy = ('numpy', 'numba', 'hypothesis.stateful', 'click', 'model', 'checker')\n"
        "    assert [name for name in heavy if name in sys.modules] == []\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
