"""Progress is shown to people who wait, and to nobody else."""

import io
import re

import pytest

from checker.commands.ceiling import Ceiling
from checker.commands.progress import (
    PLAIN_AFTER,
    PLAIN_EVERY,
    Display,
    Ticker,
    run_shown,
)
from checker.core.amounts import duration
from checker.core.search.limits import Progress
from checker.lab.experiments.grid import Sweep


class Terminal(io.StringIO):
    """A terminal that remembers what was written."""

    def isatty(self):
        return True


def watch(stream, seconds, quiet=False):
    """What a display shows of a search that reports ten times a second."""
    with Display(quiet, stream) as display:
        for tenth in range(seconds * 10):
            depth = tenth // 10
            display.update(Progress(depth, 500, 1000, tenth * 1000, tenth * 3000, tenth / 10))
    return stream.getvalue()


def test_a_short_search_shows_nothing():
    assert watch(io.StringIO(), int(PLAIN_AFTER)) == ""


def test_plain_lines_come_now_and_then():
    lines = watch(io.StringIO(), 60).splitlines()
    assert 2 <= len(lines) <= 60 / PLAIN_EVERY
    assert lines[0].startswith("depth 5: 50,000 states, 50% of the level")
    assert "10,000 states/s" in lines[0]
    assert not any("\x1b" in line for line in lines)


def test_a_terminal_shows_one_live_line():
    shown = watch(Terminal(), 3)
    assert "depth 2" in shown
    assert "states" in shown
    assert "\x1b[2K" in shown  # the line is rewritten, and cleared at the end


def test_quiet_shows_nothing():
    assert watch(io.StringIO(), 60, quiet=True) == ""
    assert watch(Terminal(), 60, quiet=True) == ""


def test_the_preparation_says_how_long_the_rest_takes_and_the_search_begins_anew(monkeypatch):
    """A hundred actions, one a second; then a search that counts its own seconds."""
    now, stream = [0.0], io.StringIO()
    monkeypatch.setattr("checker.commands.progress.time.monotonic", lambda: now[0])
    with Display(False, stream) as display:
        for ready in range(1, 101):
            display.preparing(ready, 100)
            now[0] += 1.0
        display.update(Progress(1, 1, 2, 10, 10, PLAIN_AFTER))
    lines = stream.getvalue().splitlines()
    assert all(re.fullmatch(r"preparing: \d+ of 100 actions, .* left", s) for s in lines[:-1])
    assert len(lines) > 10
    assert lines[0].endswith("about 78 s left")  # six were ready after 5 s
    assert lines[-1].startswith("depth 1:")


def test_a_stop_is_shown_on_the_live_line():
    terminal = Terminal()
    with Display(False, terminal) as display:
        display.update(Progress(1, 1, 2, 10, 10, 1.0))
        display.stopping()
        display.update(Progress(1, 2, 2, 20, 20, 2.0))
    assert "stopping" in terminal.getvalue()


def tick(stream, quiet=False):
    """What is shown of a work that says twice what it is at."""
    with Ticker(quiet, stream) as ticker:
        ticker.say("one [bold] lemma")
        ticker.say("two lemmas")
    return stream.getvalue()


def test_a_short_work_says_nothing():
    assert tick(io.StringIO()) == ""


def test_a_long_work_says_what_it_is_at_now_and_then(monkeypatch):
    monkeypatch.setattr("checker.commands.progress.PLAIN_AFTER", 0.0)
    assert tick(io.StringIO()) == "0 s: one [bold] lemma\n"
    assert tick(io.StringIO(), quiet=True) == ""


def test_a_terminal_shows_what_a_work_is_at():
    assert "two lemmas" in tick(Terminal())
    assert tick(Terminal(), quiet=True) == ""


def test_how_long_the_rest_of_a_table_takes_is_told_from_what_it_took_so_far(monkeypatch, capsys):
    now = [0.0]

    def work(_):
        now[0] += 60.0
        return {}

    monkeypatch.setattr("checker.commands.progress.PLAIN_AFTER", 0.0)
    monkeypatch.setattr("checker.commands.progress.PLAIN_EVERY", 0.0)
    monkeypatch.setattr("checker.commands.progress.time.monotonic", lambda: now[0])
    run_shown(Sweep(work, {f"job {n}": n for n in range(4)}, workers=0), Ceiling(None))
    lines = [line.partition(": ")[2] for line in capsys.readouterr().err.splitlines()]
    assert lines[-1] == "4 of 4: job 3"
    told = [line.partition(", about ")[2].partition(" left")[0] for line in lines[:-1]]
    assert told == ["3 min", "2 min", "60 s"]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.2, "0 s"), (99.4, "99 s"), (99.6, "2 min"), (5940, "99 min"), (7500, "2 h 5 min")],
)
def test_a_time_to_wait_is_said_as_people_say_it(seconds, words):
    assert duration(seconds) == words
