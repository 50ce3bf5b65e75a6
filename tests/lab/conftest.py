"""What all tests of the lab share."""

import pytest


@pytest.fixture(autouse=True)
def _quick(few_compared):
    """Many models are searched: what is told of them is asked here, not the comparison of each."""
