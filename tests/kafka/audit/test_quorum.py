"""The controllers' log on several disks: who led, who votes, and what contradicts that."""

import json

import pytest

from checker.kafka.audit.control_records import LeaderChange, Voters
from checker.kafka.audit.directories import find_replicas
from checker.kafka.audit.judgement import Kind, judge
from checker.kafka.audit.quorum import Node, described, read_elected
from checker.kafka.audit.report import as_data, as_text
from model.language.errors import UsageError
from tests.support.kafka_logs import Disk, Wanted, leader_change, segment_file, voters_record

# What a controller of 4.3.1 wrote as it became leader of a quorum of one, and as two were added.
BY_KAFKA = bytes.fromhex(
    "0000000000000000000000a20000000102d0b0ee46002000000002000001a217bbdc11000001a217bbdc11ffffffff"
    "ffffffffffffffffffff000000033a00000008000000022600000000006702000000670002000000670000001e0000"
    "0208000000050a000000010000820100000408000000066e00000200000067190a57bd3dea43ae92112e0bb39cda49"
    "020b434f4e54524f4c4c45520a3132372e302e302e319833000000000100000000"
)
CHAIN = [leader_change(0, 1, 1), voters_record(1, 1, (1, 2, 3))]
ADDED = [*CHAIN, voters_record(2, 1, (1, 2, 3, 4)), voters_record(3, 1, (1, 2, 3, 4, 5))]


def written(tmp_path, node, batches, snapshots=(), elected=None):
    """A node's disk with a metadata log; snapshots as (end, epoch, nodes that vote)."""
    disk = Disk(batches, node, None, topic="__cluster_metadata", topic_id="AAAAAAAAAAAAAAAAAAAAAQ")
    folder = disk.write(tmp_path / str(node)) / "__cluster_metadata-0"
    for end, epoch, nodes in snapshots:
        file = folder / f"{end:020}-{epoch:010}.checkpoint"
        file.write_bytes(voters_record(0, 0, nodes).encoded())
    if elected is not None:
        epoch, leader, voted = elected
        said = {"leaderId": leader, "leaderEpoch": epoch, "votedId": voted, "data_version": 1}
        (folder / "quorum-state").write_text(json.dumps(said))
    return tmp_path / str(node)


def judged(*disks):
    (group,) = find_replicas(disks).groups
    return judge(group)


def found(*disks):
    return [(each.kind, each.offset, each.words) for each in judged(*disks).violations]


def test_what_kafka_wrote_says_who_led_and_who_votes(tmp_path):
    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    segment_file(folder, 0).write_bytes(BY_KAFKA)
    node = Node("node 103", folder)
    leader, voters = node.control_records
    assert isinstance(leader, LeaderChange) and isinstance(voters, Voters)
    assert (leader.offset, leader.epoch, leader.leader) == (0, 1, 103)
    ((voter,),) = [voters.voters]
    assert (voters.offset, voter.node, voter.directory) == (2, 103, "GQpXvT3qQ66SES4Ls5zaSQ")


def test_a_quorum_whose_disks_agree_is_described(tmp_path):
    one = written(tmp_path, 1, CHAIN, [(2, 1, (1, 2, 3))], (1, 1, -1))
    judgement = judged(
        one, written(tmp_path, 2, CHAIN, [], (2, -1, 3)), written(tmp_path, 3, CHAIN)
    )
    assert judgement.violations == ()
    assert [described(node) for node in judgement.quorum] == [
        "node 1: epoch 1, led by node 1; voters {1, 2, 3} since offset 1",
        "node 2: epoch 2, no leader known, voted for node 3; voters {1, 2, 3} since offset 1",
        "node 3: no quorum-state; voters {1, 2, 3} since offset 1",
    ]
    assert "all agree from 0 to 1" in as_text(judgement)
    assert as_data(judgement)["quorum"][0]["snapshots"] == [[2, 1]]


def test_a_snapshot_that_names_other_voters_than_its_own_log_is_a_violation(tmp_path):
    """What is left of finding 0022 on the disk of the node that missed VotersRecords."""
    disk = written(tmp_path, 3, ADDED, [(4, 1, (1, 2, 3))])
    ((kind, offset, words),) = found(disk)
    assert (kind, offset) == (Kind.VOTERS, 3)
    assert "the snapshot of node 3 at 4 (epoch 1) names the voters {1, 2, 3}" in words
    assert "names {1, 2, 3, 4, 5} from 3" in words


def test_a_log_that_is_not_the_snapshots_says_nothing_of_its_voters(tmp_path):
    """Its own VotersRecord was not committed, or lies beyond its end."""
    cut_off = [*CHAIN, leader_change(2, 2, 3), voters_record(3, 2, (1, 2))]
    later = [*CHAIN, leader_change(2, 3, 2), Wanted(3, 3, (b"topic",))]
    one = written(tmp_path, 1, later, [(4, 3, (1, 2, 3))])
    other, short = written(tmp_path, 3, cut_off), written(tmp_path, 2, CHAIN)
    assert Kind.VOTERS not in {kind for kind, _, _ in found(one, other, short)}


def test_two_leaders_of_one_epoch_are_a_violation_and_so_are_two_records_of_it(tmp_path):
    one = written(tmp_path, 1, [*CHAIN, leader_change(2, 2, 1)])
    other = written(tmp_path, 3, [*CHAIN, leader_change(2, 2, 3)])
    assert {kind for kind, _, _ in found(one, other)} == {Kind.LEADERS, Kind.DIFFERS}
    assert (
        "epoch 2 has two leaders: node 1 by the log of node 1"
        in found(one, other)[0][2] + (found(one, other)[1][2])
    )


def test_a_later_leader_without_what_a_snapshot_holds_is_a_violation(tmp_path):
    """Metadata that was committed by a majority is gone: the end of finding 0022."""
    kept = [*ADDED, leader_change(4, 3, 2), Wanted(5, 3, (b"topic",))]
    lost = [*ADDED, leader_change(4, 4, 3)]
    two = written(tmp_path, 2, kept, [(6, 3, (1, 2, 3, 4, 5))])
    kinds = {kind for kind, _, _ in found(two, written(tmp_path, 3, lost))}
    assert kinds == {Kind.LEFT_OUT}


def test_a_log_that_ends_before_its_snapshot_begins_there_again(tmp_path):
    disk = written(tmp_path, 1, CHAIN, [(9, 1, (1, 2, 3))])
    assert found(disk) == []
    assert any("before its snapshot" in words for words in judged(disk).notices)


@pytest.mark.parametrize(
    ("nodes", "is_noticed"), [((1, 2, 3, 4, 5), True), ((1, 2, 3, 4), False), ((1, 2), False)]
)
def test_voter_sets_of_which_two_majorities_need_not_meet_are_noticed(tmp_path, nodes, is_noticed):
    one = written(tmp_path, 1, CHAIN)
    other = written(tmp_path, 2, [*CHAIN, voters_record(2, 1, nodes)])
    noticed = any("need not meet" in words for words in judged(one, other).notices)
    assert noticed is is_noticed


@pytest.mark.parametrize("text", ["", "[]", '{"leaderEpoch": "x"}'])
def test_a_quorum_state_that_is_none_is_refused_in_a_line(tmp_path, text):
    (tmp_path / "quorum-state").write_text(text)
    with pytest.raises(UsageError, match="not a quorum's state"):
        read_elected(tmp_path)
