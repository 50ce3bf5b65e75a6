"""Logs with a difference planted at a known place: found there and nowhere else."""

from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checker.kafka.audit.directories import find_replicas
from checker.kafka.audit.judgement import Kind, judge
from tests.support.kafka_logs import CODECS, Disk, Wanted, batches_of, epochs_of, segment_file

tried = settings(max_examples=25, deadline=None)


def judged(*disks):
    """The only partition of disks that are written, read and removed again."""
    with TemporaryDirectory() as directory:
        paths = [
            replace(disk, broker=place).write(Path(directory) / str(place))
            for place, disk in enumerate(disks)
        ]
        (group,) = find_replicas(paths).groups
        return judge(group)


def kinds(judgement):
    return [(each.kind, each.replica, each.offset) for each in judgement.violations]


@st.composite
def logs(draw, least=1):
    """Batches of random sizes, epochs that never go back, and any compression."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=least, max_size=6))
    steps = draw(st.lists(st.integers(0, 2), min_size=len(sizes), max_size=len(sizes)))
    epochs = [sum(steps[: place + 1]) for place in range(len(sizes))]
    return batches_of(sizes, epochs, draw(st.sampled_from(sorted(CODECS))))


def segments_of(draw, batches):
    """The first offset of the first segment, and of any others."""
    return [batches[0].base, *(each.base for each in batches[1:] if draw(st.booleans()))]


@tried
@given(st.data())
def test_replicas_that_agree_are_consistent_whatever_their_segments_and_watermarks(data):
    batches = data.draw(logs())
    end = batches[-1].until
    disks = []
    for _ in range(data.draw(st.integers(1, 4))):
        kept = batches[: data.draw(st.integers(1, len(batches)))]
        high = data.draw(st.integers(0, kept[-1].until))
        segments = segments_of(data.draw, kept)
        stale = [(batches[-1].epoch + 1, data.draw(st.integers(end, end + 2)))]
        epochs = epochs_of(kept) + (stale if data.draw(st.booleans()) else [])
        disks.append(Disk(kept, high_watermark=high, segments=segments, epochs=epochs))
    found = judged(*disks)
    assert kinds(found) == []
    assert found.comparison.differences == {} and found.comparison.holes == {}
    assert all("behind" in words for words in found.notices)
    for pair in [(a, b) for a in range(len(disks)) for b in range(a + 1, len(disks))]:
        shorter = min(disks[place].batches[-1].until for place in pair)
        assert found.agreed(pair) == (0, shorter)


@tried
@given(st.data())
def test_a_record_of_the_same_epoch_that_differs_is_found_where_it_is(data):
    batches = data.draw(logs())
    end = batches[-1].until
    offset = data.draw(st.integers(0, end - 1))
    others = data.draw(st.integers(1, 3))
    high = data.draw(st.integers(0, end))
    changed = [
        each.with_value(offset, b"not this") if each.base <= offset < each.until else each
        for each in batches
    ]
    found = judged(
        Disk(changed, high_watermark=high),
        *[Disk(batches, segments=segments_of(data.draw, batches)) for _ in range(others)],
    )
    differing = {
        pair: found.comparison.first_difference(pair) for pair in found.comparison.differences
    }
    assert set(differing) == {(0, other) for other in range(1, others + 1)}
    assert {each.offset for each in differing.values()} == {offset}
    expected = [(Kind.DIFFERS, 0, offset)] * others if offset < high else []
    assert kinds(found) == expected
    if not expected:
        assert any(f"differ at {offset:,}" in words for words in found.notices)


@dataclass(frozen=True)
class Fork:
    """Two logs that have a beginning in common: one goes on in an old epoch, one in a new one."""

    old: list[Wanted]
    new: list[Wanted]
    offset: int


@st.composite
def forks(draw):
    common = draw(logs())
    offset, epoch = common[-1].until, common[-1].epoch
    tails = [
        batches_of(draw(st.lists(st.integers(1, 3), min_size=1, max_size=3)), first=offset)
        for _ in range(2)
    ]
    old, new = (
        [*common, *(replace(each, epoch=epoch + later) for each in tail)]
        for later, tail in enumerate(tails, start=1)
    )
    return Fork(old, new, offset)


@tried
@given(forks(), st.data())
def test_a_fork_is_a_loss_only_if_the_older_branch_was_known_to_be_committed(fork, data):
    high = data.draw(st.integers(0, fork.old[-1].until))
    newer = data.draw(st.integers(0, fork.new[-1].until))
    found = judged(Disk(fork.old, high_watermark=high), Disk(fork.new, high_watermark=newer))
    difference = found.comparison.first_difference((0, 1))
    assert difference is not None and difference.offset == fork.offset
    assert difference.epochs == (fork.old[-1].epoch, fork.new[-1].epoch)
    assert found.agreed((0, 1)) == (0, fork.offset)
    assert kinds(found) == ([(Kind.LEFT_OUT, 0, fork.offset)] if high > fork.offset else [])


@tried
@given(forks(), st.data())
def test_a_leader_that_began_without_a_committed_record_is_found_though_it_wrote_nothing(
    fork, data
):
    high = data.draw(st.integers(0, fork.old[-1].until))
    kept = [each for each in fork.old if each.until <= fork.offset]
    epochs = [*epochs_of(kept), (fork.old[-1].epoch + 1, fork.offset)]
    found = judged(Disk(kept, epochs=epochs), Disk(fork.old, high_watermark=high))
    assert kinds(found) == ([(Kind.LEFT_OUT, 1, fork.offset)] if high > fork.offset else [])


@tried
@given(logs(least=2), st.data())
def test_only_a_log_that_ends_below_its_own_watermark_lacks_records(batches, data):
    kept = batches[: data.draw(st.integers(1, len(batches) - 1))]
    end = kept[-1].until
    own = data.draw(st.integers(0, batches[-1].until))
    high = data.draw(st.integers(0, batches[-1].until))
    found = judged(Disk(kept, high_watermark=own), Disk(batches, high_watermark=high))
    assert kinds(found) == ([(Kind.MISSING, 0, end)] if own > end else [])
    assert found.agreed((0, 1)) == (0, end)


@tried
@given(logs(least=3), st.data())
def test_a_batch_that_is_left_out_is_missing_unless_the_log_was_compacted(batches, data):
    gone = data.draw(st.integers(1, len(batches) - 2))
    kept = [*batches[:gone], *batches[gone + 1 :]]
    cleaned = data.draw(st.sampled_from([None, 0]))
    high = data.draw(st.integers(0, batches[-1].until))
    cache = epochs_of(batches)
    found = judged(Disk(kept, high_watermark=high, epochs=cache), Disk(batches, cleaned_to=cleaned))
    at = batches[gone].base
    assert found.comparison.holes[0].offset == at
    assert found.comparison.holes[0].count == batches[gone].until - at
    lost = at < high and cleaned is None
    assert kinds(found) == ([(Kind.MISSING, 0, at)] if lost else [])


@tried
@given(logs(), st.data())
def test_replicas_that_were_compacted_each_for_itself_do_not_contradict(batches, data):
    def compacted():
        return [
            replace(
                each,
                values=tuple(
                    value if data.draw(st.booleans()) else None for value in each.values[:-1]
                )
                + each.values[-1:],
            )
            for each in batches
        ]

    end, cache = batches[-1].until, epochs_of(batches)
    disks = [Disk(compacted(), high_watermark=end, epochs=cache, cleaned_to=end) for _ in range(3)]
    found = judged(*disks)
    assert kinds(found) == [] and found.comparison.differences == {}


HEADER = 61
"""Bytes of a batch before its records, of which the first 21 are not in its checksum."""


def test_a_bit_flipped_anywhere_in_a_log_is_noticed(tmp_path):
    """Each bit of the first batch's header, and one of each byte or so of what follows."""
    batches = batches_of([2, 1, 2], [1, 1, 3], "gzip")
    paths = [
        Disk(batches, broker, high_watermark=5).write(tmp_path / str(broker)) for broker in range(2)
    ]
    file = segment_file(paths[0] / "orders-0", 0)
    right = file.read_bytes()
    headers, rest = range(HEADER * 8), range(HEADER * 8, len(right) * 8, 9)
    for bit in [*headers, *rest]:
        content = bytearray(right)
        content[bit // 8] ^= 1 << bit % 8
        file.write_bytes(content)
        (group,) = find_replicas(paths).groups
        assert judge(group).violations, f"bit {bit % 8} of byte {bit // 8}"
    file.write_bytes(right)
    (group,) = find_replicas(paths).groups
    assert not judge(group).violations


@pytest.mark.parametrize("codec", sorted(CODECS))
def test_batches_that_differ_only_in_how_they_are_packed_agree(codec):
    batches = batches_of([3, 2])
    again = [replace(each, codec=codec) for each in batches]
    whole = [Wanted(0, 0, tuple(value for each in batches for value in each.values))]
    late = batches_of([1, 1, 1], first=2)
    for disks in (batches, again, whole), (whole, late):
        found = judged(*[Disk(each, high_watermark=5) for each in disks])
        assert kinds(found) == []
        assert found.comparison.differences == {} and found.comparison.holes == {}


def test_a_batch_with_fewer_records_than_offsets_shows_that_logs_were_compacted():
    batches = batches_of([2, 2, 2])
    sparse = [batches[0].with_value(0, None), *batches[1:]]
    short = [batches[0], batches[2]]
    assert kinds(judged(Disk(sparse), Disk(short, high_watermark=6))) == []
    assert kinds(judged(Disk(batches), Disk(short, high_watermark=6))) == [(Kind.MISSING, 1, 2)]
