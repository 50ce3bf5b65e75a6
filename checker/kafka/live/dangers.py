"""The rules of danger, each a declaration: which states of a partition are steps of which losses.

What to do is what the findings' pages say for someone who is in that state. `unseen.py` has what no
admin client shows.
"""

from __future__ import annotations

from collections.abc import Iterator

from checker.kafka.live.danger import (
    ELR,
    FENCED,
    QUORUM,
    REASSIGNMENTS,
    RULES,
    SETTINGS,
    Danger,
    Dangers,
    Hit,
    Seen,
    declare,
    ids,
    least_of,
    of_partition,
)
from checker.kafka.live.snapshot import Snapshot
from model.language.declare.history import version_of

__all__ = ["BEHIND_MS", "RULES", "judge"]

BEHIND_MS = 60_000
"""A controller that has not caught up for so long does not merely lag."""

_MIN = "min.insync.replicas"


@declare(
    "0004", looks_at="ELR, replicas", needs=(ELR,),
    words="an eligible leader replica is no replica of the partition: it has deleted its log, and "
    "is elected once it is a replica again",
    now=f"bring the ISR up to {_MIN}, which empties the ELR, before a broker of the partition "
    "stops; reassign nothing to that broker until then",
)  # fmt: skip
@of_partition
def removed_replica_in_the_elr(at: Seen) -> str:
    odd = [each for each in at.partition.elr if each not in at.partition.replicas]
    return f"ELR {ids(odd)}, replicas {ids(at.partition.replicas)}" if odd else ""


@declare(
    "0004", looks_at="reassignments, ELR", needs=(ELR, REASSIGNMENTS),
    words="a replica that a reassignment adds or removes is in the ELR: it stays there when that "
    "is cancelled, or complete",
    now=f"neither cancel nor reverse the reassignment while the ISR is below {_MIN}",
)  # fmt: skip
@of_partition
def reassigned_replica_in_the_elr(at: Seen) -> str:
    moved = {*at.partition.adding, *at.partition.removing}
    odd = [each for each in at.partition.elr if each in moved and each in at.partition.replicas]
    return f"ELR {ids(odd)}, which is being reassigned" if odd else ""


@declare(
    "0018", looks_at="ELR, registered brokers", needs=(ELR, FENCED),
    words="an eligible leader replica is not registered: nobody can elect it, and while the ELR "
    "names it the last known leader is not elected either",
    now=f"bring the ISR up to {_MIN} before its members stop; if there is no leader, see the way "
    "out on the finding's page",
)  # fmt: skip
@of_partition
def unregistered_broker_in_the_elr(at: Seen) -> str:
    if not at.cluster.with_fenced:
        return ""
    odd = [each for each in at.partition.elr if each not in at.cluster.by_id]
    return f"ELR {ids(odd)}, registered {ids(sorted(at.cluster.by_id))}" if odd else ""


@declare(
    "0014", looks_at=f"replicas of partition 0, {_MIN}, ELR on or off", needs=(ELR, SETTINGS),
    words="the controller counts the replicas of partition 0, which has fewer: the partition has "
    "no eligible leader replicas although its leader waits for as many as the setting says",
    now="reassign partition 0 to as many replicas; until that is complete stop no broker of the "
    "topic",
)  # fmt: skip
@of_partition
def fewer_replicas_in_the_first_partition(at: Seen) -> str:
    first, asked = at.topic.partitions[0], least_of(at.topic)
    if not at.cluster.has_elr or asked is None or at.least is None:
        return ""
    if first.number or min(asked, len(first.replicas)) >= at.least:
        return ""
    return (
        f"{len(at.partition.replicas)} replicas, partition 0 {len(first.replicas)}, {_MIN}={asked}"
    )


