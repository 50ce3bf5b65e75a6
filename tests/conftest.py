"""What all tests share."""

import gc
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.passed import Recorder, seconds_of_passed, without_group

BEGUN = time.time()
ROOT = Path(__file__).parents[1]
PASSED = pytest.StashKey[frozenset[str]]()
"""What a session that goes on leaves out."""


def pytest_addoption(parser):
    """A bound on how long a session goes on, and how to go on with one that was cut short."""
    parser.addoption(
        "--begin-within", type=float, metavar="SECONDS", help="skip what would begin later"
    )
    parser.addoption(
        "--go-on", action="store_true", help="leave out what has passed on this very tree"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """What no time is left for is told, among what was skipped."""
    within = item.config.getoption("begin_within")
    if within is not None and time.time() > BEGUN + within:
        raise pytest.skip.Exception("no time was left", _use_item_location=True)


def pytest_configure(config):
    """A job that a shell starts in the background ignores Ctrl-C, which some tests press.

    What has passed is stored where pytest stores what has failed.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(config, "workerinput"):
        passed = config.workerinput["passed"]
    else:
        passed = sorted(seconds_of_passed(ROOT)) if config.getoption("go_on") else []
        if config.pluginmanager.hasplugin("cacheprovider"):
            config.pluginmanager.register(Recorder(ROOT, time.time()))
    config.stash[PASSED] = frozenset(passed)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """All workers leave out the same."""
    node.workerinput["passed"] = sorted(node.config.stash[PASSED])


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Tests of Spark form one group, which one worker runs: Spark starts once a session.

    A session that goes on leaves out what has passed; if all of it has, it begins anew.
    """
    for item in items:
        if item.get_closest_marker("spark"):
            item.add_marker(pytest.mark.xdist_group("spark"))
        if nightly := item.get_closest_marker("nightly"):
            (reason,) = nightly.args
            assert reason, "a nightly test says why it is one"
            item.add_marker(pytest.mark.slow)
        if item.get_closest_marker("kafka"):
            below = Path(__file__).parent / "kafka" in item.path.parents
            assert below, "`make test-kafka` runs what is below tests/kafka"
    yield
    passed = config.stash[PASSED]
    left = [item for item in items if without_group(item.nodeid) not in passed]
    if left and len(left) < len(items):
        config.hook.pytest_deselected(items=[item for item in items if item not in left])
        items[:] = left


def pytest_collection_finish():
    """What was collected stays to the end: the collector of garbage need not go through it again.

    It would take a tenth of the processor's time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)


@pytest.fixture
def few_compared(monkeypatch):
    """Searches compare the graph with the functions in a few states: most of a small one's time.

    For tests of what is done with an answer. `tests/core/engines` holds what is compared, and how.
    """
    monkeypatch.setattr("checker.core.engines.sample.REACHED", 12)
    monkeypatch.setattr("checker.core.engines.sample.BESIDE", 4)
    monkeypatch.setattr("checker.core.engines.sample._TRIES", 1500)
    for name, count in {"JUDGEMENTS": 30, "STATES_A_CLAIM": 4, "DRAWN": 60, "ANY": 4}.items():
        monkeypatch.setattr(f"checker.core.engines.agreement.{name}", count)


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The documentation as a site, built as `make site` does."""
    folder = tmp_path_factory.mktemp("built") / "site"
    script = Path(__file__).parents[1] / "scripts" / "build_site.py"
    subprocess.run([sys.executable, str(script), str(folder)], check=True, capture_output=True)
    return folder
