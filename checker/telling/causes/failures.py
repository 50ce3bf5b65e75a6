"""What exactly of a property is false: which conjunct, for which members, by which values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from checker.core.engines.reference import State
from checker.core.traces.trace import Trace
from checker.telling.causes.reasons import Reads, Reasons
from model.language.cells import StateSpace
from model.language.graph import Node, Op
from model.language.ground import Environment, Grounder
from model.language.protocol import Instance, Model
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
    node = trace.model.claim(claim.claim, claim.frames)
    return false_parts(trace.model, [node], {}, trace.evidence)


def false_guards(model: Model, instance: Instance, state: State) -> tuple[Failure, ...]:
    """The conjuncts of a step's guard that a state falsifies. Raises `CaptureError`."""
    captured = model.captured_action(instance.action)
    members = dict(zip(captured.parameters, instance.arguments, strict=True))
    return false_parts(model, captured.guards, members, (state,))


def false_parts(
    model: Model, nodes: Iterable[Node], members: Environment, states: Sequence[State]
) -> tuple[Failure, ...]:
    """The conjuncts of captured expressions that a state, or the two of a step, falsify."""
    grounder = Grounder(StateSpace(model.schema, model.bounds))
    reasons = Reasons(states, lambda *_: 1)

    def below(node: Node, members: Environment) -> Iterator[Failure]:
        ground = grounder.expression(node, members)
        if reasons.value(ground):
            return
        if node.op is Op.FORALL:
            over, body = node.args
            for number in range(model.extents[over.data[1]]):
                yield from below(body, members | {over: number})
        elif node.op is Op.AND:
            for part in node.args:
                yield from below(part, members)
        else:
            yield Failure(node, members, reasons.why(ground))

    return tuple(failure for node in nodes for failure in below(node, members))
