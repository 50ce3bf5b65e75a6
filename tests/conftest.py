"""What all tests share."""

import gc
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.passed import Recorder

BEGUN = time.time()


def pytest_addoption(parser):
    """A bound on how long a session goes on."""
    parser.addoption(
        "--begin-within", type=float, metavar="SECONDS", help="skip what would begin later"
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
        if item.get_closest_marker("kafka"):
            below = Path(__file__).parent / "kafka" in item.path.parents
            assert below, "`make test-kafka` runs what is below tests/kafka"


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
