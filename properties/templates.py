"""Templates for lemmas about the ladder: the atoms that candidates are built from.

Each atom is about a replica `r`, another replica `x`, an offset `o` and a request `e`. A candidate
says that for all of them at least one of a few atoms or negated atoms holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from model.language import Protocol, all_of, is_none, some
from model.protocols.ladder import Cluster, LeaderAndIsrRequest, Replica
from properties.lemmas import follows_in_epoch, in_isr_after

AtomFunction = Callable[[Cluster, Replica, Replica, int, LeaderAndIsrRequest], bool]


@dataclass(frozen=True)
class Templates:
    """Atoms by their words; `head` are the literals (atom, sign) of the longer candidates.

    Besides short candidates, there are those that consist of `head` and up to `conditions` negated
    atoms of `body`.
    """

    atoms: Mapping[str, AtomFunction]
    head: tuple[tuple[str, bool], ...]
    body: tuple[str, ...]
    conditions: int = 4


LADDER_ATOMS: dict[str, AtomFunction] = {
    "r leads": lambda c, r, x, o, e: r.leader == r,
    "r follows x": lambda c, r, x, o, e: r.leader == x,
    "r has no leader": lambda c, r, x, o, e: is_none(r.leader),
    "r has an epoch": lambda c, r, x, o, e: r.leader_epoch >= 0,
    "x leads": lambda c, r, x, o, e: x.leader == x,
    "epoch(r) = epoch(x)": lambda c, r, x, o, e: r.leader_epoch == x.leader_epoch,
    "epoch(r) < epoch(x)": lambda c, r, x, o, e: r.leader_epoch < x.leader_epoch,
    "epoch(r) = e": lambda c, r, x, o, e: r.leader_epoch == e.number,
    "epoch(r) < e": lambda c, r, x, o, e: r.leader_epoch < e.number,
    "epoch(x) < e": lambda c, r, x, o, e: x.leader_epoch < e.number,
    "e was sent": lambda c, r, x, o, e: c.was_sent(e),
    "e is the newest": lambda c, r, x, o, e: c.quorum.leader_epoch == e.number,
    "e names r": lambda c, r, x, o, e: e.leader == r,
    "e names nobody": lambda c, r, x, o, e: is_none(e.leader),
    "x in ISR of e": lambda c, r, x, o, e: e.isr.contains(x),
    "r in ISR of e": lambda c, r, x, o, e: e.isr.contains(r),
    "x in ISR of r": lambda c, r, x, o, e: r.isr.contains(x),
    "r in ISR of r": lambda c, r, x, o, e: r.isr.contains(r),
    "x in quorum's ISR": lambda c, r, x, o, e: c.quorum.isr.contains(x),
    "quorum's leader is r": lambda c, r, x, o, e: c.quorum.leader == r,
    "o < HW(r)": lambda c, r, x, o, e: o < r.high_watermark,
    "o < HW(x)": lambda c, r, x, o, e: o < x.high_watermark,
    "o < end(r)": lambda c, r, x, o, e: r.log.has(o),
    "o < end(x)": lambda c, r, x, o, e: x.log.has(o),
    "r[o] of epoch e": lambda c, r, x, o, e: r.log[o].epoch == e.number,
    "r[o] of epoch(r)": lambda c, r, x, o, e: r.log[o].epoch == r.leader_epoch,
    "epoch of r[o] <= epoch(x)": lambda c, r, x, o, e: r.log[o].epoch <= x.leader_epoch,
    "r[o] and x[o] of one epoch": lambda c, r, x, o, e: r.log[o].epoch == x.log[o].epoch,
    "r is the true leader": lambda c, r, x, o, e: c.is_true_leader(r),
    "r follows x in its epoch": lambda c, r, x, o, e: follows_in_epoch(r, x),
    "e names r, which is in e": lambda c, r, x, o, e: all_of(
        e.leader == r, r.leader_epoch == e.number
    ),
    "someone in ISR of r moved on": lambda c, r, x, o, e: some(
        all_of(r.isr.contains(m), m.leader_epoch > r.leader_epoch) for m in c.replicas
    ),
    "someone in ISR of e moved on": lambda c, r, x, o, e: some(
        all_of(e.isr.contains(m), m.leader_epoch > e.number) for m in c.replicas
    ),
    "x in an ISR after epoch(r)": lambda c, r, x, o, e: in_isr_after(c, r.leader_epoch, x),
    "x in an ISR after e": lambda c, r, x, o, e: in_isr_after(c, e.number, x),
    "r[o] = x[o]": lambda c, r, x, o, e: r.log.same_entry(x.log, o),
}

LADDER_TEMPLATES = Templates(
    atoms=LADDER_ATOMS,
    head=(("o < HW(r)", False), ("r[o] = x[o]", True)),
    body=(
        "r leads",
        "x in ISR of r",
        "x in quorum's ISR",
        "x in ISR of e",
        "epoch(r) < e",
        "epoch(r) = e",
        "r[o] of epoch(r)",
        "r[o] of epoch e",
        "epoch(r) = epoch(x)",
        "epoch(r) < epoch(x)",
        "epoch of r[o] <= epoch(x)",
        "e was sent",
        "r follows x",
        "x leads",
        "x in an ISR after epoch(r)",
        "r follows x in its epoch",
    ),
)


_TEMPLATES: dict[type, Templates] = {Cluster: LADDER_TEMPLATES}


def templates_of(protocol: Protocol) -> Templates | None:
    """The templates for the protocol's lemmas, if there are any."""
    return _TEMPLATES.get(protocol.state)
