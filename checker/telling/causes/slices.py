"""Which steps of a run needed which, and which of them its end did not need: a backward slice.

A step *needs* the last earlier one that changed what it had to read: what makes its guard true, and
what the values were made of that were needed later. What nothing needs, from the end backwards, can
be left out: the rest is a run as well, and ends the same way. That is seen to be so on the
reference engine each time.

Read off the captured and grounded graph, which is compared with the states of the trace on the way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from checker.core.engines.reference import ReferenceEngine
from checker.core.traces.trace import Trace, TraceVerdict
from checker.telling.causes.reasons import ALL, Place, Reads, Reasons, merged
from model.language.errors import DisagreementError, DomainError
from model.language.graph import Node
from model.language.ground import GroundAction
from model.language.naming import instance_words
from model.language.protocol import Instance
from properties import Sense

Bits = dict[int, int]
"""Cells by position, each with the bits of it that matter: -1 is all."""


@dataclass(frozen=True)
class Cause:
    """An earlier step, by its number from 1, and the cells that it changed and that were needed."""

    step: int
    cells: Bits


@dataclass(frozen=True)
class Slice:
    """What each step of a trace needed, in order, and what its end did.

    `needed` says of each step whether the end needs it; none of a run without an end that is about
    anything. `reads` are the cells that suffice for what the last state shows, by frame.
    """

    causes: tuple[tuple[Cause, ...], ...]
    needed: tuple[bool, ...] | None = None
    end: tuple[Cause, ...] = ()
    reads: Reads = field(default_factory=dict)
    live: tuple[Bits, ...] = ()

    @property
    def needless(self) -> tuple[int, ...]:
        """The numbers of the steps, from 1, that the end does not need."""
        return tuple(n for n, needed in enumerate(self.needed or (), 1) if not needed)


def slice_of(trace: Trace) -> Slice:
    """What the steps of a trace needed of each other.

    Raises `CaptureError` for a protocol that cannot be captured, and `DisagreementError` if the
    captured graph does something else than the functions.
    """
    grounded, nodes = _grounded(trace)
    slicing = _Slicing(trace, grounded, misfits=False)
    found = slicing.run(nodes)
    if found.needed is None or leave_out(trace, found.needless):
        return found
    found = _Slicing(trace, grounded, misfits=True).run(nodes)
    if not leave_out(trace, found.needless):
        raise DisagreementError(
            f"without the steps {', '.join(map(str, found.needless))}, which nothing needs as the "
            "captured graph has it, the functions do not come to the same end"
        )
    return found


def leave_out(trace: Trace, steps: Sequence[int]) -> bool:
    """The other steps alone are a run on the reference engine that shows what the trace does.

    `steps` are numbered from 1.
    """
    engine, states = ReferenceEngine(trace.model), [trace.states[0]]
    for number, instance in enumerate(trace.steps, 1):
        if number in steps:
            continue
        try:
            after = engine.step(states[-1], instance)
        except DomainError:
            return False
        if after is None:
            return False
        states.append(after)
    if trace.claim is None:
        return next(engine.successors(states[-1]), None) is None
    if len(states) < trace.claim.frames:
        return False
    holds = engine.holds(trace.claim.claim, *states[-trace.claim.frames :])
    return holds is (trace.claim.sense is Sense.SOMETIMES)


def _grounded(trace: Trace) -> tuple[dict[int, GroundAction], list[Node]]:
    """The ground steps by instance, and what the end is about: claims or guards."""
    model, claim = trace.model, trace.claim
    if trace.verdict == TraceVerdict.DEADLOCK:
        actions, _ = model.grounded(model.instances)
        return {a.instance.number: a for a in actions}, [action.guard for action in actions]
    distinct: dict[int, Instance] = {step.number: step for step in trace.steps}
    claims = [] if claim is None else [(claim.claim, claim.frames)]
    actions, nodes = model.grounded(tuple(distinct.values()), claims)
    return {a.instance.number: a for a in actions}, list(nodes)


class _Slicing:
    def __init__(self, trace: Trace, grounded: dict[int, GroundAction], misfits: bool) -> None:
        self._trace, self._grounded, self._misfits = trace, grounded, misfits
        self._changed: list[Bits] = []
        self._changes: dict[int, list[tuple[int, int]]] = {}  # of each cell: steps, and which bits
        for step, (before, after) in enumerate(pairwise(trace.states), 1):
            pairs = enumerate(zip(before, after, strict=True))
            self._changed.append({place: a ^ b for place, (a, b) in pairs if a != b})
            for place, bits in self._changed[-1].items():
                self._changes.setdefault(place, []).append((step, bits))

    def run(self, nodes: Sequence[Node]) -> Slice:
        """The slice; of a trace that is about something, from the end backwards."""
        depth = len(self._trace.steps)
        if not nodes:
            causes = tuple(self._causes(n, self._reads(n, None)) for n in range(1, depth + 1))
            return Slice(causes)
        frames = self._trace.claim.frames if self._trace.claim is not None else 1
        states = self._trace.states[-frames:]
        reasons = Reasons(states, lambda p, bits: self._cost(depth - frames + 1 + p[0], p, bits))
        end = merged(*map(reasons.why, nodes))
        live = {position: bits for (frame, position), bits in end.items() if frame == frames - 1}
        sure = depth if frames == 2 else 0
        before = {position: bits for (frame, position), bits in end.items() if frame < frames - 1}
        caused, needed, lives = [], [], [live]
        for number in range(depth, 0, -1):
            changed = self._changed[number - 1]
            is_needed = number == sure or any(changed.get(p, 0) & b for p, b in live.items())
            reads = self._reads(number, live if is_needed else None)
            if is_needed:
                assigned = self._ground(number).assignments
                kept = {p: bits for p, bits in live.items() if p not in assigned}
                live = merged_bits(kept, reads, before if number == sure else {})
            caused.append(self._causes(number, reads))
            needed.append(is_needed)
            lives.append(live)
        last = self._causes(depth + 1, {p: b for (f, p), b in end.items() if f == frames - 1})
        if frames == 2:
            earlier = self._causes(depth, before)
            last = tuple(sorted({c.step: c for c in (*last, *earlier)}.values(), key=_by_step))
        return Slice(
            tuple(reversed(caused)), tuple(reversed(needed)), last, end, tuple(reversed(lives))
        )

    def _ground(self, number: int) -> GroundAction:
        return self._grounded[self._trace.steps[number - 1].number]

    def _cost(self, last: int, place: Place, bits: int) -> int:
        """Whether a step up to this one changed the place."""
        changes = self._changes.get(place[1], ())
        return int(any(step <= last and changed & bits for step, changed in changes))

    def _reads(self, number: int, live: Bits | None) -> Bits:
        """What suffices for a step's guard, and for what it writes: what is live, or changes."""
        ground, before = self._ground(number), self._trace.states[number - 1]
        reasons = Reasons([before], lambda place, bits: self._cost(number - 1, place, bits))
        self._compare(number, ground, reasons)
        written = live if live is not None else dict.fromkeys(self._changed[number - 1], ALL)
        parts = [reasons.why(ground.guard)]
        for position, bits in written.items():
            if position in ground.assignments:
                parts.append(reasons.why(ground.assignments[position], bits))
        if self._misfits:
            parts.append(reasons.why(ground.misfit))
        return {position: bits for (_, position), bits in merged(*parts).items()}

    def _compare(self, number: int, ground: GroundAction, reasons: Reasons) -> None:
        """The graph does what the functions did: the step is enabled, and leads where it led."""
        before, after = self._trace.states[number - 1 : number + 1]
        expected = list(before)
        for position, node in ground.assignments.items():
            expected[position] = reasons.value(node)
        if not reasons.value(ground.guard) or tuple(expected) != after:
            step = instance_words(self._trace.model, ground.instance)
            raise DisagreementError(
                f"step {number}, {step}: the captured graph does something else than the function"
            )

    def _causes(self, number: int, reads: Bits) -> tuple[Cause, ...]:
        """The last steps before this one that changed what is read."""
        found: dict[int, Bits] = {}
        for position, bits in reads.items():
            left = bits
            for step, changed in reversed(self._changes.get(position, [])):
                if step < number and changed & left:
                    found.setdefault(step, {})[position] = changed & left
                    left &= ~changed
        return tuple(sorted((Cause(s, cells) for s, cells in found.items()), key=_by_step))


def _by_step(cause: Cause) -> int:
    return cause.step


def merged_bits(*parts: Bits) -> Bits:
    """All cells of the parts, each with the bits of all."""
    found: Bits = {}
    for part in parts:
        for position, bits in part.items():
            found[position] = found.get(position, 0) | bits
    return found
