"""Instances by need: of each clause those that a model of the earlier instances makes false.

Z3 sees no quantifiers, and few instances: a question without a surprise. It finds a model, the
clauses are evaluated in it for the terms that there are, and what is false is added, until there is
no model, which is a proof, or nothing false. Then terms that instances brought are taken in too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import z3

from checker.core.engines.unbounded import UnboundedTerms
from checker.core.proofs.unbounded.clauses import Clause, skolem_over
from model.language import graph
from model.language.capture import CapturedAction
from model.language.graph import BOOL, Kind, Node, Op
from model.language.lifted import Lifted

SPLIT = 64
"""Clauses that one is split into, at most."""
AT_ONCE = 25
"""Instances of one clause that are added together, at most."""


class Terms:
    """The terms to put for variables, with how many instances it took to come to them."""

    def __init__(self, lifted: Lifted, constants: Iterable[Node], roles: dict[str, str]) -> None:
        self._lifted = lifted
        self._constants = frozenset(constants)
        self._roles = roles
        self._seen: set[Node] = set()
        self._kinds: dict[str, str] = {}
        self.ages: dict[str, dict[Node, int]] = {}

    def note_writes(self, action: CapturedAction) -> None:
        """Where the action writes is a place that matters."""
        for write in action.writes:
            for index, index_set in zip(write.index, write.variable.index, strict=True):
                self._put(index_set.name, index, 0)

    def note(self, node: Node, age: int) -> None:
        """Take in whatever closed terms there are in `node`."""
        waiting = [node]
        while waiting:
            this = waiting.pop()
            if this in self._seen:
                continue
            if this.free <= self._constants:
                self._seen.add(this)
            waiting += this.args
            if this.op is Op.VARIABLE and this in self._constants:
                self._put(this.data[1], this, age)
            elif this.op is Op.READ:
                self._of_read(this, age)

    def _of_read(self, this: Node, age: int) -> None:
        variable = self._lifted.schema.variables.get(this.data[0])
        if variable is not None:
            for index, index_set in zip(this.args, variable.index, strict=False):
                self._put(index_set.name, index, age)
            for member in this.args[len(variable.index) :]:
                self._put(member.sort.family, member, age)
        over = skolem_over(this)
        if over in self._lifted.schema.index_sets:
            self._put(str(over), this, age)
        elif this.sort.kind is Kind.REF:
            self._put(this.sort.family, this, age)
        elif this.data[0] in self._roles:
            self._put(self._roles[this.data[0]], this, age)

    def _put(self, over: str, term: Node, age: int) -> None:
        if term.free <= self._constants and (term.op is not Op.CONST or term.data >= 0):
            self.ages.setdefault(self.kind(over), {}).setdefault(term, age)

    def kind(self, over: str) -> str:
        """One name for index sets of as many numbers."""
        if over not in self._kinds:
            sets = self._lifted.schema.index_sets
            self._kinds[over] = over
            if over in sets and not self._lifted.is_symmetric(over):
                size = sets[over].size.node
                self._kinds[over] = next(n for n, s in sets.items() if s.size.node is size)
        return self._kinds[over]


class Meaning:
    """What a model says of constants and functions: of others anything."""

    def __init__(self, model: Any) -> None:
        self.constants: dict[str, Any] = {}
        self.tables: dict[str, Table] = {}
        for declared in model.decls():
            if declared.arity() == 0:
                self.constants[declared.name()] = _value(model[declared])
            else:
                self.tables[declared.name()] = Table(model[declared])

    def constant(self, name: str, blank: Any) -> Any:
        """The value of a constant."""
        return self.constants.get(name, blank)

    def table(self, name: str, blank: Any) -> Any:
        """The values of a function, by its arguments; one argument is no tuple."""
        found = self.tables.get(name)
        if found is None:
            found = self.tables[name] = Table(None, blank)
        return found


class Table(dict[Any, Any]):
    """A function of a model."""

    def __init__(self, found: Any, blank: Any = 0) -> None:
        super().__init__()
        self._otherwise = blank
        if found is not None:
            *rows, otherwise = found.as_list()
            self._otherwise = _value(otherwise)
            for *args, value in rows:
                key = tuple(map(_value, args))
                self[key if len(key) > 1 else key[0]] = _value(value)

    def __missing__(self, _: Any) -> Any:
        return self._otherwise


def _value(term: Any) -> Any:
    if z3.is_int_value(term):
        return term.as_long()
    if z3.is_bool(term):
        return z3.is_true(term)
    return term.decl().name()


def _blank(node: Node) -> Any:
    if node.sort is BOOL:
        return False
    return 0


class Code:
    """Python text for expressions: what they are in a model."""

    def __init__(self, lifted: Lifted) -> None:
        self._lifted = lifted
        self.names: dict[tuple[str, str, Any], str] = {}

    def of(self, node: Node, known: dict[Node, str]) -> str:
        """The text for `node`, where some nodes have names."""
        found = known.get(node)
        if found is not None:
            return found
        args = [self.of(arg, known) for arg in node.args]
        match node.op:
            case Op.CONST:
                return self._constant(node)
            case Op.VARIABLE:
                return self._named("constant", str(node.data[0]), node)
            case Op.BOUND:
                return self._named("constant", f"{node.data}!bound", node)
            case Op.READ:
                name = "{}@{}".format(*node.data)
                if not args:
                    return self._named("constant", name, node)
                return f"{self._named('table', name, node)}[{', '.join(args)}]"
        return _TEXT[node.op](args)

    def _constant(self, node: Node) -> str:
        if node.sort.kind is Kind.REF and self._lifted.is_symmetric(node.sort.family):
            which = "none" if node.data == graph.NONE else node.data
            return self._named("constant", f"{node.sort.family}!{which}", node)
        return repr(node.data)

    def _named(self, kind: str, name: str, node: Node) -> str:
        blank = _blank(node)
        return self.names.setdefault((kind, name, blank), f"s{len(self.names)}")

    def values(self, meaning: Meaning) -> dict[str, Any]:
        """What the names in the text stand for."""
        return {
            text: getattr(meaning, kind)(name, blank)
            for (kind, name, blank), text in self.names.items()
        }


_TEXT = {
    Op.NOT: lambda a: f"(not {a[0]})",
    Op.AND: lambda a: f"({' and '.join(a)})",
    Op.OR: lambda a: f"({' or '.join(a)})",
    Op.EQ: lambda a: f"({a[0]} == {a[1]})",
    Op.LT: lambda a: f"({a[0]} < {a[1]})",
    Op.LE: lambda a: f"({a[0]} <= {a[1]})",
    Op.ADD: lambda a: f"({a[0]} + {a[1]})",
    Op.SUB: lambda a: f"({a[0]} - {a[1]})",
    Op.MIN: lambda a: f"min({a[0]}, {a[1]})",
    Op.MAX: lambda a: f"max({a[0]}, {a[1]})",
    Op.ITE: lambda a: f"({a[1]} if {a[0]} else {a[2]})",
}


class Finder:
    """Where one clause is false in a model: loops over values, left as soon as it holds."""

    def __init__(self, lifted: Lifted, clause: Clause) -> None:
        self.clause = clause
        self._code = Code(lifted)
        body = clause.body
        literals = list(body.args if body.op is Op.OR else (body,))
        self.order = _order(clause.variables, literals)
        self._program = compile(self._text(literals), "<clause>", "exec")

    def _text(self, literals: list[Node]) -> str:
        known = {variable: f"v{place}" for place, variable in enumerate(self.order)}
        level = {variable: place + 1 for place, variable in enumerate(self.order)}
        depths = [[] for _ in range(len(self.order) + 1)]  # type: ignore[var-annotated]

        def depth(node: Node) -> int:
            return max((level[v] for v in node.free if v in level), default=0)

        for literal in literals:
            depths[depth(literal)].append(literal)
        shared = _shared(literals)
        lines: list[tuple[int, str]] = []
        for place, here in enumerate(depths):
            if place:
                lines.append((place - 1, f"for v{place - 1} in values[{place - 1}]:"))
            for node in shared:
                if depth(node) == place:
                    name = f"x{len(known)}"
                    lines.append((place, f"{name} = {self._code.of(node, known)}"))
                    known[node] = name
            for literal in sorted(here, key=lambda n: len(graph.below(n))):
                leave = "continue" if place else "return"
                lines.append((place, f"if {self._code.of(literal, known)}: {leave}"))
        inner = len(self.order)
        found = ", ".join(f"v{place}" for place in range(inner))
        lines.append((inner, f"found.append(({found}{',' if inner else ''}))"))
        lines.append((inner, "if len(found) >= most: return"))
        head = ["def search(values, found, most):"]
        return "\n".join(head + ["    " * (place + 1) + line for place, line in lines])

    def __call__(self, meaning: Meaning, pool: dict[str, list[Any]], kind: Any) -> list[tuple[Any, ...]]:
        """Values of `order` that make the clause false."""
        scope = self._code.values(meaning)
        exec(self._program, scope)
        found: list[tuple[Any, ...]] = []
        scope["search"]([pool.get(kind(v.data[1]), []) for v in self.order], found, AT_ONCE)
        return found


def split(clause: Clause) -> list[Clause]:
    """The same in clauses of fewer variables, if there are not too many of them."""
    if len(clause.variables) < 2:
        return [clause]
    parts = _distributed(clause.body)
    if parts is None:
        return [clause]
    return [
        replace(clause, body=part, variables=tuple(v for v in clause.variables if v in part.free))
        for part in parts
    ]


def _distributed(body: Node) -> list[Node] | None:
    """Disjunctions that say `body` together; `None` if they would be too many."""
    found: list[list[Node]] = [[]]
    for literal in body.args if body.op is Op.OR else (body,):
        inside = [literal]
        if literal.op is Op.AND:
            inside = []
            for arg in literal.args:
                parts = _distributed(arg)
                if parts is None:
                    return None
                inside += parts
        if len(found) * len(inside) > SPLIT:
            return None
        found = [[*some, part] for some in found for part in inside]
    return [graph.disjunction(*some) for some in found]


def _order(variables: Sequence[Node], literals: list[Node]) -> list[Node]:
    """The variables so that literals are known soon."""
    left, order = list(variables), []
    while left:
        waiting = [needs for lit in literals if (needs := lit.free & set(left))]
        least = min(waiting, key=len, default=frozenset(left[:1]))
        first = min(least, key=lambda v: v.number)
        order.append(first)
        left.remove(first)
    return order


def _shared(literals: list[Node]) -> list[Node]:
    """What occurs twice, but for leaves, the smaller first."""
    counts: dict[Node, int] = {}
    for node in graph.in_order(literals):
        for arg in node.args:
            counts[arg] = counts.get(arg, 0) + 1
    return [node for node in graph.in_order(literals) if node.args and counts.get(node, 0) > 1]


@dataclass
class Limits:
    """How far to go: rounds, instances, the age of terms, seconds and work of each question."""

    rounds: int = 400
    instances: int = 8000
    age: int = 4
    seconds: float = 10.0
    seed: int = 0


class ByNeed:
    """One refutation. `refute` returns what Z3 says at last."""

    def __init__(
        self, lifted: Lifted, terms: UnboundedTerms, action: CapturedAction,
        roles: dict[str, str], first: Iterable[Clause], then: Iterable[Clause] = (),
    ) -> None:  # fmt: skip
        self._lifted, self._lower = lifted, terms
        self.terms = Terms(lifted, action.parameters, roles)
        self._action = action
        self._groups = [list(first), list(then)]
        self.instances = 0
        self.rounds = 0
        self.log: list[tuple[Clause, tuple[Node, ...], int]] = []

    def refute(self, limits: Limits) -> Any:
        """`z3.unsat` is a proof; `z3.sat` if the terms at hand do not suffice."""
        solver = z3.SimpleSolver()
        solver.set("timeout", int(limits.seconds * 1000))
        solver.set("random_seed", limits.seed)
        self._solver = solver
        self._evaluate = Evaluator(self._lifted)
        self.terms.note_writes(self._action)
        groups: list[list[Finder]] = []
        for clauses in self._groups:
            groups.append([])
            for clause in clauses:
                for part in split(clause):
                    if not groups[1:]:
                        self.terms.note(part.body, 0)
                    if part.variables:
                        groups[-1].append(Finder(self._lifted, part))
                    else:
                        solver.add(self._lower(part.body))
        for over in self.terms.ages:
            if self._lifted.is_symmetric(over):
                node = graph.constant(graph.NONE, graph.Sort(Kind.REF, over))
                self._lower(node)
        solver.add(*self._lower.distinct())
        self._done: set[tuple[int, tuple[Node, ...]]] = set()
        age = 0
        while self.rounds < limits.rounds and self.instances < limits.instances:
            self.rounds += 1
            answer = solver.check()
            if answer != z3.sat:
                return answer
            meaning = Meaning(solver.model())
            while not any(self._add(finders, meaning, age) for finders in groups):
                if age >= limits.age or not self._has_age(age + 1):
                    return z3.sat
                age += 1
        return z3.unknown

    def _has_age(self, age: int) -> bool:
        return any(a >= age for ages in self.terms.ages.values() for a in ages.values())

    def _add(self, finders: list[Finder], meaning: Meaning, age: int) -> bool:
        pool, named = self._pool(meaning, age)
        added = []
        for finder in finders:
            for values in finder(meaning, pool, self.terms.kind):
                terms = tuple(
                    named[self.terms.kind(v.data[1])][value] for v, value in zip(finder.order, values, strict=True)
                )
                if (id(finder), terms) in self._done:
                    continue
                self._done.add((id(finder), terms))
                added.append((finder, terms))
        for finder, terms in added:
            put = dict(zip(finder.order, terms, strict=True))
            body = graph.substitute(finder.clause.body, put)
            self._solver.add(self._lower(body))
            oldest = max(
                (self.terms.ages[self.terms.kind(v.data[1])][t] for v, t in put.items()), default=0
            )
            self.log.append((finder.clause, terms, oldest))
            self.terms.note(body, oldest + 1)
        self.instances += len(added)
        return bool(added)

    def _pool(self, meaning: Meaning, age: int) -> tuple[dict[str, list[Any]], Any]:
        """Values by what they range over, and for each a term that has it."""
        evaluate = self._evaluate.within(meaning)
        named: dict[str, dict[Any, Node]] = {}
        for over, ages in self.terms.ages.items():
            found = named.setdefault(over, {})
            for term, its in sorted(ages.items(), key=lambda pair: pair[1]):
                if its <= age:
                    found.setdefault(evaluate(term), term)
        return {over: list(found) for over, found in named.items()}, named


class Evaluator:
    """Closed terms in a model."""

    def __init__(self, lifted: Lifted) -> None:
        self._code = Code(lifted)
        self._programs: dict[Node, Any] = {}

    def within(self, meaning: Meaning) -> Any:
        scope: dict[str, Any] = {}

        def value(term: Node) -> Any:
            if term not in self._programs:
                self._programs[term] = compile(self._code.of(term, {}), "<term>", "eval")
                scope.update(self._code.values(meaning))
            if not scope:
                scope.update(self._code.values(meaning))
            return eval(self._programs[term], scope)

        return value
