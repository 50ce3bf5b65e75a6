"""Reduction: of a state's steps only those that the shortest way to a goal may have to begin with.

Chosen are action instances, for each state anew, among those that are relevant (`relevance.py`): a
shortest way has no others. Chosen is for each goal (`goals.py`) that is false what may make a false
part of it true; with an instance that is enabled, all that are dependent on it; with one that is
not, what may make a false part of its guard true. So a way to a goal has an instance that is
chosen, and the first such can be moved to its front: it is enabled now, what comes before it is
independent of it. The way stays as long and ends in the same state. Hence goals are reached at the
same depths as in the full search, and neither cycles nor stuttering need a proviso.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

import numpy as np
import numpy.typing as npt

from checker.core.digest import node_digests
from checker.core.engines import compiled_claims, layout, machine_code
from checker.core.engines.compiled_claims import CompiledClaims, PackedClaims
from checker.core.engines.layout import Words
from checker.core.engines.machine_code import Unsupported
from checker.core.engines.vectorised import Booleans, Claims, Successors, VectorisedEngine
from checker.core.native import builder
from checker.core.native.kernel import kernel
from checker.core.native.object_code import decided_by
from checker.core.search import possible, relevance, value_sets
from checker.core.search.goals import Goal, Parts, goals_of, members
from checker.core.search.independence import Relations
from checker.core.search.relevance import Relevance, bits, count, first
from model.language import graph
from model.language.graph import Node, Op
from properties import Property

Ints = npt.NDArray[np.int64]

_ENABLED_COST = 64  # an instance that is enabled costs a step, and what depends on it
_MOST_CLAUSES = 64  # of a condition; one that would have more is a clause by itself
_ALL = 0xFFFFFFFFFFFFFFFF


class _Clauses:
    """Conditions as conjunctions of clauses, which are numbered; a clause is a disjunction."""

    def __init__(self) -> None:
        self.numbers: dict[Node, int] = {}

    def add(self, condition: Node) -> list[int]:
        """The numbers of the clauses of a condition in the form of `Parts`."""
        clauses = (graph.disjunction(*clause) for clause in _clauses(condition))
        found = [clause for clause in clauses if clause is not graph.TRUE]
        return [self.numbers.setdefault(clause, len(self.numbers)) for clause in found]


_Clause = dict[Node, None]  # its members, in an order that is the same in each run


def _clauses(node: Node) -> list[_Clause]:
    """The clauses of a condition, each by its members."""
    found: list[_Clause] = [{node: None}]
    if node.op is Op.AND:
        found = [clause for arg in node.args for clause in _clauses(arg)]
    elif node.op is Op.OR:
        found = [{}]
        for arg in node.args:
            found = [one | other for one in found for other in _clauses(arg)]
            if len(found) > _MOST_CLAUSES:
                break
    return found if len(found) <= _MOST_CLAUSES else [{node: None}]


class Reduction:
    """Says which steps of packed states are enough to settle `properties` at the same depths."""

    def __init__(
        self,
        engine: VectorisedEngine,
        properties: Iterable[Property],
        patience: float | None = None,
    ) -> None:
        model = engine.model
        form, clauses = Parts(), _Clauses()
        guards = [
            [number for part in members(form(action.guard), Op.AND) for number in clauses.add(part)]
            for action in engine.actions
        ]
        of_guards = len(clauses.numbers)
        goals = [
            Goal(condition, goal.by_step)
            for goal in goals_of(model, properties)
            for condition in members(goal.condition, Op.OR)
        ]
        needs = guards + [
            [number for part in members(goal.condition, Op.AND) for number in clauses.add(part)]
            for goal in goals
        ]
        relations, nodes = Relations(model), [*clauses.numbers]
        enables = np.concatenate(
            [relations.enables(nodes[:of_guards]), relations.enables(nodes[of_guards:])]
        )
        nodes.append(graph.TRUE)  # one at least
        digest = _decided_by(engine, relations, nodes, goals)
        self._truths: Callable[[Words], Words] = _truths(engine, nodes, digest, patience)
        self._by_step = np.array([goal.by_step for goal in goals], np.int64)
        needed = np.zeros((len(needs), len(nodes)), np.bool_)
        for row, numbers in zip(needed, needs, strict=True):
            row[numbers] = True
        self._needs, self._makers = bits(needed), bits(enables)
        self._dependent = bits(relations.dependent)
        self.relevance = Relevance(engine, goals, digest)
        self._places = np.zeros(len(model.instances), np.int64)
        self._places[engine.instances] = np.arange(len(engine.instances))

    def kept(self, words: Words, relevant: Words, steps: Successors) -> Booleans:
        """Which of all the steps of the states are enough; `relevant` is as in `Outlook`."""
        kept = np.zeros(steps.count, np.bool_)
        room = np.zeros((4, self._dependent.shape[1]), np.uint64)
        _choose(
            self._truths(words), relevant, steps.rows.astype(np.int64),
            self._places[steps.instances], kept, self._by_step, self._needs, self._makers,
            self._dependent, room[0], room[1], room[2], room[3],
        )  # fmt: skip
        return kept


def _decided_by(
    engine: VectorisedEngine, relations: Relations, nodes: Sequence[Node], goals: Sequence[Goal]
) -> str:
    """A digest of what decides about code for these clauses and goals."""
    writers = builder, layout, compiled_claims, machine_code, possible, relevance, value_sets
    domains = [(cell.low, cell.high) for cell in engine.model.cells]
    said = node_digests([*nodes, *(goal.condition for goal in goals)])
    return decided_by(writers, relations.digest, domains, engine.layout.fields, len(nodes), said)


def _truths(
    engine: VectorisedEngine, nodes: list[Node], digest: str, patience: float | None
) -> Callable[[Words], Words]:
    """Tells which clauses are true; by programs alone if nothing is to be compiled."""
    if patience is not None:
        with suppress(Unsupported):
            return CompiledClaims.found_by(digest, nodes, engine.layout).packed
    return PackedClaims(Claims(nodes, engine.layout), patience)


@kernel
def _add(more: Words, row: int, possible: Words, chosen: Words, waiting: Words) -> None:
    """Choose what a row has, of what is possible."""
    for w in range(chosen.shape[0]):
        new = more[row, w] & possible[w] & (chosen[w] ^ np.uint64(_ALL))
        chosen[w] |= new
        waiting[w] |= new


@kernel
def _cheapest(
    needs: Words, row: int, truths: Words, state: int, makers: Words, enabled: Words,
    possible: Words, chosen: Words,
) -> int:  # fmt: skip
    """Of the clauses that a row needs and that are false, the one that costs least; -1: none."""
    best, least = -1, 0
    for c in range(truths.shape[0]):
        rest = needs[row, c] & (truths[c, state] ^ np.uint64(_ALL))
        while rest != np.uint64(0) and (best < 0 or least > 0):
            clause = c * 64 + first(rest)
            rest &= rest - np.uint64(1)
            cost = 0
            for w in range(chosen.shape[0]):
                new = makers[clause, w] & possible[w]
                new &= chosen[w] ^ np.uint64(_ALL)
                if new != np.uint64(0):
                    cost += count(new) + (_ENABLED_COST - 1) * count(new & enabled[w])
            if best < 0 or cost < least:
                best, least = clause, cost
    return best


@kernel
def _choose(
    truths: Words, relevant: Words, rows: Ints, places: Ints, kept: Booleans, by_step: Ints,
    needs: Words, makers: Words, dependent: Words, enabled: Words, possible: Words, chosen: Words,
    waiting: Words,
) -> None:  # fmt: skip
    """Set `kept` for the steps that are enough; `rows` are in order. The last four are room."""
    step, actions = 0, dependent.shape[0]
    while step < len(rows):
        state, begin = rows[step], step
        for w in range(chosen.shape[0]):
            enabled[w] = np.uint64(0)
            possible[w] = relevant[w, state]
            chosen[w] = np.uint64(0)
            waiting[w] = np.uint64(0)
        while step < len(rows) and rows[step] == state:
            place = places[step]
            enabled[place >> 6] |= np.uint64(1) << np.uint64(place & 63)
            step += 1
        everything = False
        for goal in range(len(by_step)):
            row = actions + goal
            if relevant[row >> 6, state] >> np.uint64(row & 63) & np.uint64(1) != np.uint64(0):
                best = _cheapest(
                    needs, row, truths, state, makers, enabled, possible, chosen,
                )  # fmt: skip
                if best >= 0:
                    _add(makers, best, possible, chosen, waiting)
                elif by_step[goal] == 1:
                    everything = True
        more = not everything
        while more:
            missing = np.uint64(0)
            t = -1
            for w in range(chosen.shape[0]):
                missing |= enabled[w] & possible[w] & (chosen[w] ^ np.uint64(_ALL))
                if t < 0 and waiting[w] & enabled[w] != np.uint64(0):
                    t = w * 64 + first(waiting[w] & enabled[w])
            for w in range(chosen.shape[0]):
                if t < 0 and waiting[w] != np.uint64(0):
                    t = w * 64 + first(waiting[w])
            more = t >= 0 and missing != np.uint64(0)
            if more:
                bit = np.uint64(1) << np.uint64(t & 63)
                waiting[t >> 6] ^= bit
                if enabled[t >> 6] & bit != np.uint64(0):
                    _add(dependent, t, possible, chosen, waiting)
                else:
                    best = _cheapest(
                        needs, t, truths, state, makers, enabled, possible, chosen,
                    )  # fmt: skip
                    _add(makers, best, possible, chosen, waiting)
        for k in range(begin, step):
            place = places[k]
            bit = np.uint64(1) << np.uint64(place & 63)
            kept[k] = everything or chosen[place >> 6] & bit != np.uint64(0)
