"""Limits of time and memory are ceilings from the first second, whatever a command is doing."""

from __future__ import annotations

import gc
import re
import signal
import sys
import threading
import time
from contextlib import suppress
from typing import NoReturn

import click
import pytest
import z3

from checker.commands.ceiling import Ceiling
from checker.commands.cli import COMMANDS
from checker.commands.cli import highwater as whole
from checker.commands.interrupt import Interrupt
from checker.core.engines.reference import ReferenceEngine
from checker.core.exits import Exit
from checker.core.proofs.asking import ask, interrupt
from checker.core.search.allowance import Allowance
from checker.core.search.explore import Explorer
from checker.core.search.limits import INTERRUPTED
from checker.lab.experiments.grid import Sweep
from model.language.errors import LimitError
from model.protocols import PROTOCOLS

TINY = ("--replicas", 2, "--log-size", 1, "--max-records", 1, "--max-leader-epoch", 1)
LARGE = ("--replicas", 16, "--log-size", 16, "--max-records", 16, "--max-leader-epoch", 16)


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [("explore", "kip320", *LARGE), ("simulate", "kip320", *LARGE), ("prove", "kip320", *LARGE)],
    ids=lambda arguments: arguments[0],
)
def test_what_comes_before_a_search_is_ended_too(highwater, arguments):
    """Grounding at these sizes takes minutes."""
    started = time.monotonic()
    ended = highwater(*arguments, "--max-seconds", 1)
    assert time.monotonic() - started < 20
    assert ended.status == Exit.LIMIT
    assert ended.err.startswith("error: stopped by the limit of 1 seconds")
    assert ended.err.count("\n") == 1


def test_a_limit_of_memory_is_one_from_the_beginning_and_is_told_as_it_was_given(highwater):
    ended = highwater("explore", "kip320", "--max-memory", "1KB")
    assert ended.status == Exit.LIMIT
    assert "1,000 bytes of memory" in " ".join((ended.out + ended.err).split())


@pytest.mark.slow
def test_a_search_that_keeps_its_limits_tells_what_it_found(highwater):
    ended = highwater("explore", "kip320", "--log-size", 3, "--max-records", 3,
                      "--max-leader-epoch", 3, "--max-seconds", 2, "--json")  # fmt: skip
    assert ended.status == Exit.LIMIT
    assert ended.json["verdict"] == "unknown"
    assert ended.json["stopped"] == "the limit of 2 seconds"
    assert ended.json["levels"][0] == 1


@pytest.mark.parametrize("command", [("mutate", "kip320"), ("hunt", "kip320"), ("matrix",)])
def test_a_limit_of_many_searches_is_one_of_all_together(highwater, command):
    """Whatever each may take: there is no time for the first of them."""
    ended = highwater(*command, "--max-seconds", 0.1, "--quiet")
    assert ended.status == Exit.LIMIT


WITH_A_LIMIT = {
    "explore": ("kip320",),
    "graph": ("kip320",),
    "explain": ("kip101-weak_isr",),
    "ask": ("--kafka", "4.1", "--crashes", "1"),
    "affected": ("--bootstrap-server", "127.0.0.1:1"),
    "liveness": ("kafka", "--every-preset"),
    "mutate": ("kip320",),
    "matrix": (),
    "hunt": ("kip320",),
    "prove": ("kip320",),
    "infer": ("async_isr",),
    "simulate": ("kip320", "--walks", "1000000"),
    "growth": ("kip320", "--vary", "log-size=1,2"),
    "conform": ("--walks", "10"),
    "query": (".", "select 1"),
    "certify": (".",),
}
"""Every command that searches, and what it needs."""


def test_every_command_that_searches_has_a_limit_of_time():
    assert {name for name in COMMANDS if "max_seconds" in params(name)} == WITH_A_LIMIT.keys()


def params(name):
    found = whole.get_command(click.Context(whole), name)
    assert found is not None
    return {param.name for param in found.params}


@pytest.mark.parametrize(
    "name", sorted(WITH_A_LIMIT.keys() - {"affected", "conform", "query", "certify"})
)
def test_a_command_whose_time_is_over_says_so_and_ends_with_20(highwater, name):
    started = time.monotonic()
    ended = highwater(name, *WITH_A_LIMIT[name], "--max-seconds", 0)
    assert ended.status == Exit.LIMIT
    said = " ".join((ended.out + ended.err).split())
    assert "limit of 0 seconds" in said or "--max-seconds" in said
    assert time.monotonic() - started < 30
    if name == "liveness":
        assert "unknown" in said
    if name == "growth":
        assert said.count("stopped by the limit of 0 seconds") == 2
        assert "searching" not in said


