"""Leader epochs in a log (`LeaderEpochFileCache`): where each ends, and where two logs diverge.

Kafka keeps a cache of (epoch, start offset), in the file `leader-epoch-checkpoint`. Here it is read
off the log's entries, with the leader's own epoch added: epochs without records are forgotten.
"""

from __future__ import annotations

from model.kafka.state import Broker
from model.language import all_of, any_of, choose, largest, minimum, smallest, some
from model.replicated_log import NO_EPOCH, Log


def end_of_epoch(log: Log, epoch: int) -> int:
    """Where `epoch` ends in `log`: at its first entry of a later epoch, or at its end."""
    return smallest(
        choose(all_of(log.has(offset), log[offset].epoch > epoch), offset, log.end)
        for offset in log.positions
    )


def floor_epoch(log: Log, epoch: int) -> int:
    """The greatest epoch in `log` that is at most `epoch`; `NO_EPOCH` if there is none."""
    return largest(
        choose(all_of(log.has(offset), log[offset].epoch <= epoch), log[offset].epoch, NO_EPOCH)
        for offset in log.positions
    )


def has_epoch(log: Log, epoch: int) -> bool:
    """Some entry of `log` has `epoch`."""
    return some(all_of(log.has(offset), log[offset].epoch == epoch) for offset in log.positions)


def epoch_start(leader: Broker) -> int:
    """The offset at which the leader's own epoch began: a leader appends in no other epoch."""
    log = leader.log
    return smallest(
        choose(all_of(log.has(offset), log[offset].epoch == leader.leader_epoch), offset, log.end)
        for offset in log.positions
    )


def found_epoch(leader: Broker, asked: int) -> int:
    """The epoch that the leader answers for: the one asked for, or the greatest below that."""
    floor = floor_epoch(leader.log, asked)
    return choose(floor == NO_EPOCH, asked, floor)


def diverges(follower: Broker, leader: Broker) -> bool:
    """The leader's check of a fetch at the follower's LEO with the epoch of its last entry."""
    last = follower.log.last_epoch
    return all_of(
        follower.log.end > 0,
        any_of(found_epoch(leader, last) < last, end_of_epoch(leader.log, last) < follower.log.end),
    )


def local_truncation(log: Log, epoch: int, end: int) -> int:
    """Where a follower cuts its log when the leader says that `epoch` ends at `end`.

    If it does not know that epoch, at the end of the greatest one below; it has to ask again.
    """
    here = end_of_epoch(log, epoch)
    return choose(has_epoch(log, epoch), minimum(here, end), here)
