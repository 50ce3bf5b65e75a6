"""Captured expressions as people write them: infix, with the names of the state's variables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from model.language import graph
from model.language.graph import BINDERS, COMMUTATIVE, Node, Op

_SIGNS = {
    Op.EQ: "=", Op.LT: "<", Op.LE: "<=", Op.ADD: "+", Op.SUB: "-", Op.UNION: "union",
    Op.DIFFERENCE: "minus", Op.INTERSECTION: "and also", Op.AND: "and", Op.OR: "or",
    Op.CONTAINS: "contains", Op.MAJORITY: "is a majority of",
}  # fmt: skip


Names = Mapping[Node, str]
_NOBODY: Names = {}


def words(node: Node, inner: bool = False, names: Names = _NOBODY) -> str:
    """An expression in infix form, for people; `names` are those of free variables."""
    if node in names:
        return names[node]
    if node.op is Op.CONST:
        return "none" if node.sort.kind is graph.Kind.REF and node.data < 0 else str(node.data)
    if node.op in (Op.VARIABLE, Op.READ):
        # Loop variables are named after their index set: the last part says enough.
        name = str(node.data[0])
        name = name.rsplit(".", maxsplit=1)[-1].replace("%", "") if node.op is Op.VARIABLE else name
        index = ", ".join(words(arg, names=names) for arg in node.args)
        return f"{name}[{index}]" if index else name
    if node.op is Op.BOUND:
        return str(node.data)
    if node.op is Op.NOT and node.args[0].op is Op.EQ:
        return _bracketed(_joined("!=", in_order(node.args[0].args, names), names), inner)
    if node.op is Op.NOT and node.args[0].op in (Op.LT, Op.LE):
        a, b = node.args[0].args
        sign = "<=" if node.args[0].op is Op.LT else "<"
        return _bracketed(f"{words(b, True, names)} {sign} {words(a, True, names)}", inner)
    if node.op in _SIGNS:
        args = in_order(node.args, names) if node.op in COMMUTATIVE else node.args
        return _bracketed(_joined(_SIGNS[node.op], args, names), inner)
    if node.op is Op.ITE:
        condition, then, otherwise = (words(a, True, names) for a in node.args)
        return _bracketed(f"{then} if {condition} else {otherwise}", inner)
    if node.op in (Op.FORALL, Op.EXISTS):
        name = "every" if node.op is Op.FORALL else "some"
        return f"{name} {words(node.args[0])}: {words(node.args[1], True, names)}"
    if node.op in BINDERS:
        return f"{node.op}(...)"
    args = in_order(node.args, names) if node.op in COMMUTATIVE else node.args
    return f"{node.op}({', '.join(words(arg, names=names) for arg in args)})"


def in_order(args: Iterable[Node], names: Names = _NOBODY) -> list[Node]:
    """The arguments of a commutative operator: numbers last, else the shorter first.

    The graph's own order depends on what was captured before in the same process.
    """
    named = ((words(arg, True, names), arg) for arg in args)
    ordered = sorted(named, key=lambda n: (n[0].lstrip("-").isdecimal(), len(n[0]), n[0]))
    return [arg for _, arg in ordered]


def _joined(sign: str, args: Iterable[Node], names: Names) -> str:
    return f" {sign} ".join(words(arg, True, names) for arg in args)


def _bracketed(text: str, inner: bool) -> str:
    return f"({text})" if inner else text
