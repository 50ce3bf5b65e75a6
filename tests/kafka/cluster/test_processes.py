"""Processes and directories of a run are gone after it, however it ended. No JVM: a script."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from checker.kafka.cluster import processes as module
from checker.kafka.cluster.news import News
from checker.kafka.cluster.processes import Processes
from checker.kafka.cluster.watchdog import left

ROOT = Path(__file__).parents[3]
SECONDS = 20.0
# It says something, and then waits for a line that does not come, whatever signal comes.
FAKE = f"""#!{sys.executable}
import signal, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("begun", *sys.argv[-1:], flush=True)
sys.stdin.readline()
while True: signal.pause()
"""
PARENT = """
import sys, time
from pathlib import Path
from checker.kafka.cluster import processes
from checker.kafka.cluster.news import News
processes.java = lambda: sys.argv[1]
directory = Path(sys.argv[2])
with processes.Processes(directory, False, News()) as started:
    heard = []
    one = started.start("", ["one"], directory / "log", heard.append, 10)
    assert started._news.wait(lambda: heard, 20)
    print(one.pid, started._watchdog.pid, flush=True)
    time.sleep(60)
"""


@pytest.fixture
def fake(tmp_path):
    script = tmp_path / "java"
    script.write_text(FAKE)
    script.chmod(0o755)
    return script


def until(test):
    end = time.monotonic() + SECONDS
    while not test():
        assert time.monotonic() < end
        time.sleep(0.01)


def is_gone(pid):
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("paused", [False, True])
def test_leaving_ends_every_process_and_removes_the_directory(
    fake, tmp_path, monkeypatch, keep, paused
):
    monkeypatch.setattr(module, "java", lambda: str(fake))
    news = News()
    heard: list[str] = []
    directory = tmp_path / "run"
    directory.mkdir()
    with pytest.raises(ZeroDivisionError), Processes(directory, keep, news) as started:
        one, two = (started.start("", [name], directory / name, heard.append, 10) for name in "ab")
        assert news.wait(lambda: sorted(heard) == ["begun a", "begun b"], SECONDS)
        assert not one.has_ended
        if paused:
            two.send(signal.SIGSTOP)
        raise ZeroDivisionError
    assert one.has_ended
    assert two.has_ended
    assert directory.exists() is keep
    assert started._watchdog.poll() is not None
    if keep:
        assert (directory / "a").read_text() == "begun a\n"


def test_a_process_that_has_gone_is_not_ended_twice(fake, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "java", lambda: str(fake))
    news = News()
    heard: list[str] = []
    told = []
    monkeypatch.setattr(Processes, "_tell", lambda started, line: told.append(line))
    with Processes(tmp_path, True, news) as started:
        one = started.start("", [], tmp_path / "log", heard.append, 10)
        assert news.wait(lambda: heard, SECONDS)
        started.gone(one)
        assert one.has_ended
        started.gone(one)
    assert told == [f"process {one.pid}", f"ended {one.pid}"]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_when_the_parent_is_killed_its_processes_and_its_directory_go_too(fake, tmp_path, number):
    directory = tmp_path / "run"
    directory.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, str(fake), str(directory)],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment,
    ) as parent:  # fmt: skip
        assert parent.stdout is not None
        child, dog = map(int, parent.stdout.readline().split())
        assert not is_gone(child)
        parent.send_signal(number)
        parent.wait(SECONDS)
    until(lambda: is_gone(child) and is_gone(dog))
    assert not directory.exists()


def test_the_watchdog_is_told_what_has_ended():
    lines = ["process 1", "process 2", "directory /a b", "ended 1", "ended 7"]
    assert left(lines) == ({2}, {"/a b"})
