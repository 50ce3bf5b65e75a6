"""The unit tests beside the findings fail on Kafka as published, and pass with the fix alone."""

from pathlib import Path

import pytest

from checker.releases.jars import at_least, release
from checker.releases.patch import patched_classes
from checker.releases.unit_tests import run_scala_tests

UNIT = Path(__file__).parent.parent.parent / "docs" / "findings" / "unit"
NAME = "kafka.cluster.PartitionAcrossMetadataTest"
SHOWS = {
    "0001": "testPositionsFromBeforeAMissedLeaderEpochAreForgotten",
    "0002": "testPendingIsrSurvivesAnImageOfTheKnownPartitionEpoch",
}
UNCHANGED = {
    "testPositionsAreKeptFromOneLeaderEpochToTheNext",
    "testAssignmentIsTakenFromAnImageOfTheKnownPartitionEpoch",
    "testPendingIsrIsReplacedByANewerPartitionEpoch",
}


def sources(version):
    """The tests, and the file that knows how that release's classes are called."""
    since = [path.stem.removeprefix("PartitionCalls-") for path in UNIT.glob("PartitionCalls-*")]
    calls = max((known for known in since if at_least(version, known)), key=float)
    return [UNIT / "PartitionAcrossMetadataTest.scala", UNIT / f"PartitionCalls-{calls}.scala"]


def outcome(version, finding=None):
    one = release(version)
    patch = patched_classes(one, finding) if finding else None
    return run_scala_tests(one, sources(version), NAME, patch)


@pytest.mark.kafka
@pytest.mark.parametrize("version", ["4.3.1", "4.1.0", "3.9.1"])
def test_kafka_as_published_fails_the_test_of_each_finding(version):
    found = outcome(version)
    assert found.failed == set(SHOWS.values())
    assert found.passed == UNCHANGED


@pytest.mark.kafka
@pytest.mark.parametrize("finding", sorted(SHOWS))
@pytest.mark.parametrize("version", ["4.3.1", "4.1.0", "3.9.1"])
def test_the_fix_of_a_finding_passes_its_test_and_no_other(version, finding):
    found = outcome(version, finding)
    assert found.failed == set(SHOWS.values()) - {SHOWS[finding]}
    assert found.passed == UNCHANGED | {SHOWS[finding]}
