"""Reduction: of a state's steps only those that the shortest way to a goal may have to begin with.

Chosen are action instances, for each state anew. Chosen is for each goal (`goals.py`) that is false
what may make a false part of it true; with an instance that is enabled, all that are dependent on
it; with one that is not, what may make a false part of its guard true. So a way to a goal has an
instance that is chosen, and the first such can be moved to its front: it is enabled now, what comes
before it is independent of it. The way stays as long and ends in the same state. Hence goals are
reached at the same depths as in the full search, and neither cycles nor stuttering need a proviso.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from checker.core.engines.background import Background
from checker.core.engines.compiled_claims import JudgedClaims
from checker.core.engines.layout import Words
from checker.core.engines.vectorised import Booleans, Claims, Successors, VectorisedEngine
from checker.core.native.kernel import kernel
from checker.core.search.goals import Parts, goals_of, members
from checker.core.search.independence import Relations
from model.language import graph
from model.language.graph import Node, Op
from properties import Property

Ints = npt.NDArray[np.int64]

_ATOM, _ALL, _ANY, _TRUE, _FALSE = range(5)
_ENABLED_COST = 64  # an instance that is enabled costs a step, and what depends on it


class _Lists(NamedTuple):
    """Lists of numbers, one after the other: list i is `numbers[first[i]:first[i + 1]]`."""

    first: Ints
    numbers: Ints

    @staticmethod
    def of(lists: Iterable[Iterable[int]]) -> _Lists:
        each = [list(one) for one in lists]
        first = np.cumsum([0, *map(len, each)], dtype=np.int64)
        return _Lists(first, np.array([number for one in each for number in one], np.int64))


class _Conditions:
    """Conditions as rows, each with its parts before itself: its kind, its atom, its members."""

    def __init__(self) -> None:
        self.atoms: dict[Node, int] = {}
        self._kinds: list[int] = []
        self._atom: list[int] = []
        self._members: list[list[int]] = []
        self._first = [0]

    def add(self, condition: Node) -> int:
        """The number of the condition."""
        self._row(condition, {})
        self._first.append(len(self._kinds))
        return len(self._first) - 2

    def _row(self, node: Node, rows: dict[Node, int]) -> int:
        if node not in rows:
            kind = {Op.AND: _ALL, Op.OR: _ANY}.get(node.op, _ATOM)
            below = [self._row(arg, rows) for arg in node.args] if kind != _ATOM else []
            if node.op is Op.CONST:
                kind = _TRUE if node.data else _FALSE
            atom = self.atoms.setdefault(node, len(self.atoms)) if kind == _ATOM else -1
            rows[node] = len(self._kinds)
            self._kinds.append(kind)
            self._atom.append(atom)
            self._members.append(below)
        return rows[node]

    @property
    def tables(self) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        """Where each condition's rows begin; of each row its kind, its atom, its members."""
        lists = _Lists.of(self._members)
        columns = (self._first, self._kinds, self._atom)
        first, kinds, atom = (np.array(column, np.int64) for column in columns)
        return first, kinds, atom, lists.first, lists.numbers


class Reduction:
    """Says which steps of packed states are enough to settle `properties` at the same depths."""

    def __init__(
        self,
        engine: VectorisedEngine,
        properties: Iterable[Property],
        background: Background | None = None,
        patience: float | None = None,
    ) -> None:
        model = engine.model
        goals, conditions, form = goals_of(model, properties), _Conditions(), Parts()
        self._by_step = np.array([goal.by_step for goal in goals], np.int64)
        guards = [
            [conditions.add(part) for part in members(form(action.guard), Op.AND)]
            for action in engine.actions
        ]
        of_guards = len(conditions.atoms)
        self._goals = np.array([conditions.add(goal.condition) for goal in goals], np.int64)
        self._guards = _Lists.of(guards)
        self._rows = conditions.tables
        relations, atoms = Relations(model), [*conditions.atoms]
        enables = [*relations.enables(atoms[:of_guards]), *relations.enables(atoms[of_guards:])]
        self._dependent = _Lists.of(np.flatnonzero(row) for row in relations.dependent)
        self._enables = _Lists.of(np.flatnonzero(row) for row in enables)
        atoms.append(graph.TRUE)  # one at least
        self._truths = JudgedClaims(Claims(atoms, engine.layout), background, patience)
        self._places = np.zeros(len(model.instances), np.int64)
        self._places[engine.instances] = np.arange(len(engine.instances))

    def kept(self, words: Words, steps: Successors) -> Booleans:
        """Which of all the steps of the states are enough."""
        kept = np.zeros(steps.count, np.bool_)
        instances, rows = len(self._guards.first) - 1, len(self._rows[1])
        _choose(
            np.array(self._truths(words)), steps.rows.astype(np.int64),
            self._places[steps.instances], kept, self._goals, self._by_step,
            *self._rows, *self._guards,
            *self._dependent, *self._enables, np.zeros(instances, np.int64),
            np.zeros(instances, np.int64), np.zeros(instances + 1, np.int64),
            np.zeros(rows, np.int64), np.zeros(rows, np.int64),
        )  # fmt: skip
        return kept


