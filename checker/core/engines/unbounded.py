"""The unbounded back end: lifted formulas as Z3 terms, for any number of members and any bounds.

A symmetric family is an uninterpreted sort with one element that stands for none; rows and
positions are integers; a state variable is a function of its indices, a set a relation; bounds are
constants.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import z3

from model.language import graph
from model.language.errors import UsageError
from model.language.graph import Kind, Node, Op, Sort
from model.language.lifted import Lifted

Term = Any


class UnboundedTerms:
    """Turns graph nodes without quantifiers and sets into Z3 terms; equal nodes become one.

    `minima` are the least values of bounds, 1 where they do not say. `UsageError` for a named
    member that need not exist.
    """

    def __init__(self, lifted: Lifted, minima: Mapping[str, int] | None = None) -> None:
        self._lifted = lifted
        self._minima = minima or {}
        self._sorts: dict[str, Any] = {}
        self._named: dict[str, dict[int, Term]] = {}
        self._done: dict[Node, Term] = {}

    def sort(self, sort: Sort) -> Any:
        """The Z3 sort of values of `sort`."""
        if sort.kind is Kind.BOOL:
            return z3.BoolSort()
        if sort.kind is Kind.REF and self._lifted.is_symmetric(sort.family):
            return self._sorts.setdefault(sort.family, z3.DeclareSort(sort.family))
        return z3.IntSort()

    def __call__(self, node: Node) -> Term:
        """The term for `node`."""
        found = self._done.get(node)
        if found is None:
            found = self._done[node] = self._lower(node, [self(arg) for arg in node.args])
        return found

    def distinct(self) -> list[Term]:
        """That the members that are named, and none, are different."""
        found = []
        for family, constants in self._named.items():
            none = z3.Const(f"{family}!none", self._sorts[family])
            found.append(z3.Distinct(none, *constants.values()))
        return found

    def _lower(self, node: Node, args: list[Term]) -> Term:
        match node.op:
            case Op.CONST:
                return self._constant(node)
            case Op.VARIABLE:
                return z3.Const(str(node.data[0]), self.sort(node.sort))
            case Op.BOUND:
                return z3.Int(f"{node.data}!bound")  # a parameter may have the bound's name
            case Op.READ:
                return self._apply(node, args)
        return _OPERATORS[node.op](args)

    def _constant(self, node: Node) -> Term:
        if node.sort.kind is Kind.BOOL:
            return z3.BoolVal(bool(node.data))
        if node.sort.kind is Kind.REF and self._lifted.is_symmetric(node.sort.family):
            if node.data == graph.NONE:
                return z3.Const(f"{node.sort.family}!none", self.sort(node.sort))
            self._refuse_unless_it_exists(node)
            constant = z3.Const(f"{node.sort.family}!{node.data}", self.sort(node.sort))
            return self._named.setdefault(node.sort.family, {}).setdefault(node.data, constant)
        return z3.IntVal(int(node.data))

    def _refuse_unless_it_exists(self, member: Node) -> None:
        index_set = self._lifted.schema.index_sets[member.sort.family]
        extent = index_set.size
        least = extent.offset + (self._minima.get(extent.bound.name, 1) if extent.bound else 0)
        if member.data >= least:
            raise UsageError(
                f"member {member.data} of {index_set.name} is named, and there may be only "
                f"{least}: prove it within bounds"
            )

    def _apply(self, node: Node, args: list[Term]) -> Term:
        name, frame = node.data
        if not args:
            return z3.Const(f"{name}@{frame}", self.sort(node.sort))
        domain = [self.sort(arg.sort) for arg in node.args]
        return z3.Function(f"{name}@{frame}", *domain, self.sort(node.sort))(*args)


_OPERATORS: dict[Op, Callable[[list[Term]], Term]] = {
    Op.NOT: lambda a: z3.Not(a[0]),
    Op.AND: z3.And,
    Op.OR: z3.Or,
    Op.EQ: lambda a: a[0] == a[1],
    Op.LT: lambda a: a[0] < a[1],
    Op.LE: lambda a: a[0] <= a[1],
    Op.ADD: lambda a: a[0] + a[1],
    Op.SUB: lambda a: a[0] - a[1],
    Op.MIN: lambda a: z3.If(a[0] <= a[1], a[0], a[1]),
    Op.MAX: lambda a: z3.If(a[0] <= a[1], a[1], a[0]),
    Op.ITE: lambda a: z3.If(a[0], a[1], a[2]),
}
