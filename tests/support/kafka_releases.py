"""Which releases of Kafka a test runs on: one always, the others nightly."""

import pytest

REASON = "Kafka's classes are brought and compiled for each release, a minute each"


def first_and_nightly(*parameters):
    """The first as it is; the others in nightly tests."""
    first, *others = parameters
    return [first, *(nightly(other) for other in others)]


def nightly(parameter):
    """One set of values, or one value, for nightly tests."""
    values = parameter if isinstance(parameter, tuple) else (parameter,)
    return pytest.param(*values, marks=pytest.mark.nightly(REASON))
