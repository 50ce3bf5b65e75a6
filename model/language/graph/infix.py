"""Expressions as people write them: infix, on one line, with the names of the state's variables.

Why a trace ends, what a mutant changes, and what a lemma claims are told with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from model.language.graph.nodes import BINDERS, COMMUTATIVE, Kind, Node, Op

_SIGNS = {
    Op.EQ: "=", Op.LT: "<", Op.LE: "<=", Op.ADD: "+", Op.SUB: "-", Op.UNION: "union",
    Op.DIFFERENCE: "minus", Op.INTERSECTION: "and also", Op.AND: "and", Op.OR: "or",
    Op.CONTAINS: "contains", Op.MAJORITY: "is a majority of",
}  # fmt: skip
_DENIED = {Op.EQ: "!=", Op.LT: "<=", Op.LE: "<"}  # of the last two the sides change places
_SETS = {Op.EMPTY: "nobody", Op.EVERYONE: "everybody"}


@dataclass(frozen=True)
class Infix:
    """How to write expressions.

    `names` are those of free variables, or of whole expressions. `paths` are those of state
    variables, the names of attributes and anything else where an index goes: with it a field is
    written `r.log[offset].epoch`, else `replicas.log.epoch[r, offset]`.
    """

    names: Mapping[Node, str] = field(default_factory=dict)
    paths: Mapping[str, Sequence[object]] = field(default_factory=dict)

    def words(self, node: Node, inner: bool = False) -> str:
        """An expression for people; `inner` puts what has several parts in parentheses."""
        text = self._words(node)
        return f"({text})" if inner and node not in self.names and _has_sign(node) else text

    def in_order(self, args: Iterable[Node]) -> list[Node]:
        """The arguments of a commutative operator: numbers last, else the shorter first.

        The graph's own order depends on what was captured before in the same process.
        """
        named = ((self.words(arg, True), arg) for arg in args)
        ordered = sorted(named, key=lambda n: (n[0].lstrip("-").isdecimal(), len(n[0]), n[0]))
        return [arg for _, arg in ordered]

    def _words(self, node: Node) -> str:
        if node in self.names:
            return self.names[node]
        if node.op is Op.CONST:
            return "none" if node.sort.kind is Kind.REF and node.data < 0 else str(node.data)
        if node.op is Op.VARIABLE:
            # Loop variables are named after their index set: the last part says enough.
            return str(node.data[0]).rsplit(".", maxsplit=1)[-1].replace("%", "")
        if node.op is Op.READ:
            return self._field(node)
        if node.op in _SETS:
            return _SETS[node.op]
        if node.op is Op.BOUND:
            return str(node.data)
        if node.op is Op.NOT and node.args[0].op in _DENIED:
            denied = node.args[0]
            args = self.in_order(denied.args) if denied.op is Op.EQ else denied.args[::-1]
            return self._joined(_DENIED[denied.op], args)
        args = self.in_order(node.args) if node.op in COMMUTATIVE else node.args
        if _is_within(node):
            difference = next(arg for arg in args if arg.op is Op.DIFFERENCE)
            return " within ".join(self.words(arg, True) for arg in difference.args)
        if node.op in _SIGNS:
            return self._joined(_SIGNS[node.op], args)
        if node.op is Op.ITE:
            condition, then, otherwise = (self.words(arg, True) for arg in args)
            return f"{then} if {condition} else {otherwise}"
        if node.op in (Op.FORALL, Op.EXISTS):
            name = "every" if node.op is Op.FORALL else "some"
            return f"{name} {self.words(args[0])}: {self.words(args[1], True)}"
        if node.op in BINDERS:
            return f"{node.op}(...)"
        return f"{node.op}({', '.join(map(self.words, args))})"

    def _joined(self, sign: str, args: Iterable[Node]) -> str:
        return f" {sign} ".join(self.words(arg, True) for arg in args)

    def _field(self, node: Node) -> str:
        name, indices = str(node.data[0]), [self.words(arg) for arg in node.args]
        if name not in self.paths:
            return f"{name}[{', '.join(indices)}]" if indices else name
        text, places = "", iter(zip(node.args, indices, strict=True))
        for number, part in enumerate(self.paths[name]):
            if isinstance(part, str):
                text += f".{part}" if text else part
                continue
            arg, index = next(places)
            # A variable stands for the member itself.
            text = index if number == 1 and arg.op is Op.VARIABLE else f"{text}[{index}]"
        return text


def _is_within(node: Node) -> bool:
    """Whether one set without another is compared with nobody."""
    return node.op is Op.EQ and {arg.op for arg in node.args} == {Op.DIFFERENCE, Op.EMPTY}


def _has_sign(node: Node) -> bool:
    return node.op in (*_SIGNS, Op.ITE) or (node.op is Op.NOT and node.args[0].op in _DENIED)
