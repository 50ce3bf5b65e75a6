"""Atoms for lemmas about the ladder.

Each is about a replica `r`, another replica `x`, an offset `o` and a request `e`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

from model.ladder.cluster import Cluster, LeaderAndIsrRequest, Replica
from model.ladder.kip320 import follows_in_epoch
from model.language import Model, all_of, every, implies, is_none, some
from properties.ladder.lemmas.commitment import in_isr_after, someone_moved_on
from properties.ladder.lemmas.epochs import leads_in
from properties.templates import Family, Place, Templates

AtomFunction = Callable[[Cluster, Replica, Replica, int, LeaderAndIsrRequest], bool]


def agree_up_to(replica: Replica, other: Replica, offset: int) -> bool:
    """The logs hold the same entries at `offset` and everywhere below."""
    log = replica.log
    return every(implies(o <= offset, log.same_entry(other.log, o)) for o in log.positions)


def in_order_up_to(replica: Replica, offset: int) -> bool:
    """No record below `offset` is of a later epoch than the one there."""
    log = replica.log
    return every(implies(o < offset, log[o].epoch <= log[offset].epoch) for o in log.positions)


# Of replicas and requests.
_WHO: dict[str, AtomFunction] = {
    "r leads": lambda c, r, x, o, e: r.presumes_leadership,
    "r follows x": lambda c, r, x, o, e: r.follows(x),
    "r has no leader": lambda c, r, x, o, e: is_none(r.leader),
    "r follows x in its epoch": lambda c, r, x, o, e: follows_in_epoch(r, x),
    "r is the true leader": lambda c, r, x, o, e: c.is_true_leader(r),
    "somebody is the true leader": lambda c, r, x, o, e: some(
        c.is_true_leader(m) for m in c.replicas
    ),
    "quorum's leader is r": lambda c, r, x, o, e: c.quorum.leader == r,
    "quorum has no leader": lambda c, r, x, o, e: is_none(c.quorum.leader),
    "e names r": lambda c, r, x, o, e: e.leader == r,
    "e names x": lambda c, r, x, o, e: e.leader == x,
    "e names nobody": lambda c, r, x, o, e: is_none(e.leader),
    "e names r, which is in e": lambda c, r, x, o, e: all_of(
        e.leader == r, r.leader_epoch == e.number
    ),
    "e names x, which is in e": lambda c, r, x, o, e: all_of(
        e.leader == x, x.leader_epoch == e.number
    ),
    "the leader of e got there": lambda c, r, x, o, e: some(leads_in(m, e) for m in c.replicas),
}

_EPOCHS: dict[str, AtomFunction] = {
    "r has an epoch": lambda c, r, x, o, e: r.leader_epoch >= 0,
    "epoch(r) = epoch(x)": lambda c, r, x, o, e: r.leader_epoch == x.leader_epoch,
    "epoch(r) < epoch(x)": lambda c, r, x, o, e: r.leader_epoch < x.leader_epoch,
    "epoch(r) = e": lambda c, r, x, o, e: r.leader_epoch == e.number,
    "epoch(r) < e": lambda c, r, x, o, e: r.leader_epoch < e.number,
    "epoch(x) < e": lambda c, r, x, o, e: x.leader_epoch < e.number,
    "e was sent": lambda c, r, x, o, e: c.was_sent(e),
    "e is the newest": lambda c, r, x, o, e: c.quorum.leader_epoch == e.number,
    "e is older than the newest": lambda c, r, x, o, e: e.number < c.quorum.leader_epoch,
    "somebody was elected": lambda c, r, x, o, e: c.quorum.leader_epoch >= 0,
}

_ISR: dict[str, AtomFunction] = {
    "x in ISR of e": lambda c, r, x, o, e: e.isr.contains(x),
    "r in ISR of e": lambda c, r, x, o, e: e.isr.contains(r),
    "x in ISR of r": lambda c, r, x, o, e: r.isr.contains(x),
    "r in ISR of r": lambda c, r, x, o, e: r.isr.contains(r),
    "x in quorum's ISR": lambda c, r, x, o, e: c.quorum.isr.contains(x),
    "r in quorum's ISR": lambda c, r, x, o, e: c.quorum.isr.contains(r),
    "ISR of e is the quorum's": lambda c, r, x, o, e: e.isr == c.quorum.isr,
    "ISR of r is the quorum's": lambda c, r, x, o, e: r.isr == c.quorum.isr,
    "x in an ISR after epoch(r)": lambda c, r, x, o, e: in_isr_after(c, r.leader_epoch, x),
    "x in an ISR after e": lambda c, r, x, o, e: in_isr_after(c, e.number, x),
    "someone in ISR of r moved on": lambda c, r, x, o, e: someone_moved_on(
        c, r.isr, r.leader_epoch
    ),
    "someone in ISR of e moved on": lambda c, r, x, o, e: someone_moved_on(c, e.isr, e.number),
}

_LOGS: dict[str, AtomFunction] = {
    "o < HW(r)": lambda c, r, x, o, e: o < r.high_watermark,
    "o < HW(x)": lambda c, r, x, o, e: o < x.high_watermark,
    "o < end(r)": lambda c, r, x, o, e: r.log.has(o),
    "o < end(x)": lambda c, r, x, o, e: x.log.has(o),
    "r[o] is blank": lambda c, r, x, o, e: all_of(r.log[o].id == 0, r.log[o].epoch == 0),
    "id of r[o] was issued": lambda c, r, x, o, e: r.log[o].id < c.next_record_id,
    "r[o] of epoch e": lambda c, r, x, o, e: all_of(r.log.has(o), r.log[o].epoch == e.number),
    "r[o] of epoch(r)": lambda c, r, x, o, e: all_of(
        r.log.has(o), r.log[o].epoch == r.leader_epoch
    ),
    "epoch of r[o] <= epoch(r)": lambda c, r, x, o, e: r.log[o].epoch <= r.leader_epoch,
    "epoch of r[o] <= epoch(x)": lambda c, r, x, o, e: r.log[o].epoch <= x.leader_epoch,
    "epochs of r in order up to o": lambda c, r, x, o, e: in_order_up_to(r, o),
    "r[o] and x[o] of one epoch": lambda c, r, x, o, e: all_of(
        r.log.has(o), x.log.has(o), r.log[o].epoch == x.log[o].epoch
    ),
    "r[o] = x[o]": lambda c, r, x, o, e: r.log.same_entry(x.log, o),
    "r and x agree up to o": lambda c, r, x, o, e: agree_up_to(r, x, o),
}

_COMMITTED = Family(
    head=(("o < HW(r)", False), ("r[o] = x[o]", True)),
    body=(
        ("r leads", False),
        ("x in ISR of r", False),
        ("x in quorum's ISR", False),
        ("x in ISR of e", False),
        ("epoch(r) < e", False),
        ("epoch(r) = e", False),
        ("r[o] of epoch(r)", False),
        ("r[o] of epoch e", False),
        ("epoch(r) = epoch(x)", False),
        ("epoch(r) < epoch(x)", False),
        ("epoch of r[o] <= epoch(x)", False),
        ("e was sent", False),
        ("r follows x", False),
        ("x in an ISR after epoch(r)", False),
        ("x in an ISR after e", False),
        ("r follows x in its epoch", False),
    ),
)
_COMMITTED_AT_LEADER = Family(
    head=(("o < HW(x)", True), ("o < HW(r)", False)),
    body=(
        ("r follows x in its epoch", False),
        ("r[o] of epoch(r)", False),
        ("epoch(r) = epoch(x)", False),
    ),
    conditions=2,
)
_CHAIN_OF_LEADERS = Family(
    head=(("x in ISR of r", True),),
    body=(
        ("r leads", False),
        ("someone in ISR of r moved on", True),
        ("x in an ISR after epoch(r)", False),
        ("x in quorum's ISR", False),
    ),
)
_CHAIN_OF_REQUESTS = Family(
    head=(("x in ISR of e", True),),
    body=(
        ("e was sent", False),
        ("the leader of e got there", True),
        ("someone in ISR of e moved on", True),
        ("x in an ISR after e", False),
        ("x in quorum's ISR", False),
    ),
)


def _places(model: Model) -> Iterator[Place]:
    replicas = range(model.bounds["replicas"])
    offsets, epochs = range(model.bounds["log_size"]), range(model.bounds["max_leader_epoch"] + 1)
    for r, x in itertools.permutations(replicas, 2):
        yield from ((r, x, o, e) for o in offsets for e in epochs)


def _at(cluster: Cluster, place: Place) -> tuple[Replica, Replica, int, LeaderAndIsrRequest]:
    r, x, o, e = place
    return cluster.replicas[r], cluster.replicas[x], o, cluster.requests[e]


LADDER_TEMPLATES = Templates(
    atoms=_WHO | _EPOCHS | _ISR | _LOGS,
    places=_places,
    at=_at,
    families=(_COMMITTED, _COMMITTED_AT_LEADER, _CHAIN_OF_LEADERS, _CHAIN_OF_REQUESTS),
)
