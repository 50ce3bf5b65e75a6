"""One thread of a JVM stalls at a method, and all others go on, through that method too."""

import time
from types import SimpleNamespace
from typing import Any, cast

import pytest

from checker.kafka.cluster.errors import UndecidedError
from checker.kafka.cluster.news import News
from checker.kafka.cluster.observed import Node
from checker.kafka.cluster.processes import Processes
from checker.kafka.cluster.programs import OURS
from checker.kafka.cluster.stalls import AGENT, Stalls
from checker.kafka.releases.jdk import javac, run_tool

pytestmark = [pytest.mark.kafka, pytest.mark.xdist_group("clusters")]

WORKER = """
public final class Worker extends Thread {
    Worker(String name) { super(name); }
    public static void main(String[] arguments) {
        new Worker("first").start();
        new Worker("second").start();
        new Worker("rare").start();
    }
    @Override public void run() {
        while (true)
            if (getName().equals("rare")) seldom();
            else step();
    }
    private void step() {
        System.out.println(getName());
        rest(20);
    }
    private void seldom() {
        for (int i = 0; i < 10; i++) java.util.concurrent.locks.LockSupport.parkNanos(50_000_000);
        rest(0);
    }
    private static void rest(int millis) {
        java.util.concurrent.locks.LockSupport.parkNanos(millis * 1_000_000L);
    }
}
"""
LIMIT = 60.0


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    """The worker, and the program that stalls a thread of it."""
    folder = tmp_path_factory.mktemp("classes")
    (folder / "Worker.java").write_text(WORKER)
    (stalls,) = (path for path in OURS if path.stem == "Stalls")
    run_tool([javac(), "-d", str(folder), str(folder / "Worker.java"), str(stalls)], "javac")
    return str(folder)


@pytest.fixture
def jvm(tmp_path, classes):
    """A running worker: a function that stalls a thread of it, its lines, and what waits."""
    news, node = News(), Node()
    with Processes(tmp_path, True, news) as processes:
        processes.start(classes, [AGENT, "Worker"], tmp_path / "worker.log", node.hear, 32)
        assert news.wait(lambda: node.debugger and len(node.lines) > 5, LIMIT)
        programs = cast(Any, SimpleNamespace(clients=classes))
        stalls = Stalls(programs, processes, news, node.debugger or 0)
        yield SimpleNamespace(
            stalls=stalls,
            stall=stalls.add,
            lines=node.lines,
            wait=lambda test: news.wait(test, LIMIT),
        )


def test_the_first_thread_that_comes_stalls_until_it_is_let_go_and_the_other_goes_on(jvm):
    jvm.stall("OfAnotherRelease|Worker.step")
    assert jvm.wait(jvm.stalls.thread)
    stalled = jvm.stalls.thread()
    others = {"first": "second", "second": "first"}
    at = len(jvm.lines) + 2  # what was under way when it came
    assert jvm.wait(lambda: jvm.lines[at:].count(others[stalled]) > 20)
    assert stalled not in jvm.lines[at:]

    jvm.stalls.let_go("OfAnotherRelease|Worker.step")
    at = len(jvm.lines)
    assert jvm.wait(lambda: {"first", "second"} <= set(jvm.lines[at:]))


def test_a_thread_that_comes_by_another_method_goes_on(jvm):
    jvm.stall("Worker.rest", "Worker.seldom")
    assert jvm.wait(jvm.stalls.thread)
    assert jvm.stalls.thread() == "rare"
    at = len(jvm.lines)
    assert jvm.wait(lambda: {"first", "second"} <= set(jvm.lines[at:]))


def test_two_threads_stall_at_their_own_methods_and_each_is_let_go_by_itself(jvm):
    jvm.stall("Worker.seldom")
    jvm.stall("Worker.rest", "Worker.step")
    assert jvm.wait(lambda: jvm.stalls.thread("Worker.seldom") and jvm.stalls.thread("Worker.rest"))
    assert jvm.stalls.thread("Worker.seldom") == "rare"
    stalled = jvm.stalls.thread("Worker.rest")
    jvm.stalls.let_go("Worker.rest")
    at = len(jvm.lines)
    assert jvm.wait(lambda: jvm.lines[at:].count(stalled) > 5)
    assert jvm.stalls.thread() == "rare"


def test_a_thread_goes_on_until_the_call_at_which_it_is_to_stall(jvm):
    at = len(jvm.lines)
    jvm.stall("Worker.step", "", 30)
    assert jvm.wait(jvm.stalls.thread)
    stalled = jvm.stalls.thread()
    before = len(jvm.lines) - at
    assert before > 25  # both threads come there, and each says so once a call
    jvm.stalls.let_go("Worker.step")
    at = len(jvm.lines)
    assert jvm.wait(lambda: stalled in jvm.lines[at:])


def test_a_thread_that_was_not_let_go_does_so_when_nobody_holds_it(jvm):
    jvm.stall("Worker.step")
    assert jvm.wait(jvm.stalls.thread)
    jvm.stalls._process.kill()
    at = len(jvm.lines)
    assert jvm.wait(lambda: {"first", "second"} <= set(jvm.lines[at:]))


def test_a_method_that_there_is_not_is_said_at_once(jvm):
    begun = time.monotonic()
    with pytest.raises(UndecidedError, match=r"no thread can be stalled at Worker\.nowhere"):
        jvm.stall("Worker.nowhere")
    assert time.monotonic() - begun < LIMIT / 2
