"""The unit tests beside the findings fail on Kafka as published, and each fix mends its own."""

from functools import cache
from pathlib import Path

import pytest

from checker.kafka.releases.jars import at_least, release
from checker.kafka.releases.patch import patched_classes
from tests.support.kafka_unit_tests import Outcome, run_tests
from tests.support.tiers import RELEASES, first_and_nightly

pytestmark = [pytest.mark.kafka, pytest.mark.xdist_group("compilers")]

UNIT = Path(__file__).parents[3] / "docs" / "findings" / "unit"
PARTITION = {
    "0001": {"testPositionsFromBeforeAMissedLeaderEpochAreForgotten"},
    "0002": {"testPendingIsrSurvivesAnImageOfTheKnownPartitionEpoch"},
    "fetch-noted-in-a-later-epoch": {"testAFetchIsNotNotedInALaterLeaderEpoch"},
    "isr-joined-by-a-forgotten-replica": {
        "testAFollowerDoesNotJoinTheIsrByAReplicaFromAnEarlierLeadership"
    },
    "isr-joined-before-the-log-start": {
        "testAFollowerJoinsTheIsrOnceItsLogStartsWhereTheLeadersDoes"
    },
    "log-start-read-before-the-high-watermark": {"testAnAnswerHasNoLogStartBeyondItsHighWatermark"},
    "isr-change-refused": {"testWhatTheIsrHoldsIsExposedOnceAnIsrChangeIsRefused"},
    None: {
        "testPositionsAreKeptFromOneLeaderEpochToTheNext",
        "testAssignmentIsTakenFromAnImageOfTheKnownPartitionEpoch",
        "testPendingIsrIsReplacedByANewerPartitionEpoch",
        "testAFollowerJoinsTheIsrWhereNothingIsDeletedOrItHasDeletedMore",
        "testAnIsrChangeThatMayHaveBeenMadeIsWaitedFor",
    },
}
ELIGIBLE = {
    "elr-of-removed-replicas": {
        "testAReplicaThatAReassignmentTakesOutLeavesTheElr",
        "testAReplicaThatACancelledReassignmentTakesOutLeavesTheElr",
        "testAReplicaThatIsAddedIsNotInTheElrFromBefore",
    },
    "elr-below-the-minimum": {
        "testTheElrOfAPartitionThatIsOfflineStaysAsTheMinimumIsLowered",
        "testTheElrStaysBelowARaisedDefaultOfTheMinimum",
        "testTheLastKnownLeaderStaysAsTheMinimumIsLowered",
        "testWhoIsElectedOfAnElrThatStayedLeavesNobodyInItIfAloneItIsEnough",
        "testThePartitionsOfATopicWhoseIsrReachesTheMinimumHaveNoElrBesideOneThatStays",
    },
    "elr-index-of-a-cleared-elr": {"testABrokerRegistersAfterTheElrWasClearedAndTheTopicDeleted"},
    "elr-of-a-lost-directory": {
        "testABrokerThatRegistersWithADirectoryLessLeavesTheElr",
        "testABrokerThatNamesAnotherDirectoryBeforeItRegistersWithOneLessLeavesTheElr",
    },
    "elr-wiped-by-a-directory": {
        "testAnotherReplicasDirectoryLeavesTheElrAsItIs",
        "testAReplicaThatIsMovedBetweenDirectoriesStaysInTheElr",
    },
    "elr-switched-on-while-offline": {
        "testALastMemberFromBeforeTheElrWasSwitchedOnLeadsAgainAfterAnUncleanStop"
    },
    "reassignment-taken-back": {
        "testAReassignmentThatIsTakenBackByAnotherEnds",
        "testAReplicaThatIsAskedForAgainIsNotTakenOut",
    },
    "elr-by-the-first-partition": {"testThePartitionsOwnReplicasCountForTheElr"},
    "elr-of-a-failed-directory": {
        "testABrokerWhoseDirectoryFailsLeavesTheElr",
        "testALeaderWhoseDirectoryFailsDoesNotEnterTheElr",
        "testABrokerWhoseDirectoryHasFailedDoesNotJoinTheIsr",
    },
    "elr-of-an-unregistered-broker": {
        "testABrokerThatIsUnregisteredLeavesTheElr",
        "testALeaderThatIsUnregisteredDoesNotEnterTheElr",
        "testTheLastKnownLeaderLeadsAgainThoughABrokerOfTheElrIsUnregistered",
    },
    "elr-before-a-minimum-is-read": {
        "testARaisedMinimumDoesNotCountForTheElrBeforeTheLeaderHasReadOfIt",
        "testARaisedDefaultOfTheMinimumDoesNotCountForTheElrBeforeTheLeaderHasReadOfIt",
        "testTheLeastOfTheNumbersThatTheLeaderMayGoByCountsForTheElr",
    },
    None: {
        "testTheElrIsClearedWhereTheIsrReachesALoweredMinimum",
        "testTheElrIsClearedWhereTheIsrReachesTheDefaultThatCountsAgain",
        "testARaisedMinimumCountsForTheElrOnceAllBrokersHaveReadOfIt",
        "testABrokerThatIsFencedIsNotWaitedForBeforeARaisedMinimumCounts",
        "testALoweredMinimumCountsForTheElrAtOnce",
        "testAPartitionWithFewerReplicasThanTheMinimumHasNobodyInTheElr",
        "testAReplicaThatStaysKeepsItsPlaceInTheElr",
        "testTheOthersStayInTheElrAsABrokerIsUnregistered",
        "testABrokerOfWhichAnotherDirectoryFailsStaysInTheElrAndJoinsTheIsr",
        "testALastMemberWithTheElrAllAlongLeadsAgainAfterAnUncleanStop",
        "testABrokerThatRegistersWithAllDirectoriesAfterACleanShutdownStaysInTheElr",
    },
}
HIDDEN = {"testABrokerThatNamesAnotherDirectoryBeforeItRegistersWithOneLessLeavesTheElr"}
"""What passes where the ELR is wiped: it then holds nobody whose directory is gone either."""
SINCE_4_3 = {"testAReassignmentThatIsTakenBackByAnotherEnds"}
"""What passes before KAFKA-19975."""
PARTITIONS = first_and_nightly(RELEASES, "4.3.1", "4.2.1", "4.1.1", "4.1.0", "3.9.1")


