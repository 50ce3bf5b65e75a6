"""What the rungs of the ladder share: the cluster, the controller, leaders, and old followers.

Kafka's truncation and fencing rules went up a ladder between 2016 and 2018. Each rung is a module
beside this one that holds just the rules that changed, and why. In order:
truncate_to_high_watermark, kip101, kip279, kafka_7128, kip320_first_try (abandoned), kip320. After
`KafkaReplication.tla` of hachikuji/kafka-specification, with its abstractions:

- There is no network and there are no crashes. Every LeaderAndIsr request stays available for ever,
  and a replica adopts any of them late or never: that alone models delay, loss and zombies.
- A follower's fetch is one step: what the leader would learn from the next fetch, it can see.
- The leader writes the ISR to the quorum in one step that succeeds only for the true leader. How
  ZooKeeper's version numbers achieve that is left out.
"""

from __future__ import annotations

from dataclasses import replace

from model.language import (
    Action,
    Annotated,
    Entity,
    Members,
    Protocol,
    Record,
    SetOf,
    State,
    Table,
    action,
    all_of,
    any_of,
    choose,
    every,
    everybody,
    integers,
    members,
    minimum,
    nobody,
    not_,
    require,
    sequence,
    table,
    weak,
)
from model.replicated_log import (
    LOG_SIZE,
    MAX_LEADER_EPOCH,
    MAX_RECORDS,
    NO_EPOCH,
    REPLICAS,
    TELLING,
    LeaderEpochOrNone,
    Log,
    Offset,
)

BOUNDS = (REPLICAS, LOG_SIZE, MAX_RECORDS, MAX_LEADER_EPOCH)


class Replica(Entity):
    """One replica: its log, its high watermark, and what it last heard of leader and ISR."""

    _label = "r"

    log: Log = sequence(LOG_SIZE)
    high_watermark: Offset = 0
    leader_epoch: LeaderEpochOrNone = NO_EPOCH
    leader: Replica | None = None
    isr: SetOf[Replica] = nobody()

    @property
    def presumes_leadership(self) -> bool:
        """The replica believes that it leads. It takes writes, even if it is wrong."""
        return self.leader == self

    def follows(self, leader: Replica) -> bool:
        """The replica believes that `leader` leads; in which epoch, it does not say."""
        return self.leader == leader

    def adopt(self, request: LeaderAndIsrRequest, leader: Replica) -> None:
        """Take leader, epoch and ISR from a request that names `leader`."""
        self.leader_epoch = request.number
        self.leader = leader
        self.isr = request.isr

    def truncate_to(self, end: int) -> None:
        """Cut the log at `end`, and the HW with it."""
        self.high_watermark = minimum(end, self.high_watermark)
        self.log.truncate_to(end)


class LeaderAndIsrRequest(Entity):
    """The controller's request of one epoch; its row number is the epoch."""

    _label = "request "

    leader: Replica | None = None
    isr: SetOf[Replica] = nobody()


class Quorum(Record):
    """What ZooKeeper holds of the partition: the truth about leader and ISR."""

    leader_epoch: LeaderEpochOrNone = NO_EPOCH
    leader: Replica | None = None
    isr: SetOf[Replica] = everybody()


class Cluster(State):
    """The whole state of a rung."""

    replicas: Members[Replica] = members(REPLICAS)
    quorum: Quorum = Quorum.part()
    requests: Table[LeaderAndIsrRequest] = table(MAX_LEADER_EPOCH + 1)
    next_record_id: Annotated[int, integers(0, MAX_RECORDS)] = 0
    next_leader_epoch: Annotated[int, integers(0, MAX_LEADER_EPOCH + 1)] = 0

    def is_true_leader(self, replica: Replica) -> bool:
        """The quorum and `replica` agree that it leads, and in which epoch."""
        return all_of(
            self.quorum.leader == replica,
            replica.presumes_leadership,
            replica.leader_epoch == self.quorum.leader_epoch,
        )

    def was_sent(self, request: LeaderAndIsrRequest) -> bool:
        """The controller has issued the request's epoch."""
        return request.number < self.next_leader_epoch

    def update_isr(self, leader: Replica, isr: SetOf[Replica]) -> None:
        """Set the ISR in the quorum and at the leader, without a request."""
        self.quorum.isr = isr
        leader.isr = isr


