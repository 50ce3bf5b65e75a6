"""Kafka's classes, started once for each release that many tests ask."""

import pytest

from checker.kafka.conformance.harness import Harness
from tests.support.classes import NEWEST, VERSION


@pytest.fixture(scope="session")
def harness():
    with Harness(VERSION) as running:
        yield running


@pytest.fixture(scope="session")
def newest():
    with Harness(NEWEST) as running:
        yield running
