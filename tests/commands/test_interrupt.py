"""Ctrl-C: the first one ends a search with what is known, the second one at once."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Annotated

import psutil
import pytest

from checker.commands.interrupt import Interrupt
from checker.commands.progress import Display
from checker.core.exits import Exit
from checker.core.proofs import solvers
from checker.core.proofs.asking import ask, interrupt
from checker.core.search.explore import Explorer
from checker.core.search.simulate import Simulator
from checker.lab.experiments.grid import Sweep
from model.language import Protocol, State, action, choose, integers, require
from model.language.capture import recorder
from model.language.capture.recorder import Capture
from tests.support.proofs import hard_query
from tests.support.tiers import first_and_slow

PUBLIC = Path(__file__).parents[2] / "checker" / "public"
LARGE = ("--log-size", 3, "--max-records", 3, "--max-leader-epoch", 3)
WITH_PROGRESS = (
    "import checker.commands.progress as p; p.PLAIN_AFTER = p.PLAIN_EVERY = 0.0;"
    "from checker.commands.cli import main; main()"
)


def press_ctrl_c():
    os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_prints_what_is_known(start):
    process = start("explore", "kip320", *LARGE, entry=WITH_PROGRESS)
    for line in process.stderr:
        if line.startswith("depth 7:"):
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == Exit.LIMIT
    assert "stopping" in err
    assert "Traceback" not in err
    verdict = " ".join(out[out.index("unknown: stopped by the user after ") :].split())
    found = re.search(r"after ([\d,]+) states; nothing is violated within (\d+) steps", verdict)
    assert found is not None
    assert int(found[1].replace(",", "")) > 10_000
    assert int(found[2]) >= 6


def test_walks_that_ctrl_c_ends_say_who_ended_them(highwater, monkeypatch):
    honest = Simulator.__init__

    def slow(self, *arguments, **options):
        press_ctrl_c()
        honest(self, *arguments, **options)

    monkeypatch.setattr(Simulator, "__init__", slow)
    ended = highwater("simulate", "kip320", "--quiet")
    assert "(stopped by the user)" in " ".join(ended.out.split())
    assert ended.status == Exit.LIMIT


def test_a_graph_that_ctrl_c_ends_is_not_told(highwater, monkeypatch):
    """It comes when the steps are there, and losses are looked for next."""
    from checker.core.graphs import built

    class Pressed(built.Built):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            press_ctrl_c()

    monkeypatch.setattr(built, "Built", Pressed)
    ended = highwater("graph", "truncate_to_high_watermark", "--replicas", 2, "--quiet")
    assert (ended.status, ended.out) == (Exit.INTERRUPTED, "")


def test_a_hunt_of_which_no_round_ended_says_nothing_of_what_it_did_not_search(
    highwater, monkeypatch
):
    for stopped in ((), ("--max-seconds", "0")):
        if not stopped:
            monkeypatch.setattr(Sweep, "_run_apart", lambda *_: press_ctrl_c())
        ended = highwater("hunt", "kafka", "--seed", 1, "--quiet", *stopped)
        assert ended.status == Exit.LIMIT
        assert "nothing is violated" not in ended.out
        assert "no round was searched" in " ".join(ended.out.split())


@pytest.mark.parametrize("engine", ["local", "reference"])
def test_the_levels_that_were_finished_are_kept(highwater, monkeypatch, engine):
    """The signal comes in the midst of a search, at a place that is always the same."""
    from checker.commands.progress import Display

    bounded = highwater("explore", "kip320", "--depth", 3, "--json").json
    depths: list[int] = []

    def update(_, progress):
        depths.append(progress.depth)
        if depths.count(4) == 1 and progress.depth == 4:
            press_ctrl_c()

    monkeypatch.setattr(Display, "update", update)
    data = highwater("explore", "kip320", "--json", "--engine", engine).json
    assert (data["verdict"], data["stopped"]) == ("unknown", "interrupted")
    assert data["levels"][:4] == bounded["levels"]
    assert data["distinct_states"] == sum(data["levels"]) + data["unfinished"]
    assert max(depths) <= 5
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_before_the_search_starts_is_not_lost(highwater, monkeypatch):
    honest = Explorer.__init__

    def slow(self, *arguments):
        press_ctrl_c()
        honest(self, *arguments)

    monkeypatch.setattr(Explorer, "__init__", slow)
    data = highwater("explore", "kip320", "--json").json
    assert (data["verdict"], data["stopped"]) == ("unknown", "interrupted")
    assert data["levels"] == [1]


def test_a_second_ctrl_c_ends_at_once(highwater, monkeypatch):
    def run(_):
        press_ctrl_c()
        press_ctrl_c()
        pytest.fail("it went on")

    monkeypatch.setattr(Explorer, "run", run)
    ended = highwater("explore", "kip320", "--json")
    assert ended.status == Exit.INTERRUPTED
    assert ended.err.strip() == "error: interrupted"


def test_almost_nothing_is_imported_before_ctrl_c_is_quiet():
    """Until then it shows a traceback of Python's own, and slow imports are where it comes."""
    script = (
        f"import sys, signal; sys.path.insert(0, {str(PUBLIC)!r}); before = set(sys.modules);"
        "import highwater.__main__; print(sorted(sys.modules.keys() - before))"
    )
    told = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == "['highwater', 'highwater.__main__']"