def _send_request(cluster: Cluster, leader: Replica | None, isr: SetOf[Replica]) -> None:
    epoch = cluster.next_leader_epoch
    request = cluster.requests[epoch]
    request.leader = leader
    request.isr = isr
    cluster.quorum.leader_epoch = epoch
    cluster.quorum.leader = leader
    cluster.quorum.isr = isr
    cluster.next_leader_epoch = epoch + 1


@action("controller elects {leader}", at="KafkaReplication.ControllerElectLeader")
def controller_elect_leader(cluster: Cluster, leader: Replica) -> None:
    """Make any member of the ISR the leader, in a new epoch: a clean election.

    It may come at any time: after a failure, or just to spread leaders over the brokers.
    """
    require(cluster.next_leader_epoch <= cluster.bound("max_leader_epoch"))
    require(cluster.quorum.isr.contains(leader))
    require(cluster.quorum.leader != leader)

    _send_request(cluster, leader, cluster.quorum.isr)


@action("controller removes {replica} from the ISR", at="KafkaReplication.ControllerShrinkIsr")
def controller_shrink_isr(cluster: Cluster, replica: Replica) -> None:
    """Take a replica that may have failed out of the ISR, and out of leadership.

    Whether it has failed does not show: it may fetch, and even lead, as if nothing had happened. So
    a dead broker, one that stops cleanly and a zombie are all covered. A leader that is alone in
    the ISR stays in it, so that it can be elected again.
    """
    quorum = cluster.quorum
    leads = quorum.leader == replica
    alone = quorum.isr == cluster.replicas.only(replica)
    require(cluster.next_leader_epoch <= cluster.bound("max_leader_epoch"))
    require(any_of(leads, quorum.isr.contains(replica)))

    _send_request(
        cluster,
        choose(leads, None, quorum.leader),
        choose(all_of(leads, alone), quorum.isr, quorum.isr.without_member(replica)),
    )


@action("{leader} becomes leader in epoch {request.number}", at="KafkaReplication.BecomeLeader")
def become_leader(cluster: Cluster, leader: Replica, request: LeaderAndIsrRequest) -> None:
    """Adopt a request that names the replica itself.

    The HW stays. It lags behind the last leader's, from which the replica learnt it a fetch late.
    """
    require(cluster.was_sent(request))
    require(request.leader == leader)
    require(request.number > leader.leader_epoch)

    leader.adopt(request, leader)


@action("{leader} appends a record", at="KafkaReplication.LeaderWrite")
def leader_write(cluster: Cluster, leader: Replica) -> None:
    """Append the next record. A zombie does so too: the write is not fenced.

    It cannot commit the record: members of its ISR that have moved on do not fetch from it, and the
    quorum does not let it take them out.
    """
    require(leader.presumes_leadership)
    require(cluster.next_record_id < cluster.bound("max_records"))
    require(not_(leader.log.is_full))

    leader.log.append(id=cluster.next_record_id, epoch=leader.leader_epoch)
    cluster.next_record_id = cluster.next_record_id + 1


def is_caught_up(follower: Replica, leader: Replica, end: int) -> bool:
    """The follower names this leader and holds the entry below `end`, whatever its epoch."""
    return all_of(
        follower.follows(leader),
        any_of(end == 0, all_of(leader.log.has(end - 1), follower.log.has(end - 1))),
    )


@action("{leader} removes {follower} from the ISR", at="KafkaReplication.LeaderShrinkIsr")
def leader_shrink_isr(cluster: Cluster, leader: Replica, follower: Replica) -> None:
    """Drop a follower that does not hold the leader's last entry.

    This is Kafka's first fence against zombies: only the true leader may write the ISR.
    """
    require(cluster.is_true_leader(leader))
    require(leader.isr.contains(follower), follower != leader)
    require(not_(is_caught_up(follower, leader, leader.log.end)))

    cluster.update_isr(leader, leader.isr.without_member(follower))


