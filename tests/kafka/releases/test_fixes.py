"""The unit tests beside the findings fail on Kafka as published, and each fix mends its own.

Which tests are of which fix is declared with the fix.
"""

from functools import cache
from typing import Any

import pytest

from checker.kafka.releases.jars import release
from checker.kafka.releases.patch import fixes, patched_classes
from checker.kafka.upstream.unit_tests import package_of, sources_of
from tests.support.kafka_unit_tests import Outcome, run_tests
from tests.support.tiers import RELEASES, first_and_nightly, nightly

pytestmark = [pytest.mark.kafka, pytest.mark.xdist_group("compilers")]

PARTITION, ELR = "PartitionReplicationTest", "ReplicationControlManagerElrTest"
UNITS = {name: fix.unit for name, fix in fixes().items() if fix.unit is not None}
ON_4_3 = ("0004-elr-of-removed-replicas",)
"""Fixes that are tried on one release alone: on 4.1.0 one of its tests fails with the fix too."""
WIPED = "0003-elr-wiped-by-a-directory"
HIDDEN = {"testRegistrationWithMissingDirectoryAfterAssignmentRemovesBrokerFromElr"}
"""What passes where the ELR is wiped: it then holds nobody whose directory is gone either."""
SINCE_4_3 = {"testReassignmentRevertedByReassignmentCompletes"}
"""What passes before KAFKA-19975."""
VERSIONS = {
    PARTITION: ("4.3.1", "4.2.1", "4.1.1", "4.1.0", "3.9.1"),
    ELR: ("4.3.1", "4.1.0"),
    "ConsumerHeartbeatReconciliationTest": ("4.3.1", "4.3.0"),
    "PartitionTruncationTest": ("4.3.1", "4.2.1", "4.1.0"),
    "LeaderEpochFileCacheTruncationTest": ("4.3.1", "4.1.0", "3.9.1", "3.8.1"),
}
"""The releases on which each class is run; every other one on 4.3.1."""


def own_tests(name: str) -> dict[str, set[str]]:
    """The tests of a class that fail, by the fix that mends them."""
    return {fix: set(unit.fails) for fix, unit in UNITS.items() if unit.name == name}


def failing(name: str, version: str) -> set[str]:
    """The tests of a class that fail on a release as published."""
    own = own_tests(name)
    if name == ELR and version >= "4.3":
        del own[WIPED]
    found = set().union(*own.values())
    return found - HIDDEN - SINCE_4_3 if name == ELR and version < "4.3" else found


@cache
def outcome(name: str, version: str, fix: str | None = None) -> Outcome:
    """What becomes of the tests of a class on a release."""
    one, sources = release(version), sources_of(name, version)
    patch = patched_classes(one, fix) if fix else None
    return run_tests(one, sources, f"{package_of(sources[0])}.{name}", patch)


def cases(subject: str, name: str, *, offered: bool = True, once: bool = False) -> list[Any]:
    """A class, or a fix, and each release that the class is run on: the first on every change."""
    pairs = [(subject, version) for version in VERSIONS.get(name, ("4.3.1",))][
        : 1 if once else None
    ]
    return first_and_nightly(RELEASES, *pairs) if offered else [nightly(INSTEAD, p) for p in pairs]


INSTEAD = "another way to mend what the tests of the fix that is offered show"
OFFERED = {unit.name for fix, unit in UNITS.items() if not fixes()[fix].instead_of}
EACH = [
    case
    for name in dict.fromkeys(unit.name for unit in UNITS.values())
    for case in cases(name, name, offered=name in OFFERED)
]
TRIED = [
    case
    for fix, unit in UNITS.items()
    for case in cases(fix, unit.name, offered=unit.name in OFFERED, once=fix in ON_4_3)
    if fix != WIPED
]


@pytest.mark.parametrize("name, version", EACH)
def test_published_classes_fail_the_tests_of_each_fix_and_pass_the_others(name, version):
    found, every = outcome(name, version), [u for u in UNITS.values() if u.name == name]
    assert found.failed == failing(name, version)
    declared = {test for unit in every for test in (*unit.fails, *unit.passes)}
    assert found.passed | found.failed == declared


@pytest.mark.parametrize("fix, version", TRIED)
def test_a_fix_mends_its_own_tests_and_no_other(fix, version):
    name = UNITS[fix].name
    published, fixed = outcome(name, version), outcome(name, version, fix)
    assert fixed.failed == published.failed - set(UNITS[fix].fails)
    assert fixed.passed == published.passed | set(UNITS[fix].fails)


@pytest.mark.nightly(RELEASES)
def test_an_elr_that_is_no_longer_wiped_holds_lost_directories_as_well():
    published, fixed = outcome(ELR, "4.1.0"), outcome(ELR, "4.1.0", WIPED)
    assert fixed.failed == published.failed - set(UNITS[WIPED].fails) | HIDDEN
