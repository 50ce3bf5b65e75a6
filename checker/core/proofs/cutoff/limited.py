"""Claims of the core alone, where they are of every member: that much may be assumed of a part."""

from __future__ import annotations

from model.language import graph
from model.language.graph import Kind, Node, Op, Sort


def limited(node: Node, family: str, core: int) -> Node:
    """A claim of the first `core` members alone, where it is of every member."""
    ours = graph.no_members(family)
    for number in range(core):
        member = graph.constant(number, Sort(Kind.REF, family))
        ours = graph.set_operation(Op.UNION, ours, graph.singleton(member))

    def visit(this: Node, positive: bool) -> Node:
        match this.op:
            case Op.NOT:
                return graph.negation(visit(this.args[0], not positive))
            case Op.AND | Op.OR:
                return graph.rebuild(this, tuple(visit(arg, positive) for arg in this.args))
            case Op.FORALL | Op.EXISTS:
                over, body = this.args
                if over.data[1] != family or (this.op is Op.FORALL) is not positive:
                    return graph.quantified(this.op, over, visit(body, positive))
                member = graph.variable(over.data[0] + OF_THE_CORE, over.sort, family)
                body = visit(graph.substitute(body, {over: member}), positive)
                inside = graph.contains(ours, member)
                if positive:
                    body = graph.disjunction(graph.negation(inside), body)
                else:
                    body = graph.conjunction(inside, body)
                return graph.quantified(this.op, member, body)
        return this

    return visit(node, True)


OF_THE_CORE = " of the core"
