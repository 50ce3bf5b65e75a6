"""The verdict: lost, kept, or nothing where the evidence does not bear it."""

import struct
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.core.exits import Exit
from checker.kafka.cluster.dumps import end_below, names_in, segments
from checker.kafka.cluster.places import Place, Readings
from checker.kafka.cluster.verdict import EXITS, Evidence, Outcome, Verdict, judge, worst

LAST = frozenset({"last"})
RECORDS = frozenset({"base", "x"})
KEPT = Evidence(
    acknowledged=RECORDS,
    on_disk=dict.fromkeys(range(3), RECORDS | LAST),
    read=RECORDS | LAST,
    known=dict.fromkeys(range(3), LAST),
)
LOST = replace(
    KEPT,
    on_disk=dict.fromkeys(range(3), frozenset({"base"}) | LAST),
    read=frozenset({"base"}) | LAST,
)


def test_what_is_on_every_disk_and_read_is_kept():
    assert judge(KEPT) == Outcome(Verdict.KEPT, 2)


def test_what_is_on_no_disk_and_not_read_is_lost():
    assert judge(LOST) == Outcome(Verdict.LOST, 2, ("x",))


def test_what_two_members_read_at_once_is_shared_unless_worse_or_nothing_can_be_said():
    outcome = judge(replace(KEPT, shared=frozenset({"x"})))
    assert (outcome.verdict, outcome.lost) == (Verdict.SHARED, ())
    assert "two members read x" in outcome.words
    assert judge(replace(LOST, shared=frozenset({"base"}))).verdict is Verdict.LOST
    untold = replace(KEPT, shared=frozenset({"x"}), acknowledged=frozenset())
    assert judge(untold).verdict is Verdict.NONE


def test_what_a_share_group_had_to_get_and_did_not_is_skipped_unless_something_is_lost():
    outcome = judge(replace(KEPT, skipped=frozenset({"x"})))
    assert (outcome.verdict, outcome.lost) == (Verdict.SKIPPED, ())
    assert "goes on without x" in outcome.words
    assert judge(replace(LOST, skipped=frozenset({"x"}))).verdict is Verdict.LOST


def test_what_is_read_where_something_else_was_has_changed_unless_something_is_lost():
    changed = {"offset 0 of t-0": ("y", "x")}
    outcome = judge(replace(KEPT, changed=changed, shared=frozenset({"x"})))
    assert (outcome.verdict, outcome.lost) == (Verdict.CHANGED, ())
    assert "reads x at offset 0 of t-0, where y was read before" in outcome.words
    skipped = replace(KEPT, read=KEPT.read - {"x"}, changed={"offset 1 of t-0": ("x", "y")})
    assert judge(skipped).verdict is Verdict.CHANGED
    other = replace(skipped, changed={"offset 0 of t-0": ("base", "y")})
    assert judge(other).verdict is Verdict.NONE
    assert judge(replace(LOST, changed=changed)).verdict is Verdict.LOST
    untold = replace(KEPT, changed=changed, acknowledged=frozenset())
    assert judge(untold).verdict is Verdict.NONE


def test_what_is_held_and_refused_to_consumers_is_hidden_unless_something_is_lost():
    refused = {"x": "offset 1 of t-0", "tried": "offset 2 of t-0"}
    unread = replace(KEPT, read=KEPT.read - {"x"}, refused=refused)
    outcome = judge(unread)
    assert (outcome.verdict, outcome.lost) == (Verdict.HIDDEN, ())
    assert "1 of 2 acknowledged records are held" in outcome.words
    assert "x, at offset 1 of t-0, is said to be out of range" in outcome.words
    assert judge(replace(LOST, refused=refused)).verdict is Verdict.LOST
    assert judge(replace(unread, refused={"base": "offset 0 of t-0"})).verdict is Verdict.NONE
    assert judge(replace(unread, changed={"offset 0": ("y", "base")})).verdict is Verdict.HIDDEN


def test_the_first_that_was_read_at_an_offset_is_what_the_others_are_held_against():
    readings, place, other = Readings(), Place("t", 0, 3), Place("t", 1, 3)
    readings.hear({place: "y", other: "z"})
    readings.hear({place: "y"})
    assert readings.changed == {}
    readings.hear({place: "x", other: "z", Place("t", 0, 4): "x"})
    readings.hear({place: "y"})
    assert readings.changed == {place: ("y", "x")}
    assert str(place) == "offset 3 of t-0"


