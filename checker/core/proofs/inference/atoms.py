"""What lemmas are made of: simple claims about a few things at once, derived from a protocol.

The schema says which fields there are and what each counts: two numbers are alike if one bound
limits both. Guards of actions and the claims of properties are taken apart, and each part that is
about few enough things is an atom as well. Nobody writes atoms with a proof in mind.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from checker.core.proofs.inference.candidates import Atoms
from model.language import graph
from model.language.declare.domains import (
    Booleans,
    Domain,
    IndexSet,
    Integers,
    Limit,
    Reference,
    Subset,
)
from model.language.declare.schema import IndexedSchema, RecordSchema, SequenceSchema
from model.language.declare.store import Part
from model.language.declare.variables import Variable
from model.language.graph import BOOL, INT, NONE, Infix, Kind, Node, Op, Sort
from model.language.protocol import Model
from properties import Property

MAX_PLACES = 100
"""How many choices of what the variables stand for there may be, before variables are left out."""
MAX_PARTS = 12
"""How many parts a condition of an action may have to be an atom."""
MAX_VALUES = 6
"""Numbers of a domain without bound that are worth an atom each."""

Place = Mapping[Node, int]


@dataclass(frozen=True)
class DerivedAtoms(Atoms):
    """Atoms with their expressions over variables, which `places` say what they stand for."""

    expressions: tuple[Node, ...]
    places: tuple[Place, ...]


def atoms_of(model: Model, properties: Iterable[Property]) -> DerivedAtoms:
    """The atoms that follow from a model's schema, from its actions, and from the properties.

    An atom that says the same at every place in every state is left out.
    """
    scope = Scope(model)
    found = _FromSchema(scope).atoms()
    found |= dict.fromkeys(scope.conditions(scope.actions, MAX_PARTS))
    claims = {model.claim(p.claim): p.name for p in properties}
    found |= dict.fromkeys(scope.conditions(claims))
    places = tuple(scope.places)
    atoms: dict[tuple[Node, ...], Node] = {}
    for node in found:
        ground = tuple(model.ground_part(node, place) for place in places)
        denied = tuple(map(graph.negation, ground))
        if all(g.op is Op.CONST for g in ground) or ground in atoms or denied in atoms:
            continue
        atoms[ground] = node
    infix = Infix(paths={name: v.path for name, v in model.schema.variables.items()})
    names = (claims.get(node) or infix.words(node) for node in atoms.values())
    return DerivedAtoms(tuple(names), places, tuple(atoms), tuple(atoms.values()))


def below(written: Iterable[Node]) -> list[Node]:
    """All parts of expressions, in the order in which they were made."""
    return sorted(graph.below(*written), key=lambda node: node.number)


def kind_of(limit: Limit, otherwise: str) -> str:
    """What a number counts: the bound that limits it."""
    return limit.bound.name if limit.bound is not None else otherwise


def kind_of_domain(domain: Domain) -> str:
    """What the numbers of a domain count; empty where no bound says so."""
    if not isinstance(domain, Integers):
        return ""
    return kind_of(domain.high, "") or kind_of(domain.low, "")


@dataclass
class Scope:
    """The variables of atoms: members of families, and numbers by what they count.

    Each family and each kind of index has one variable, and a second one where there are more to
    choose from and places are not too many.
    """

    model: Model
    members: dict[str, list[Node]] = field(init=False, default_factory=dict)
    numbers: dict[str, list[Node]] = field(init=False, default_factory=dict)
    extents: dict[str, int] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        labels: dict[str, str] = {}
        for index_set in self.model.schema.index_sets.values():
            kind = self.kind(index_set)
            extent = self.model.extents[index_set.name]
            self.extents[kind] = max(extent, self.extents.get(kind, 0))
            labels.setdefault(kind, _label(self.model, index_set))
        kinds = sorted(self.extents, key=lambda kind: kind not in self.model.schema.families)
        for prime in ("", "'"):
            for kind in kinds:
                if prime and self.extents[kind] < 2:
                    continue
                self._variables(kind).append(self._variable(kind, labels[kind] + prime))
                if prime and len(self.places) > MAX_PLACES:
                    self._variables(kind).pop()

    def kind(self, index_set: IndexSet) -> str:
        """What members of the index set are, or what its numbers count."""
        return index_set.name if index_set.symmetric else kind_of(index_set.size, index_set.name)

    def _is_family(self, kind: str) -> bool:
        found = self.model.schema.index_sets.get(kind)
        return found is not None and found.symmetric

    def _variables(self, kind: str) -> list[Node]:
        chosen = self.members if self._is_family(kind) else self.numbers
        return chosen.setdefault(kind, [])

    def _variable(self, kind: str, name: str) -> Node:
        sort = Sort(Kind.REF, kind) if self._is_family(kind) else INT
        return graph.variable(name, sort, kind)

    @property
    def places(self) -> list[Place]:
        """All that the variables may stand for: different members, and any numbers."""
        choices: list[list[Place]] = []
        for kind, variables in self.members.items():
            chosen = itertools.permutations(range(self.extents[kind]), len(variables))
            choices.append([dict(zip(variables, each, strict=True)) for each in chosen])
        for kind, variables in self.numbers.items():
            ranges = [range(self.extents[kind])] * len(variables)
            product = itertools.product(*ranges)
            choices.append([dict(zip(variables, each, strict=True)) for each in product])
        return [
            {k: v for part in parts for k, v in part.items()}
            for parts in itertools.product(*choices)
        ]

    def indices(self, variable: Variable) -> Iterator[tuple[Node, ...]]:
        """Where the variables of atoms read a state variable."""
        options = []
        for index_set in variable.index:
            kind = self.kind(index_set)
            options.append((self.members if index_set.symmetric else self.numbers)[kind])
        return itertools.product(*options)

    @cached_property
    def variables(self) -> list[Variable]:
        """The state variables that may change."""
        still = self.model.unchanging
        return [v for v in self.model.schema.variables.values() if v.name not in still]

    # --- parts of what is written ------------------------------------------------------------

    @property
    def actions(self) -> Iterator[Node]:
        """What the actions say that can be taken: guards, and what they assign."""
        possible = self.model.possible_actions
        for action in self.model.captured:
            if action.name in possible:
                yield from action.nodes

    def conditions(self, written: Iterable[Node], largest: int | None = None) -> Iterator[Node]:
        """The conditions in expressions, of so many parts at most, over the variables of atoms."""
        for node in below(written):
            if node.sort is BOOL and (largest is None or len(graph.below(node)) <= largest):
                yield from self.renamed(node)

    @cached_property
    def _counted(self) -> dict[str, str]:
        """What the numbers of actions' parameters count, by what the parameters range over."""
        return {
            f"{name}({parameter.name})": kind_of_domain(parameter.domain)
            for name, parameters in self.model.protocol.parameters.items()
            for parameter in parameters
        }

    def _kind_of_variable(self, variable: Node) -> str:
        over = variable.data[1]
        index_set = self.model.schema.index_sets.get(over)
        return self._counted.get(over, "") if index_set is None else self.kind(index_set)

    def renamed(self, node: Node) -> Iterator[Node]:
        """The expression about each choice of the atoms' variables; none if they are too few."""
        options = []
        for variable in node.parameters:
            kind = self._kind_of_variable(variable)
            chosen = self.members if variable.sort.kind is Kind.REF else self.numbers
            options.append(chosen.get(kind, []))
        for combination in itertools.product(*options):
            if len(set(combination)) == len(combination):
                yield graph.substitute(node, dict(zip(node.parameters, combination, strict=True)))


