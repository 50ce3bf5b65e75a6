"""Candidate lemmas: short clauses over a protocol's atoms that hold in every reachable state.

Reachable states come from the vectorised engine, one bit a state and atom; a clause holds if no
state has all its literals false. Of the clauses that hold, only those without a shorter one inside
are candidates at first; a longer one is tried when a shorter one turns out not to be inductive.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt

from checker.core.engines.layout import Layout, Words
from checker.core.engines.vectorised import Claims
from checker.core.search.explore import Explorer, Journal
from checker.core.search.findings import Findings
from checker.core.search.limits import Limits
from checker.core.search.lineage import Lineage
from checker.core.search.question import Options
from model.language import graph
from model.language.graph import Node
from model.language.protocol import Model
from properties.templates import Place, Templates

Literal = tuple[int, bool]
"""The number of an atom, and whether it is asserted or denied."""

Candidate = frozenset[Literal]
Bits = npt.NDArray[np.uint64]
MAX_LITERALS = 3


@dataclass(frozen=True)
class Atoms:
    """The atoms of a model as ground nodes, at each place."""

    names: tuple[str, ...]
    places: tuple[Place | Mapping[Node, int], ...]
    nodes: tuple[tuple[Node, ...], ...]  # by atom, then by place

    def clause_nodes(self, candidate: Candidate) -> set[Node]:
        """The candidate at every place, as one ground node each; without trivial ones."""
        found = set()
        for place in range(len(self.places)):
            parts = [
                self.nodes[atom][place] if sign else graph.negation(self.nodes[atom][place])
                for atom, sign in candidate
            ]
            node = graph.disjunction(*parts)
            if node is not graph.TRUE:
                found.add(node)
        return found

    def words(self, candidate: Candidate) -> str:
        """The candidate as people read it: what is denied implies one of what is asserted."""
        denied = [_inside(self.names[atom]) for atom, sign in sorted(candidate) if not sign]
        asserted = [_inside(self.names[atom]) for atom, sign in sorted(candidate) if sign]
        conclusion = " or ".join(asserted) or "never"
        return f"{' and '.join(denied)} => {conclusion}" if denied else conclusion


def _inside(text: str) -> str:
    return f"({text})" if any(word in text for word in (" and ", " or ", ": ")) else text


def atoms_of(model: Model, templates: Templates) -> Atoms:
    """The templates' atoms at every place of the model."""
    places = tuple(templates.places(model))

    def ground(name: str, place: Place) -> Node:
        atom, at = templates.atoms[name], templates.at
        return model.ground_claim(lambda state: atom(state, *at(state, place)))

    nodes = tuple(tuple(ground(name, place) for place in places) for name in templates.atoms)
    return Atoms(tuple(templates.atoms), places, nodes)


def reachable_states(model: Model, limit: int) -> Words | None:
    """All reachable states, packed; `None` if there are more than `limit`."""
    levels = _Levels()
    options = Options(cross_check=False)  # the inference has compared already
    result = Explorer(model, (), Limits(states=limit), options, journal=levels).run()
    return None if result.stopped else np.concatenate(levels.pieces, axis=1)


class _Levels(Journal):
    """Keeps the states of a search in memory."""

    def __init__(self) -> None:
        self.pieces: list[Words] = []

    def level(self, findings: Findings, pieces: list[Words], lineage: Lineage) -> None:
        self.pieces += pieces


class Table:
    """Which literal is false in which state and place, a bit each; and which clauses hold."""

    def __init__(self, model: Model, atoms: Atoms, states: Words) -> None:
        self.atoms = atoms
        self._layout = Layout(model)
        self._masks = Claims([node for row in atoms.nodes for node in row], self._layout)
        columns = iter(self._masks(states))
        self.false: dict[Literal, Bits] = {}
        for number, row in enumerate(atoms.nodes):
            held = np.concatenate([next(columns) for _ in row])
            self.false[number, True] = _pack(~held)
            self.false[number, False] = _pack(held)

    def truth(self, state: Sequence[int]) -> npt.NDArray[np.bool_]:
        """Whether each atom (row) holds at each place (column) in one state."""
        columns = self._masks(self._layout.pack([state]))
        return np.array([c[0] for c in columns]).reshape(len(self.atoms.nodes), -1)

    def holds(self, candidate: Iterable[Literal]) -> bool:
        """No state at any place has all the literals false."""
        return not reduce(np.bitwise_and, (self.false[literal] for literal in candidate)).any()

    def shortest(self) -> list[Candidate]:
        """The clauses of up to `MAX_LITERALS` literals that hold, none with another inside."""
        found: list[Candidate] = []
        known: set[Candidate] = set()
        literals = sorted(self.false)

        def grow(chosen: tuple[Literal, ...], start: int, falsified: Bits, left: int) -> None:
            for place in range(start, len(literals)):
                literal = literals[place]
                if any(atom == literal[0] for atom, _ in chosen):
                    continue
                now = (*chosen, literal)
                if has_part(frozenset(now), known):
                    continue
                both = falsified & self.false[literal]
                if left > 1:
                    if both.any():
                        grow(now, place + 1, both, left - 1)
                elif not both.any():
                    found.append(frozenset(now))

        everything = np.full_like(self.false[literals[0]], np.uint64(0xFFFFFFFFFFFFFFFF))
        for size in range(1, MAX_LITERALS + 1):
            grow((), 0, everything, size)
            known = set(found)
        return found

    def longer(self, templates: Templates, known: set[Candidate]) -> list[Candidate]:
        """The candidates of the templates' families that hold, without known parts."""
        known, found = set(known), list[Candidate]()
        for head, body, conditions in self._families(templates):
            for size in range(conditions + 1):
                for chosen in itertools.combinations(body, size):
                    candidate = head | frozenset(chosen)
                    if not has_part(candidate, known) and self.holds(candidate):
                        found.append(candidate)
                known |= set(found)
        return found

    def weaker(self, candidate: Candidate, templates: Templates) -> Iterator[Candidate]:
        """The clauses with one more literal, where there may be more. All of them hold."""
        for head, body, conditions in self._families(templates):
            rest = candidate - head
            if head <= candidate and len(rest) < conditions and rest <= set(body):
                yield from (candidate | {literal} for literal in body if literal not in rest)
        if len(candidate) < MAX_LITERALS:
            taken = {atom for atom, _ in candidate}
            for literal in self.false:
                if literal[0] not in taken:
                    yield candidate | {literal}

    def _families(
        self, templates: Templates
    ) -> Iterator[tuple[Candidate, tuple[Literal, ...], int]]:
        number = {name: k for k, name in enumerate(self.atoms.names)}
        for family in templates.families:
            head = frozenset((number[name], sign) for name, sign in family.head)
            body = tuple((number[name], sign) for name, sign in family.body)
            yield head, body, family.conditions


def has_part(candidate: Candidate, known: set[Candidate]) -> bool:
    """One of the known clauses is the candidate or a part of it, and so implies it."""
    if not known:
        return False
    items = sorted(candidate)
    sizes = range(1, len(items) + 1)
    return any(frozenset(p) in known for k in sizes for p in itertools.combinations(items, k))


def _pack(mask: npt.NDArray[np.bool_]) -> Bits:
    return np.packbits(np.pad(mask, (0, -len(mask) % 64))).view(np.uint64)
