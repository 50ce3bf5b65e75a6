"""What one log says by itself: where it ends, what in it cannot be read, and its epochs."""

import pytest

from checker.kafka.audit.checkpoints import read_epochs, read_offsets
from checker.kafka.audit.directories import find_replicas
from checker.kafka.audit.judgement import Kind, judge
from checker.kafka.audit.segments import Batch, Contents, Damage, Fault, read_log
from model.language.errors import UsageError
from tests.support.kafka_logs import TOPIC_ID, Disk, Wanted, batches_of, segment_file

THREE = batches_of([2, 2, 2])
SIZE = len(THREE[0].encoded())


def read(folder, log_start=None):
    """The offsets of the batches in a folder, what is damaged, and what the log holds."""
    contents = Contents()
    items = list(read_log(folder, log_start, contents))
    batches = [(each.base, each.until) for each in items if isinstance(each, Batch)]
    return batches, [each for each in items if isinstance(each, Damage)], contents


def written(tmp_path, batches=THREE, **options):
    return Disk(batches, **options).write(tmp_path / "disk") / "orders-0"


def of_one(folder):
    (group,) = find_replicas([folder.parent]).groups
    return judge(group)


def test_a_log_that_is_cut_anywhere_ends_before_the_batch_that_is_torn(tmp_path):
    folder = written(tmp_path)
    file = segment_file(folder, 0)
    content = file.read_bytes()
    for cut in range(len(content)):
        file.write_bytes(content[:cut])
        whole = cut // SIZE
        batches, damage, contents = read(folder)
        assert batches == [(2 * place, 2 * place + 2) for place in range(whole)]
        assert contents.end == 2 * whole
        torn = [Damage(Fault.TORN, file.name, whole * SIZE, 2 * whole)] if cut % SIZE else []
        assert damage == contents.damage == torn


def test_behind_bytes_that_cannot_be_read_the_next_batch_or_segment_goes_on(tmp_path):
    folder = written(tmp_path, batches_of([2, 2, 2, 2]), segments=[0, 4])
    file = segment_file(folder, 0)
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    assert read(folder)[0] == [(0, 2), (4, 6), (6, 8)]
    assert [(each.fault, each.offset) for each in read(folder)[1]] == [(Fault.CRC, 2)]
    file.write_bytes(content[:-5])
    assert [(each.fault, each.offset) for each in read(folder)[1]] == [(Fault.TORN, 2)]
    assert read(folder)[2].end == 8


def test_what_preallocation_leaves_is_not_damage(tmp_path):
    folder = written(tmp_path)
    with segment_file(folder, 0).open("ab") as file:
        file.write(bytes(3_000_000))
    assert read(folder)[1] == [] and read(folder)[2].end == 6
    with segment_file(folder, 0).open("ab") as file:
        file.write(b"x")
    assert [each.fault for each in read(folder)[1]] == [Fault.TORN]


def test_an_empty_segment_says_where_the_log_ends(tmp_path):
    folder = written(tmp_path, [], segments=[7])
    _, _, contents = read(folder)
    assert (contents.start, contents.end, contents.records) == (7, 7, 0)
    folder = written(tmp_path / "other", segments=[0, 9])
    assert read(folder)[2].end == 9


@pytest.mark.parametrize("base", [0, 3, 100])
def test_one_batch_whose_offset_is_wrong_does_not_make_those_around_it_wrong(tmp_path, base):
    folder = written(tmp_path, batches_of([2, 2, 2, 2]))
    file = segment_file(folder, 0)
    content = bytearray(file.read_bytes())
    content[SIZE : SIZE + 8] = base.to_bytes(8, "big")
    file.write_bytes(content)
    batches, damage, _ = read(folder)
    assert batches == [(0, 2), (4, 6), (6, 8)]
    assert damage == [Damage(Fault.ORDER, file.name, SIZE, 2)]


def test_batches_before_the_log_start_are_not_part_of_the_log(tmp_path):
    batches, _, contents = read(written(tmp_path), log_start=3)
    assert batches == [(2, 4), (4, 6)] and (contents.start, contents.end) == (3, 6)
    assert [(each.epoch, each.first) for each in contents.stretches] == [(0, 3)]


def test_logs_that_start_at_different_offsets_are_compared_from_the_later_one(tmp_path):
    paths = [
        Disk(THREE[dropped:], place, 6, log_start=start).write(tmp_path / str(place))
        for place, (dropped, start) in enumerate([(0, None), (1, None), (1, 3), (0, 5)])
    ]
    (group,) = find_replicas(paths).groups
    found = judge(group)
    assert found.violations == () and found.comparison.holes == {}
    assert [found.agreed(pair) for pair in [(0, 1), (0, 2), (1, 2), (2, 3)]] == [
        (2, 6), (3, 6), (3, 6), (5, 6),
    ]  # fmt: skip


