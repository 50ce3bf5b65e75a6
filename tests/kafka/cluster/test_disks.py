"""What steps do to disks: one is lost, fails, or has not all that its broker wrote."""

import struct
from types import SimpleNamespace
from typing import Any, cast

import pytest

from checker.kafka.cluster.cluster import Cluster as RealCluster
from checker.kafka.cluster.errors import UndecidedError
from checker.kafka.cluster.observed import Node


@pytest.mark.parametrize("is_replaced", [True, False])
def test_a_disk_that_is_lost_is_empty_or_not_in_the_settings_any_more(tmp_path, is_replaced):
    disks = [tmp_path / "disk-0", tmp_path / "disk-1"]
    for disk in disks:
        disk.mkdir()
    (disks[1] / "t-0").mkdir()

    class WithoutProcesses(RealCluster):
        def format(self, nodes, *options):
            disks[1].mkdir()

    cluster = object.__new__(WithoutProcesses)
    cluster.log_dirs = {1: tuple(disks)}
    assert cluster.disk_of(1, "t-0") == disks[1]
    cluster.lose_disk(1, disks[1], is_replaced)
    assert cluster.log_dirs[1] == (tuple(disks) if is_replaced else (disks[0],))
    assert disks[1].exists() == is_replaced
    with pytest.raises(UndecidedError, match="no disk of node 1 holds t"):
        cluster.disk_of(1, "t-0")


@pytest.mark.parametrize("is_replaced", [True, False])
def test_a_disk_that_fails_is_a_file_until_it_is_replaced_or_taken_out(tmp_path, is_replaced):
    disks = [tmp_path / "disk-0", tmp_path / "disk-1"]
    for disk, partition in zip(disks, ("u-0", "t-0"), strict=True):
        (disk / partition).mkdir(parents=True)

    class WithoutProcesses(RealCluster):
        def format(self, nodes, *options):
            disks[1].mkdir()

    cluster = object.__new__(WithoutProcesses)
    cluster.log_dirs = {1: tuple(disks)}
    with pytest.raises(UndecidedError, match="no disk of node 1 has failed"):
        cluster.failed_disk(1)
    with pytest.raises(UndecidedError, match="has its metadata on that disk"):
        cluster.fail_disk(1, disks[0])
    cluster.fail_disk(1, disks[1])
    assert sorted(tmp_path.iterdir()) == disks
    assert disks[1].is_file()
    assert cluster.failed_disk(1) == disks[1]
    cluster.lose_disk(1, disks[1], is_replaced)
    assert cluster.log_dirs[1] == (tuple(disks) if is_replaced else (disks[0],))
    assert disks[1].is_dir() == is_replaced


def test_what_was_not_flushed_of_one_partition_is_gone(tmp_path):
    for name in ("t-0", "t-1"):
        (tmp_path / name).mkdir()
        for file in ("0.log", "0.index"):
            (tmp_path / name / file).write_text("x")
    (tmp_path / "recovery-point-offset-checkpoint").write_text("x")
    cluster = object.__new__(RealCluster)
    cluster.log_dirs = {1: (tmp_path,)}
    cluster.lose_unflushed(1, "t-1")
    sizes = {str(p.relative_to(tmp_path)): p.stat().st_size for p in tmp_path.glob("t-*/*")}
    assert sizes == {"t-0/0.log": 1, "t-0/0.index": 1, "t-1/0.log": 0, "t-1/0.index": 1}
    assert not (tmp_path / "recovery-point-offset-checkpoint").exists()


def test_what_a_controller_has_not_flushed_of_the_metadata_is_gone_whenever_it_was_started(
    tmp_path,
):
    class Starting(RealCluster):
        def configure(self, node):
            return tmp_path / "settings"

        def _java(self, *_):
            return SimpleNamespace(has_ended=True)

    def batches(*offsets):
        return b"".join(struct.pack(">qi4x", offset, 4) for offset in offsets)

    log = tmp_path / "__cluster_metadata-0"
    log.mkdir()
    for base, offsets in ((0, (0, 5)), (7, (7, 8, 10)), (12, (12,))):
        (log / f"{base}.log").write_bytes(batches(*offsets))
    cluster = object.__new__(Starting)
    cluster.log_dirs, cluster.nodes = {101: (tmp_path,)}, {101: Node(flushed=8)}
    cluster.processes = cast(Any, SimpleNamespace(directory=tmp_path))
    cluster.programs, cluster._options = cast(Any, SimpleNamespace(server="")), {}
    cluster._running, cluster.tier = {}, None
    cluster.launch(101)
    cluster.lose_unflushed_metadata(101)
    assert {file.name: file.read_bytes() for file in log.glob("*.log")} == {
        "0.log": batches(0, 5),
        "7.log": batches(7),
        "12.log": b"",
    }
