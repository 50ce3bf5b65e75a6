"""The laws that the provers' back ends must obey, as functions, so that mutants can break them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import z3

from checker.core.engines.reference import ReferenceEngine, State
from checker.core.engines.symbolic import SymbolicEngine, SymbolicStep
from checker.core.engines.unbounded import UnboundedTerms
from checker.core.proofs.unbounded.clauses import Clauses
from model.language import graph
from model.language.declare.domains import IndexSet
from model.language.errors import DomainError
from model.language.graph import BOOL, Kind, Node, Op
from model.language.ground import Grounder
from model.language.lifted import Lifted
from model.language.protocol import Cell, Instance, Model
from properties import Property

Pairs = list[tuple[Any, Any]]
"""Cells with the terms to put for them."""


def random_states(model: Model, count: int, seed: int = 1) -> list[State]:
    """States within the domains, most of them unreachable."""
    dice = random.Random(seed)
    return [tuple(dice.randint(c.low, c.high) for c in model.cells) for _ in range(count)]


def states_on_walks(model: Model, count: int) -> list[State]:
    """States that random walks from the start pass."""
    dice, engine = random.Random(1), ReferenceEngine(model)
    states = [engine.initial()]
    while len(states) < count:
        after = [state for _, state in engine.successors(states[-1])]
        states.append(dice.choice(after) if after else engine.initial())
    return states


def check_steps(engine: SymbolicEngine, states: Iterable[State]) -> int:
    """Guards, misfits and states after each step are the reference engine's; how many steps."""
    reference, taken = ReferenceEngine(engine.model), 0
    steps = {step.ground.instance.number: step for step in engine.steps}
    for state in states:
        pairs = _pairs(engine, state)
        for instance in engine.model.instances:
            step = steps.get(instance.number)
            enabled = step is not None and z3.is_true(_value(step.guard, pairs))
            try:
                after = reference.step(state, instance)
            except DomainError:
                assert step is not None and enabled
                assert z3.is_true(_value(step.misfit, pairs)), f"{instance} fits, wrongly"
                continue
            assert enabled is (after is not None), f"{instance}: guard"
            if step is not None and after is not None:
                taken += 1
                assert z3.is_false(_value(step.misfit, pairs)), f"{instance} does not fit, wrongly"
                assert _state_after(engine, step, state) == after, f"{instance}: state after"
    return taken


def check_claims(engine: SymbolicEngine, claims: Iterable[Property], states: list[State]) -> None:
    """Claims about states are the reference engine's, before a step and, primed, after it."""
    reference = ReferenceEngine(engine.model)
    for prop in claims:
        term = engine.claim(prop)
        primed = {step.ground.instance.number: engine.after(term, step) for step in engine.steps}
        for state in states:
            pairs = _pairs(engine, state)
            assert _truth(term, pairs) is reference.holds(prop.claim, state), prop.name
            for instance, after in _successors(reference, state):
                expected = reference.holds(prop.claim, after)
                found = _truth(primed[instance.number], pairs)
                assert found is expected, f"{prop.name} after {instance}"


def _successors(reference: ReferenceEngine, state: State) -> Iterator[tuple[Instance, State]]:
    for instance in reference.model.instances:
        try:
            after = reference.step(state, instance)
        except DomainError:
            continue
        if after is not None:
            yield instance, after


def _pairs(engine: SymbolicEngine, state: State) -> Pairs:
    return [(cell, engine.value(p, state[p])) for p, cell in enumerate(engine.cells())]


def _value(term: Any, pairs: Pairs) -> Any:
    return z3.simplify(z3.substitute(term, pairs))


def _truth(term: Any, pairs: Pairs) -> bool:
    value = _value(term, pairs)
    assert z3.is_true(value) or z3.is_false(value), "a claim with cells all given has no value"
    return bool(z3.is_true(value))


def _state_after(engine: SymbolicEngine, step: SymbolicStep, state: State) -> State:
    pairs = _pairs(engine, state)
    found = list(state)
    for position, value in step.values.items():
        number = _value(value, pairs)
        cell = engine.model.cells[position]
        if z3.is_bool(number):
            found[position] = int(z3.is_true(number))
        else:
            found[position] = number.as_signed_long() if cell.low < 0 else number.as_long()
    return tuple(found)


# --- lifted formulas ----------------------------------------------------------------------------