def _label(model: Model, index_set: IndexSet) -> str:
    family = model.schema.families.get(index_set.name)
    if family is None:
        return "position"
    label: str = getattr(family.item.view_class, "_label", index_set.name)
    return label.strip()


class _FromSchema:
    """Atoms about the fields that a schema declares, as their sorts and kinds allow."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._model = scope.model
        self._numbers: dict[str, dict[Node, Node | None]] = {}  # by kind, with the blank number
        self._references: dict[str, dict[Node, None]] = {}
        self._sets: dict[str, dict[Node, None]] = {}
        self._found: dict[Node, None] = {}

    def atoms(self) -> dict[Node, None]:
        """All of them, each once, in a fixed order."""
        for variable in self._scope.variables:
            for index in self._scope.indices(variable):
                self._term(graph.read(variable.name, index, variable.sort), variable)
        for node in below(self._scope.actions):
            self._read(node)
        for kind, chosen in self._scope.numbers.items():
            for number in chosen:
                self._numbers.setdefault(kind, {}).setdefault(number, None)
        self._about_numbers()
        self._about_references()
        self._about_sets()
        self._about_members_of_sets()
        self._about_rows()
        for sequence in _sequences(self._model.schema.root):
            self._about_sequence(sequence)
        return self._found

    def _add(self, *nodes: Node) -> None:
        self._found.update(dict.fromkeys(node for node in nodes if node.op is not Op.CONST))

    def _read(self, node: Node) -> None:
        """A read in an action whose index is computed: a term like those of the fields.

        Not of numbers: with what they are compared with, guards have them already.
        """
        if node.op is Op.READ and any(arg.op is not Op.VARIABLE for arg in node.args):
            variable = self._model.schema.variables[node.data[0]]
            if variable in self._scope.variables and variable.sort is not INT:
                for renamed in self._scope.renamed(node):
                    self._term(renamed, variable)
        if graph.names_a_member(node):
            for member in self._scope.members.get(node.sort.family, []):
                self._add(graph.equal(member, node))

    def _term(self, node: Node, variable: Variable) -> None:
        match variable.domain:
            case Booleans():
                self._add(node)
            case Reference(family):
                self._references.setdefault(family, {})[node] = None
            case Subset(family):
                self._sets.setdefault(family, {})[node] = None
            case Integers() as domain:
                kind = kind_of_domain(domain)
                if kind:
                    self._numbers.setdefault(kind, {})[node] = variable.blank
                else:
                    low, high = self._model.limits(domain)
                    values = range(low, high + 1) if high - low < MAX_VALUES else [low, high]
                    self._add(*(graph.equal(node, graph.constant(v)) for v in values))

    def _about_numbers(self) -> None:
        for terms in self._numbers.values():
            for term, blank in terms.items():
                if blank is not None:
                    self._add(graph.equal(term, blank))
            for a, b in itertools.combinations(terms, 2):
                self._add(graph.less(a, b), graph.less(b, a), graph.equal(a, b))

    def _about_references(self) -> None:
        for family, terms in self._references.items():
            for term in terms:
                self._add(graph.equal(term, graph.constant(NONE, term.sort)))
                members = self._scope.members.get(family, [])
                self._add(*(graph.equal(term, member) for member in members))
            self._add(*(graph.equal(a, b) for a, b in itertools.combinations(terms, 2)))

    def _about_sets(self) -> None:
        for family, terms in self._sets.items():
            nobody = graph.no_members(family)
            for term in terms:
                self._add(graph.equal(term, nobody))
                members = self._scope.members.get(family, [])
                self._add(*(graph.contains(term, member) for member in members))
            for a, b in itertools.permutations(terms, 2):
                beyond = graph.set_operation(Op.DIFFERENCE, a, b)
                self._add(graph.equal(a, b), graph.equal(beyond, nobody))

    def _about_members_of_sets(self) -> None:
        """Some member of a set is ahead of, or behind, one that the atom is about."""
        for family, terms in self._sets.items():
            other = graph.variable("m", Sort(Kind.REF, family), family)
            for group, variable in itertools.product(terms, self._scope.variables):
                kind = kind_of_domain(variable.domain)
                if [s.name for s in variable.index] != [family] or not kind:
                    continue
                field_of = graph.read(variable.name, (other,), INT)
                own = [graph.read(variable.name, (m,), INT) for m in self._scope.members[family]]
                for term in (*own, *self._scope.numbers.get(kind, [])):
                    for ahead in (graph.less(term, field_of), graph.less(field_of, term)):
                        inside = graph.conjunction(graph.contains(group, other), ahead)
                        self._add(graph.quantified(Op.EXISTS, other, inside))

    def _about_rows(self) -> None:
        """Some later row of a table names a member that the atom is about."""
        for variable in self._scope.variables:
            if not isinstance(variable.domain, Reference | Subset) or len(variable.index) != 1:
                continue
            (rows,) = variable.index
            if rows.symmetric:
                continue
            row = graph.variable("row", INT, rows.name)
            held = graph.read(variable.name, (row,), variable.sort)
            for member in self._scope.members.get(variable.domain.family, []):
                is_set = isinstance(variable.domain, Subset)
                named = graph.contains(held, member) if is_set else graph.equal(held, member)
                for term in self._numbers.get(self._scope.kind(rows), {}):
                    later = graph.conjunction(graph.less(term, row), named)
                    self._add(graph.quantified(Op.EXISTS, row, later))

    def _about_sequence(self, sequence: SequenceSchema) -> None:
        """Two members hold the same record at a position, and below it; records are in order."""
        scope, positions = self._scope, sequence.index_set
        if sequence.end not in scope.variables:
            return
        at = scope.numbers[scope.kind(positions)][0]
        below = graph.variable("p", INT, positions.name)
        owners = list(scope.indices(sequence.end))
        for one, other in itertools.combinations(owners, 2):
            same, same_below = (
                _same_record(sequence, one, other, position) for position in (at, below)
            )
            up_to = graph.disjunction(graph.less(at, below), same_below)
            self._add(same, graph.quantified(Op.FORALL, below, up_to))
        for variable, owner in itertools.product(sequence.variables, owners):
            if kind_of_domain(variable.domain):
                here, there = (graph.read(variable.name, (*owner, p), INT) for p in (at, below))
                ordered = graph.disjunction(graph.at_most(at, below), graph.at_most(there, here))
                self._add(graph.quantified(Op.FORALL, below, ordered))


def _same_record(
    sequence: SequenceSchema, one: tuple[Node, ...], other: tuple[Node, ...], position: Node
) -> Node:
    ends = (graph.read(sequence.end.name, owner, INT) for owner in (one, other))
    parts = [graph.less(position, end) for end in ends]
    for variable in sequence.variables:
        parts.append(
            graph.equal(
                *(
                    graph.read(variable.name, (*owner, position), variable.sort)
                    for owner in (one, other)
                )
            )
        )
    return graph.conjunction(*parts)


def _sequences(part: Part) -> Iterator[SequenceSchema]:
    """The sequences of one index below a part of the schema."""
    if isinstance(part, SequenceSchema):
        if all(len(v.index) == len(part.end.index) + 1 for v in part.variables):
            yield part
    elif isinstance(part, IndexedSchema):
        yield from _sequences(part.item)
    elif isinstance(part, RecordSchema):
        for each in part.fields.values():
            yield from _sequences(each)
