"""`audit` as users run it: what it prints, how it ends, what it refuses, and that it only reads."""

import json

import pytest

from checker.core.exits import Exit
from tests.support.kafka_logs import Disk, Wanted, batches_of, segment_file
from tests.support.remote_store import Remote

FIVE = batches_of([2, 3], [0, 1])


@pytest.fixture
def disks(tmp_path):
    """Three brokers that agree."""
    return [Disk(FIVE, broker, 5).write(tmp_path / str(broker)) for broker in range(3)]


def everything_in(paths):
    """Each file below directories with what it holds, and when it was changed."""
    files = [file for path in paths for file in sorted(path.rglob("*"))]
    return [
        (file, file.stat().st_mtime_ns, file.read_bytes() if file.is_file() else None)
        for file in [*paths, *files]
    ]


def test_replicas_that_agree(highwater, disks):
    ended = highwater("audit", *disks)
    assert ended.status == Exit.OK and ended.err == ""
    assert "all agree from 0 to 4" in ended.out
    *_, verdict, caveat = ended.out.splitlines()
    assert verdict == (
        "consistent: nothing below a checkpointed high watermark is contradicted (1 partition)"
    )
    assert caveat.startswith("not seen: a loss that no disk shows any more")


def test_a_loss_is_status_12_and_says_who_holds_what(highwater, tmp_path):
    paths = [
        Disk(FIVE[:1], 0, 2, epochs=[(0, 0), (3, 2)]).write(tmp_path / "a"),
        Disk(FIVE, 1, 5).write(tmp_path / "b"),
    ]
    ended = highwater("audit", *paths)
    assert ended.status == Exit.VIOLATED
    words = " ".join(ended.out.split())
    assert (
        "violated, left out: broker 1 holds the record 2 of epoch 1, below its high watermark 5; "
        "the leader of epoch 3 began at 2 without it (broker 0)" in words
    )
    found = highwater("audit", *paths, "--json").json
    assert found["verdict"] == "violated"
    (partition,) = found["partitions"]
    assert partition["pairs"] == [
        {"replicas": [0, 1], "agree": [0, 2], "alike": 2, "differ_at": None, "epochs": None}
    ]
    (violation,) = partition["violations"]
    assert (violation["kind"], violation["replica"], violation["offset"]) == ("left_out", 1, 2)
    assert [each["records"] for each in partition["replicas"]] == [2, 5]


def test_the_verdict_says_what_it_says_nothing_of(highwater, tmp_path):
    path = Disk(FIVE, 0, None).write(tmp_path / "0")
    file = segment_file(path / "orders-0", 0)
    file.write_bytes(file.read_bytes()[:-1])
    ended = highwater("audit", path)
    assert ended.status == Exit.OK
    assert "not judged: 1 place that cannot be read (see above), 1 replica without" in ended.out


def test_where_logs_agree_at_some_offsets_only_the_text_says_at_how_many(highwater, tmp_path):
    six = batches_of([1] * 6)
    logs = [six[:2] + six[3:], six]
    paths = [Disk(log, n, 0).write(tmp_path / str(n)) for n, log in enumerate(logs)]
    ended = highwater("audit", *paths)
    assert "agree at 5 of the offsets from 0 to 5" in " ".join(ended.out.split())


def test_nothing_is_written_even_where_one_could(highwater, disks):
    file = segment_file(disks[0] / "orders-0", 0)
    file.write_bytes(file.read_bytes()[:-3])
    before = everything_in(disks)
    assert highwater("audit", *disks).status == Exit.VIOLATED
    assert everything_in(disks) == before
    for path in (*disks, *(path / "orders-0" for path in disks)):
        path.chmod(0o500)
    try:
        assert highwater("audit", *disks).status == Exit.VIOLATED
        assert everything_in(disks)[0][0] == disks[0]
    finally:
        for path in (*disks, *(path / "orders-0" for path in disks)):
            path.chmod(0o700)


def test_topics_directories_of_one_broker_and_what_kafka_set_aside(highwater, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    Disk(FIVE, 4, 5).write(first)
    Disk(FIVE, 4, 5, topic="payments").write(second)
    (first / f"orders-1.{'0' * 32}-delete").mkdir()
    (first / f"orders-2.{'0' * 32}-future").mkdir()
    found = highwater("audit", first, second, "--json").json
    assert [each["topic"] for each in found["partitions"]] == ["orders", "payments"]
    assert highwater("audit", first, second).out.count("broker 4  0 to 4") == 2
    assert len(found["skipped"]) == 2
    found = highwater("audit", first, second, "--topic", "payments", "--json").json
    assert [each["topic"] for each in found["partitions"]] == ["payments"]
    ended = highwater("audit", first, second, "--topic", "paymnets")
    assert ended.status == Exit.USAGE and "did you mean 'payments'?" in ended.err


def test_topics_of_the_same_name_with_different_ids_are_not_compared(highwater, tmp_path):
    other = [Wanted(0, 9, (b"another",))]
    paths = [
        Disk(FIVE, 0, 5).write(tmp_path / "a"),
        Disk(other, 1, 1, topic_id="BBBBBBBBBBBBBBBBBBBBBB").write(tmp_path / "b"),
    ]
    found = highwater("audit", *paths, "--json").json
    assert found["verdict"] == "consistent"
    assert [len(each["replicas"]) for each in found["partitions"]] == [1, 1]


def _legacy(path):
    """A message of format 1: offset, size, CRC, version, attributes, time, no key, no value."""
    import zlib

    rest = bytes([1, 0]) + bytes(8) + b"\xff" * 8
    body = zlib.crc32(rest).to_bytes(4, "big") + rest
    return bytes(8) + len(body).to_bytes(4, "big") + body


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("replication-offset-checkpoint", b"7\n0\n", "line 1 is '7', not version 0"),
        ("replication-offset-checkpoint", b"0\n1\norders 0\n", "not TOPIC PARTITION OFFSET"),
        ("recovery-point-offset-checkpoint", b"0\n2\norders 0 1\n", "1 entries, but line 2 says 2"),
        ("log-start-offset-checkpoint", b"0\n1\norders 0 x\n", "'x' is no whole number"),
        ("orders-0/leader-epoch-checkpoint", b"\xff\xfe", "not a text file"),
        ("orders-0/partition.metadata", b"hello", "not the metadata of a partition"),
        ("orders-0/00000000000000000000.log", _legacy(None), "message format 1"),
    ],
)
def test_a_file_that_is_not_what_it_should_be_is_refused(highwater, disks, name, content, words):
    (disks[1] / name).write_bytes(content)
    ended = highwater("audit", *disks)
    assert ended.status == Exit.USAGE
    assert ended.err.startswith("error: ") and ended.err.count("\n") == 1
    assert words in ended.err and name.rpartition("/")[2] in ended.err


