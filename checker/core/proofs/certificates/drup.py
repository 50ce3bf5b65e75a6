"""Checks a proof that clauses have no solution, in the format that solvers write: DRUP.

Each line of a proof is a clause that follows from those before by propagation alone: if all its
literals are false, clauses with one literal left force others, until one clause is false. The last
line is the empty clause. Lines that delete a clause are passed over: what follows from fewer
clauses follows from more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from checker.core.native.kernel import kernel

Numbers = npt.NDArray[np.int64]
_TRUE, _FALSE = 1, 2


def refutes(proof: Iterable[str], clauses: Sequence[Sequence[int]], variables: int) -> bool:
    """Whether the lines of a proof derive the empty clause from clauses over the variables.

    Clauses and lines as in DIMACS. Raises `ValueError` for a line that is no clause over them.
    """
    derived = [_numbers(line, variables) for line in proof if not line.startswith("d")]
    every = [[_literal(n) for n in sorted(set(c))] for c in (*clauses, *derived)]
    start = np.cumsum([0, *map(len, every)], dtype=np.int64)
    literals = np.array([literal for clause in every for literal in clause] or [0], np.int64)
    room = 2 * (variables + 1)
    values = np.zeros(room, np.int64)
    heads, nexts = np.full(room, -1, np.int64), np.full(2 * len(every) + 2, -1, np.int64)
    trail = np.zeros(variables + 1, np.int64)
    return bool(_refuted(start, literals, len(clauses), values, heads, nexts, trail))


def _numbers(line: str, variables: int) -> list[int]:
    *numbers, end = map(int, line.split())
    if end or any(not 0 < abs(number) <= variables for number in numbers):
        raise ValueError(f"{line!r} is no clause over {variables} variables")
    return numbers


def _literal(number: int) -> int:
    """Twice the variable, and 1 more if it is to be false."""
    return 2 * number if number > 0 else 1 - 2 * number


@kernel
def _refuted(
    start: Numbers,
    literals: Numbers,
    given: int,
    values: Numbers,
    heads: Numbers,
    nexts: Numbers,
    trail: Numbers,
) -> bool:
    """Take in each clause after the other; those that are not `given` have to follow.

    Clause c is `literals[start[c] : start[c + 1]]`. `values` has 1 for a literal that is true, 2
    for one that is false, `trail` those that are true in the order of their coming. `heads[l]` is
    the first of the watches of a literal, `nexts` the one after each: watch 2 c + k stands for the
    literal at place k of clause c, k being 0 or 1.
    """
    fixed = 0
    for c in range(start.shape[0] - 1):
        first, last = start[c], start[c + 1]
        if c >= given:
            assumed, is_true = fixed, False
            for p in range(first, last):
                if values[literals[p]] == _TRUE:
                    is_true = True
                elif values[literals[p]] == 0:
                    assumed = _assign(literals[p] ^ 1, values, trail, assumed)
            follows = is_true
            if not is_true:
                reached, follows = _propagate(
                    fixed, assumed, start, literals, values, heads, nexts, trail
                )
                assumed = reached
            for t in range(fixed, assumed):
                values[trail[t]] = 0
                values[trail[t] ^ 1] = 0
            if not follows:
                return False
        open_ones = 0
        for p in range(first, last):
            if values[literals[p]] != _FALSE and open_ones < 2:
                kept = literals[first + open_ones]
                literals[first + open_ones] = literals[p]
                literals[p] = kept
                open_ones += 1
        if open_ones == 0:
            return True
        for k in range(1 if last - first < 2 else 2):
            nexts[2 * c + k] = heads[literals[first + k]]
            heads[literals[first + k]] = 2 * c + k
        if open_ones == 1 and values[literals[first]] == 0:
            known = _assign(literals[first], values, trail, fixed)
            known, refuted = _propagate(fixed, known, start, literals, values, heads, nexts, trail)
            if refuted:
                return True
            fixed = known
    return False


@kernel
def _assign(literal: int, values: Numbers, trail: Numbers, known: int) -> int:
    """Let a literal be true; how many are known now."""
    values[literal] = _TRUE
    values[literal ^ 1] = _FALSE
    trail[known] = literal
    return known + 1


@kernel
def _propagate(
    done: int,
    known: int,
    start: Numbers,
    literals: Numbers,
    values: Numbers,
    heads: Numbers,
    nexts: Numbers,
    trail: Numbers,
) -> tuple[int, bool]:
    """Follow what is true from `done` on: how many literals are known, and whether one clashes."""
    while done < known:
        false = trail[done] ^ 1
        done += 1
        watch, before = heads[false], -1
        while watch >= 0:
            after, c, k = nexts[watch], watch >> 1, watch & 1
            first, last = start[c], start[c + 1]
            if last - first < 2:
                return known, True
            other = literals[first + 1 - k]
            place = last
            if values[other] != _TRUE:
                place = first + 2
                while place < last and values[literals[place]] == _FALSE:
                    place += 1
            if values[other] != _TRUE and place < last:
                found = literals[place]
                literals[place] = false
                literals[first + k] = found
                if before < 0:
                    heads[false] = after
                else:
                    nexts[before] = after
                nexts[watch] = heads[found]
                heads[found] = watch
            else:
                if values[other] == _FALSE:
                    return known, True
                if values[other] == 0:
                    known = _assign(other, values, trail, known)
                before = watch
            watch = after
    return known, False