@cache
def partition(
    version: str, finding: str | None = None, name: str = "PartitionAcrossMetadataTest"
) -> Outcome:
    """What becomes of the tests of a partition, with the file that knows how it is called."""
    since = [path.stem.removeprefix("PartitionCalls-") for path in UNIT.glob("PartitionCalls-*")]
    calls = max((known for known in since if at_least(version, known)), key=float)
    sources = [f"{name}.scala", f"PartitionCalls-{calls}.scala"]
    return _run(version, sources, f"kafka.cluster.{name}", finding)


@cache
def eligible(version: str, finding: str | None = None) -> Outcome:
    """What becomes of the tests of eligible leader replicas."""
    name = "EligibleLeaderReplicasTest"
    return _run(version, [f"{name}.java"], f"org.apache.kafka.controller.{name}", finding)


def _run(version: str, sources: list[str], name: str, finding: str | None) -> Outcome:
    one = release(version)
    patch = patched_classes(one, finding) if finding else None
    return run_tests(one, [UNIT / source for source in sources], name, patch)


@pytest.mark.parametrize("version", PARTITIONS)
def test_a_published_partition_fails_the_test_of_each_finding(version):
    found = partition(version)
    assert found.failed == set().union(*PARTITION.values()) - PARTITION[None]
    assert found.passed == PARTITION[None]


@pytest.mark.parametrize("finding", [name for name in PARTITION if name])
@pytest.mark.parametrize("version", PARTITIONS)
def test_a_fix_of_a_partition_mends_its_own_test_and_no_other(version, finding):
    published, fixed = partition(version), partition(version, finding)
    assert fixed.failed == published.failed - PARTITION[finding]
    assert fixed.passed == published.passed | PARTITION[finding]


def test_the_published_controller_of_4_3_fails_what_is_still_open():
    found = eligible("4.3.1")
    kept = ELIGIBLE[None] | ELIGIBLE["elr-wiped-by-a-directory"]
    assert found.passed == kept
    assert found.failed == set().union(*ELIGIBLE.values()) - kept


@pytest.mark.nightly(RELEASES)
def test_the_published_controllers_before_4_3_wipe_the_elr():
    found = eligible("4.1.0")
    kept = ELIGIBLE[None] | HIDDEN | SINCE_4_3
    assert found.passed == kept
    assert found.failed == set().union(*ELIGIBLE.values()) - kept


