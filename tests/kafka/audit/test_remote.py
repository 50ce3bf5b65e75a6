"""A remote store beside the brokers' disks: what is violated, what is noticed, what is consistent.

The metadata in `remote_log_metadata` is what a run of finding 0028 on 4.3.1 left behind.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from checker.kafka.audit.directories import find_replicas
from checker.kafka.audit.judgement import Kind, judge
from checker.kafka.audit.remote import REQUIRED, find_segments
from checker.kafka.audit.remote_judgement import judge_remote
from checker.kafka.audit.remote_metadata import State, read_metadata
from tests.support.kafka_logs import Disk, batches_of
from tests.support.remote_store import DELETED, FINISHED, STARTED, Remote, write_metadata

LOG = batches_of([2, 2, 2, 2], [0, 0, 1, 2])
CHAIN = [(0, 0), (1, 4), (2, 6)]
SEGMENTS = (Remote(LOG[:1], 1), Remote(LOG[1:3], 2))
WHOLE = (*SEGMENTS, Remote(LOG[3:], 3))


def disks(chains=(CHAIN, CHAIN), local=LOG[3:], log_start=0):
    return [Disk(local, n, 8, log_start=log_start, epochs=chain) for n, chain in enumerate(chains)]


def judged(tmp_path, segments=SEGMENTS, brokers=None, told=None):
    """The partition's judgement; `told` are the segments of the metadata, if not all."""
    brokers = disks() if brokers is None else brokers
    paths = [disk.write(tmp_path / str(place)) for place, disk in enumerate(brokers)]
    for segment in segments:
        segment.write(tmp_path / "tier")
    metadata = write_metadata(tmp_path / "metadata", segments if told is None else told)
    (group,) = find_replicas(paths, "orders").groups
    return judge_remote(judge(group), find_segments(tmp_path / "tier"), read_metadata([metadata]))


def kinds(found):
    return [each.kind for each in found.violations]


def test_the_metadata_that_brokers_wrote_says_who_deleted_what(tmp_path):
    folder = tmp_path / "__remote_log_metadata-0"
    folder.mkdir()
    log = Path(__file__).parent / "remote_log_metadata" / f"{0:020}.log"
    (folder / log.name).write_bytes(log.read_bytes())
    found = read_metadata([tmp_path])
    (segments,) = found.partitions.values()
    assert found.unread == 0
    assert [
        (each.base, each.until, each.epochs, each.state, each.broker) for each in segments.values()
    ] == [(base, base + 1, ((0, base),), State.DELETE_FINISHED, 2) for base in range(6)]
    assert all(20_000 < each.time - each.youngest < 40_000 for each in segments.values())


@pytest.mark.parametrize("segments", [SEGMENTS, WHOLE], ids=["below", "overlapping"])
@pytest.mark.parametrize("told", [None, ()], ids=["metadata", "none"])
def test_a_store_that_covers_what_local_logs_lack_is_consistent(tmp_path, segments, told):
    found = judged(tmp_path, segments, told=told)
    assert kinds(found) == [] and found.notices == () and found.unread == 0
    assert found.remote.has_metadata is (told is None)


def test_a_replica_whose_leader_epochs_begin_later_has_forgotten_segments(tmp_path):
    found = judged(tmp_path, brokers=disks([CHAIN, [(2, 6)]]))
    (violation,) = found.violations
    assert (violation.kind, violation.replica) == (Kind.FORGOTTEN, 1)
    assert violation.words.endswith("2 remote segments (0 to 5, epochs 0, 1): as the leader it "
                                    "deletes them")  # fmt: skip
    (violation,) = judged(tmp_path / "1", brokers=disks([CHAIN, [(1, 4), (2, 6)]])).violations
    assert "1 remote segment (0 to 1, epoch 0): as the leader it deletes them" in violation.words
    (violation,) = judged(tmp_path / "2", brokers=disks([CHAIN, []])).violations
    assert violation.words.endswith("as the leader it cannot read them")


@pytest.mark.parametrize(
    ("second", "words"),
    [
        (replace(SEGMENTS[1], states=[STARTED, FINISHED, 2, DELETED], files=()), "deleted"),
        (replace(SEGMENTS[1], states=[STARTED]), "local log here"),
        (Remote(batches_of([2, 2], [3, 3], first=2), 2), "no replica's leader epochs reach"),
    ],
    ids=["deleted", "not finished", "of other epochs"],
)
def test_offsets_that_no_segment_covers_are_a_violation(tmp_path, second, words):
    found = judged(tmp_path, [SEGMENTS[0], second])
    violation = found.violations[0]
    assert (kinds(found), violation.offset) == ([Kind.UNCOVERED], 2)
    assert "holds 2 to 5" in violation.words and words in violation.words
    assert "hidden" not in violation.words


LONGER, LATE = Remote(LOG[:3], 1), Remote(LOG[:1], 2)
"""Offsets 0 to 5, and another copy of 0 and 1 of the same epoch."""