def test_directories_that_are_no_log_directories_are_refused(highwater, disks, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    file = tmp_path / "file"
    file.touch()
    for arguments, words in [
        ((), "DIR"),
        ((tmp_path / "nowhere",), "does not exist"),
        ((file,), "is not a directory"),
        ((empty,), "is no log directory"),
        ((disks[0] / "orders-0",), "is the folder of one replica"),
        ((disks[0], disks[0]), "name each once"),
        ((disks[0], "--topic", "x"), "'x'"),
    ]:
        ended = highwater("audit", *arguments)
        assert ended.status == Exit.USAGE, arguments
        assert ended.err.startswith("error: ") and ended.err.count("\n") == 1
        assert words in ended.err


def test_a_log_that_cannot_be_read_is_refused(highwater, disks):
    segment = segment_file(disks[0] / "orders-0", 0)
    segment.unlink()
    segment.mkdir()  # which root cannot read either
    ended = highwater("audit", *disks)
    assert ended.status == Exit.USAGE and "Is a directory" in ended.err
    assert ended.err.startswith("error: ") and ended.err.count("\n") == 1


def test_audit_writes_a_state_and_browse_begins_there(highwater, tmp_path):
    logs = [batches_of([1, 1], [0, 4]), [*batches_of([1]), Wanted(1, 2, (b"x",))]]
    paths = [Disk(log, place, 2).write(tmp_path / str(place)) for place, log in enumerate(logs)]
    file = tmp_path / "state.json"
    ended = highwater("audit", *paths, "--state", file)
    assert ended.status == Exit.VIOLATED
    assert f"as a state, in {file}:\n  brokers: b0 is broker 0, b1 is broker 1\n" in ended.out
    found = highwater("audit", *paths, "--state", file, "--json").json
    assert found["partitions"][0]["state"] == json.loads(file.read_text())
    wrong = highwater("browse", "--state", file, "--log-size", 1)
    assert wrong.status == Exit.REJECTED and wrong.err.count("\n") == 1
    wrong = highwater("browse", "--state", file, "--trace", "kip101-weak_isr")
    assert wrong.status == Exit.USAGE and "choose one" in wrong.err
    Disk(logs[0], 0, 2, topic="other").write(tmp_path / "both")
    Disk(logs[0], 0, 2).write(tmp_path / "both2")
    several = highwater("audit", tmp_path / "both", tmp_path / "both2", "--state", tmp_path / "no")
    assert several.status == Exit.USAGE and "here are 2 (orders-0, other-0)" in several.err
    assert not (tmp_path / "no").exists()
    one = highwater("audit", tmp_path / "both", tmp_path / "both2", "--topic", "other",
                    "--partition", 0, "--state", tmp_path / "one")  # fmt: skip
    assert one.status == Exit.OK and (tmp_path / "one").exists()
    gone = highwater("audit", tmp_path / "both", "--partition", 7)
    assert gone.status == Exit.USAGE and "no partition 7" in gone.err


def test_the_command_says_what_it_did_not_read(highwater, tmp_path):
    log = batches_of([2, 2, 2, 2], [0, 0, 1, 2])
    segments = [Remote(log[:1], 1), Remote(log[1:3], 2)]
    epochs = [(0, 0), (1, 4), (2, 6)]
    disks = [Disk(log[3:], n, 8, log_start=0, epochs=epochs) for n in range(2)]
    paths = [disk.write(tmp_path / str(n)) for n, disk in enumerate(disks)]
    for segment in segments:
        segment.write(tmp_path / "tier")
    (tmp_path / "tier" / "other-3-AAAAAAAAAAAAAAAAAAAAAA").mkdir()
    ended = highwater("audit", *paths, "--tier", tmp_path / "tier")
    assert ended.status == Exit.OK and "remote: 2 segments, 0 to 5, epochs 0, 1\n" in ended.out
    assert "skipped: other-3, id AAAAAAAAAAAAAAAAAAAAAA: in the remote store" in ended.out
    assert "not judged: 1 partition of whose remote segments no __remote_log_metadata" in ended.out
    segments[0].path(tmp_path / "tier", ".log").unlink()
    segments[0].path(tmp_path / "tier", ".log").mkdir()
    ended = highwater("audit", *paths, "--tier", tmp_path / "tier", "--json")
    (partition,) = ended.json["partitions"]
    assert ended.status == Exit.VIOLATED and partition["remote"]["unread"] == 1
    ended = highwater("audit", *paths, "--tier", paths[0])
    assert ended.status == Exit.USAGE and "is no remote store" in ended.err