@pytest.mark.parametrize(
    "version, finding",
    first_and_nightly(
        RELEASES,
        ("4.3.1", "elr-of-removed-replicas"),
        ("4.3.1", "elr-below-the-minimum"),
        ("4.3.1", "elr-index-of-a-cleared-elr"),
        ("4.3.1", "elr-of-a-lost-directory"),
        ("4.3.1", "elr-switched-on-while-offline"),
        ("4.3.1", "reassignment-taken-back"),
        ("4.3.1", "elr-by-the-first-partition"),
        ("4.3.1", "elr-of-an-unregistered-broker"),
        ("4.3.1", "elr-of-a-failed-directory"),
        ("4.3.1", "elr-before-a-minimum-is-read"),
        ("4.1.0", "elr-below-the-minimum"),
        ("4.1.0", "elr-index-of-a-cleared-elr"),
        ("4.1.0", "elr-switched-on-while-offline"),
        ("4.1.0", "reassignment-taken-back"),
        ("4.1.0", "elr-by-the-first-partition"),
        ("4.1.0", "elr-of-an-unregistered-broker"),
        ("4.1.0", "elr-of-a-failed-directory"),
        ("4.1.0", "elr-before-a-minimum-is-read"),
    ),
)
def test_a_fix_of_the_controller_mends_its_own_tests_and_no_other(version, finding):
    published, fixed = eligible(version), eligible(version, finding)
    assert fixed.failed == published.failed - ELIGIBLE[finding]
    assert fixed.passed == published.passed | ELIGIBLE[finding]


def test_a_fetcher_truncates_in_a_later_leader_epoch_until_it_is_mended():
    name = "FetcherAcrossLeaderEpochsTest"
    published, fixed = (
        _run("4.3.1", [f"{name}.scala"], f"kafka.server.{name}", fix) for fix in (None, "0009")
    )
    assert published.failed == {
        "testATruncationIsLeftOutWhereThePartitionIsBackInALaterLeaderEpoch"
    }
    assert published.passed == {
        "testATruncationIsCarriedOutInTheLeaderEpochOfTheAnswer",
        "testATruncationIsLeftOutWhereThePartitionIsGone",
    }
    assert (fixed.passed, fixed.failed) == (published.passed | published.failed, frozenset())


@pytest.mark.nightly(RELEASES)
def test_an_elr_that_is_no_longer_wiped_holds_lost_directories_as_well():
    published, fixed = eligible("4.1.0"), eligible("4.1.0", "elr-wiped-by-a-directory")
    assert fixed.failed == published.failed - ELIGIBLE["elr-wiped-by-a-directory"] | HIDDEN


HEARTBEATS = {
    "testAFullHeartbeatNamesWhatIsBeingReconciled",
    "testAFullHeartbeatNamesAnAssignmentThatTheMemberMayBeginWithAnyTime",
    "testAFullHeartbeatNamesWhatIsBeingReconciledAlsoWhenThereIsANewerTarget",
}


@pytest.mark.parametrize("version", first_and_nightly(RELEASES, "4.3.1", "4.3.0"))
def test_a_full_heartbeat_forgets_what_is_being_reconciled_until_it_is_mended(version):
    name = "FullHeartbeatWhileReconcilingTest"
    published, fixed = (
        _run(version, [f"{name}.java"], f"org.apache.kafka.clients.consumer.internals.{name}", fix)
        for fix in (None, "0010")
    )
    assert published.failed == HEARTBEATS
    assert published.passed == {
        "testWhatWasReconciledIsNamedOnceItIsOwned",
        "testAFullHeartbeatOfAStableMemberNamesWhatItOwns",
    }
    assert (fixed.passed, fixed.failed) == (published.passed | HEARTBEATS, frozenset())


TOLD_AGAIN = {
    "testAFollowerHearsTheHighWatermarkAfterItHasTruncated",
    "testAFollowerHearsTheHighWatermarkAfterItHasTruncatedInASessionThatThereIsAlready",
    "testAFollowerHearsTheHighWatermarkAfterItHasForgottenAnEpochWithoutRecords",
    "testAFollowerHearsTheLogStartAfterItHasTruncated",
    "testAFollowerHearsTheHighWatermarkAfterAnAnswerOfTheLastLeaderEpochWasDropped",
}


