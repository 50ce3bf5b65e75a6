"""Reduced search finds what full search finds, of every protocol that the language can express."""

from __future__ import annotations

import pytest

from tests.laws.reduction_laws import little_example, reduced_search_is_full_search
from tests.laws.test_generated_protocols import hold


@pytest.mark.slow
def test_reduced_search_is_full_search_of_little_protocols():
    for seed in range(60):
        reduced_search_is_full_search(little_example(seed))


@pytest.mark.slow
def test_reduced_search_is_full_search_of_generated_protocols():
    assert hold(reduced_search_is_full_search, 40) > 20


@pytest.mark.nightly("ten thousand protocols take half an hour")
def test_reduced_search_is_full_search_of_ten_thousand_protocols():
    for seed in range(10_000):
        reduced_search_is_full_search(little_example(seed))
