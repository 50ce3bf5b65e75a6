"""Atoms for lemmas about asynchronous ISR updates.

Each is about a replica `r`, another replica `x`, and two versions of the ISR, `v` and `w`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

from model.async_isr.protocol import IsrVersion, Partition, Replica
from model.language import Model
from properties.templates import Family, Place, Templates

AtomFunction = Callable[[Partition, Replica, Replica, IsrVersion, IsrVersion], bool]

_ATOMS: dict[str, AtomFunction] = {
    "r in ISR of v": lambda p, r, x, v, w: v.isr.contains(r),
    "x in ISR of v": lambda p, r, x, v, w: v.isr.contains(x),
    "r in ISR of w": lambda p, r, x, v, w: w.isr.contains(r),
    "r in leader's ISR": lambda p, r, x, v, w: p.leader_isr.contains(r),
    "r in pending ISR": lambda p, r, x, v, w: p.pending_isr.contains(r),
    "r in controller's ISR": lambda p, r, x, v, w: p.controller_isr.contains(r),
    "ISR of v is the leader's": lambda p, r, x, v, w: v.isr == p.leader_isr,
    "change of r requested of v": lambda p, r, x, v, w: v.requested[r],
    "change of x requested of v": lambda p, r, x, v, w: v.requested[x],
    "v is the leader's": lambda p, r, x, v, w: v.number == p.leader_version,
    "v after the leader's": lambda p, r, x, v, w: v.number > p.leader_version,
    "v is the controller's": lambda p, r, x, v, w: v.number == p.controller_version,
    "v was written": lambda p, r, x, v, w: p.was_written(v),
    "w was written": lambda p, r, x, v, w: p.was_written(w),
    "v before w": lambda p, r, x, v, w: v.number < w.number,
    "HW <= end(r)": lambda p, r, x, v, w: p.high_watermark <= r.end,
}


def _places(model: Model) -> Iterator[Place]:
    replicas = range(model.bounds["replicas"])
    versions = range(model.bounds["max_version"] + 1)
    for r, x in itertools.product(replicas, repeat=2):
        if r != x or len(replicas) == 1:
            yield from ((r, x, v, w) for v in versions for w in versions)


def _at(partition: Partition, place: Place) -> tuple[Replica, Replica, IsrVersion, IsrVersion]:
    r, x, v, w = place
    replicas, versions = partition.replicas, partition.versions
    return replicas[r], replicas[x], versions[v], versions[w]


ASYNC_ISR_TEMPLATES = Templates(
    atoms=_ATOMS,
    places=_places,
    at=_at,
    families=(
        Family(
            head=(("r in ISR of v", True),),
            body=(
                ("r in ISR of w", False),
                ("v before w", False),
                ("v after the leader's", False),
                ("v is the leader's", False),
                ("w was written", False),
            ),
        ),
        Family(
            head=(("r in leader's ISR", True), ("r in pending ISR", True)),
            body=(
                ("r in ISR of v", False),
                ("x in ISR of v", False),
                ("v is the leader's", False),
                ("v after the leader's", False),
                ("change of r requested of v", False),
                ("change of x requested of v", False),
                ("r in controller's ISR", False),
            ),
        ),
    ),
)
