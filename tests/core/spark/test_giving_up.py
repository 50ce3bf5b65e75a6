"""Ctrl-C while Spark starts, which takes seconds: nothing that has begun is left behind."""

import subprocess
import sys
import threading
import time

import psutil
import pytest

from checker.core.spark.session import _unless_given_up

LONG = 60


def _begins(process: list[subprocess.Popen[bytes]], begun: threading.Event) -> object:
    """What starting Spark is: a process, and a wait for it."""
    process.append(subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({LONG})"]))
    begun.set()
    process[0].wait()
    return "ended"


@pytest.mark.parametrize("how", ["asked", "ctrl-c"])
def test_given_up_ends_what_has_begun_and_nothing_else(how):
    own = subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({LONG})"])
    process: list[subprocess.Popen[bytes]] = []
    begun = threading.Event()

    def given_up() -> bool:
        if begun.is_set() and how == "ctrl-c":
            raise KeyboardInterrupt
        return begun.is_set()

    before = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            _unless_given_up(lambda: _begins(process, begun), given_up)
        assert process[0].wait(timeout=LONG / 2) != 0
        assert time.monotonic() - before < LONG / 2
        assert psutil.pid_exists(own.pid)
        assert own.poll() is None
    finally:
        own.kill()
        own.wait()


@pytest.mark.parametrize("error", [ValueError, TimeoutError, KeyboardInterrupt])
def test_what_starting_raises_is_raised(error):
    def start() -> None:
        raise error("why")

    with pytest.raises(error):
        _unless_given_up(start, lambda: False)


def test_what_starting_gives_is_given():
    assert _unless_given_up(lambda: 7, lambda: False) == 7
