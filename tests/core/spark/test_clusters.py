"""Clusters of several processes on this machine, whole, and with processes killed on the way."""

import json
import os
import socket
import subprocess
import sys
import sysconfig
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
import pyspark
import pytest

from checker.core.stores.store import MARKER
from tests.support.processes import highwater_command
from tests.support.tiers import nightly

pytestmark = pytest.mark.spark

CLUSTER = ("--engine", "spark", "--master", "local-cluster[2,1,2048]", "--partitions", "3")
STARTS, ENDS = 120, 480
"""Seconds that a part of a cluster may take to answer, and that a search on it may take."""
SAME = ("verdict", "depth", "levels", "transitions", "actions", "properties", "violations")


def _command(*arguments):
    return highwater_command("explore", *arguments, "--json", "--quiet")


def _explore(*arguments, **environment):
    done = subprocess.run(
        _command(*arguments), capture_output=True, text=True, check=False,
        env=os.environ | environment,
    )  # fmt: skip
    assert done.stderr == ""
    return json.loads(done.stdout)


def _check_same(found, expected):
    for key in SAME:
        assert found[key] == expected[key], key


def _started_until(store, depth, *arguments, **environment):
    """A search that has just stored the level of that depth."""
    process = subprocess.Popen(
        _command(*arguments, "--store", str(store)),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | environment,
    )  # fmt: skip
    while not (store / f"levels/level={depth}/{MARKER}").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    return process


def _command_line(process):
    """What a process was started with; nothing for one that has ended meanwhile."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


@pytest.fixture
def bare_python(tmp_path):
    """A Python with the libraries, but without this project, which `.pth` files would give it."""
    script = tmp_path / "python"
    libraries = sysconfig.get_paths()["purelib"]
    script.write_text(
        f'#!/bin/sh\nPYTHONPATH="$PYTHONPATH:{libraries}" exec {sys.executable} -S "$@"\n'
    )
    script.chmod(0o755)
    for module, is_there in (("numpy", True), ("checker", False)):
        found = subprocess.run(
            [script, "-c", f"import {module}"], cwd=tmp_path, capture_output=True, check=False
        )
        assert (found.returncode == 0) is is_there
    return str(script)


@contextmanager
def _daemon(log, kind, *arguments):
    """A part of a standalone cluster in a process of its own, without this project."""
    home = str(Path(pyspark.__file__).parent)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {"SPARK_HOME": home, "SPARK_DAEMON_MEMORY": "256m"}
    command = [
        f"{home}/bin/spark-class", f"org.apache.spark.deploy.{kind}",
        "--host", "127.0.0.1", "--webui-port", "0", *arguments,
    ]  # fmt: skip
    with open(log, "ab") as stream:
        process = subprocess.Popen(
            command, stdout=stream, stderr=stream, env=environment, cwd=log.parent
        )
    try:
        yield psutil.Process(process.pid)
    finally:
        left = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        process.wait()
        for child in left:
            if child.is_running():
                child.kill()


@pytest.fixture
def standalone(tmp_path):
    """A master and two workers of one core on loopback: the master's address, and the workers."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    address, log = f"spark://127.0.0.1:{port}", tmp_path / "master.log"
    with ExitStack() as stack:
        stack.enter_context(_daemon(log, "master.Master", "--port", port))
        _wait_for(log, "I have been elected leader", 1)
        workers = [
            stack.enter_context(
                _daemon(
                    tmp_path / f"worker{k}.log", "worker.Worker", "--cores", "1", "--memory", "1g",
                    "--work-dir", str(tmp_path / f"work{k}"), address,
                )
            )
            for k in range(2)
        ]  # fmt: skip
        _wait_for(log, "Registering worker", 2)
        yield address, workers


def _wait_for(log, words, times):
    deadline = time.monotonic() + STARTS
    while log.read_text(errors="replace").count(words) < times:
        assert time.monotonic() < deadline, log.read_text(errors="replace")
        time.sleep(0.05)


@pytest.mark.slow
def test_a_master_and_two_workers_find_the_same(tmp_path, bare_python, standalone):
    """Though an executor is killed, and with it what it had of a level."""
    address, workers = standalone
    there = ("--engine", "spark", "--master", address, "--partitions", "4")
    around = {"PYSPARK_PYTHON": bare_python, "SPARK_LOCAL_IP": "127.0.0.1"}
    asked = ("kip320", "--depth", "18")
    process = _started_until(tmp_path / "store", 13, *asked, *there, **around)
    executors = [
        child
        for worker in workers
        for child in worker.children(recursive=True)
        if "CoarseGrainedExecutorBackend" in _command_line(child)
    ]
    assert len(executors) == 2
    executors[0].kill()
    told, complaint = process.communicate(timeout=ENDS)
    assert complaint == ""
    _check_same(json.loads(told), _explore(*asked))
    log = (tmp_path / "store" / "spark.log").read_text(errors="replace")
    assert "Lost executor" in log


@pytest.mark.slow
def test_two_executors_that_lack_the_project_find_the_same(tmp_path, bare_python):
    """They get the project from the driver, and unpack it in a directory of their own."""
    expected = _explore("kip279")
    store = tmp_path / "store"
    found = _explore("kip279", *CLUSTER, "--store", str(store), PYSPARK_PYTHON=bare_python)
    _check_same(found, expected)
    assert found["violations"]
    assert "executor" in (store / "spark.log").read_text(errors="replace").lower()


@pytest.mark.nightly("two searches on a cluster; a driver that is killed is tried on every change")
def test_an_executor_that_is_killed_changes_nothing(tmp_path):
    process = _started_until(tmp_path / "store", 14, "kip320", *CLUSTER)
    executors = [
        child
        for child in psutil.Process(process.pid).children(recursive=True)
        if "CoarseGrainedExecutorBackend" in _command_line(child)
    ]
    assert len(executors) == 2
    executors[0].kill()
    found, complaint = process.communicate()
    assert complaint == ""
    _check_same(json.loads(found), _explore("kip320"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("killed", "depth"), [(8, 12), nightly("Spark starts twice for each", (17, 26))]
)
def test_a_driver_that_is_killed_is_resumed(tmp_path, killed, depth):
    store, local = tmp_path / "store", ("--engine", "spark", "--master", "local[2]")
    asked = ("kip320", "--depth", str(depth))
    process = _started_until(store, killed, *asked, *local)
    process.kill()
    process.communicate()
    assert not (store / "levels" / f"level={depth}").exists(), "it was killed too late"
    found = _explore(*asked, *local, "--store", str(store), "--resume")
    _check_same(found, _explore(*asked))


@pytest.mark.nightly("Spark starts twice; a driver that is killed is tried on every change")
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
