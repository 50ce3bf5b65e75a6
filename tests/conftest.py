"""What all tests share."""

import signal

import pytest
from hypothesis import Phase, settings

# For who asks only whether a test fails: the first example that fails is not made smaller.
settings.register_profile(
    "first-failure", settings.get_profile("ci"), phases=[Phase.explicit, Phase.generate]
)


def pytest_configure(config):
    """A job that a shell starts in the background ignores Ctrl-C, which some tests press."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


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
