"""Reduced search finds what full search finds, of every protocol that the language can express."""

from __future__ import annotations

import pytest

from checker.core.search.explore import Explorer, Limits, Options
from model.protocols import protocol_named
from properties import promised_properties
from tests.laws.reduction_laws import check_reduced, reduced_search_is_full_search
from tests.laws.test_generated_protocols import hold

def test_reduced_search_is_full_search_on_generated_protocols():
    assert hold(reduced_search_is_full_search, 40, derandomize=True) > 20


@pytest.mark.nightly("ten thousand protocols take an hour")
def test_reduced_search_is_full_search_on_ten_thousand_generated_protocols():
    assert hold(reduced_search_is_full_search, 10_000) > 9_000