def test_a_cluster_is_asked_within_the_limit(finish):
    """In a process of its own, which closes the connections that were being made."""
    ended = finish("affected", *WITH_A_LIMIT["affected"], "--max-seconds", 0)
    assert (ended.status, ended.out) == (Exit.LIMIT, "")
    assert "limit of 0 seconds" in ended.err


def test_a_question_to_z3_that_the_limit_ends_has_no_answer():
    """Also within the seconds after a library has dropped the error, as imports may."""
    pigeons = [z3.Int(f"pigeon{index}") for index in range(20)]
    solver = z3.Solver()
    solver.add(z3.Distinct(pigeons), *(z3.And(pigeon >= 0, pigeon < 19) for pigeon in pigeons))
    with Ceiling(0.5):  # not 0: it would end the lines before the sleep on a busy machine
        with suppress(LimitError):
            time.sleep(10)
        with pytest.raises(LimitError, match=r"limit of 0\.5 seconds"):
            ask(solver)


def test_an_answer_of_z3_that_comes_with_the_limit_is_none(monkeypatch):
    """Z3 may answer `sat` to a question that was ended, and then has no model."""
    monkeypatch.setattr(z3.Context, "interrupt", lambda _: None)  # it is asked nothing here

    def over() -> NoReturn:
        raise LimitError("the limit of 0 seconds", "the limit of 0 seconds")

    class EndedAsItAnswers:
        def check(self):
            interrupt(over)
            return z3.sat

    with pytest.raises(LimitError, match="limit of 0 seconds"):
        ask(EndedAsItAnswers())


@pytest.mark.slow
def test_a_query_that_takes_too_long_is_ended(highwater, finish, tmp_path):
    store = tmp_path / "store"
    highwater("explore", "kip320", "--depth", 8, "--store", store, "--no-cross-check")
    asked = "SELECT count(*) FROM states a, states b, states c"
    ended = finish("query", store, asked, "--max-seconds", 0.5)
    assert (ended.status, ended.out) == (Exit.LIMIT, "")
    assert "the limit of 0.5 seconds" in ended.err
    assert ended.err.count("\n") == 1  # DuckDB's binding reports no leaks


@pytest.mark.slow
def test_a_kill_matrix_that_is_cut_is_told_as_far_as_it_is(highwater, monkeypatch):
    """Its first mutant is judged; then the time is over."""
    honest = Sweep._keep

    def keep(self, *arguments):
        honest(self, *arguments)
        self.stop()

    monkeypatch.setattr(Sweep, "_keep", keep)
    ended = highwater("mutate", "truncate_to_high_watermark", *TINY, "--workers", 1, "--json")
    assert ended.status == Exit.LIMIT
    assert ended.json["complete"] is False
    assert len(ended.json["mutants"]) >= 1
    assert "mutants judged" in ended.err


def test_a_hunt_that_stores_nothing_says_so(highwater, tmp_path):
    ended = highwater("hunt", "kip320", "--max-seconds", 0, "--store", tmp_path / "h.jsonl")
    assert ended.status == Exit.LIMIT
    assert f"nothing is stored in {tmp_path / 'h.jsonl'}: no job has ended" in ended.err


def test_ctrl_c_ends_the_searches_of_an_answer():
    """What is at work too, though it was given all the time that there is."""
    allowance = Allowance(600.0, 40_000_000)
    model = PROTOCOLS["kip320"].model({"log_size": 3, "max_records": 3, "max_leader_epoch": 3})
    search = Explorer(model, [], allowance.limits, on_progress=lambda _: allowance.end())
    found = search.run()
    assert found.stopped == INTERRUPTED
    assert allowance.part(2).left == 0


def test_one_ctrl_c_ends_what_does_not_heed_it(monkeypatch):
    monkeypatch.setattr("checker.commands.interrupt.PATIENCE", 0.2)
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt), Interrupt() as interrupt:
        signal.raise_signal(signal.SIGINT)
        work(began + 30)
        pytest.fail("it went on")
    assert interrupt.requested
    assert time.monotonic() - began < 20


OWN = """
from typing import Annotated
from highwater.language import Protocol, State, action, integers, require

class Lamp(State):
    steps: Annotated[int, integers(0, 3)] = 0

@action("a step")
def step(s: Lamp) -> None:
    "Count."
    require(s.steps < 3)
    raise {error}

LAMP = Protocol("lamp", "for tests", Lamp, (step,), ())
"""


@pytest.mark.parametrize("error", ["SystemExit", "GeneratorExit"])
def test_a_function_that_would_end_the_program_is_told_with_its_line(highwater, tmp_path, error):
    own = tmp_path / f"lamp_{error}.py"
    own.write_text(OWN.format(error=error))
    ended = highwater("explore", own)
    assert (ended.status, ended.out) == (Exit.USAGE, "")
    assert f"{own.name}:12: {error}" in ended.err