@declare(
    "0006", "0011", looks_at="leader, ISR, ELR, last known ELR", needs=(ELR,),
    words="no leader, and nobody may be elected: ISR and ELR are empty, as after a change of "
    f"{_MIN}, or of the ELR feature, while the partition was offline",
    now="find the broker that led last or has the longest log, put it first by a reassignment, and "
    "order an unclean election (kafka-leader-election.sh --election-type unclean)",
)  # fmt: skip
@of_partition
def nobody_may_lead(at: Seen) -> str:
    one = at.partition
    known = [each for each in one.last_known_elr if each >= 0]
    if not at.cluster.has_elr or one.leader is not None or one.isr or one.elr or known:
        return ""
    return f"leader none, ISR none, ELR none, replicas {ids(one.replicas)}"


@declare(
    "0006", "0011", looks_at=f"ISR, ELR, {_MIN}", needs=(ELR, SETTINGS),
    words=f"the ISR is below {_MIN}, and the ELR is empty: a change of that setting clears it. "
    "Whoever is in the ISR leads again after a power loss, without records that others had",
    now="start the other replicas, and wait until they are in sync, before you stop a member of "
    f"the ISR; change neither {_MIN} nor features until then",
)  # fmt: skip
@of_partition
def nobody_but_the_isr(at: Seen) -> str:
    one = at.partition
    if not at.cluster.has_elr or one.leader is None or one.elr or not at.is_below:
        return ""
    return f"ISR {ids(one.isr)}, ELR none, {_MIN} {at.least}, replicas {ids(one.replicas)}"


@declare(
    "0003", looks_at="ELR, release", needs=(ELR,),
    words="before 4.3 the ELR is cleared as soon as a broker reports a replica's directory",
    now="replace no disk of an ISR member until the ELR is empty; upgrade to 4.3",
)  # fmt: skip
@of_partition
def elr_before_4_3(at: Seen) -> str:
    line = at.cluster.line
    if not line or version_of(line) >= version_of("4.3") or not at.partition.elr:
        return ""
    return f"ELR {ids(at.partition.elr)}, ISR {ids(at.partition.isr)}"


@declare(
    "0005", looks_at="ELR, offline replicas, log directories", needs=(ELR, FENCED),
    words="the log directory of an eligible leader replica is offline: if it is taken out of "
    "log.dirs, the broker registers as cleanly stopped, and is elected without the records",
    now="put an empty disk at the same path before the broker starts again; else start it only "
    f"while {_MIN} other brokers are in the ISR",
)  # fmt: skip
@of_partition
def elr_in_a_failed_directory(at: Seen) -> str:
    odd = [each for each in at.partition.elr if each in at.partition.offline and _is_up(at, each)]
    return f"ELR {ids(odd)}, which is up and has the replica in a failed directory" if odd else ""


def _is_up(at: Seen, broker: int) -> bool:
    found = at.cluster.by_id.get(broker)
    return found is not None and found.fenced is False


@declare(
    "0013", looks_at="reassignments", needs=(REASSIGNMENTS,),
    words="a reassignment adds and removes the same replica: from 4.3 on it never ends",
    now="cancel it (kafka-reassign-partitions.sh --cancel)",
)  # fmt: skip
@of_partition
def reassignment_that_never_ends(at: Seen) -> str:
    both = [each for each in at.partition.adding if each in at.partition.removing]
    return f"adding {ids(at.partition.adding)}, removing {ids(at.partition.removing)}" * bool(both)


@declare(
    "85", looks_at=f"reassignments, ISR, {_MIN}", needs=(REASSIGNMENTS, SETTINGS),
    words=f"without the replicas that a reassignment adds, the ISR would be below {_MIN}: to "
    "cancel it leaves acknowledged records on fewer replicas",
    now="do not cancel the reassignment until more of the earlier replicas are in sync",
)  # fmt: skip
@of_partition
def cancelling_leaves_too_few(at: Seen) -> str:
    one = at.partition
    kept = [each for each in one.isr if each not in one.adding]
    if at.least is None or at.is_below or len(kept) >= at.least:
        return ""
    return f"ISR {ids(one.isr)}, adding {ids(one.adding)}, {_MIN} {at.least}"


