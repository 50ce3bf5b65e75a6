"""An audit never says `consistent` of what it could not read, nor that logs agree there."""

import pytest

from checker.kafka.audit.directories import find_replicas
from checker.kafka.audit.judgement import Kind, judge
from checker.kafka.audit.report import as_text
from tests.support.kafka_logs import Disk, Wanted, batches_of, segment_file

SIX = batches_of([1, 1, 1, 1, 1, 1])


def _judged(tmp_path, *disks, harm=lambda file: None, segment=0):
    """The partition of these disks, after the first one's segment was harmed."""
    paths = [disk.write(tmp_path / str(place)) for place, disk in enumerate(disks)]
    harm(segment_file(paths[0] / "orders-0", segment))
    (group,) = find_replicas(paths).groups
    return judge(group)


def _found(judgement):
    return [(each.kind, each.replica, each.offset) for each in judgement.violations]


def _flip(at):
    def harm(file):
        content = bytearray(file.read_bytes())
        content[at] ^= 1
        file.write_bytes(content)

    return harm


def _zero(file):
    file.write_bytes(bytes(file.stat().st_size))


THREE_AND_ONE = [Wanted(0, 0, (b"a", b"b", b"c")), Wanted(3, 0, (b"d",))]


@pytest.mark.parametrize(
    ("start", "high", "expected"),
    [
        (1, 4, [(Kind.UNREADABLE, 0, 1)]),
        (2, 3, [(Kind.UNREADABLE, 0, 2)]),
        (2, 2, []),  # nothing of the log is claimed
        (3, 4, []),  # all that cannot be read lies before the log
    ],
)
def test_a_damaged_batch_that_reaches_over_the_log_start_is_unreadable(
    tmp_path, start, high, expected
):
    disk = Disk(THREE_AND_ONE, 0, high, log_start=start)
    found = _judged(tmp_path, disk, harm=_flip(80))
    assert _found(found) == expected


def test_a_record_that_is_missing_before_damage_is_missing(tmp_path):
    """The bytes that cannot be read begin behind the hole, so they were never of it."""
    broken = Disk([Wanted(0, 0, (b"a",)), Wanted(2, 0, (b"c",))], 0, 2, segments=[0, 2])
    whole = Disk([Wanted(0, 0, (b"a",)), Wanted(1, 0, (b"b",))], 1, 2)
    found = _judged(tmp_path, broken, whole, harm=_flip(70), segment=2)
    assert _found(found) == [(Kind.MISSING, 0, 1)]
    assert found.violations[0].other == 1
    assert found.alike((0, 1)) == 1


@pytest.mark.parametrize("replicas", [1, 2])
def test_a_hole_that_every_replica_has_is_missing_unless_the_log_was_compacted(tmp_path, replicas):
    holed = [*SIX[:2], *SIX[4:]]
    for high, cleaned, lost in ((6, None, True), (3, None, True), (2, None, False), (6, 0, False)):
        disks = [Disk(holed, n, high, cleaned_to=cleaned) for n in range(replicas)]
        place = tmp_path / f"{high}-{cleaned}"
        assert _found(_judged(place, *disks)) == [
            (Kind.MISSING, n, 2) for n in range(replicas) if lost
        ]


@pytest.mark.parametrize("segment", [0, 2])
def test_a_segment_of_zeros_is_damage_if_another_follows(tmp_path, segment):
    disk = Disk(SIX, 0, 6, segments=[0, 2, 4])
    found = _judged(tmp_path, disk, harm=_zero, segment=segment)
    assert _found(found) == [(Kind.UNREADABLE, 0, segment)]


@pytest.mark.parametrize(
    ("clean", "flushed", "words"),
    [
        (False, None, "log.preallocate leaves this"),
        (True, None, "shuts down cleanly leaves none"),
        (False, 6, "records up to 5 had been flushed there"),
    ],
)
def test_zeros_at_the_end_are_what_preallocation_leaves_unless_something_says_otherwise(
    tmp_path, clean, flushed, words
):
    disk = Disk(SIX, 0, 4, segments=[0, 4], is_clean=clean, recovery_point=flushed)
    found = _judged(tmp_path, disk, harm=_zero, segment=4)
    assert _found(found) == []
    assert [words in each for each in found.notices if "nothing but zeros" in each] == [True]
    assert found.unread == (clean or flushed is not None)


def test_a_record_left_out_is_one_that_the_replica_holds(tmp_path):
    """The later epoch began in a hole: the record is the one behind it, or there is none."""
    newer = Disk(SIX[:2], 1, 0, epochs=[(0, 0), (1, 2)])
    holed = Disk([*SIX[:2], *SIX[4:]], 0, 6, cleaned_to=6)
    assert _found(_judged(tmp_path / "between", holed, newer)) == [(Kind.LEFT_OUT, 0, 4)]
    first = (*SIX[0].values, *SIX[1].values)
    for last, expected in ((b"f", [(Kind.LEFT_OUT, 0, 5)]), (None, [])):
        sparse = Disk([Wanted(0, 0, (*first, None, None, None, last))], 0, 6)
        assert _found(_judged(tmp_path / f"within {last!r}", sparse, newer)) == expected


def test_logs_agree_only_where_both_were_read(tmp_path):
    """Not over holes, nor over bytes of one or both that cannot be read."""
    whole = Disk(SIX, 1, 0)
    size = len(SIX[0].encoded())
    holed = Disk([*SIX[:2], *SIX[3:]], 0, 0)
    assert _judged(tmp_path / "hole", holed, whole).alike((0, 1)) == 5
    told = " ".join(as_text(_judged(tmp_path / "three", holed, whole, whole)).split())
    assert told.count("agree at 5 of the offsets from 0 to 5") == 2 and "all agree" not in told
    told = " ".join(as_text(_judged(tmp_path / "all", holed, holed, holed)).split())
    assert "all agree at 5 of the offsets from 0 to 5" in told
    found = _judged(tmp_path / "harm", Disk(SIX, 0, 0), whole, harm=_flip(2 * size - 1))
    assert (found.agreed((0, 1)), found.alike((0, 1))) == ((0, 6), 5)
    differing = Disk([*SIX[:3], SIX[3].with_value(3, b"x"), *SIX[4:]], 0, 0)
    found = _judged(tmp_path / "differ", differing, whole)
    assert (found.agreed((0, 1)), found.alike((0, 1))) == ((0, 3), 3)