class Truth:
    """Evaluates lifted formulas in one state of a model, by grounding them with its values."""

    def __init__(self, model: Model, state: State) -> None:
        self._state = state
        self._grounder = Grounder(model, self._cell)

    def _cell(self, _frame: int, cell: Cell) -> Node:
        value = self._state[cell.position]
        return graph.constant(bool(value) if cell.variable.sort is BOOL else value)

    def __call__(self, node: Node, values: dict[Node, int] | None = None) -> bool:
        found = self._grounder.expression(node, values)
        assert found in (graph.TRUE, graph.FALSE), "a closed formula has no value"
        return found is graph.TRUE


def check_lifted_steps(
    model: Model, states: Iterable[State], claims: Iterable[Property], lifted: Lifted | None = None
) -> None:
    """Guards, misfits and claims after an action, lifted, are as the reference engine has them."""
    lifted = lifted or Lifted.of(model)
    reference = ReferenceEngine(model)
    captured = {action.name: lifted.total_action(action) for action in model.captured}
    nodes = [(p, model.claim(p.claim)) for p in claims]
    primed = {
        name: [(prop, lifted.after(claim, action)) for prop, claim in nodes]
        for name, action in captured.items()
    }
    for state in states:
        truth = Truth(model, state)
        for instance in model.instances:
            action = captured[instance.action.name]
            values = dict(zip(action.parameters, instance.arguments, strict=True))
            enabled = all(truth(guard, values) for guard in action.guards)
            misfit = any(truth(lifted.misfits(write), values) for write in action.writes)
            try:
                after = reference.step(state, instance)
            except DomainError:
                assert enabled and misfit, f"{instance} fits, wrongly"
                continue
            assert enabled is (after is not None), f"{instance}: guard"
            if after is None:
                continue
            assert not misfit, f"{instance} does not fit, wrongly"
            for prop, claim in primed[instance.action.name]:
                expected = reference.holds(prop.claim, after)
                assert truth(claim, values) is expected, f"{prop.name}: {instance}"


# --- clauses ------------------------------------------------------------------------------------


def contradict(lifted: Lifted, minima: Mapping[str, int], formulas: Iterable[Node]) -> Any:
    """Z3's answer to whether the formulas can be true together, by way of their clauses."""
    clauses, terms = Clauses(lifted), UnboundedTerms(lifted, minima)
    parts = [clause for formula in formulas for clause in clauses.of(formula)]
    solver = z3.Solver()
    solver.set("rlimit", 1_000_000)  # about half a second
    for clause in (*parts, *clauses.definitions):
        body = terms(clause.body)
        variables = [terms(variable) for variable in clause.variables]
        solver.add(z3.ForAll(variables, body) if variables else body)
    solver.add(*terms.distinct())
    return solver.check()


def diagram(model: Model, state: State) -> Iterator[Node]:
    """All that there is to say of a state: the bounds, the members, and the value of each cell."""
    for name, size in model.bounds.items():
        yield graph.equal(graph.bound(name), graph.constant(size))
    for index_set in model.schema.index_sets.values():
        if index_set.symmetric:
            member = index_set.variable("member")
            one_of = [graph.equal(member, k) for k in _indices(model, index_set)]
            yield graph.quantified(Op.FORALL, member, graph.disjunction(*one_of))
    for cell, value in zip(model.cells, state, strict=True):
        variable = cell.variable
        places = zip(variable.index, cell.index, strict=True)
        index = tuple(_indices(model, index_set)[k] for index_set, k in places)
        read = graph.read(variable.name, index, variable.sort)
        if variable.sort.kind is not Kind.SET:
            known = graph.constant(bool(value) if variable.sort is BOOL else value, variable.sort)
            yield graph.equal(read, known)
            continue
        members = _indices(model, model.schema.index_sets[variable.sort.family])
        for number, member in enumerate(members):
            inside = graph.contains(read, member)
            yield inside if value >> number & 1 else graph.negation(inside)


def _indices(model: Model, index_set: IndexSet) -> list[Node]:
    sort = index_set.variable("index").sort
    return [graph.constant(k, sort) for k in range(model.extents[index_set.name])]


def hard_query():
    """A solver that does not answer for long: a product of two numbers that is a large prime."""
    solver = z3.SolverFor("QF_BV")
    a, b = z3.BitVecs("a b", 80)
    solver.add(a * b == 2**78 - 11, z3.UGT(a, 1), z3.UGT(b, 1))
    solver.add(z3.ULT(a, 2**40), z3.ULT(b, 2**40))  # the product fits
    solver.set("timeout", 60_000)
    return solver