@declare(
    "27", looks_at="ISR, ELR on or off", needs=(ELR,),
    words="one replica is left in the ISR, and ELR is off: after a power loss it is elected "
    "without its last records",
    now="start the other replicas, and keep that broker running until one is in sync",
)  # fmt: skip
@of_partition
def last_replica_standing(at: Seen) -> str:
    one = at.partition
    off = at.cluster.features is not None and not at.cluster.has_elr
    if not off or len(one.isr) != 1 or len(one.replicas) < 2:
        return ""
    return f"ISR {ids(one.isr)}, replicas {ids(one.replicas)}"


@declare(
    "25", looks_at="unclean.leader.election.enable, ISR", needs=(SETTINGS,),
    words="unclean elections are on, and at most one replica is in sync: when it stops, one that "
    "lags is elected",
    now="set unclean.leader.election.enable=false for the topic, or wait until others are in sync "
    "before you stop that broker",
)  # fmt: skip
@of_partition
def unclean_election_is_next(at: Seen) -> str:
    one, setting = at.partition, at.topic.settings.get("unclean.leader.election.enable")
    if setting is None or setting.value != "true" or len(one.isr) > 1 or len(one.replicas) < 2:
        return ""
    return f"ISR {ids(one.isr)}, replicas {ids(one.replicas)}"


@declare(
    "30", looks_at=f"{_MIN} of brokers, and of topics that have none of their own",
    words=f"brokers have different values of {_MIN}: a topic without its own goes by its leader's, "
    "and the minimum changes with an election",
    now="set one value on all brokers, as the cluster's default",
)  # fmt: skip
def brokers_disagree_on_the_minimum(cluster: Snapshot) -> Iterator[Hit]:
    by_value: dict[str, list[int]] = {}
    for broker in cluster.brokers:
        if (found := broker.settings.get(_MIN)) is not None:
            by_value.setdefault(found.value, []).append(broker.id)
    settings = (topic.settings.get(_MIN) for topic in cluster.topics)
    own = [s is not None and s.source == "DYNAMIC_TOPIC_CONFIG" for s in settings]
    if len(by_value) > 1 and not all(own):
        told = "; ".join(f"{value} on {ids(on)}" for value, on in sorted(by_value.items()))
        yield Hit("", None, f"{_MIN}={told}")


@declare(
    "0023", looks_at="voters of the quorum", needs=(QUORUM,),
    words="the only controller commits metadata before it has flushed it: a power loss of its "
    "machine loses topics",
    now="add controllers until three vote",
)  # fmt: skip
def single_controller(cluster: Snapshot) -> Iterator[Hit]:
    if cluster.quorum is not None and len(cluster.quorum.voters) == 1:
        yield Hit("", None, f"voters {ids(voter.id for voter in cluster.quorum.voters)}")


@declare(
    "0024", "0025", looks_at="the voters' log end offsets, and when each had caught up",
    needs=(QUORUM,),
    words="a controller that votes does not catch up: it is down, or was sent a snapshot that it "
    "cannot use (0024); what others have not flushed is then on fewer disks (0025)",
    now="start it; if its log says 'Full log truncation expected but didn't happen', wait for the "
    "leader's next snapshot. Start another one that crashed only after it has flushed (sync)",
)  # fmt: skip
def controller_behind(cluster: Snapshot) -> Iterator[Hit]:
    voters = () if cluster.quorum is None else cluster.quorum.voters
    newest = max((voter.last_caught_up for voter in voters), default=-1)
    for voter in voters:
        late = newest - voter.last_caught_up
        if late > BEHIND_MS:
            since = f"for {late / 1000:,.0f} s" if voter.last_caught_up > 0 else "since it voted"
            yield Hit("", None, f"controller {voter.id} has not caught up {since}")


def judge(cluster: Snapshot) -> Dangers:
    """What of a cluster's present state is a step of a known loss."""
    found = [Danger(rule, hits) for rule in RULES if (hits := tuple(rule.finds(cluster)))]
    missing = [(rule, rule.missing(cluster)) for rule in RULES]
    return Dangers(tuple(found), tuple((rule, why) for rule, why in missing if why))