def test_an_interrupt_is_told_to_what_runs():
    told = []
    with Interrupt(lambda: told.append("notice")) as interrupt:
        interrupt.stops(lambda: told.append("stop"))
        assert not interrupt.requested
        press_ctrl_c()
        assert interrupt.requested
        with pytest.raises(KeyboardInterrupt):
            press_ctrl_c()
    assert told == ["stop", "notice"]


PRESSES = """
def choose(self, *arguments):
    if not pressed:
        pressed.append(True)
        press(2)
    return honest(self, *arguments)
"""


class Lamp(State):
    """A number, and what no action changes."""

    steps: Annotated[int, integers(0, 3)] = 0
    never: bool = False


@action("a step")
def lamp_step(s: Lamp) -> None:
    """Count, which nobody has captured before."""
    require(s.steps < 3)
    s.steps = choose(s.never, 0, s.steps + 1)


def test_ctrl_c_while_an_action_is_captured_changes_nothing_of_the_model(monkeypatch):
    """What the handler calls is not the action's: what is captured was taken for incomplete."""
    names = {"honest": Capture.choose, "pressed": [], "press": signal.raise_signal}
    exec(compile(PRESSES, recorder.__file__, "exec"), names)  # as if the language did it
    monkeypatch.setattr(Capture, "choose", names["choose"])
    model = Protocol("lamp", "for tests", Lamp, (lamp_step,), ()).model()
    with Display(quiet=True) as display, Interrupt(display.stopping) as interrupt:
        assert set(model.unchanging) == {"never"}
    assert interrupt.requested


def test_afterwards_ctrl_c_does_what_it_did_before():
    def own(*_):
        raise AssertionError

    before = signal.signal(signal.SIGINT, own)
    try:
        with Interrupt():
            assert signal.getsignal(signal.SIGINT) is not own
            press_ctrl_c()
        assert signal.getsignal(signal.SIGINT) is own
    finally:
        signal.signal(signal.SIGINT, before)


def test_where_ctrl_c_is_ignored_it_stays_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Interrupt() as interrupt:
            press_ctrl_c()
            assert not interrupt.requested
    finally:
        signal.signal(signal.SIGINT, before)


LOSES = """
import ctypes, os, signal, time, weakref
from checker.commands import list_command

def press():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0)

class Freed:
    def __del__(self):
        press()

class Argument:
    @classmethod
    def from_param(cls, _):
        press()

def in_a_finaliser():
    Freed()

def in_a_callback():
    held = Argument()
    kept = weakref.ref(held, lambda _: press())
    del held

def in_an_argument():
    call = ctypes.CDLL(None).getpid
    call.argtypes = [Argument]
    call(1)

def work(**_):
    {place}()
    time.sleep(60)

list_command.command.callback = work
from checker.commands.cli import main
main()
"""


@pytest.mark.parametrize("place", ["in_a_finaliser", "in_a_callback", "in_an_argument"])
def test_ctrl_c_where_nothing_can_be_raised_is_not_lost(start, place):
    """Python would say so with a traceback, and go on; ctypes would make another error of it."""
    process = start("list", entry=LOSES.format(place=place))
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err.strip()) == (
        Exit.INTERRUPTED, "", "error: interrupted",
    )  # fmt: skip


@pytest.mark.slow
def test_ctrl_c_ends_a_query_that_is_at_work(start, highwater, tmp_path):
    """DuckDB does not look for it."""
    highwater("explore", "kip320", "--depth", 8, "--store", tmp_path / "store", "--no-cross-check")
    process = start(
        "query", tmp_path / "store", "SELECT count(*) FROM states a, states b, states c"
    )
    command = psutil.Process(process.pid)
    while process.poll() is None and command.cpu_times().user < 2:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    try:
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert (process.returncode, out, err.strip()) == (Exit.INTERRUPTED, "", "error: interrupted")


