"""Conditions over truths and bit vectors as clauses, one bit a variable.

Z3 has made the terms, and takes no part here. A clause is a list of numbers as in DIMACS: variables
count from 1, and a negative number says that the variable is false. Every gate is defined in both
directions, so the clauses have a solution exactly where the conditions hold together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import z3

from model.language.errors import UsageError

Bits = list[int]
"""A bit vector, the lowest bit first; a truth has one."""


class Clauses:
    """Clauses that say that `conditions` hold together.

    Raises `UsageError` for what has no finite number of bits.
    """

    def __init__(self, conditions: Iterable[Any]) -> None:
        self.clauses: list[list[int]] = [[1]]
        self.variables = 1
        self.true = 1
        self._gates: dict[tuple[Any, ...], int] = {}
        self._bits: dict[int, Bits] = {}
        self._kept: list[Any] = []
        for condition in conditions:
            self.clauses.append([self._of(condition)[0]])

    def dimacs(self) -> str:
        """The text of a file in DIMACS CNF."""
        head = f"p cnf {self.variables} {len(self.clauses)}\n"
        return head + "".join(" ".join(map(str, clause)) + " 0\n" for clause in self.clauses)

    # --- terms -------------------------------------------------------------------------------

    def _of(self, root: Any) -> Bits:
        """The bits of a term; those of its parts first, without recursion."""
        stack = [(root, root.get_id(), root.children())]
        while stack:
            term, number, parts = stack[-1]
            numbers = [part.get_id() for part in parts]
            missing = [
                (part, its, part.children())
                for part, its in zip(parts, numbers, strict=True)
                if its not in self._bits
            ]
            if missing:
                stack += missing
                continue
            stack.pop()
            if number not in self._bits:
                self._kept.append(term)  # so that no other term gets its number
                self._bits[number] = self._lowered(term, [self._bits[its] for its in numbers])
        return self._bits[root.get_id()]

    def _lowered(self, term: Any, parts: list[Bits]) -> Bits:
        """The bits of a term whose parts have these."""
        kind = term.decl().kind()
        is_finite = z3.is_bool(term) or z3.is_bv(term)
        if kind == z3.Z3_OP_UNINTERPRETED and not parts and is_finite:
            return [self._new() for _ in range(1 if z3.is_bool(term) else term.size())]
        if kind in _TRUTHS:
            return [_TRUTHS[kind](self, [bits[0] for bits in parts])]
        if kind in _COMPARISONS:
            return [_COMPARISONS[kind](self, *parts)]
        match kind:
            case z3.Z3_OP_EQ:
                return [self._equal(*parts)]
            case z3.Z3_OP_DISTINCT if len(parts) == 2:
                return [-self._equal(*parts)]
            case z3.Z3_OP_ITE:
                condition = parts[0][0]
                return [self._choice(condition, a, b) for a, b in zip(*parts[1:], strict=True)]
            case z3.Z3_OP_BNUM:
                return [self._constant(term.as_long() >> k & 1) for k in range(term.size())]
            case z3.Z3_OP_BAND | z3.Z3_OP_BOR:
                gate = self._all if kind == z3.Z3_OP_BAND else self._any
                return [gate(together) for together in zip(*parts, strict=True)]
            case z3.Z3_OP_BNOT:
                return [-bit for bit in parts[0]]
            case z3.Z3_OP_BADD:
                total = parts[0]
                for more in parts[1:]:
                    total = self._sum(total, more, -self.true)
                return total
            case z3.Z3_OP_BSUB if len(parts) == 2:
                return self._sum(parts[0], [-bit for bit in parts[1]], self.true)
            case z3.Z3_OP_ZERO_EXT:
                return [*parts[0], *([-self.true] * (term.size() - len(parts[0])))]
            case z3.Z3_OP_SIGN_EXT:
                return [*parts[0], *(parts[0][-1:] * (term.size() - len(parts[0])))]
            case z3.Z3_OP_EXTRACT:
                high, low = term.params()
                return parts[0][low : high + 1]
        raise UsageError(f"a certificate is of truths and bits: {term.decl().name()} is not")

    def _constant(self, value: object) -> int:
        return self.true if value else -self.true

    # --- gates -------------------------------------------------------------------------------

    def _new(self) -> int:
        self.variables += 1
        return self.variables

    def _gate(self, *key: Any) -> Iterator[int]:
        """The output of a gate, once: whoever gets it adds its clauses."""
        if key not in self._gates:
            self._gates[key] = self._new()
            yield self._gates[key]

    def _all(self, literals: Iterable[int]) -> int:
        chosen = sorted(set(literals) - {self.true})
        if -self.true in chosen or any(-one in chosen for one in chosen if one > 0):
            return -self.true
        if len(chosen) < 2:
            return chosen[0] if chosen else self.true
        key = ("all", *chosen)
        for out in self._gate(*key):
            self.clauses += [[-out, one] for one in chosen]
            self.clauses.append([out, *(-one for one in chosen)])
        return self._gates[key]

    def _any(self, literals: Iterable[int]) -> int:
        return -self._all(-one for one in literals)

    def _choice(self, condition: int, yes: int, no: int) -> int:
        if abs(condition) == self.true or yes == no:
            return yes if condition == self.true or yes == no else no
        key = ("choice", condition, yes, no)
        for out in self._gate(*key):
            self.clauses += [[-condition, -yes, out], [-condition, yes, -out]]
            self.clauses += [[condition, -no, out], [condition, no, -out]]
        return self._gates[key]

    def _same(self, a: int, b: int) -> int:
        return self._choice(a, b, -b)

    def _equal(self, a: Bits, b: Bits) -> int:
        return self._all(self._same(x, y) for x, y in zip(a, b, strict=True))

    def _sum(self, a: Bits, b: Bits, carry: int) -> Bits:
        """Modulo the width, as bit vectors add."""
        found = []
        for x, y in zip(a, b, strict=True):
            half = -self._same(x, y)
            found.append(-self._same(half, carry))
            carry = self._choice(half, carry, x)
        return found

    def _below(self, a: Bits, b: Bits, otherwise: int) -> int:
        """`a < b` without signs, or `otherwise` if they are equal.

        The highest bit that differs counts.
        """
        for x, y in zip(a, b, strict=True):
            otherwise = self._choice(self._same(x, y), otherwise, y)
        return otherwise

    def _signed_below(self, a: Bits, b: Bits, otherwise: int) -> int:
        """The same with signs: the highest bits change their sense."""
        return self._below([*a[:-1], -a[-1]], [*b[:-1], -b[-1]], otherwise)


_TRUTHS: dict[int, Callable[[Clauses, Bits], int]] = {
    z3.Z3_OP_TRUE: lambda c, _: c.true,
    z3.Z3_OP_FALSE: lambda c, _: -c.true,
    z3.Z3_OP_NOT: lambda _, parts: -parts[0],
    z3.Z3_OP_AND: Clauses._all,
    z3.Z3_OP_OR: Clauses._any,
    z3.Z3_OP_IMPLIES: lambda c, parts: c._any([-parts[0], parts[1]]),
    z3.Z3_OP_XOR: lambda c, parts: -c._same(*parts),
}
_COMPARISONS: dict[int, Callable[[Clauses, Bits, Bits], int]] = {
    z3.Z3_OP_ULT: lambda c, a, b: c._below(a, b, -c.true),
    z3.Z3_OP_ULEQ: lambda c, a, b: c._below(a, b, c.true),
    z3.Z3_OP_UGT: lambda c, a, b: c._below(b, a, -c.true),
    z3.Z3_OP_UGEQ: lambda c, a, b: c._below(b, a, c.true),
    z3.Z3_OP_SLT: lambda c, a, b: c._signed_below(a, b, -c.true),
    z3.Z3_OP_SLEQ: lambda c, a, b: c._signed_below(a, b, c.true),
    z3.Z3_OP_SGT: lambda c, a, b: c._signed_below(b, a, -c.true),
    z3.Z3_OP_SGEQ: lambda c, a, b: c._signed_below(b, a, c.true),
}