@pytest.mark.parametrize("broker", range(3))
def test_a_disk_that_does_not_show_the_known_record_gives_no_verdict(broker):
    for evidence in (KEPT, LOST):
        disks = {**evidence.on_disk, broker: frozenset[str]()}
        outcome = judge(replace(evidence, on_disk=disks))
        assert outcome.verdict is Verdict.NONE
        assert f"broker {broker}" in outcome.reason


@pytest.mark.parametrize(
    "change, words",
    [
        ({"acknowledged": frozenset()}, "no record was acknowledged"),
        ({"known": {}}, "no record is known"),
        ({"known": {0: frozenset()}}, "no record is known"),
        ({"read": LAST}, "does not read base and 1 more, which a disk holds"),
    ],
)
def test_evidence_that_is_not_whole_gives_no_verdict(change, words):
    outcome = judge(replace(KEPT, **change))
    assert outcome.verdict is Verdict.NONE
    assert words in outcome.reason


def test_a_consumer_that_reads_what_no_dump_shows_gives_no_verdict():
    outcome = judge(replace(LOST, read=RECORDS | LAST))
    assert outcome.verdict is Verdict.NONE
    assert "reads x, which no dump shows" in outcome.reason


def test_a_record_on_one_disk_only_is_not_lost_but_has_to_be_read():
    disks = {**LOST.on_disk, 0: RECORDS | LAST}
    assert judge(replace(LOST, on_disk=disks)).verdict is Verdict.NONE
    assert judge(replace(LOST, on_disk=disks, read=RECORDS | LAST)).verdict is Verdict.KEPT


names = st.frozensets(st.sampled_from([f"v{n}" for n in range(12)]))


@given(names, st.lists(names, min_size=1, max_size=3), names)
def test_lost_is_acknowledged_and_on_no_disk_and_is_said_only_if_reading_agrees(acked, disks, read):
    shown = {number: disk | LAST for number, disk in enumerate(disks)}
    outcome = judge(Evidence(acked, shown, read, dict.fromkeys(shown, LAST)))
    missing = {name for name in acked if all(name not in disk for disk in disks)}
    if outcome.verdict is Verdict.NONE:
        assert not acked or missing != acked - read
    else:
        assert set(outcome.lost) == missing == acked - read
        assert (outcome.verdict is Verdict.LOST) == bool(missing)
        assert outcome.acknowledged == len(acked) > 0


def test_the_worst_of_several_runs():
    kept, none, stuck, shared, skipped, changed, torn, hidden, lost = map(Outcome, Verdict)
    assert worst([kept, none, kept]) is Verdict.NONE
    assert worst([kept, stuck, none]) is Verdict.STUCK
    assert worst([kept, none, shared, stuck]) is Verdict.SHARED
    assert worst([kept, changed, shared, skipped]) is Verdict.CHANGED
    assert worst([kept, torn, changed, stuck]) is Verdict.TORN
    assert worst([kept, skipped, shared, stuck]) is Verdict.SKIPPED
    assert worst([kept, none, lost, stuck, shared, hidden, changed, torn]) is Verdict.LOST
    assert worst([kept]) is Verdict.KEPT
    assert worst([]) is Verdict.NONE
    assert EXITS == {
        Verdict.LOST: Exit.VIOLATED, Verdict.STUCK: Exit.VIOLATED,
        Verdict.SHARED: Exit.VIOLATED, Verdict.CHANGED: Exit.VIOLATED,
        Verdict.HIDDEN: Exit.VIOLATED, Verdict.SKIPPED: Exit.VIOLATED,
        Verdict.TORN: Exit.VIOLATED,
        Verdict.KEPT: Exit.OK, Verdict.NONE: Exit.LIMIT,
    }  # fmt: skip


