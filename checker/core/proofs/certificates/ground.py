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
        self._kept: list[Any] = []
        self._applications: dict[Any, dict[tuple[int, ...], tuple[list[Any], Any]]] = {}
        terms = list(_in_order(conditions))
        leaves = [term for term in terms if _is_leaf(term) and term.num_args() == term.num_args()]
        self._numbers = sum(term.sort().kind() == z3.Z3_INT_SORT for term in leaves)
        members: dict[int, int] = {}
        for term in leaves:
            sort = term.sort()
            if sort.kind() == z3.Z3_UNINTERPRETED_SORT:
                members[sort.get_id()] = members.get(sort.get_id(), 0) + 1
        self._member_bits = {sort: max((n - 1).bit_length(), 1) for sort, n in members.items()}
        offset = _Offsets().largest(terms)
        self.most = self._numbers * (2 * offset + 1)
        self._number_bits = (self.most + offset).bit_length() + 1
        self._integers: list[Any] = []
        for term in terms:
            self._kept.append(term)  # so that no other term gets its number
            self._made[term.get_id()] = self._of(term, [self.of(part) for part in term.children()])

    def of(self, term: Any) -> Any:
        """The term over bits."""
        return self._made[term.get_id()]

    def ranges(self) -> Iterator[Any]:
        """That each integer leaf is one of the values that suffice."""
        for leaf in self._integers:
            yield leaf <= self.most
            yield leaf >= -self.most

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
            return z3.BitVecVal(term.as_long(), self._number_bits)
        if kind == z3.Z3_OP_DISTINCT:
            return z3.And(*(a != b for a, b in itertools.combinations(parts, 2)))
        if kind in _OPERATORS:
            return _OPERATORS[kind](parts)
        raise UsageError(f"a certificate for all sizes is of what it knows: {term.decl()} is not")

    def _leaf(self, term: Any, parts: list[Any]) -> Any:
        known = self._applications.setdefault(term.decl(), {})
        key = tuple(part.get_id() for part in parts)
        if key not in known:
            sort = self._sort(term.sort())
            value = z3.Const(f"{term.decl().name()}!{len(known)}", sort)
            known[key] = parts, value
            if term.sort().kind() == z3.Z3_INT_SORT:
                self._integers.append(value)
        return known[key][1]

    def _sort(self, sort: Any) -> Any:
        match sort.kind():
            case z3.Z3_BOOL_SORT:
                return sort
            case z3.Z3_INT_SORT:
                return z3.BitVecSort(self._number_bits)
        return z3.BitVecSort(self._member_bits[sort.get_id()])


class _Offsets:
    """How far integers are from the leaf that they take their value from, at most."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[int, bool]] = {}

    def largest(self, terms: Iterable[Any]) -> int:
        """Of all terms, which come in order."""
        return max((self._of(term) for term in terms), default=0)

    def _of(self, term: Any) -> int:
        """At most so far; and kept, with it, whether it is of a leaf at all."""
        if term.sort().kind() != z3.Z3_INT_SORT:
            return 0
        parts = [self._known.get(part.get_id(), (0, False)) for part in term.children()]
        match term.decl().kind():
            case z3.Z3_OP_UNINTERPRETED:
                found = 0, True
            case z3.Z3_OP_ANUM:
                found = abs(term.as_long()), False
            case z3.Z3_OP_ITE:
                found = max(offset for offset, _ in parts[1:]), any(of for _, of in parts[1:])
            case z3.Z3_OP_ADD | z3.Z3_OP_SUB | z3.Z3_OP_UMINUS as kind:
                found = sum(offset for offset, _ in parts), any(of for _, of in parts)
                moved = parts if kind == z3.Z3_OP_ADD else parts[kind == z3.Z3_OP_SUB :]
                if sum(of for _, of in moved) > (kind == z3.Z3_OP_ADD):
                    raise UsageError(f"a certificate has no sums of unknown integers: {term}")
            case _:
                raise UsageError(f"a certificate has no {term.decl().name()} of integers: {term}")
        self._known[term.get_id()] = found
        return found[0]


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
            raise UsageError("a certificate for all sizes is of ground instances: has a quantifier")
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
    z3.Z3_OP_LE: lambda parts: parts[0] <= parts[1],
    z3.Z3_OP_LT: lambda parts: parts[0] < parts[1],
    z3.Z3_OP_GE: lambda parts: parts[0] >= parts[1],
    z3.Z3_OP_GT: lambda parts: parts[0] > parts[1],
    z3.Z3_OP_ITE: lambda parts: z3.If(*parts),
    z3.Z3_OP_ADD: lambda parts: sum(parts[1:], parts[0]),
    z3.Z3_OP_SUB: lambda parts: parts[0] - parts[1],
}
