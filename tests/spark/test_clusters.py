"""Clusters of several processes on this machine, whole, and with processes killed on the way."""

import json
import subprocess
import sys
import time

import psutil
import pytest

from checker.store import MARKER

pytestmark = pytest.mark.spark

CLUSTER = ("--engine", "spark", "--master", "local-cluster[2,1,2048]", "--partitions", "3")
SAME = ("verdict", "depth", "levels", "transitions", "actions", "properties", "violations")


def _command(*arguments):
    program = "import sys; from checker.cli import main; main()"
    return [sys.executable, "-c", program, "explore", *arguments, "--json", "--quiet"]


def _explore(*arguments):
    done = subprocess.run(_command(*arguments), capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return json.loads(done.stdout)


def _check_same(found, expected):
    for key in SAME:
        assert found[key] == expected[key], key


def _started_until(store, depth, *arguments):
    """A search that has just stored the level of that depth."""
    process = subprocess.Popen(
        _command(*arguments, "--store", str(store)),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while not (store / f"levels/level={depth}/{MARKER}").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    return process


def test_two_executors_that_lack_the_project_find_the_same(tmp_path):
    """They get the project from the driver, and unpack it in a directory of their own."""
    expected = _explore("kip279")
    found = _explore("kip279", *CLUSTER, "--store", str(tmp_path / "store"))
    _check_same(found, expected)
    assert found["violations"]
    log = (tmp_path / "store" / "spark.log").read_text(errors="replace")
    assert "executor" in log.lower(), "the log of Spark is not where it is promised to be"


@pytest.mark.slow
def test_an_executor_that_is_killed_changes_nothing(tmp_path):
    process = _started_until(tmp_path / "store", 14, "kip320", *CLUSTER)
    executors = [
        child
        for child in psutil.Process(process.pid).children(recursive=True)
        if "CoarseGrainedExecutorBackend" in " ".join(child.cmdline())
    ]
    assert len(executors) == 2
    executors[0].kill()
    found, complaint = process.communicate()
    assert complaint == ""
    _check_same(json.loads(found), _explore("kip320"))


@pytest.mark.slow
@pytest.mark.parametrize("depth", [12, 17])
def test_a_driver_that_is_killed_is_resumed(tmp_path, depth):
    store, local = tmp_path / "store", ("--engine", "spark", "--master", "local[2]")
    process = _started_until(store, depth, "kip320", *local)
    process.kill()
    process.communicate()
    assert not (store / "levels" / "level=26").exists(), "it was killed too late"
    found = _explore("kip320", *local, "--store", str(store), "--resume")
    _check_same(found, _explore("kip320"))


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_stored(tmp_path):
    store, local = tmp_path / "store", ("--engine", "spark", "--master", "local[2]")
    process = _started_until(store, 14, "kip320", *local)
    process.send_signal(2)
    found, complaint = process.communicate(timeout=120)
    assert complaint == ""
    told = json.loads(found)
    assert (told["verdict"], told["stopped"]) == ("unknown", "interrupted")
    assert 14 <= told["depth"] < 25
    _check_same(_explore("kip320", *local, "--store", str(store), "--resume"), _explore("kip320"))
