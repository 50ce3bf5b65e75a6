"""Clauses: lifted formulas with nothing but universal variables, made ready for a solver.

Existential variables become Skolem terms; the largest and smallest of something become terms with
their defining axioms; sets become what it means to be in them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from checker.core.proofs.unbounded import majorities
from model.language import graph
from model.language.capture import CapturedAction
from model.language.errors import UsageError
from model.language.graph import BINDERS, BOOL, INT, Kind, Node, Op
from model.language.lifted import Lifted

SKOLEM = "skolem!"
_QUANTIFIERS = frozenset({Op.FORALL, Op.EXISTS})


_COMPARISONS = (Op.LE, Op.LT, Op.EQ)


@dataclass(frozen=True)
class Clause:
    """`body`, without quantifiers, for all values of `variables`, which guard themselves in it.

    `defines` are the symbols that the clause says something of, if it is no hypothesis itself.
    `rank` says how soon it is used.
    """

    variables: tuple[Node, ...]
    body: Node
    defines: frozenset[str] = frozenset()
    rank: majorities.Rank = majorities.Rank.BEFORE_AND_AFTER


class Clauses:
    """Turns formulas into clauses. `constants` are variables that stand for one unknown value.

    Each use has its own Skolem terms; definitions are shared.
    """

    def __init__(self, lifted: Lifted, constants: Iterable[Node] = ()) -> None:
        self._lifted = lifted
        self._constants = frozenset(constants)
        self._numbers = itertools.count()
        self._defined: dict[Node, Node] = {}
        self._shapes: dict[Node, majorities.Use] = {}
        self._majorities: list[majorities.Use] = []  # but for those of after a step
        self._quantifiers: dict[Node, bool] = {}
        self.definitions: list[Clause] = []

    def extended(self, constants: Iterable[Node] = ()) -> Clauses:
        """Clauses that know what these have defined, with more constants; names never clash."""
        other = Clauses(self._lifted, self._constants | frozenset(constants))
        other._numbers = self._numbers
        other._defined = dict(self._defined)
        other._shapes = dict(self._shapes)
        other._majorities = list(self._majorities)
        other._quantifiers = self._quantifiers
        other.definitions = list(self.definitions)
        return other

    def of(self, node: Node) -> list[Clause]:
        """Clauses that together say `node`, a closed formula but for the constants."""
        matrix = self._normal(self._first_order(node), True, ())
        parts = matrix.args if matrix.op is Op.AND else (matrix,)
        return [Clause(self._open(part), part) for part in parts if part is not graph.TRUE]

    @property
    def has_majorities(self) -> bool:
        """Some formula so far is about a majority."""
        return bool(self._majorities)

    def _open(self, node: Node) -> tuple[Node, ...]:
        return tuple(v for v in node.parameters if v not in self._constants)

    def _fresh(self, like: Node) -> Node:
        name = f"{like.data[1]}${next(self._numbers)}"
        return graph.variable(name, like.sort, like.data[1])

    # --- sets, extremes and conditions that choose -------------------------------------------

    def _first_order(self, node: Node) -> Node:
        """`node` without sets, extremes, and quantifiers within numbers."""
        if not node.args:
            return node
        if node.op is Op.CONTAINS:
            return self._first_order(self._contains(node.args[0], node.args[1]))
        if node.op is Op.EQ and node.args[0].sort.kind is Kind.SET:
            return self._first_order(self._same_members(*node.args))
        if node.op in _COMPARISONS and any(arg.op is Op.SIZE for arg in node.args):
            return self._first_order(self._compared_size(node))
        if node.op in (Op.SIZE, Op.COUNT):
            raise UsageError(
                f"a rule takes the {node.op} of a set: proofs for all sizes cannot count members; "
                "prove it within bounds"
            )
        if node.op in (Op.LARGEST, Op.SMALLEST):
            return self._extreme(node)
        if node.op is Op.MAJORITY:
            return self._majority(node)
        if node.op in BINDERS:
            fresh = self._fresh(node.args[0])
            body = graph.substitute(node.args[1], {node.args[0]: fresh})
            return graph.quantified(node.op, fresh, self._first_order(body))
        args = tuple(self._first_order(arg) for arg in node.args)
        if node.op is Op.ITE and self._has_quantifier(args[0]):
            args = (self._named(args[0]), *args[1:])
        return graph.rebuild(node, args)

    def _contains(self, group: Node, member: Node) -> Node:
        match group.op:
            case Op.EMPTY:
                return graph.FALSE
            case Op.EVERYONE:
                return self._is_member(member)
            case Op.SINGLETON:
                return graph.conjunction(
                    self._is_member(member), graph.equal(group.args[0], member)
                )
            case Op.UNION:
                return graph.disjunction(*(graph.contains(arg, member) for arg in group.args))
            case Op.INTERSECTION:
                return graph.conjunction(*(graph.contains(arg, member) for arg in group.args))
            case Op.DIFFERENCE:
                a, b = group.args
                return graph.conjunction(
                    graph.contains(a, member), graph.negation(graph.contains(b, member))
                )
            case Op.ITE:
                return graph.choose(
                    group.args[0],
                    graph.contains(group.args[1], member),
                    graph.contains(group.args[2], member),
                )
            case Op.MEMBERS_WHERE:
                holds = graph.substitute(group.args[1], {group.args[0]: member})
                return graph.conjunction(self._is_member(member), holds)
            case Op.READ:
                # The set as a relation: one more index, the member.
                inside = graph.read(group.data[0], (*group.args, member), BOOL, group.data[1])
                return graph.conjunction(self._is_member(member), inside)
        raise UsageError(f"{group.op} in an unbounded proof")

    def _is_member(self, member: Node) -> Node:
        if member.op is Op.VARIABLE:
            return graph.TRUE
        return self._lifted.within(member, member.sort.family)

    def _same_members(self, a: Node, b: Node) -> Node:
        like = graph.variable("", graph.Sort(Kind.REF, a.sort.family), a.sort.family)
        member = self._fresh(like)
        same = graph.equal(graph.contains(a, member), graph.contains(b, member))
        return graph.quantified(Op.FORALL, member, same)

    def _compared_size(self, node: Node) -> Node:
        """A comparison of a set's size with a few, as a claim about so many different members."""
        a, b = node.args
        one = graph.constant(1)
        if node.op is Op.EQ:
            group, count = (a, b) if a.op is Op.SIZE else (b, a)
            more = self._at_least(group.args[0], graph.add(count, one))
            return graph.conjunction(self._at_least(group.args[0], count), graph.negation(more))
        if b.op is Op.SIZE:
            return self._at_least(b.args[0], a if node.op is Op.LE else graph.add(a, one))
        more = self._at_least(a.args[0], graph.add(b, one) if node.op is Op.LE else b)
        return graph.negation(more)

    def _at_least(self, group: Node, least: Node) -> Node:
        """`group` has so many members or more: a constant, all that there are, the less of two."""
        family = group.sort.family
        like = graph.variable("", graph.Sort(Kind.REF, family), family)
        match least.op:
            case Op.MIN:
                return graph.disjunction(*(self._at_least(group, arg) for arg in least.args))
            case Op.BOUND if least is self._lifted.extent(family):
                member = self._fresh(like)
                return graph.quantified(Op.FORALL, member, graph.contains(group, member))
            case Op.CONST:
                members = [self._fresh(like) for _ in range(least.data)]
                apart = [
                    graph.negation(graph.equal(x, y)) for x, y in itertools.combinations(members, 2)
                ]
                found = graph.conjunction(*(graph.contains(group, m) for m in members), *apart)
                for member in members:
                    found = graph.quantified(Op.EXISTS, member, found)
                return found
        raise UsageError(
            "a rule compares the size of a set with a number that varies: proofs for all sizes "
            "cannot count members; prove it within bounds"
        )

    def _majority(self, node: Node) -> Node:
        """A predicate of the terms in it, where those that are indices are in range."""
        if (cases := majorities.cases(node)) is not None:
            return self._first_order(graph.choose(*cases))
        shape = majorities.shape(node, self._lifted)
        if shape.majority not in self._shapes:
            # What the action names is in what its assignments leave: not in other places.
            shape = majorities.shape(node, self._lifted, self._constants)
        if shape.majority not in self._shapes:
            use = self._add_use(shape)
            for rank, axiom in majorities.alone(use):
                self._define([use.holds], axiom, rank=rank)
            for other in self._majorities:
                for rank, axiom in majorities.together(use, other):
                    self._define([use.holds, other.holds], axiom, rank=rank)
            self._majorities.append(use)
            self._define_parts(use)
        holds = self._shapes[shape.majority].at(shape.terms).holds
        outside = graph.read(f"{holds.data[0]} outside", holds.args, BOOL)
        return self._first_order(graph.choose(shape.inside, holds, outside))

    def _define_parts(self, new: majorities.Use) -> None:
        """Who satisfies one part of an "or" satisfies the whole: so for the new use and others."""
        for whole in self._majorities:
            for shape in majorities.parts(whole, self._lifted):
                part = self._shapes.get(shape.majority)
                if part is not None and new in (part, whole):
                    holds = part.at(shape.terms).holds
                    self._define([holds], graph.disjunction(graph.negation(holds), whole.holds))

    def _add_use(self, shape: majorities.Shape) -> majorities.Use:
        name = f"{majorities.PREFIX}{next(self._numbers)}"
        group, of = shape.majority.args
        holds = graph.read(name, shape.parameters, BOOL)
        use = self._shapes[shape.majority] = majorities.Use(group, of, holds, shape.parameters)
        return use

    def follow(self, action: CapturedAction) -> None:
        """What is known of the majorities so far after the action."""
        for use in list(self._majorities):
            after = self._lifted.after(graph.majority(use.group, use.of), action)
            shape = majorities.shape(after, self._lifted, self._constants)
            if shape.majority not in self._shapes and set(shape.terms) <= set(use.parameters):
                then = self._add_use(shape).at(shape.terms)
                for axiom in majorities.before_and_after(use, then):
                    self._define([then.holds], axiom)

    def _extreme(self, node: Node) -> Node:
        """A term for the largest or smallest, defined by: it bounds all, and one attains it."""
        if node not in self._defined:
            over, body = node.args
            scope = self._open(node)
            value = graph.read(f"{SKOLEM}{node.op}#{next(self._numbers)}", scope, INT)
            self._defined[node] = value
            ends = (body, value) if node.op is Op.LARGEST else (value, body)
            self._define(
                [value],
                graph.quantified(Op.FORALL, over, graph.at_most(*ends)),
                graph.quantified(Op.EXISTS, over, graph.equal(body, value)),
            )
        return self._defined[node]

    def _named(self, condition: Node) -> Node:
        """A predicate for a condition with quantifiers that chooses between two values."""
        if condition not in self._defined:
            scope = self._open(condition)
            name = graph.read(f"{SKOLEM}holds#{next(self._numbers)}", scope, BOOL)
            self._defined[condition] = name
            self._define(
                [name],
                graph.disjunction(graph.negation(name), condition),
                graph.disjunction(name, graph.negation(condition)),
            )
        return self._defined[condition]

    def _define(
        self,
        symbols: Iterable[Node],
        *axioms: Node,
        rank: majorities.Rank = majorities.Rank.BEFORE_AND_AFTER,
    ) -> None:
        """The axioms, for all values of their variables, say something of the symbols."""
        names = frozenset(symbol.data[0] for symbol in symbols)
        for axiom in axioms:
            closed = axiom
            for variable in self._open(axiom):
                closed = graph.quantified(Op.FORALL, variable, closed)
            self.definitions += (
                replace(clause, defines=names, rank=rank) for clause in self.of(closed)
            )

    # --- negations inward, quantifiers away --------------------------------------------------

    def _normal(self, node: Node, positive: bool, scope: tuple[Node, ...]) -> Node:
        if not self._has_quantifier(node):
            return node if positive else graph.negation(node)
        if node.op is Op.NOT:
            return self._normal(node.args[0], not positive, scope)
        if node.op in (Op.AND, Op.OR):
            parts = [self._normal(arg, positive, scope) for arg in node.args]
            both = (node.op is Op.AND) is positive
            return graph.conjunction(*parts) if both else graph.disjunction(*parts)
        if node.op in _QUANTIFIERS:
            return self._quantified(node, positive, scope)
        if node.op is Op.ITE:
            condition, then, otherwise = node.args
            cases = [(condition, then), (graph.negation(condition), otherwise)]
        else:  # two booleans are equal
            a, b = node.args
            cases = [(a, b), (graph.negation(a), graph.negation(b))]
        # Whatever the polarity: in one of the cases, and there the second part.
        if node.op is not Op.ITE and not positive:
            cases = [(a, graph.negation(b)), (graph.negation(a), b)]
            positive = True
        return graph.disjunction(
            *(
                graph.conjunction(
                    self._normal(case, True, scope), self._normal(part, positive, scope)
                )
                for case, part in cases
            )
        )

    def _quantified(self, node: Node, positive: bool, scope: tuple[Node, ...]) -> Node:
        over, body = node.args
        if (node.op is Op.FORALL) is positive:
            fresh = self._fresh(over)
            body = self._normal(graph.substitute(body, {over: fresh}), positive, (*scope, fresh))
            outside = graph.negation(self._within(fresh, over.data[1]))
            return graph.disjunction(outside, body)
        witness = graph.read(f"{SKOLEM}{over.data[1]}#{next(self._numbers)}", scope, over.sort)
        body = self._normal(graph.substitute(body, {over: witness}), positive, scope)
        return graph.conjunction(self._within(witness, over.data[1]), body)

    def _within(self, index: Node, over: str) -> Node:
        """`index` is one of the set called `over`; parameters of majorities are of none."""
        return self._lifted.within(index, over) if over else graph.TRUE

    def _has_quantifier(self, node: Node) -> bool:
        found = self._quantifiers.get(node)
        if found is None:
            found = node.op in _QUANTIFIERS or any(self._has_quantifier(a) for a in node.args)
            self._quantifiers[node] = found
        return found


def skolem_over(node: Node) -> str | None:
    """What a Skolem term ranges over; `None` for other nodes."""
    if node.op is Op.READ and node.data[0].startswith(SKOLEM):
        return str(node.data[0][len(SKOLEM) :]).rpartition("#")[0]
    return None


def with_definitions(clauses: Sequence[Clause], definitions: Iterable[Clause]) -> list[Clause]:
    """The clauses, and the definitions of what they and their definitions mention."""
    found, pending, waiting = list(clauses), list(clauses), list(definitions)
    mentioned: set[str] = set()
    while pending:
        parts = graph.below(*(clause.body for clause in pending))
        mentioned |= {node.data[0] for node in parts if node.op is Op.READ}
        pending = [clause for clause in waiting if clause.defines <= mentioned]
        waiting = [clause for clause in waiting if not clause.defines <= mentioned]
        found += pending
    return found