def test_a_session_counts_a_follower_as_told_of_what_it_has_not_taken_until_it_is_mended():
    name, fix = "FetcherInASessionTest", "fetch-session-after-a-diverging-epoch"
    published, fixed = (
        _run("4.3.1", [f"{name}.scala"], f"kafka.server.{name}", each) for each in (None, fix)
    )
    assert published.failed == TOLD_AGAIN
    assert published.passed == {"testAFollowerThatDoesNotDivergeHearsTheHighWatermarkOnce"}
    assert (fixed.passed, fixed.failed) == (published.passed | TOLD_AGAIN, frozenset())


@pytest.mark.parametrize("version", first_and_nightly(RELEASES, "4.3.1", "4.2.1", "4.1.0"))
def test_an_answer_is_sent_with_what_was_written_over_it_until_a_truncation_begins_a_segment(
    version,
):
    name, fix = "AnswersAcrossTruncationTest", "truncation-begins-a-segment"
    published, fixed = (partition(version, each, name) for each in (None, fix))
    assert published.failed == {
        "testARecordThatWasCutAwayIsNotSentAsAnother",
        "testARecordThatWasCutAwayIsNotSentAsAnotherWhereNothingIsLeftOfTheSegment",
        "testARecordThatWasCutAwayIsNotSentAsAnotherAfterASecondTruncation",
    }
    assert published.passed == {
        "testARecordThatIsStillThereIsSent",
        "testALogGoesOnWhereItWasTruncated",
    }
    assert (fixed.passed, fixed.failed) == (published.passed | published.failed, frozenset())


@pytest.mark.parametrize("version", first_and_nightly(RELEASES, "4.3.1", "4.1.0", "3.9.1", "3.8.1"))
def test_a_truncated_epoch_is_back_with_its_file_until_truncation_writes_it(version):
    name, fix = "TruncatedEpochsTest", "truncated-epochs-written"
    published, fixed = (
        _run(version, [f"{name}.java"], f"org.apache.kafka.storage.internals.epoch.{name}", each)
        for each in (None, fix)
    )
    assert published.failed == {
        "testAnEpochThatIsTruncatedAfterTheSchedulersEndIsNotBack",
        "testAnEpochThatIsTruncatedWhileTheSchedulerIsBusyIsNotBackAfterACrash",
    }
    assert published.passed == {
        "testAnEpochThatIsTruncatedBeforeTheSchedulersEndIsNotBack",
        "testAnEpochThatIsTruncatedAfterTheSchedulersEndIsNotBackOnceAnotherHasBegun",
        "testAnEpochThatNothingIsLeftOfIsAllThatGoes",
    }
    assert (fixed.passed, fixed.failed) == (published.passed | published.failed, frozenset())


@pytest.mark.nightly("another way to mend what the test above shows")
def test_a_truncated_epoch_is_back_with_its_file_until_it_is_compared_as_the_log_is_loaded():
    name, fix = "EpochsOfALoadedLogTest", "epochs-compared-as-loaded"
    published, fixed = (
        _run("4.3.1", [f"{name}.java"], f"org.apache.kafka.storage.internals.log.{name}", each)
        for each in (None, fix)
    )
    assert published.failed == {
        "testAnEpochThatWasTruncatedIsNotBackAfterACleanStop",
        "testAnEpochThatWasTruncatedIsNotBackAfterACrash",
        "testAnEpochThatWasTruncatedIsNotBackWhereTheLastSegmentIsEmpty",
    }
    assert published.passed == {
        "testEpochsWithRecordsStay",
        "testTheLastEpochStaysWhereTheLogStartsLater",
    }
    assert (fixed.passed, fixed.failed) == (published.passed | published.failed, frozenset())


def test_a_tiered_follower_empties_its_log_before_the_store_has_answered_until_it_is_mended():
    name = "TieredFollowerTest"
    published, fixed = (
        _run("4.3.1", [f"{name}.java"], f"kafka.server.{name}", each)
        for each in (None, "indexes-before-truncating")
    )
    assert published.failed == {
        "testALogIsNotEmptiedWhereTheStoreRefusesTheLeaderEpochs",
        "testALogIsNotEmptiedWhereTheStoreRefusesTheProducerSnapshot",
    }
    assert published.passed == {"testALogIsEmptiedAndGetsTheLeaderEpochsOfTheStore"}
    assert (fixed.passed, fixed.failed) == (published.passed | published.failed, frozenset())


def test_a_copy_in_another_directory_misses_truncations_until_it_is_mended():
    name = "FutureReplicaTruncationTest"
    published, fixed = (
        _run("4.3.1", [f"{name}.scala"], f"kafka.server.{name}", each)
        for each in (None, "every-truncation-marks-the-copy")
    )
    assert published.failed == {"testATruncationThatMayNotBeTheLastCountsForTheFutureReplica"}
    assert published.passed == {"testTheLastTruncationCountsForTheFutureReplica"}
    assert (fixed.passed, fixed.failed) == (published.passed | published.failed, frozenset())


