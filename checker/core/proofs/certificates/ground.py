"""Ground conditions as conditions over bits, so that a SAT solver can refute them.

Ground are conditions without quantifiers, over functions and sorts without a meaning, and integers
that are compared and moved by constants. If they can hold together, they can with few values:

- *Functions*: each application is a value of its own; of two with equal arguments the values are
  equal (Ackermann). What is so of these values is so of some function.
- *Members* of a sort are only equal or not: as many values suffice as there are terms.
- *Integers*: each is the value of a leaf, or 0, and a constant of at most A, so that conditions
  compare differences of leaves with constants of at most 2 A. Put the leaves' values and 0 in
  order. Where two neighbours are further apart than 2 A + 1, move them together until they are as
  far: no condition sees that. So n leaves have values of at most n (2 A + 1) on both sides of 0.

So what no such values satisfy, none do. Z3 has made the terms, and takes no part here.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import z3

from model.language.errors import UsageError


def over_bits(conditions: Iterable[Any]) -> list[Any]:
    """Conditions over truths and bit vectors that can hold together where `conditions` can.

    Raises `UsageError` for what is not ground, and for integers that are multiplied, or are the sum
    or the difference of two unknown ones.
    """
    conditions = list(conditions)
    ground = _Ground(conditions)
    return [*map(ground.of, conditions), *ground.ranges(), *ground.functions()]


class _Ground:
    """The terms of some conditions over bits."""

    def __init__(self, conditions: Iterable[Any]) -> None:
        self._made: dict[int, Any] = {}
        self._terms = list(_in_order(conditions))  # kept, so that no other term gets a number
        self._values = itertools.count()
        self._applications: dict[Any, dict[tuple[int, ...], tuple[list[Any], Any]]] = {}
        self._integers: list[Any] = []
        leaves = Counter(term.sort() for term in self._terms if _is_leaf(term))
        offset = _largest_offset(self._terms)
        self._most = leaves[z3.IntSort()] * (2 * offset + 1)
        self._bits = {
            sort: max((count - 1).bit_length(), 1)
            for sort, count in leaves.items()
            if sort.kind() == z3.Z3_UNINTERPRETED_SORT
        }
        self._bits[z3.IntSort()] = (self._most + offset).bit_length() + 1
        for term in self._terms:
            self._made[term.get_id()] = self._of(term, [self.of(part) for part in term.children()])

    def of(self, term: Any) -> Any:
        """The term over bits."""
        return self._made[term.get_id()]

    def ranges(self) -> Iterator[Any]:
        """That each integer leaf is one of the values that suffice."""
        for leaf in self._integers:
            yield leaf <= self._most
            yield leaf >= -self._most

    def functions(self) -> Iterator[Any]:
        """That applications with equal arguments have equal values."""
        for applications in self._applications.values():
            for (these, this), (those, that) in itertools.combinations(applications.values(), 2):
                same = [a == b for a, b in zip(these, those, strict=True)]
                yield z3.Or(*map(z3.Not, same), this == that)

    def _of(self, term: Any, parts: list[Any]) -> Any:
        kind = term.decl().kind()
        if _is_leaf(term):
            return self._leaf(term, parts)
        if z3.is_int_value(term):
            return z3.BitVecVal(term.as_long(), self._bits[term.sort()])
        if kind not in _OPERATORS:
            raise UsageError(f"a certificate for all sizes has no {term.decl().name()}: {term}")
        return _OPERATORS[kind](parts)

    def _leaf(self, term: Any, parts: list[Any]) -> Any:
        """A value of its own for each application of other arguments."""
        known = self._applications.setdefault(term.decl(), {})
        key = tuple(part.get_id() for part in parts)
        if key not in known:
            value = z3.Const(f"{term.decl().name()}!{next(self._values)}", self._sort(term.sort()))
            known[key] = parts, value
            if z3.is_int(term):
                self._integers.append(value)
        return known[key][1]

    def _sort(self, sort: Any) -> Any:
        if sort in self._bits:
            return z3.BitVecSort(self._bits[sort])
        if sort.kind() != z3.Z3_BOOL_SORT:
            raise UsageError(f"a certificate for all sizes has no {sort}")
        return sort


def _largest_offset(terms: Iterable[Any]) -> int:
    """How far integers are from the leaf that they take their value from, or from 0, at most.

    Of all terms, which come after their parts.
    """
    offsets: dict[int, int] = {}
    of_leaves: set[int] = set()
    for term in filter(z3.is_int, terms):
        parts = [part for part in term.children() if z3.is_int(part)]
        unknown = [part.get_id() in of_leaves for part in parts]
        each = [offsets[part.get_id()] for part in parts]
        match term.decl().kind():
            case z3.Z3_OP_UNINTERPRETED:
                found, is_unknown = 0, True
            case z3.Z3_OP_ANUM:
                found, is_unknown = abs(term.as_long()), False
            case z3.Z3_OP_ITE:
                found, is_unknown = max(each), any(unknown)
            case z3.Z3_OP_ADD if sum(unknown) < 2:
                found, is_unknown = sum(each), any(unknown)
            case z3.Z3_OP_SUB if not any(unknown[1:]):
                found, is_unknown = sum(each), unknown[0]
            case _:
                raise UsageError(f"a certificate for all sizes moves integers by constants: {term}")
        offsets[term.get_id()] = found
        if is_unknown:
            of_leaves.add(term.get_id())
    return max(offsets.values(), default=0)


def _is_leaf(term: Any) -> bool:
    return bool(term.decl().kind() == z3.Z3_OP_UNINTERPRETED)


def _in_order(roots: Iterable[Any]) -> Iterator[Any]:
    """All parts of the terms, each once, after its own parts."""
    seen: set[int] = set()
    stack = [(root, False) for root in roots]
    while stack:
        term, is_ready = stack.pop()
        if is_ready:
            yield term
            continue
        if term.get_id() in seen:
            continue
        if not z3.is_app(term):
            raise UsageError(f"a certificate for all sizes has no quantifiers: {term}")
        seen.add(term.get_id())
        stack.append((term, True))
        stack += [(part, False) for part in term.children()]


_OPERATORS: dict[int, Callable[[list[Any]], Any]] = {
    z3.Z3_OP_TRUE: lambda _: z3.BoolVal(True),
    z3.Z3_OP_FALSE: lambda _: z3.BoolVal(False),
    z3.Z3_OP_NOT: lambda parts: z3.Not(parts[0]),
    z3.Z3_OP_AND: lambda parts: z3.And(*parts),
    z3.Z3_OP_OR: lambda parts: z3.Or(*parts),
    z3.Z3_OP_IMPLIES: lambda parts: z3.Implies(*parts),
    z3.Z3_OP_EQ: lambda parts: parts[0] == parts[1],
    z3.Z3_OP_DISTINCT: lambda parts: z3.And(*(a != b for a, b in itertools.combinations(parts, 2))),
    z3.Z3_OP_LE: lambda parts: parts[0] <= parts[1],
    z3.Z3_OP_LT: lambda parts: parts[0] < parts[1],
    z3.Z3_OP_GE: lambda parts: parts[0] >= parts[1],
    z3.Z3_OP_GT: lambda parts: parts[0] > parts[1],
    z3.Z3_OP_ITE: lambda parts: z3.If(*parts),
    z3.Z3_OP_ADD: lambda parts: sum(parts[1:], parts[0]),
    z3.Z3_OP_SUB: lambda parts: parts[0] - sum(parts[2:], parts[1]),
}
