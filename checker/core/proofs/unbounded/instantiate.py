"""Ground instantiation: which terms to put for universal variables, so that Z3 sees no quantifiers.

Any choice of terms is sound: instances follow from their clauses. So an answer `unsat` proves the
goal, and any other answer says only that these instances do not suffice. Left to itself, Z3 finds
instances by matching: good for most goals, but with functions that lead from replicas to epochs and
back it need not stop, and it has no patterns for a variable that is only compared. The strategies
below are tried in order.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from checker.core.proofs.unbounded.by_need import Effort
from checker.core.proofs.unbounded.clauses import Clause, skolem_over
from checker.core.proofs.unbounded.majorities import Rank
from model.language import graph
from model.language.capture import CapturedAction
from model.language.graph import INT, Kind, Node, Op
from model.language.lifted import Lifted

MAX_OF_GOAL = 500
MAX_INSTANCES = 60_000

Pool = dict[str, list[Node]]
"""Terms by the index set that they range over."""


class Source(StrEnum):
    """Where more terms come from, beyond those that the goal and the action name."""

    OWN_WITNESSES = "witnesses of the hypotheses for what the goal names"
    WITNESSES = "witnesses of the hypotheses for what goal and action name"
    MEMBERS = "members that are witnesses for what the action names"
    STATE = "what the state says of what the action names"
    STATE_OF_ALL = "what the state says of what goal and action name"


@dataclass(frozen=True)
class Strategy:
    """Terms for the variables of the goal, and further ones for those of the hypotheses.

    With `matching`, Z3 chooses by itself, for so much work; a million is about half a second. How
    it fares is a matter of luck: the same question with another `seed` may take a tenth of the work
    or a hundred times as much. `eager` is how unlikely terms it tries at once, and `depth` how far
    from what the question names it goes at all: majorities have witnesses, which lead to others.
    `rank` is the last kind of axioms about majorities that it knows. With `by_need`, instances are
    chosen by models instead, of all lemmas at once; that is for what is of no majorities.
    """

    goal: frozenset[Source] = frozenset()
    hypotheses: frozenset[Source] = frozenset()
    most: int = MAX_INSTANCES
    matching: int = 0
    rank: Rank = Rank.ANY
    seed: int = 0
    eager: float = 10.0
    depth: float = 20.0
    by_need: Effort | None = None


def _of_terms(most: int) -> tuple[Strategy, ...]:
    members = frozenset({Source.MEMBERS})
    return (
        Strategy(frozenset({Source.OWN_WITNESSES}), most=most),
        Strategy(frozenset({Source.WITNESSES}), members, most),
        Strategy(frozenset({Source.OWN_WITNESSES, Source.STATE}), members, most),
        Strategy(
            frozenset({Source.WITNESSES, Source.STATE_OF_ALL}),
            frozenset({Source.MEMBERS, Source.STATE_OF_ALL}),
            most,
        ),
    )


def _of_luck(seeds: Iterable[int], work: int) -> Iterator[Strategy]:
    for seed in seeds:
        yield Strategy(matching=work, seed=seed)
        yield Strategy(matching=work, seed=seed, eager=5.0)


SHALLOW = tuple(
    Strategy(matching=600_000, eager=depth, depth=depth, rank=rank)
    for depth, rank in ((2.0, Rank(0)), (2.0, Rank(1)), (3.0, Rank(1)), (3.0, Rank(2)))
)
"""For what is about majorities, before all others."""
BY_NEED = Strategy(by_need=Effort())
_FEWEST, *_MORE = _of_terms(6_000)
CHEAP = (
    Strategy(matching=400_000),
    _FEWEST,
    Strategy(by_need=Effort(instances=1_200)),
    Strategy(by_need=Effort(seed=1)),
    *_MORE,
    *_of_luck(range(4), 1_500_000),
)
DEAR = (
    Strategy(by_need=Effort(rounds=1_000, instances=10_000, age=6, seed=2)),
    *_of_terms(MAX_INSTANCES),
    *_of_luck(range(4, 10), 3_000_000),
)
"""Strategies in order, the dear ones for what the cheap ones leave open. Each is tried with the
lemmas that seem relevant, then with all."""


def by_need_first(strategies: Iterable[Strategy]) -> tuple[Strategy, ...]:
    """The same; what finds the fewest instances comes before all others."""
    return tuple(sorted(strategies, key=lambda strategy: strategy.by_need is None))


def ground(strategies: Iterable[Strategy]) -> tuple[Strategy, ...]:
    """Those that say which instances they need."""
    return tuple(strategy for strategy in strategies if not strategy.matching)


@dataclass(frozen=True)
class Role:
    """A state variable whose values are used as indices of `over`."""

    name: str
    index: tuple[str, ...]
    over: str
    like: Node


def roles(lifted: Lifted, claims: Iterable[Node]) -> list[Role]:
    """Variables that refer to members, or that claims compare with the variable of a quantifier."""
    found: dict[str, Role] = {}

    def note(name: str, over: str, like: Node) -> None:
        variable = lifted.schema.variables[name]
        found.setdefault(name, Role(name, tuple(s.name for s in variable.index), over, like))

    for node in sorted(graph.below(*claims), key=lambda n: n.number):
        if node.op is Op.READ and node.sort.kind is Kind.REF:
            note(node.data[0], node.sort.family, node)
        if node.op is Op.EQ and node.args[0].sort is INT:
            for this, other in (node.args, node.args[::-1]):
                if this.op is Op.READ and other.op is Op.VARIABLE:
                    note(this.data[0], other.data[1], this)
    return list(found.values())


class Pools:
    """The terms for one goal under one strategy."""

    def __init__(
        self,
        lifted: Lifted,
        action: CapturedAction,
        found_roles: list[Role],
        hypotheses: list[Clause],
        goal: list[Clause],
    ) -> None:
        self._lifted = lifted
        self._roles = found_roles
        self._parameters = list(action.parameters)
        self._hypotheses = hypotheses
        self._goal = goal
        parts = graph.below(*(clause.body for clause in (*hypotheses, *goal)))
        skolems = [node for node in parts if self._ranges_over(node)]
        skolems.sort(key=lambda n: n.number)
        self._functions = [node for node in skolems if node.args]
        self._constants = [node for node in skolems if not node.args]

    @property
    def clauses(self) -> list[Clause]:
        """The clauses of the hypotheses and of the goal's negation."""
        return [*self._hypotheses, *self._goal]

    @property
    def hypotheses(self) -> list[Clause]:
        """The clauses of the hypotheses alone."""
        return self._hypotheses

    @property
    def rank(self) -> Rank:
        """The last kind of axiom about majorities that there is."""
        return max(clause.rank for clause in self.clauses)

    def instances(self, strategy: Strategy) -> list[tuple[Clause, list[list[Node]]]] | None:
        """Every clause with the terms to put for each of its variables, in all combinations.

        `None` if there would be too many.
        """
        seeds = self._seeds()
        candidates = _copy(seeds)
        for source in sorted(strategy.goal):
            self._extend(candidates, seeds, source)
        if sum(math.prod(map(len, _choices(c, candidates))) for c in self._goal) > MAX_OF_GOAL:
            return None
        pool = _copy(seeds)
        for clause in self._goal:
            for values in itertools.product(*_choices(clause, candidates)):
                body = graph.substitute(
                    clause.body, dict(zip(clause.variables, values, strict=True))
                )
                for node in sorted(graph.below(body), key=lambda n: n.number):
                    if self._ranges_over(node) and not node.free - set(self._parameters):
                        _put(pool, str(skolem_over(node)), node)
        for over in candidates:
            if not self._lifted.is_symmetric(over):
                for node in candidates[over]:
                    _put(pool, over, node)
        for source in sorted(strategy.hypotheses):
            self._extend(pool, seeds, source)
        for role in self._roles:
            if not role.index:
                _put(pool, role.over, self._value(role, ()))
        chosen = [(clause, _choices(clause, candidates)) for clause in self._goal]
        chosen += [(clause, _choices(clause, pool)) for clause in self._hypotheses]
        return chosen if sum(math.prod(map(len, c)) for _, c in chosen) <= strategy.most else None

    def _ranges_over(self, node: Node) -> bool:
        return skolem_over(node) in self._lifted.schema.index_sets

    def _seeds(self) -> Pool:
        """What the goal and the action name: parameters, Skolem constants, computed indices."""
        pool = _pool([*self._parameters, *self._constants])
        for node in sorted(graph.below(*(c.body for c in self.clauses)), key=lambda n: n.number):
            if node.op is not Op.READ or node.data[0] not in self._lifted.schema.variables:
                continue
            variable = self._lifted.schema.variables[node.data[0]]
            for index, index_set in zip(node.args, variable.index, strict=False):
                named = index.op is not Op.CONST or index_set.symmetric
                if named and index.free <= set(self._parameters):
                    _put(pool, index_set.name, index)
        return pool

    def _extend(self, pool: Pool, seeds: Pool, source: Source) -> None:
        parameters = _pool(self._parameters)
        match source:
            case Source.OWN_WITNESSES:
                self._witnesses(pool, _pool(self._constants), members=False)
            case Source.WITNESSES:
                named = _pool([*self._parameters, *self._constants])
                self._witnesses(pool, named, members=False)
            case Source.MEMBERS:
                self._witnesses(pool, parameters, members=True)
            case Source.STATE:
                self._state(pool, parameters)
            case Source.STATE_OF_ALL:
                self._state(pool, seeds)

    def _witnesses(self, pool: Pool, arguments: Pool, members: bool) -> None:
        for function in self._functions:
            over = str(skolem_over(function))
            if self._lifted.is_symmetric(over) is not members:
                continue
            choices = [arguments.get(arg.data[1], []) for arg in function.args]
            for args in itertools.product(*choices):
                _put(pool, over, graph.rebuild(function, args))

    def _state(self, pool: Pool, arguments: Pool) -> None:
        for role in self._roles:
            if len(role.index) != 1:
                continue
            for args in itertools.product(*(arguments.get(over, []) for over in role.index)):
                _put(pool, role.over, self._value(role, args))

    def _value(self, role: Role, args: tuple[Node, ...]) -> Node:
        return graph.read(role.name, args, role.like.sort)


def _put(pool: Pool, over: str, node: Node) -> None:
    terms = pool.setdefault(over, [])
    if node not in terms:
        terms.append(node)


def _pool(nodes: Iterable[Node]) -> Pool:
    """Parameters and Skolem constants by what they range over."""
    pool: Pool = {}
    for node in nodes:
        _put(pool, skolem_over(node) or node.data[1], node)
    return pool


def _copy(pool: Pool) -> Pool:
    return {over: list(terms) for over, terms in pool.items()}


def _choices(clause: Clause, pool: Pool) -> list[list[Node]]:
    return [pool.get(variable.data[1], []) for variable in clause.variables]
