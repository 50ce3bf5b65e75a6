"""What exactly of a property is false: which conjunct, for which members, by which values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from checker.causes.reasons import Reads, Reasons
from checker.traces.trace import Trace
from model.language.cells import StateSpace
from model.language.graph import Node, Op
from model.language.ground import Environment, Grounder
from properties import Sense


@dataclass(frozen=True)
class Failure:
    """One conjunct that is false, for members by variable: the number of each.

    `reads` are cells that suffice for it to be false, by frame and position.
    """

    conjunct: Node
    members: Environment
    reads: Reads


def failures_of(trace: Trace) -> tuple[Failure, ...]:
    """Every conjunct of the trace's property that its end falsifies, with the members in order.

    None of a trace that falsifies nothing. Raises `CaptureError`.
    """
    claim = trace.claim
    if claim is None or claim.sense is not Sense.ALWAYS:
        return ()
    model = trace.model
    grounder = Grounder(StateSpace(model.schema, model.bounds))
    reasons = Reasons(trace.evidence, lambda *_: 1)

    def false_parts(node: Node, members: Environment) -> Iterator[Failure]:
        ground = grounder.expression(node, members)
        if reasons.value(ground):
            return
        if node.op is Op.FORALL:
            over, body = node.args
            for number in range(model.extents[over.data[1]]):
                yield from false_parts(body, members | {over: number})
        elif node.op is Op.AND:
            for part in node.args:
                yield from false_parts(part, members)
        else:
            yield Failure(node, members, reasons.why(ground))

    return tuple(false_parts(model.claim(claim.claim, claim.frames), {}))