@kernel
def _judge(
    condition: int, state: int, truths: Booleans, first: Ints, kinds: Ints, atom: Ints,
    first_member: Ints, member: Ints, first_enabling: Ints, enabling: Ints, enabled: Ints,
    chosen: Ints, costs: Ints,
) -> int:  # fmt: skip
    """What it costs to make a condition true, -1 if it is; into `costs` that of each row of it."""
    for row in range(first[condition], first[condition + 1]):
        kind, cost = kinds[row], 0
        if kind == _TRUE:
            cost = -1
        elif kind == _ATOM:
            if truths[atom[row], state]:
                cost = -1
            else:
                for k in range(first_enabling[atom[row]], first_enabling[atom[row] + 1]):
                    t = enabling[k]
                    if chosen[t] == 0:
                        cost += 1 + (_ENABLED_COST - 1) * enabled[t]
        elif kind == _ALL:
            cost = -1
            for k in range(first_member[row], first_member[row + 1]):
                part = costs[member[k]]
                if part >= 0 and (cost < 0 or part < cost):
                    cost = part
        elif kind == _ANY:
            for k in range(first_member[row], first_member[row + 1]):
                part = costs[member[k]]
                if part < 0:
                    cost = -1
                elif cost >= 0:
                    cost += part
        costs[row] = cost
    return costs[first[condition + 1] - 1]  # type: ignore[no-any-return]  # of an array


@kernel
def _choose_enabling(
    condition: int, first: Ints, kinds: Ints, atom: Ints, first_member: Ints, member: Ints,
    first_enabling: Ints, enabling: Ints, chosen: Ints, queue: Ints, end: int, costs: Ints,
    marks: Ints,
) -> int:  # fmt: skip
    """Choose what may make a condition true that was judged false; the new end of the queue."""
    for row in range(first[condition], first[condition + 1]):
        marks[row] = 0
    last = first[condition + 1] - 1
    marks[last] = 1
    for back in range(last - first[condition] + 1):
        row = last - back
        if marks[row] == 1:
            kind = kinds[row]
            if kind == _ATOM:
                for k in range(first_enabling[atom[row]], first_enabling[atom[row] + 1]):
                    t = enabling[k]
                    if chosen[t] == 0:
                        chosen[t] = 1
                        queue[end] = t
                        end += 1
            elif kind == _ALL:
                best = -1
                for k in range(first_member[row], first_member[row + 1]):
                    cost = costs[member[k]]
                    if cost >= 0 and (best < 0 or cost < costs[best]):
                        best = member[k]
                marks[best] = 1
            elif kind == _ANY:
                for k in range(first_member[row], first_member[row + 1]):
                    marks[member[k]] = 1
    return end


@kernel
def _choose(
    truths: Booleans, rows: Ints, places: Ints, kept: Booleans, goals: Ints, by_step: Ints,
    first: Ints, kinds: Ints, atom: Ints, first_member: Ints, member: Ints,
    first_guard: Ints, guards: Ints,
    first_dependent: Ints, dependent: Ints, first_enabling: Ints, enabling: Ints, enabled: Ints,
    chosen: Ints, queue: Ints, costs: Ints, marks: Ints,
) -> None:  # fmt: skip
    """Set `kept` for the steps that are enough; `rows` are in order. The last five are room."""
    step = 0
    while step < len(rows):
        state, begin = rows[step], step
        for t in range(len(chosen)):
            chosen[t] = 0
            enabled[t] = 0
        while step < len(rows) and rows[step] == state:
            enabled[places[step]] = 1
            step += 1
        missing = step - begin  # enabled and not chosen
        done, end, everything = 0, 0, False
        for goal in range(len(goals)):
            cost = _judge(
                goals[goal], state, truths, first, kinds, atom, first_member, member,
                first_enabling, enabling, enabled, chosen, costs,
            )  # fmt: skip
            if cost >= 0:
                end = _choose_enabling(
                    goals[goal], first, kinds, atom, first_member, member, first_enabling,
                    enabling, chosen, queue, end, costs, marks,
                )  # fmt: skip
            elif by_step[goal] == 1:
                everything = True
        while done < end and missing > 0 and not everything:
            t = queue[done]
            done += 1
            if enabled[t] == 1:
                missing -= 1
                for k in range(first_dependent[t], first_dependent[t + 1]):
                    u = dependent[k]
                    if chosen[u] == 0:
                        chosen[u] = 1
                        queue[end] = u
                        end += 1
            else:
                best, least = -1, 0
                for k in range(first_guard[t], first_guard[t + 1]):
                    cost = _judge(
                        guards[k], state, truths, first, kinds, atom, first_member, member,
                        first_enabling, enabling, enabled, chosen, costs,
                    )  # fmt: skip
                    if cost >= 0 and (best < 0 or cost < least):
                        best, least = guards[k], cost
                end = _choose_enabling(
                    best, first, kinds, atom, first_member, member, first_enabling, enabling,
                    chosen, queue, end, costs, marks,
                )  # fmt: skip
        for k in range(begin, step):
            kept[k] = everything or chosen[places[k]] == 1