def test_voters_where_the_log_was_truncated_are_missed_until_they_are_read():
    name = "VotersAfterTruncationTest"
    published, fixed = (
        _run("4.3.1", [f"{name}.java"], f"org.apache.kafka.raft.{name}", fix)
        for fix in (None, "voters-after-a-truncation")
    )
    assert published.failed == {
        "testVotersThatAreAppendedBelowTheFormerEndOfTheLogAreAsked",
        "testVotersThatAreAppendedFarBelowTheFormerEndOfTheLogAreAsked",
    }
    assert published.passed == {
        "testVotersThatAreAppendedUpToBeyondTheFormerEndOfTheLogAreAsked",
        "testVotersThatAreAppendedAreAskedWhereNothingIsTruncated",
    }
    assert (fixed.passed, fixed.failed) == (published.passed | published.failed, frozenset())


def test_a_snapshot_takes_the_voters_from_memory_until_they_are_kept():
    name = "VotersAfterSnapshotTest"
    published, fixed = (
        _run("4.3.1", [f"{name}.java"], f"org.apache.kafka.raft.{name}", fix)
        for fix in (None, "snapshot-keeps-its-voters")
    )
    assert published.failed == {"testVotersBeforeASnapshotAreAskedWhenThoseAtItsEndAreTruncated"}
    assert published.passed == {
        "testVotersBeforeASnapshotAreAskedWhenThoseBeyondItsEndAreTruncated",
        "testVotersAtTheEndOfASnapshotAreAsked",
    }
    assert (fixed.passed, fixed.failed) == (published.passed | published.failed, frozenset())


def test_a_new_node_ends_where_no_endpoints_are_known_until_it_asks_on():
    name = "UnknownEndpointsTest"
    published, fixed = (
        _run("4.3.1", [f"{name}.java"], f"org.apache.kafka.raft.{name}", fix)
        for fix in (None, "unknown-endpoints")
    )
    assert published.failed == {"testANewNodeThatIsToldOfALeaderWithoutEndpointsAsksOn"}
    assert published.passed == {"testANewNodeThatIsToldWhereTheLeaderIsFollowsIt"}
    assert (fixed.passed, fixed.failed) == (published.passed | published.failed, frozenset())


FLUSHED = {
    "flushed-before-it-counts": {"testASingleVoterHasFlushedWhatItCommits"},
    "flushed-as-it-starts": {"testAVoterHasFlushedItsLogWhenItFetchesAfterAStart"},
}


@pytest.mark.parametrize("fix", FLUSHED)
def test_a_controller_commits_and_acknowledges_what_it_has_not_flushed_until_it_is_mended(fix):
    name = "FlushedMetadataTest"
    published, fixed = (
        _run("4.3.1", [f"{name}.java"], f"org.apache.kafka.raft.{name}", each)
        for each in (None, fix)
    )
    assert published.failed == set().union(*FLUSHED.values())
    assert published.passed == {
        "testALeaderOfThreeHasFlushedWhatItCommits",
        "testAVoterHasFlushedWhatItHasFetchedWhenItFetchesAgain",
    }
    assert fixed.failed == published.failed - FLUSHED[fix]
    assert fixed.passed == published.passed | FLUSHED[fix]


def test_a_snapshot_of_an_earlier_epoch_is_refused_until_it_is_taken():
    name = "SnapshotBeyondTheLogTest"
    published, fixed = (
        _run("4.3.1", [f"{name}.java"], f"org.apache.kafka.raft.internals.{name}", fix)
        for fix in (None, "snapshot-beyond-the-log")
    )
    assert published.failed == {
        "testASnapshotOfAnEarlierEpochIsTakenIfItEndsBeyondTheLog",
        "testASnapshotOfAnEarlierEpochIsTakenIfItEndsAtTheLogsEnd",
        "testASnapshotOfAnEarlierEpochThatWasStoredIsTakenWhenTheLogIsOpened",
    }
    assert published.passed == {
        "testASnapshotOfALaterEpochIsTaken",
        "testASnapshotOfTheLogItselfLeavesTheLog",
    }
    assert (fixed.passed, fixed.failed) == (published.passed | published.failed, frozenset())
