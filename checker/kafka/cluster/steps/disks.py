"""Sentences about disks that are lost, of a broker that is down, or that fail as it runs."""

from __future__ import annotations

from pathlib import Path

from checker.kafka.cluster.dumps import end_offset
from checker.kafka.cluster.stage import Stage
from checker.kafka.cluster.vocabulary import Test, act, condition


@act("replace the disks of {broker:number}", fault="a lost disk")
def replace_disks(stage: Stage, broker: int) -> None:
    """All of them, by new ones that were formatted."""
    stage.cluster.wait_until_down(broker)
    stage.cluster.lose_disks(broker)


@act("replace the disk of {broker:number} that holds {topic:name}", fault="a lost disk")
def replace_disk(stage: Stage, broker: int, topic: str) -> None:
    """By an empty one in the same place, formatted."""
    stage.cluster.wait_until_down(broker)
    disk = stage.cluster.disk_of(broker, _first(stage, topic))
    stage.cluster.lose_disk(broker, disk, is_replaced=True)


@act("cut off what {broker:number} has not flushed of {topic:name}", fault="a power loss")
def lose_unflushed(stage: Stage, broker: int, topic: str) -> None:
    """All records of it that the broker has, as when its machine loses power."""
    stage.cluster.wait_until_down(broker)
    stage.cluster.lose_unflushed(broker, _first(stage, topic))


@act("cut off what {controller:number} has not flushed of the metadata", fault="a power loss")
def lose_unflushed_metadata(stage: Stage, controller: int) -> None:
    """As when a controller's machine loses power."""
    stage.cluster.wait_until_down(controller)
    stage.cluster.lose_unflushed_metadata(controller)


@act(
    "spoil the batch at {offset:number} of {topic:name} on the disk of {broker:number}",
    fault="a disk that spoils a byte",
)
def spoil(stage: Stage, offset: int, topic: str, broker: int) -> None:
    """As the broker runs; who reads the batch finds out, and nobody else."""
    stage.cluster.spoil(broker, _first(stage, topic), offset)


@act(
    "take the disk of {broker:number} that holds {topic:name} out of its settings",
    fault="a lost disk",
)
def take_out_disk(stage: Stage, broker: int, topic: str) -> None:
    """It is lost, and `log.dirs` names the others from now on."""
    stage.cluster.wait_until_down(broker)
    disk = stage.cluster.disk_of(broker, _first(stage, topic))
    stage.cluster.lose_disk(broker, disk, is_replaced=False)


@act("let the disk of {broker:number} that holds {topic:name} fail", fault="a disk that fails")
def fail_disk(stage: Stage, broker: int, topic: str) -> None:
    """As the broker runs, which finds out within seconds; what was on it is gone."""
    disk = stage.cluster.disk_of(broker, _first(stage, topic))
    stage.cluster.fail_disk(broker, disk)


@act("replace the failed disk of {broker:number}")
def replace_failed_disk(stage: Stage, broker: int) -> None:
    """By an empty one in the same place, formatted."""
    stage.cluster.wait_until_down(broker)
    disk = stage.cluster.failed_disk(broker)
    stage.cluster.lose_disk(broker, disk, is_replaced=True)


@act("take the failed disk of {broker:number} out of its settings")
def take_out_failed_disk(stage: Stage, broker: int) -> None:
    """`log.dirs` names the others from now on."""
    stage.cluster.wait_until_down(broker)
    disk = stage.cluster.failed_disk(broker)
    stage.cluster.lose_disk(broker, disk, is_replaced=False)


@act("move {topic:name} to the other disk of {broker:number}")
def move(stage: Stage, topic: str, broker: int) -> None:
    """The replica of its first partition begins to be copied, of two disks to the one without."""
    now = stage.cluster.disk_of(broker, _first(stage, topic))
    (other,) = (disk for disk in stage.cluster.log_dirs[broker] if disk != now)
    _move(stage, topic, broker, other)


@act("cancel the move of {topic:name} on {broker:number}")
def cancel_move(stage: Stage, topic: str, broker: int) -> None:
    """The replica is asked to be where it is, and the copy is thrown away."""
    _move(stage, topic, broker, stage.cluster.disk_of(broker, _first(stage, topic)))


def _move(stage: Stage, topic: str, broker: int, disk: Path) -> None:
    of, numbers = stage.partitions(topic)
    stage.clients.ask("move", topic=of, numbers=numbers[:1], broker=broker, to=str(disk))


@condition("the copy of {topic:name} on {broker:number} ends at {offset:number}")
def copy_ends_at(stage: Stage, topic: str, broker: int, offset: int) -> Test:
    """The log of a replica that is moved to another disk (KIP-113)."""
    folder = f"{_first(stage, topic)}.*-future"

    def test() -> bool:
        copies = [
            c for disk in stage.cluster.log_dirs[broker] for c in disk.glob(f"{folder}/*.log")
        ]
        return any(end_offset(segment.read_bytes()) == offset for segment in sorted(copies)[-1:])

    return test


@condition("{broker:number} has moved {topic:name}")
def has_moved(stage: Stage, broker: int, topic: str) -> Test:
    """No disk has a copy any more that is not yet the replica's log."""
    folder = f"{_first(stage, topic)}.*-future"
    return lambda: not any(list(d.glob(folder)) for d in stage.cluster.log_dirs[broker])


@condition("{broker:number} has thrown {topic:name} away")
def has_thrown_away(stage: Stage, broker: int, topic: str) -> Test:
    """No disk of it has a folder of the topic's first partition that is in use."""
    folders = [disk / _first(stage, topic) for disk in stage.cluster.log_dirs[broker]]
    return lambda: not any(folder.exists() for folder in folders)


def _first(stage: Stage, topic: str) -> str:
    """Of a topic its first partition, of a partition itself: `t-0` of `t`."""
    of, numbers = stage.partitions(topic)
    return f"{of}-{numbers[0]}"
