"""Instances by need: of each clause those that a model of the earlier instances makes false.

Z3 sees no quantifiers, and few instances, so that it hardly ever has to search. It finds a model;
the clauses are evaluated in it for the terms that there are; what is false is added, until there is
no model, which is a proof, or until nothing is false. Then come the clauses that seemed not to
matter, and then terms that only instances have brought.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import z3

from checker.core.engines.unbounded import UnboundedTerms
from checker.core.proofs.unbounded.clauses import Clause, skolem_over
from checker.core.proofs.unbounded.few_members import FewMembers, is_named
from checker.core.proofs.unbounded.instances import Instance
from checker.core.proofs.unbounded.model_values import Code, Meaning, value_of
from model.language import graph
from model.language.capture import CapturedAction
from model.language.graph import Kind, Node, Op
from model.language.lifted import Lifted

SPLIT = 64
"""Clauses that one is split into, at most."""
AT_ONCE = 3
"""Instances of one clause that are added together, at most: with more, most are of no use."""
MOST_VARIABLES = 10
MOST_STEPS = 1_000_000
"""How far one clause is searched for values that make it false."""


@dataclass(frozen=True)
class Effort:
    """How far to go: rounds, instances, and how many instances may lead to a term."""

    rounds: int = 400
    instances: int = 4_000
    age: int = 4
    seed: int = 0


class Terms:
    """Closed terms by what they range over, with how many instances it took to come to them.

    Index sets of as many numbers share theirs. `roles` are variables whose values are indices.
    """

    def __init__(self, lifted: Lifted, action: CapturedAction, roles: dict[str, str]) -> None:
        self._lifted = lifted
        self._constants = frozenset(action.parameters)
        self._roles = roles
        self._seen: set[Node] = set()
        self._kinds: dict[str, str] = {}
        self.ages: dict[str, dict[Node, int]] = {}
        for write in action.writes:
            for index, index_set in zip(write.index, write.variable.index, strict=True):
                self._put(index_set.name, index, 0)

    def note(self, node: Node, age: int) -> None:
        """Take in whatever closed terms there are in `node`."""
        waiting, here = [node], set[Node]()
        while waiting:
            this = waiting.pop()
            if this in self._seen or this in here:
                continue
            here.add(this)
            waiting += this.args
            if this in self._constants:
                self._put(this.data[1], this, age)
            elif this.op is Op.READ:
                self._note_read(this, age)
        self._seen |= {this for this in here if this.free <= self._constants}

    def of(self, over: str) -> dict[Node, int]:
        """The terms for a variable over the index set, and their ages."""
        return self.ages.get(self.kind(over), {})

    def kind(self, over: str) -> str:
        """One name for all index sets of as many numbers."""
        if over not in self._kinds:
            sets = self._lifted.schema.index_sets
            self._kinds[over] = over
            if over in sets and not self._lifted.is_symmetric(over):
                size = sets[over].size.node
                self._kinds[over] = next(name for name, s in sets.items() if s.size.node is size)
        return self._kinds[over]

    def _note_read(self, this: Node, age: int) -> None:
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
        is_none = term.op is Op.CONST and term.data == graph.NONE
        if term.free <= self._constants and not is_none:
            self.ages.setdefault(self.kind(over), {}).setdefault(term, age)


class Finder:
    """Where one clause is false in a model: loops over values, left as soon as it holds."""

    def __init__(self, lifted: Lifted, clause: Clause) -> None:
        self.clause = clause
        self._code = Code(lifted)
        body = clause.body
        literals = list(body.args if body.op is Op.OR else (body,))
        self.order = _order(clause.variables, literals)
        self._literals = literals

    @cached_property
    def _program(self) -> Any:
        """Made when it is needed: most refutations ask few clauses."""
        return compile("\n".join(self._lines()), "<clause>", "exec")

    def _lines(self) -> Iterator[str]:
        """A function that goes through the values of one variable after the other."""
        literals = self._literals
        known = {variable: f"v{place}" for place, variable in enumerate(self.order)}
        places = {variable: place + 1 for place, variable in enumerate(self.order)}

        def depth(node: Node) -> int:
            return max((places[v] for v in node.free if v in places), default=0)

        yield "def search(values, found, most, steps):"  # says whether it came to an end
        shared = _shared(literals)
        for place in range(len(self.order) + 1):
            indent = "    " * (place + 1)
            if place:
                yield f"{indent[4:]}for v{place - 1} in values[{place - 1}]:"
                yield f"{indent}steps -= 1"
                yield f"{indent}if steps < 0: return False"
            for node in shared:
                if depth(node) == place:
                    name = f"x{len(known)}"
                    yield f"{indent}{name} = {self._code.of(node, known)}"
                    known[node] = name
            here = [literal for literal in literals if depth(literal) == place]
            for literal in sorted(here, key=lambda n: len(graph.below(n))):
                leave = "continue" if place else "return True"
                yield f"{indent}if {self._code.of(literal, known)}: {leave}"
        yield f"{indent}found.append(({''.join(f'v{p}, ' for p in range(len(self.order)))}))"
        yield f"{indent}if len(found) >= most: return True"
        yield "    return True"

    def __call__(
        self, meaning: Meaning, pools: list[list[Any]]
    ) -> tuple[list[tuple[Any, ...]], bool]:
        """Values of the variables, in `order`, that make the clause false; not all of them.

        And whether the search came to an end: only then does it say something to find none.
        """
        program = self._program
        scope = self._code.values(meaning)
        exec(program, scope)
        found: list[tuple[Any, ...]] = []
        is_whole = scope["search"](pools, found, AT_ONCE, MOST_STEPS)
        return found, is_whole


@lru_cache(maxsize=4_096)
def finders(lifted: Lifted, clause: Clause) -> tuple[Finder, ...]:
    """For each part of the clause. Kept, as one obligation assumes much of what the last did."""
    return tuple(Finder(lifted, part) for part in split(clause))


class ByNeed:
    """One refutation: of the clauses of `first`, and where these do not suffice of `then`."""

    def __init__(
        self,
        lifted: Lifted,
        lower: UnboundedTerms,
        terms: Terms,
        first: Iterable[Clause],
        then: Iterable[Clause],
    ) -> None:
        self._lifted, self._lower, self._terms = lifted, lower, terms
        self.used: set[Clause] = set()
        """The clauses of which something was added."""
        self.instances = 0
        self._whole: dict[Finder, Clause] = {}
        self._done: set[tuple[Finder, tuple[Node, ...]]] = set()
        self._solver = z3.SimpleSolver()
        self._few = FewMembers(lifted, lower, self._solver)
        self._said: list[Any] = []
        self._witnesses: set[Node] = set()
        self.found: list[Instance] = []
        """What was added, each as an instance of one of the clauses that were given."""
        self._groups = [self._finders(first, seen=True), self._finders(then, seen=False)]

    @property
    def assertions(self) -> list[Any]:
        """All that was added: a question without quantifiers."""
        return [*self._said, *self._lower.distinct()]

    @property
    def model(self) -> Any:
        """The last model; if `refute` says `z3.sat`, no clause is false in it."""
        return self._solver.model()

    def _finders(self, clauses: Iterable[Clause], seen: bool) -> list[Finder]:
        """Adds what has no variables; only what is `seen` has terms that come first."""
        found = []
        # What a definition brings is another matter than what the question is about.
        for clause in sorted(clauses, key=lambda clause: bool(clause.defines)):
            for finder in finders(self._lifted, clause):
                part = finder.clause
                if seen:
                    self._terms.note(part.body, 1 if clause.defines else 0)
                if not part.variables:
                    self._say(clause, {}, part.body)
                elif len(part.variables) <= MOST_VARIABLES:
                    self._whole[finder] = clause
                    found.append(finder)
        return found

    def refute(self, effort: Effort, seconds: float) -> Any:
        """What Z3 says at last: `z3.sat` if more instances of these terms would not help.

        `seconds` are for each question to it.
        """
        self._solver.set("timeout", max(int(seconds * 1000), 1))
        self._solver.set("random_seed", effort.seed)
        for over in self._terms.ages:
            if self._lifted.is_symmetric(over):
                self._lower(graph.constant(graph.NONE, graph.Sort(Kind.REF, over)))
        self._solver.add(*self._lower.distinct())
        age = 0
        for _ in range(effort.rounds):
            answer = self._few.ask(self._terms.ages)
            if answer != z3.sat:
                return answer
            meaning = Meaning(self._solver.model())
            self._cut_short = False
            while not any(self._add(finders, meaning, age) for finders in self._groups):
                age += 1
                ages = (its for terms in self._terms.ages.values() for its in terms.values())
                if age > effort.age or age > max(ages, default=0):
                    if not self._name_witnesses():
                        return z3.unknown if self._cut_short else z3.sat
                    age -= 1
            if self.instances > effort.instances:
                break
        return z3.unknown

    def _name_witnesses(self) -> bool:
        """Whether there are terms for witnesses that no instance has brought, of what is named.

        A model may choose a witness so that "there is" holds: then nothing of it is false, and the
        witness is nowhere. Only once, where all else is of no more use.
        """
        before = sum(map(len, self._terms.ages.values()))
        for finder in self._groups[0] if not self._witnesses else ():
            for node in graph.below(finder.clause.body):
                if skolem_over(node) in self._lifted.schema.index_sets and all(
                    arg.op is Op.VARIABLE for arg in node.args
                ):
                    known = (self._terms.of(arg.data[1]) for arg in node.args)
                    for values in itertools.product(*(filter(is_named, its) for its in known)):
                        self._witnesses.add(graph.rebuild(node, values))
        for node in sorted(self._witnesses, key=lambda node: node.number):
            self._terms.note(node, 1)
        return sum(map(len, self._terms.ages.values())) > before

    def _add(self, finders: Iterable[Finder], meaning: Meaning, age: int) -> bool:
        """Whether something was added."""
        named = self._named(meaning, age)
        added = []
        for finder in finders:
            kinds = [self._terms.kind(variable.data[1]) for variable in finder.order]
            pools = [list(named.get(kind, ())) for kind in kinds]
            found, is_whole = finder(meaning, pools)
            self._cut_short |= not is_whole
            for values in found:
                terms = tuple(named[k][value] for k, value in zip(kinds, values, strict=True))
                if (finder, terms) not in self._done:
                    added.append((finder, terms))
        for finder, terms in added:
            self._done.add((finder, terms))
            put = dict(zip(finder.order, terms, strict=True))
            body = graph.substitute(finder.clause.body, put)
            self._say(self._whole[finder], put, body)
            oldest = max(self._terms.of(v.data[1])[term] for v, term in put.items())
            self._terms.note(body, oldest + 1)
        self.instances += len(added)
        return bool(added)

    def _say(self, clause: Clause, put: dict[Node, Node], body: Node) -> None:
        self.used.add(clause)
        self.found.append(Instance(clause, tuple(map(put.get, clause.variables))))
        self._said.append(self._lower(body))
        self._solver.add(self._said[-1])

    def _named(self, meaning: Meaning, age: int) -> dict[str, dict[Any, Node]]:
        """Values by what they range over, each with a term that has it, the youngest first.

        Of these, one that the question names.
        """
        value = value_of(self._lifted, meaning)
        named: dict[str, dict[Any, Node]] = {}
        for over, ages in self._terms.ages.items():
            found = named.setdefault(over, {})
            by_age = sorted(ages.items(), key=lambda pair: (pair[1], not is_named(pair[0])))
            for term, its in by_age:
                if its <= age:
                    found.setdefault(value(term), term)
        return named


def split(clause: Clause) -> list[Clause]:
    """The same in clauses of fewer variables, if there are not too many of them.

    If there are, only what is said of variables that nothing else speaks of is taken apart: who
    looks for values need not try all of one where the clause does not depend on it.
    """
    if len(clause.variables) < 2:
        return [clause]
    parts = _distributed(clause.body, None) or _distributed(clause.body, _private(clause))
    if parts is None:
        return [clause]
    return [
        replace(clause, body=part, variables=tuple(v for v in clause.variables if v in part.free))
        for part in parts
        if part is not graph.TRUE
    ]


def _private(clause: Clause) -> frozenset[Node]:
    """The variables that stand in one literal alone."""
    literals = clause.body.args if clause.body.op is Op.OR else (clause.body,)
    return frozenset(v for v in clause.variables if sum(v in its.free for its in literals) == 1)


def _distributed(body: Node, over: frozenset[Node] | None) -> list[Node] | None:
    """Disjunctions that say `body` together; `None` if they would be too many.

    With `over`, conjunctions without any of these variables are left whole.
    """
    found: list[list[Node]] = [[]]
    for literal in body.args if body.op is Op.OR else (body,):
        inside = [literal]
        if literal.op is Op.AND and (over is None or literal.free & over):
            apart = [arg for arg in literal.args if over is None or arg.free & over]
            rest = graph.conjunction(*(arg for arg in literal.args if arg not in apart))
            parts = [_distributed(arg, over) for arg in apart]
            if None in parts:
                return None
            inside = [part for some in parts for part in some or ()]
            inside += [] if rest is graph.TRUE else [rest]
        if len(found) * len(inside) > SPLIT:
            return None
        found = [[*some, part] for some in found for part in inside]
    return [graph.disjunction(*some) for some in found]


def _order(variables: Sequence[Node], literals: list[Node]) -> list[Node]:
    """The variables so that literals are known soon."""
    left, order = list(variables), list[Node]()
    while left:
        waiting = [needs for literal in literals if (needs := literal.free & set(left))]
        least = min(waiting, key=len, default=frozenset(left))
        first = min(least, key=lambda variable: variable.number)
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