@pytest.mark.slow
def test_a_query_says_nothing_but_its_answer(finish, highwater, tmp_path):
    highwater("explore", "kip320", "--depth", 3, "--store", tmp_path / "store", "--no-cross-check")
    ended = finish("query", tmp_path / "store", "SELECT max(level) FROM states", "--json")
    assert (ended.status, ended.err) == (Exit.OK, "")
    wrong = finish("query", tmp_path / "store", "SELECT nonsense FROM")
    assert wrong.status == Exit.USAGE and wrong.out == ""
    assert wrong.err.startswith("error: the query fails: ") and wrong.err.count("\n") == 1


def test_ctrl_c_while_z3_works_is_not_kept_from_the_command():
    """By itself Z3 would answer that it does not know, and the proof would go on."""
    timer = threading.Timer(0.5, press_ctrl_c)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        ask(hard_query())
    timer.join()


def test_a_proof_ends_and_a_bounded_check_says_how_far_it_came(highwater, monkeypatch):
    monkeypatch.setattr(solvers, "ask", interrupted)
    ended = highwater("prove", "kip320")
    assert (ended.status, ended.err.strip()) == (Exit.INTERRUPTED, "error: interrupted")

    asked = []

    def third_time(solver, *assumptions):
        asked.append(solver)
        return interrupted() if len(asked) == 3 else ask(solver, *assumptions)

    monkeypatch.setattr(solvers, "ask", third_time)
    ended = highwater("prove", "kip320", "--bounded", 5, "--json")
    assert (ended.status, ended.json["depth"]) == (Exit.LIMIT, 1)
    assert ended.json["stopped"] == "interrupted at depth 2"


def interrupted(*_):
    raise KeyboardInterrupt


def is_deaf(_):
    """Whether this process hears of Ctrl-C."""
    return {"deaf": signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])}


def test_workers_never_hear_of_ctrl_c_also_those_that_come_later():
    """A terminal sends it to them too, while they still import what they need."""
    sweep = Sweep(is_deaf, {"first": 1, "second": 2}, workers=1, renewed_after=1)
    assert sweep.run()
    assert sweep.results == {"first": {"deaf": True}, "second": {"deaf": True}}
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


@pytest.mark.parametrize("number", first_and_slow(signal.SIGKILL, signal.SIGINT))
def test_workers_end_with_their_command(start, number):
    """Of a sweep, which would take minutes: whatever ends the command, nothing is left."""
    process = start("mutate", "kip320", "--workers", 2, "--no-cross-check")
    err = _end_at_work(process, number)
    assert process.returncode == (Exit.LIMIT if number == signal.SIGINT else -signal.SIGKILL)
    assert "Traceback" not in err


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_workers_that_certify_end_with_their_command(start, highwater, tmp_path, number):
    highwater("explore", "kip320", "--store", tmp_path, "--max-leader-epoch", 1)
    process = start("certify", tmp_path, "--quiet")
    err = _end_at_work(process, number)
    killed = number == signal.SIGKILL
    assert (process.returncode, err.strip()) == (
        (-signal.SIGKILL, "") if killed else (Exit.INTERRUPTED, "error: interrupted")
    )


def _end_at_work(process, number):
    """End a command by a signal when its two workers are at work; what it said of that."""
    command = psutil.Process(process.pid)
    at_work = 0
    while process.poll() is None and at_work < 2:
        time.sleep(0.1)
        workers = command.children(recursive=True)
        at_work = sum(worker.cpu_times().user > 0.5 for worker in workers)
    process.send_signal(number)
    process.wait(timeout=60)
    _, alive = psutil.wait_procs(workers, timeout=20)
    for left in alive:
        left.kill()  # who is left holds the command's streams open
    assert alive == []
    _, err = process.communicate(timeout=60)
    return err


def test_a_limit_that_comes_between_two_questions_spoils_neither(highwater):
    """Z3 that is interrupted while it does nothing gives wrong values later."""
    prove = ("prove", "async_isr", "--replicas", 2, "--max-offset", 1, "--max-version", 1,
             "--bounded", 1, "--json")  # fmt: skip
    before = highwater(*prove).json
    interrupt(lambda: pytest.fail("nothing was asked"))
    after = highwater(*prove).json
    assert (after["verdict"], after["cross_check"]) == (before["verdict"], before["cross_check"])