def test_a_limit_in_the_midst_of_the_comparison_is_no_disagreement(highwater, monkeypatch):
    """It is raised in whatever runs: in a function of the protocol, which does not raise it."""

    def ended(*_):
        raise LimitError("stopped by a limit")

    monkeypatch.setattr(ReferenceEngine, "step", ended)
    found = highwater("explore", "kip279", "--depth", 2)
    assert (found.status, found.err.strip()) == (Exit.LIMIT, "error: stopped by a limit")


def work(until):
    """In a function: what is raised at a loop's end passes by a `try` there in CPython 3.13.0."""
    while time.monotonic() < until:
        pass


def test_work_that_does_not_end_by_itself_is_ended_and_nothing_is_left_behind():
    before = set(threading.enumerate())
    given_up = time.monotonic() + 30
    with pytest.raises(LimitError, match=r"0\.1 seconds"), Ceiling(0.1):
        work(given_up)
    with Ceiling(60.0):
        pass
    assert set(threading.enumerate()) <= before


def test_a_limit_that_passes_as_the_work_ends_leaves_nothing_behind():
    """The signal comes before the thread has been told to end."""
    before, handler = set(threading.enumerate()), signal.getsignal(signal.SIGALRM)
    ceiling = Ceiling(60.0)

    class Late(threading.Event):
        def set(self):
            signal.raise_signal(signal.SIGALRM)
            super().set()

    ceiling._over = Late()
    with ceiling:
        pass
    assert set(threading.enumerate()) <= before
    assert signal.getsignal(signal.SIGALRM) == handler


def test_no_error_is_raised_where_python_would_drop_it():
    """In what runs as an object ends: it is raised once that is over."""
    ended = []

    class Slow:
        def __del__(self):
            wait = time.monotonic() + 1.0
            while time.monotonic() < wait:
                pass
            ended.append("whole")

    given_up = time.monotonic() + 30
    with pytest.raises(LimitError), Ceiling(0.1):
        slow = Slow()
        del slow
        work(given_up)
    assert ended == ["whole"]
    assert time.monotonic() < given_up - 20


def test_no_error_is_raised_where_the_garbage_collector_would_drop_it():
    """In what it calls before and after a collection, as Hypothesis has it do."""
    ended: list[str] = []

    def slow(phase, info):
        wait = time.monotonic() + 1.0
        while not ended and time.monotonic() < wait:
            pass
        ended.append("whole")

    gc.collect()  # what earlier tests left would be dropped, and has callbacks of its own
    gc.callbacks.append(slow)
    given_up = time.monotonic() + 30
    try:
        with pytest.raises(LimitError), Ceiling(0.1):
            gc.collect()
            work(given_up)
    finally:
        gc.callbacks.remove(slow)
    assert ended
    assert time.monotonic() < given_up - 26  # before it would have been raised once more


def test_no_error_is_raised_where_a_closed_generator_would_drop_it():
    """In a profile function, which is called as a generator ends that nobody has any more."""
    ended: list[str] = []

    def slow(frame, kind, _):
        if frame.f_code is endless.__code__ and not ended:
            wait = time.monotonic() + 1.0
            while time.monotonic() < wait:
                pass
            ended.append("whole")

    def endless():
        while True:
            yield

    generator = endless()
    next(generator)
    before = sys.getprofile()
    given_up = time.monotonic() + 30
    try:
        with pytest.raises(LimitError), Ceiling(0.1):
            sys.setprofile(slow)
            del generator
            work(given_up)
    finally:
        sys.setprofile(before)
    assert ended
    assert time.monotonic() < given_up - 26  # before it would have been raised once more


def test_work_that_drops_the_error_is_ended_once_more(monkeypatch):
    """As Python does with what is raised in a callback of a weak reference."""
    monkeypatch.setattr("checker.commands.ceiling.AGAIN", 0.2)
    given_up = time.monotonic() + 30
    dropped = 0
    with pytest.raises(LimitError), Ceiling(0.1):
        while dropped < 3:
            try:
                work(given_up)
                break
            except LimitError:
                dropped += 1
        work(given_up)
    assert dropped == 3


@pytest.mark.slow
def test_a_limit_that_ends_the_preparation_says_how_long_it_would_have_been():
    """A tenth of the actions were ready after some time: ten times that for all."""
    given_up = time.monotonic() + 30
    with pytest.raises(LimitError) as error, Ceiling(1.0) as ceiling:
        ceiling.preparing(12, 120)
        work(given_up)
    told = re.search(
        r"\(12 of 120 actions were ready; all would take about (\d+) s\)", str(error.value)
    )
    assert told is not None
    assert 10 <= int(told[1]) <= 100


def test_what_was_prepared_is_not_estimated():
    given_up = time.monotonic() + 30
    with pytest.raises(LimitError) as error, Ceiling(0.1) as ceiling:
        ceiling.preparing(120, 120)
        work(given_up)
    assert "ready" not in str(error.value)