def test_control_batches_and_producers_are_compared_too(tmp_path):
    commit = Wanted(2, 0, (b"\0\0\0\0\0\0",), producer=9, is_control=True)
    one, other = [Wanted(0, 0, (b"a", b"b"), producer=9), commit], [
        Wanted(0, 0, (b"a", b"b"), producer=8), commit,
    ]  # fmt: skip
    paths = [Disk(b, n, 3).write(tmp_path / str(n)) for n, b in enumerate([one, one, other])]
    (group,) = find_replicas(paths).groups
    found = judge(group)
    assert found.agreed((0, 1)) == (0, 3) and found.agreed((0, 2)) is None
    assert [each.kind for each in found.violations] == [Kind.DIFFERS] * 2


@pytest.mark.parametrize(
    ("epochs", "words"),
    [
        ([(0, 0), (2, 2)], None),
        ([(0, 0), (2, 2), (3, 4), (5, 9)], None),  # stale: at or beyond the end
        ([(2, 2)], "no entry for its first offset"),
        ([], "no entry for its first offset"),
        ([(0, 0)], "epoch 2 from 2 to 3"),
        ([(0, 0), (1, 2)], "epoch 2 from 2 to 3"),
        ([(0, 0), (2, 1)], "epoch 0 from 0 to 1"),
        ([(0, 0), (2, 3)], "epoch 2 from 2 to 3"),
        ([(0, 0), (2, 2), (3, 3)], "epoch 2 from 2 to 3"),
        ([(0, 0), (3, 2), (2, 2)], "out of order"),
    ],
)
def test_an_epoch_cache_that_contradicts_its_log_is_noticed(tmp_path, epochs, words):
    found = of_one(written(tmp_path, batches_of([2, 2], [0, 2]), epochs=epochs))
    about = [each for each in found.notices if "epoch cache" in each]
    assert found.violations == ()
    assert about == [] if words is None else words in about[0]


def test_epochs_that_go_back_are_noticed(tmp_path):
    found = of_one(written(tmp_path, batches_of([2, 2, 1], [1, 3, 2])))
    assert any("goes back from 3 to 2 at offset 4" in words for words in found.notices)


def test_a_watermark_may_be_of_a_copy_that_was_set_aside(tmp_path):
    folder = written(tmp_path, high_watermark=9)
    assert [each.kind for each in of_one(folder).violations] == [Kind.MISSING]
    (folder.parent / f"orders-0.{'a' * 32}-future").mkdir()
    assert [each.kind for each in of_one(folder).violations] == [Kind.MISSING]
    (folder.parent / f"orders-0.{'a' * 32}-stray").mkdir()
    found = of_one(folder)
    assert found.violations == ()
    assert any("set aside" in words for words in found.notices)


@pytest.mark.parametrize("suffix", ["stray", "delete"])
@pytest.mark.parametrize("topic_id", [TOPIC_ID, "BBBBBBBBBBBBBBBBBBBBBB"])
def test_a_copy_that_was_set_aside_and_goes_on_is_noticed(tmp_path, suffix, topic_id):
    folder = written(tmp_path, THREE[:1], high_watermark=2)
    copy = Disk(THREE, topic_id=topic_id).write(tmp_path / "other") / "orders-0"
    copy.rename(tmp_path / "other" / f"orders-0.{'a' * 32}-{suffix}")
    (group,) = find_replicas([folder.parent, tmp_path / "other"]).groups
    noticed = [words for words in judge(group).notices if "holds records up to 5" in words]
    assert len(noticed) == (topic_id == TOPIC_ID)
    assert judge(group).violations == ()


@pytest.mark.parametrize(
    "content",
    ["1\n0\n", "0\n", "0\nx\n", "0\n1\n", "0\n1\na 0\n", "0\n1\na 0 x\n", "0\n0\na 0 1\n", "\0",
     "0\n1\n\n", "0\n2\na 0 1\n\n", "0\n1\na 0 1 2\n", "\xff"],
)  # fmt: skip
def test_a_checkpoint_is_read_as_kafka_does_or_refused_in_one_line(tmp_path, content):
    file = tmp_path / "checkpoint"
    file.write_text(content, encoding="latin-1")
    if content in ("0\n",):
        assert read_offsets(file) == {}
        return
    with pytest.raises(UsageError, match="checkpoint") as refused:
        read_offsets(file)
    assert "\n" not in str(refused.value)


def test_checkpoints_that_say_nothing_and_that_say_something(tmp_path):
    file = tmp_path / "checkpoint"
    assert read_offsets(file) == {} and read_epochs(file) is None
    file.write_text("")
    assert read_offsets(file) == {} and read_epochs(file) == ()
    file.write_text("0\n2\na-b.c 0 5\nd  12\t7\n")
    assert read_offsets(file) == {("a-b.c", 0): 5, ("d", 12): 7}
