"""One run of each class that renaming members makes equal, for bounded checking.

Where members are interchangeable and alike at first, every run has a renaming in which they appear
in the order of their numbers: a step may involve member n only after, or together with, all members
below n. The other renamings need no search.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import z3

from checker.core.engines.symbolic import Term
from checker.core.search.symmetry import symmetry_of
from model.language.protocol import Instance, Model
from properties import Property


def interchangeable(model: Model, claims: Iterable[Property]) -> str | None:
    """The family of members that neither steps, claims nor the initial state tell apart, if any."""
    symmetry = symmetry_of(model, claims)
    if symmetry is None:
        return None
    start = model.initial_state
    alike = all(symmetry.renamed(start, p) == start for p in symmetry.permutations)
    return symmetry.family if alike else None


def members_of(instance: Instance, family: str) -> list[int]:
    """The members among the arguments, in the order of their first appearance."""
    found: list[int] = []
    for parameter, argument in zip(instance.parameters, instance.arguments, strict=True):
        if getattr(parameter.domain, "family", None) == family and argument not in (-1, *found):
            found.append(argument)
    return found


class Precedence:
    """Constraints on a run's selectors: `step(selector, frame)` for each step in turn.

    How many members have appeared is a number for each frame; they are always the lowest ones.
    """

    def __init__(self, model: Model, family: str) -> None:
        self._size = model.extents[family]
        self._members = [(i.number, members_of(i, family)) for i in model.instances]

    def step(self, selector: Term, frame: int) -> list[Term]:
        """What must hold of the instance whose number `selector` is, as step number `frame`."""
        before, after = self._appeared(frame), self._appeared(frame + 1)
        conditions = [before == 0] if frame == 0 else []
        for known in range(self._size + 1):
            allowed: dict[int, list[Any]] = {}
            for number, members in self._members:
                new = [member for member in members if member >= known]
                if new == list(range(known, known + len(new))):
                    allowed.setdefault(known + len(new), []).append(selector == number)
            choices = [z3.And(after == now, z3.Or(chosen)) for now, chosen in allowed.items()]
            conditions.append(z3.Implies(before == known, z3.Or(choices)))
        return conditions

    def _appeared(self, frame: int) -> Term:
        return z3.BitVec(f"appeared@{frame}", self._size.bit_length())
