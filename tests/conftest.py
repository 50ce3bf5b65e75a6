"""What all tests share."""

import signal
import time
from pathlib import Path

import pytest

from tests.support.passed import Recorder


def pytest_configure(config):
    """A job that a shell starts in the background ignores Ctrl-C, which some tests press.

    What has passed is stored where pytest stores what has failed.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if config.pluginmanager.hasplugin("cacheprovider") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Recorder(Path(__file__).parents[1], time.time()))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Tests of Spark form one group, which one worker runs: Spark starts once a session."""
    for item in items:
        if item.get_closest_marker("spark"):
            item.add_marker(pytest.mark.xdist_group("spark"))
        if nightly := item.get_closest_marker("nightly"):
            (reason,) = nightly.args
            assert reason, "a nightly test says why it is one"
            item.add_marker(pytest.mark.slow)