def test_a_shorter_copy_that_ended_later_hides_what_a_longer_one_has(tmp_path):
    """Finding 0030: of its later epoch the longer one is found still."""
    found = judged(tmp_path, [LONGER, LATE])
    (violation,) = found.violations
    assert (violation.kind, violation.offset) == (Kind.UNCOVERED, 2)
    assert "holds 2 to 3;" in violation.words
    assert violation.words.endswith("has them, and is hidden (finding 0030)")


def test_what_is_hidden_is_warned_of_while_local_logs_have_it(tmp_path):
    found = judged(tmp_path, [LONGER, LATE], disks(local=LOG))
    (notice,) = found.notices
    assert kinds(found) == [] and "reads of 2 to 3 are led" in notice
    assert f"to remote segment {LATE.identity}, which ends before" in notice


@pytest.mark.parametrize(
    "segments",
    [
        [LATE, LONGER],
        [LONGER, replace(LATE, states=[STARTED])],
        [LONGER, Remote(LOG[1:2], 2)],
    ],
    ids=["the other order", "not finished", "begins later"],
)
def test_a_shorter_copy_that_is_replaced_or_not_listed_in_its_place_hides_nothing(
    tmp_path, segments
):
    assert kinds(judged(tmp_path, segments)) == []


def test_a_hidden_segment_stays_hidden_though_the_shorter_one_is_deleted(tmp_path):
    deleted = replace(LATE, states=[STARTED, FINISHED, 2, DELETED], files=())
    found = judged(tmp_path, [LONGER, deleted])
    assert kinds(found)[0] == Kind.UNCOVERED and found.violations[0].offset == 0


def test_what_lies_below_the_log_start_need_not_be_there(tmp_path):
    segments = [replace(SEGMENTS[0], files=()), SEGMENTS[1]]
    assert kinds(judged(tmp_path, segments, disks(log_start=2))) == []
    assert kinds(judged(tmp_path / "1", segments)) == [Kind.INCOMPLETE, Kind.UNCOVERED]


@pytest.mark.parametrize("missing", REQUIRED[1:])
def test_a_finished_segment_without_one_of_its_files_is_incomplete(tmp_path, missing):
    files = tuple(each for each in REQUIRED if each != missing)
    assert kinds(judged(tmp_path, [SEGMENTS[0], replace(SEGMENTS[1], files=files)])) == [
        Kind.INCOMPLETE
    ]


@pytest.mark.parametrize("told", [None, ()], ids=["metadata", "none"])
def test_a_segment_that_is_cut_short_is_never_consistent(tmp_path, told):
    for segment in SEGMENTS:
        segment.write(tmp_path / "tier")
    size = len(LOG[1].encoded())
    for cut, kind in ((1, Kind.UNREADABLE), (size, Kind.INCOMPLETE if told is None else None)):
        place = tmp_path / str(cut)
        paths = [disk.write(place / str(n)) for n, disk in enumerate(disks())]
        metadata = write_metadata(place / "metadata", SEGMENTS if told is None else told)
        file = SEGMENTS[1].path(tmp_path / "tier", ".log")
        file.write_bytes(file.read_bytes()[:-cut] if cut == 1 else LOG[1].encoded())
        (group,) = find_replicas(paths, "orders").groups
        store = find_segments(tmp_path / "tier")
        found = judge_remote(judge(group), store, read_metadata([metadata]))
        assert kinds(found)[0] == (kind or Kind.UNCOVERED)
        assert found.unread == (cut == 1)


def test_a_record_that_differs_from_a_local_log_or_another_segment_is_a_violation(tmp_path):
    other = Remote([LOG[3].with_value(6, b"another")], 3)
    found = judged(tmp_path, [*SEGMENTS, other])
    assert kinds(found) == [Kind.DIFFERS] * 2 and found.violations[0].offset == 6
    twice = Remote([LOG[2].with_value(5, b"another")], 4)
    (violation,) = judged(tmp_path / "1", [*SEGMENTS, twice]).violations
    assert (violation.kind, violation.offset) == (Kind.DIFFERS, 5)


def test_a_segment_of_an_earlier_epoch_than_a_leader_who_began_below_it_was_left_out(tmp_path):
    old = Remote(batches_of([3], [1], first=4), 2)
    found = judged(tmp_path, [SEGMENTS[0], Remote(LOG[1:2], 4), old])
    violation = next(each for each in found.violations if each.kind is Kind.LEFT_OUT)
    assert (violation.offset, violation.epoch) == (6, 1) and "epoch 2 began at 6" in violation.words


def test_files_that_no_broker_reads_are_noticed(tmp_path):
    extra = [Remote(LOG[:1], 7), Remote(LOG[:1], 8, states=[STARTED])]
    found = judged(tmp_path, [*SEGMENTS, *extra], told=[*SEGMENTS, extra[1]])
    assert kinds(found) == []
    assert [each.partition("): ")[2] for each in found.notices] == [
        "no metadata tells of it, so that no broker reads it",
        "its copy is not finished, so that no broker reads it",
    ]