@action("{leader} adds {follower} to the ISR", at="KafkaReplication.LeaderExpandIsr")
def leader_expand_isr(cluster: Cluster, leader: Replica, follower: Replica) -> None:
    """Add a follower that has reached the leader's HW."""
    require(cluster.is_true_leader(leader))
    require(not_(leader.isr.contains(follower)))
    require(is_caught_up(follower, leader, leader.high_watermark))

    cluster.update_isr(leader, leader.isr.with_member(follower))


@action("{leader} advances its high watermark", at="KafkaReplication.LeaderIncHighWatermark")
def leader_advance_high_watermark(cluster: Cluster, leader: Replica) -> None:
    """Commit the next offset once every ISR member names this leader and holds it.

    Such a member could fetch now and tell the leader so; that fetch is left out. Its epoch is not
    compared: it may name the leader of an earlier epoch.
    """
    offset = leader.high_watermark
    require(leader.presumes_leadership)
    require(leader.log.has(offset))
    require(every(m.follows(leader) & m.log.has(offset) for m in leader.isr))

    leader.high_watermark = offset + 1


def require_newer_request(
    cluster: Cluster, follower: Replica, leader: Replica, request: LeaderAndIsrRequest
) -> None:
    """The request was sent, is news to the follower, and names another replica as leader."""
    require(follower != leader)
    require(cluster.was_sent(request))
    require(request.leader == leader)
    require(request.number > follower.leader_epoch)


def become_follower_and_truncate(
    follower: Replica, leader: Replica, request: LeaderAndIsrRequest, end: int
) -> None:
    """Adopt the request and truncate to `end`, which must not be beyond the follower's own end.

    It happens at each new epoch, even if the leader is the same: that leader may have followed
    another one in between. KIP-101 and KIP-279 improve only on `end`.
    """
    require(end <= follower.log.end)

    follower.adopt(request, leader)
    follower.truncate_to(end)


def replicate_next_entry(follower: Replica, leader: Replica) -> None:
    """Copy the leader's entry at the follower's end; the follower's HW follows the leader's."""
    offset = follower.log.end
    require(leader.log.has(offset))

    follower.high_watermark = minimum(leader.high_watermark, offset + 1)
    follower.log.append_copy(leader.log[offset])


@action("{follower} fetches from {leader}", at="KafkaReplication.FollowerReplicate")
def follower_replicate(cluster: Cluster, follower: Replica, leader: Replica) -> None:
    """Fetch the next entry from a replica that believes it is leader.

    No epochs are compared: neither the replicas', nor those of the entries where the logs meet.
    """
    require(leader.presumes_leadership)
    require(follower.follows(leader))

    replicate_next_entry(follower, leader)


def ladder_protocol(
    name: str, system: str, words: str, source: str, become_follower: Action
) -> Protocol:
    """A rung that differs from the oldest one in how a replica becomes a follower."""
    return Protocol(
        name=name,
        words=words,
        source=source,
        state=Cluster,
        bounds=BOUNDS,
        telling=replace(TELLING, system=system),
        actions=(
            controller_elect_leader,
            controller_shrink_isr,
            become_leader,
            leader_expand_isr,
            leader_shrink_isr,
            leader_write,
            leader_advance_high_watermark,
            become_follower,
            follower_replicate,
        ),
        cut_by=(LOG_SIZE, MAX_RECORDS, MAX_LEADER_EPOCH),
        fairness=(
            weak(become_leader, become_follower, by=["request"]),
            weak(leader_expand_isr, leader_advance_high_watermark, follower_replicate),
        ),
        views={
            "roles": ("quorum.leader", "replicas.leader"),
            "isr": ("quorum.isr", "replicas.isr"),
            "epochs": ("quorum.leader_epoch", "replicas.leader_epoch"),
            "logs": ("replicas.log", "replicas.high_watermark"),
        },
    )
