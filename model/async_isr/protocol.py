"""KIP-497 (Kafka 2.7): the leader asks the controller to change the ISR, and hears back later.

Between asking and hearing, the leader cannot know which ISR is in force. It is safe if it counts
the *maximal* ISR, every member of the committed and of the pending one, for its high watermark.

After `AsyncIsr.tla` of hachikuji/kafka-specification: one fixed leader, requests and updates that
are never lost but may be late. Offsets and versions are bounded by guards. There, messages are sets
of (ISR, version); here the same information is kept by version: the controller writes each version
once, and what a request asks for differs by one replica from the ISR of its version.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from model.language import (
    Annotated,
    Bound,
    Entity,
    Members,
    PerMember,
    Protocol,
    SetOf,
    State,
    Table,
    action,
    choose,
    everybody,
    for_each,
    integers,
    largest,
    members,
    nobody,
    not_,
    require,
    setting,
    smallest,
    table,
)
from model.replicated_log import REPLICAS, TELLING

MAX_OFFSET = Bound("max_offset", default=2, minimum=1, words="the leader's end at most")
MAX_VERSION = Bound("max_version", default=2, minimum=1, words="the last ISR version, from 0")

Offset = Annotated[int, integers(0, MAX_OFFSET)]
Version = Annotated[int, integers(0, MAX_VERSION)]


@dataclass(frozen=True)
class AsyncIsrSettings:
    """What KIP-497 came to."""

    maximal_isr: bool = setting(True, "the HW counts the pending ISR as well as the committed one")


class Replica(Entity):
    """A replica, by how far the leader knows it to be; the leader's own end for the leader."""

    _label = "r"

    end: Offset = 0


class IsrVersion(Entity):
    """One version of the ISR, and which changes of it the leader has requested."""

    _label = "version "

    isr: SetOf[Replica] = nobody()
    requested: PerMember[Replica, bool] = for_each(False)


class Partition(State):
    """Controller, leader, and what is under way between them."""

    replicas: Members[Replica] = members(REPLICAS)
    versions: Table[IsrVersion] = table(MAX_VERSION + 1)
    controller_version: Version = 0
    leader_version: Version = 0
    leader_isr: SetOf[Replica] = everybody()
    pending_isr: SetOf[Replica] = nobody()

    @property
    def leader(self) -> Replica:
        """The one leader that there is: the first replica."""
        return self.replicas[0]

    @property
    def controller_isr(self) -> SetOf[Replica]:
        """The ISR that the controller has written last."""
        return self.versions[self.controller_version].isr

    @property
    def maximal_isr(self) -> SetOf[Replica]:
        """The leader's ISR and whatever it has asked for."""
        return self.leader_isr.union(self.pending_isr)

    @property
    def high_watermark(self) -> int:
        """The least end among the replicas that may be in the ISR."""
        counted = self.maximal_isr if self.settings.maximal_isr else self.leader_isr
        longest = largest(replica.end for replica in self.replicas)
        return smallest(
            choose(counted.contains(replica), replica.end, longest) for replica in self.replicas
        )

    def was_written(self, version: IsrVersion) -> bool:
        """The controller has written the version."""
        return version.number <= self.controller_version

    def write_isr(self, isr: SetOf[Replica]) -> None:
        """The controller writes a new version; the leader may hear of it from now on."""
        version = self.controller_version + 1
        self.versions[version].isr = isr
        self.controller_version = version


def start(partition: Partition) -> None:
    """Version 0 of the ISR holds every replica."""
    partition.versions[0].isr = partition.replicas.all()


def toggled(isr: SetOf[Replica], replica: Replica) -> SetOf[Replica]:
    """The ISR with `replica` taken out if it is in, and put in if it is not."""
    return choose(isr.contains(replica), isr.without_member(replica), isr.with_member(replica))


@action("controller removes {replica} from the ISR", at="AsyncIsr.ControllerShrinkIsr")
def controller_shrink_isr(partition: Partition, replica: Replica) -> None:
    """Take a follower that may have failed out of the ISR."""
    require(partition.controller_version < partition.bound("max_version"))
    require(replica != partition.leader)
    require(partition.controller_isr.contains(replica))

    partition.write_isr(partition.controller_isr.without_member(replica))


@action(
    "controller applies the AlterPartition request for {replica}",
    at="AsyncIsr.ControllerHandleRequest",
)
def controller_handle_request(partition: Partition, replica: Replica) -> None:
    """Apply a request for the current version: compare and swap."""
    current = partition.versions[partition.controller_version]
    require(partition.controller_version < partition.bound("max_version"))
    require(current.requested[replica])

    partition.write_isr(toggled(current.isr, replica))


def _request(partition: Partition, replica: Replica) -> None:
    isr = toggled(partition.leader_isr, replica)
    partition.versions[partition.leader_version].requested[replica] = True
    partition.pending_isr = partition.pending_isr.union(isr)


@action(
    "leader sends AlterPartition to remove {replica} from the ISR",
    at="AsyncIsr.LeaderRequestShrinkIsr",
)
def leader_request_shrink_isr(partition: Partition, replica: Replica) -> None:
    """Ask for an ISR without a follower."""
    require(replica != partition.leader)
    require(partition.leader_isr.contains(replica))

    _request(partition, replica)


@action(
    "leader sends AlterPartition to add {replica} to the ISR",
    at="AsyncIsr.LeaderRequestExpandIsr",
)
def leader_request_expand_isr(partition: Partition, replica: Replica) -> None:
    """Ask for an ISR with a replica that has reached the high watermark."""
    require(not_(partition.leader_isr.contains(replica)))
    require(replica.end >= partition.high_watermark)

    _request(partition, replica)


@action("leader appends a record", at="AsyncIsr.LeaderWrite")
def leader_write(partition: Partition) -> None:
    """Append a record."""
    require(partition.leader.end < partition.bound("max_offset"))

    partition.leader.end = partition.leader.end + 1


@action("leader learns of ISR version {version.number}", at="AsyncIsr.LeaderHandleUpdate")
def leader_handle_update(partition: Partition, version: IsrVersion) -> None:
    """Learn of a newer version of the ISR; what was pending is decided."""
    require(version.number > partition.leader_version)
    require(partition.was_written(version))

    partition.leader_isr = version.isr
    partition.leader_version = version.number
    partition.pending_isr = partition.replicas.none()


@action("{replica} fetches", at="AsyncIsr.FollowerReplicate")
def follower_replicate(partition: Partition, replica: Replica) -> None:
    """A follower fetches the next record, and the leader learns of it."""
    require(replica != partition.leader)
    require(replica.end < partition.leader.end)

    replica.end = replica.end + 1


ASYNC_ISR = Protocol(
    name="async_isr",
    words="leader and controller change the ISR by messages (KIP-497)",
    source="AsyncIsr.tla",
    state=Partition,
    bounds=(REPLICAS, MAX_OFFSET, MAX_VERSION),
    telling=replace(TELLING, system="KIP-497"),
    settings=AsyncIsrSettings,
    start=start,
    actions=(
        controller_shrink_isr,
        controller_handle_request,
        leader_request_shrink_isr,
        leader_request_expand_isr,
        leader_write,
        leader_handle_update,
        follower_replicate,
    ),
    views={
        "isr": ("versions.isr", "leader_isr", "pending_isr"),
        "versions": ("controller_version", "leader_version"),
        "logs": ("replicas.end",),
    },
)