@pytest.mark.parametrize(
    "outcome, words",
    [
        (
            Outcome(Verdict.LOST, 3, ("x",)),
            "lost: 1 of 3 acknowledged records is in no log on any disk (x)",
        ),
        (
            Outcome(Verdict.LOST, 3000, ("v2", "v9", "v10", "v11")),
            "lost: 4 of 3,000 acknowledged records are in no log on any disk (v2, v9, v10, ...)",
        ),
        (Outcome(Verdict.KEPT, 3), "kept: all 3 acknowledged records are on disk, and are read"),
        (Outcome(Verdict.NONE, reason="why"), "no verdict: why"),
    ],
)
def test_an_outcome_in_words(outcome, words):
    assert outcome.words == words


def test_lost_records_are_told_in_the_order_of_their_numbers():
    acked = frozenset({"v10", "v9", "v100"})
    disks = {0: LAST}
    assert judge(Evidence(acked, disks, LAST, {0: LAST})).lost == ("v9", "v10", "v100")


# --- dumps ---------------------------------------------------------------------------------------

DUMP = """\
Dumping /x/t-0/00000000000000000000.log
Log starting offset: 0
baseOffset: 0 lastOffset: 0 count: 1 isControl: false partitionLeaderEpoch: 0
| offset: 0 CreateTime: 7 keySize: -1 valueSize: 4 sequence: 0 headerKeys: [] payload: base
baseOffset: 1 lastOffset: 2 count: 2 isControl: false partitionLeaderEpoch: 2
| offset: 1 CreateTime: 8 keySize: -1 valueSize: 9 sequence: 0 headerKeys: [] payload: v10......
| offset: 2 CreateTime: 8 keySize: -1 valueSize: 9 sequence: 0 headerKeys: [] payload: last-t-0
Dumping /x/t-1/00000000000000000000.log
Log starting offset: 0
Dumping /y/t-0/00000000000000000000.log
Log starting offset: 0
baseOffset: 0 lastOffset: 0 count: 1 isControl: false partitionLeaderEpoch: 0
| offset: 0 CreateTime: 7 keySize: -1 valueSize: 4 sequence: 0 headerKeys: [] payload: base
"""


def test_the_names_in_a_dump_are_the_values_of_each_file_without_what_fills_them_up():
    assert names_in(DUMP.splitlines()) == {
        Path("/x/t-0/00000000000000000000.log"): {"base", "v10", "last-t-0"},
        Path("/x/t-1/00000000000000000000.log"): frozenset(),
        Path("/y/t-0/00000000000000000000.log"): {"base"},
    }


def test_a_program_that_is_not_there_shows_no_file():
    assert names_in(["Error: Could not find or load main class kafka.tools.X"]) == {}


def test_segments_are_those_of_replicas_or_of_what_was_set_aside(tmp_path):
    replicas, aside = ["t-0", "t-1"], ["t-0.5f-stray", "t-0.77-delete", "t-0.88-future"]
    for name in [*replicas, *aside, "t-x-0", "tt-0", "other-0"]:
        (tmp_path / name).mkdir()
        (tmp_path / name / "00.log").touch()
        (tmp_path / name / "00.index").touch()
        (tmp_path / name / "00-01.checkpoint").touch()
    for set_aside, wanted in (False, replicas), (True, aside):
        found = segments([tmp_path], "t", set_aside)
        assert {path.parent.name for path in found} == set(wanted)
        assert {path.suffix for path in found} == {".log", ".checkpoint"}


def test_a_record_that_is_only_where_kafka_does_not_look_is_lost_and_that_is_said():
    kept_aside = replace(LOST, set_aside=RECORDS)
    outcome = judge(kept_aside)
    assert outcome.verdict is Verdict.LOST and outcome.lost == judge(LOST).lost
    assert outcome.set_aside == len(outcome.lost)
    assert "in folders set aside" in outcome.words and "set aside" not in judge(LOST).words


@given(
    st.lists(st.binary(min_size=1, max_size=60), max_size=5),
    st.integers(0, 40),
    st.integers(0, 12),
)
def test_what_is_below_an_offset_ends_with_its_last_batch_whatever_zeros_follow(
    batches, zeros, offset
):
    written = [struct.pack(">qi", 2 * n, len(batch)) + batch for n, batch in enumerate(batches)]
    kept = written[: (offset + 1) // 2]
    assert end_below(b"".join(written) + bytes(zeros), offset) == sum(map(len, kept))
