"""Progress is shown to people who wait, and to nobody else."""

import io

from checker.commands.progress import PLAIN_AFTER, PLAIN_EVERY, Display, Ticker
from checker.search.limits import Progress


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
