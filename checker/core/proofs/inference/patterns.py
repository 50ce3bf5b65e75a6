"""Which atoms are true together: the patterns of all reachable states, and clauses that fit them.

A pattern is one state at one place: a bit for each atom. A clause that is false at a pattern takes
from some of its atoms what they are not there; it holds in every reachable state if each reachable
pattern differs from that one in one of these atoms. So the shortest clauses that exclude a state
are the smallest sets of atoms that meet every difference.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import reduce

import numpy as np
import numpy.typing as npt

from checker.core.engines.layout import Layout, Words
from checker.core.engines.vectorised import Claims
from checker.core.proofs.inference.candidates import Atoms, Candidate
from model.language.protocol import Model

Rows = npt.NDArray[np.uint64]  # one pattern a row, a bit an atom
Column = npt.NDArray[np.uint64]  # one atom, a bit a pattern

MAX_LITERALS = 6
_CHUNK = 20_000  # states whose patterns are made at once
_BRANCHES = 10  # atoms that are tried where one has to be chosen
_LONG = 3  # literals: from so many on only some places are looked at
_PLACES = 10  # which may need few atoms
_TRIES = 200  # choices that are looked at for one place and size
_HARD = 500  # patterns that are looked at first


class Patterns:
    """The patterns of the reachable states, each once, and the clauses that hold in all of them."""

    def __init__(self, model: Model, atoms: Atoms, states: Words) -> None:
        self.atoms = atoms
        self.layout = Layout(model)
        nodes = dict.fromkeys(node for row in atoms.nodes for node in row)
        number = {node: number for number, node in enumerate(nodes)}
        self._at = np.array([[number[node] for node in row] for row in atoms.nodes], np.intp)
        self._claims = Claims(list(nodes), self.layout)
        self._words = -(-len(atoms.names) // 64)
        found = np.empty((0, self._words), np.uint64)
        for first in range(0, states.shape[1], _CHUNK):
            new = self.of(np.ascontiguousarray(states[:, first : first + _CHUNK]))
            found = _each_once(np.concatenate([found, *new]))
        self.rows: Rows = found
        self._everywhere = np.packbits(_padded(np.ones(len(found), np.bool_))).view(np.uint64)
        self._true = [_column(found, atom) for atom in range(len(atoms.names))]
        chosen = np.random.default_rng(0).permutation(len(found))[:_HARD]
        self._hard: Rows = found[chosen]
        self._extra: Rows = found[:0]

    def of(self, states: Words) -> list[Rows]:
        """At each place, the patterns of the states, in their order."""
        columns = np.array(self._claims(states))
        found = []
        for place in range(len(self.atoms.places)):
            bits = np.zeros((states.shape[1], self._words * 64), np.bool_)
            bits[:, : len(self._at)] = columns[self._at[:, place]].T
            found.append(np.packbits(bits, axis=1, bitorder="little").view(np.uint64))
        return found

    def of_state(self, state: Sequence[int]) -> Rows:
        """The patterns of one state, a row a place."""
        return np.concatenate(self.of(self.layout.pack([state])))

    def add(self, state: Sequence[int]) -> Rows:
        """Count a state as reachable from now on, because no clause excludes it: its patterns."""
        new = _each_once(self.of_state(state))
        self._extra = np.concatenate([self._extra, new])
        self._hard = np.concatenate([self._hard, new])
        return new

    def _falsified(self, candidate: Candidate) -> Column:
        """At which of the reachable patterns the clause is false."""
        literals = (~self._true[a] if sign else self._true[a] for a, sign in candidate)
        return reduce(np.bitwise_and, literals, self._everywhere)

    def falsified(self, candidate: Candidate, rows: Rows) -> npt.NDArray[np.bool_]:
        """At which of the patterns the clause is false."""
        found = np.ones(len(rows), np.bool_)
        for atom, sign in candidate:
            found &= _has(rows, atom) != sign
        return found

    def excluding(self, state: Sequence[int]) -> Iterator[Candidate]:
        """Clauses that hold in all reachable states and are false in this one: short ones first.

        Long ones are looked for only at the places where few atoms seem to be enough.
        """
        patterns = list(_each_once(self.of_state(state)))
        for size in range(1, MAX_LITERALS + 1):
            if size == _LONG:
                patterns = sorted(patterns, key=lambda pattern: _greedily(self._hard ^ pattern))
                patterns = patterns[:_PLACES]
            for pattern in patterns:
                yield from self._against(pattern, size)

    def _against(self, pattern: Rows, size: int) -> list[Candidate]:
        """Clauses of so many literals that are false at a pattern, and at no reachable one."""
        while True:
            found = _Meeting(self._hard ^ pattern, size).found()
            clauses = []
            missed: list[Rows] = []
            for atoms in found:
                clause = frozenset((a, not _bit(pattern, a)) for a in atoms)
                wrong = self._falsified(clause)
                if wrong.any():
                    missed.append(self.rows[_first(wrong)])
                else:
                    clauses.append(clause)
            if clauses or not missed:
                return clauses
            self._hard = np.concatenate([self._hard, _each_once(np.concatenate(missed))])


def _greedily(rows: Rows) -> tuple[int, int]:
    """How many atoms meet every row if each meets most of what is left; and how bad that is."""
    bits = np.unpackbits(rows.view(np.uint8), axis=1, bitorder="little")
    size = left = 0
    while len(bits) and size < MAX_LITERALS:
        atom = int(bits.sum(axis=0, dtype=np.int32).argmax())
        bits = bits[bits[:, atom] == 0]
        size, left = size + 1, left + len(bits)
    return size + bool(len(bits)), left


class _Meeting:
    """Sets of so many atoms that meet every row: each row has a bit of each set."""

    def __init__(self, rows: Rows, size: int) -> None:
        self._rows = rows
        self._size = size
        self._left = _TRIES
        self._found: dict[frozenset[int], None] = {}

    def found(self) -> list[frozenset[int]]:
        """Some of those sets: most likely the smallest ones, not certainly all."""
        self._grow(frozenset(), self._rows, self._size)
        return list(self._found)

    def _grow(self, chosen: frozenset[int], rows: Rows, left: int) -> None:
        if not len(rows):
            self._found[chosen] = None
            return
        if left == 0 or self._left <= 0:
            return
        self._left -= 1
        if left == 1:
            common = np.bitwise_and.reduce(rows, axis=0)
            for atom in _bits(common):
                self._found[chosen | {atom}] = None
            return
        fewest = rows[int(np.bitwise_count(rows).sum(axis=1).argmin())]
        options = []
        for atom in _bits(fewest):
            missed = rows[~_has(rows, atom)]
            options.append((len(missed), atom, missed))
        options.sort(key=lambda option: option[:2])
        for _, atom, missed in options[:_BRANCHES]:
            self._grow(chosen | {atom}, missed, left - 1)


def altered(model: Model, states: Words, layout: Layout, count: int, seed: int) -> Words:
    """Reachable states of which a few cells are changed at random: most are unreachable."""
    generator = random.Random(seed)
    places = [generator.randrange(states.shape[1]) for _ in range(count)]
    cells = [cell for cell in model.cells if cell.low < cell.high]
    found = []
    for state in layout.unpack(states[:, places]):
        changed = list(state)
        for cell in generator.choices(cells, k=generator.randint(1, 3)):
            changed[cell.position] = generator.randint(cell.low, cell.high)
        found.append(tuple(changed))
    return layout.pack(found)


def _each_once(rows: Rows) -> Rows:
    if not len(rows):
        return rows
    whole = np.ascontiguousarray(rows).view(f"V{rows.shape[1] * 8}").ravel()
    return rows[np.sort(np.unique(whole, return_index=True)[1])]


def _has(rows: Rows, atom: int) -> npt.NDArray[np.bool_]:
    """In which rows the atom is true."""
    bits: npt.NDArray[np.bool_] = (rows[:, atom // 64] >> np.uint64(atom % 64)) & np.uint64(1) == 1
    return bits


def _padded(bits: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    return np.pad(bits, (0, -len(bits) % 64))


def _column(rows: Rows, atom: int) -> Column:
    return np.packbits(_padded(_has(rows, atom))).view(np.uint64)


def _first(column: Column, count: int = 5) -> npt.NDArray[np.intp]:
    """The first few patterns of a column, by number."""
    words = np.flatnonzero(column)[:count]
    bits = np.unpackbits(column[words].view(np.uint8)).reshape(-1, 64)
    places: npt.NDArray[np.intp] = words * 64 + bits.argmax(axis=1)
    return places


def _bit(pattern: Rows, atom: int) -> bool:
    return bool((int(pattern[atom // 64]) >> atom % 64) & 1)


def _bits(pattern: Rows) -> list[int]:
    """The atoms whose bits are set."""
    return np.flatnonzero(np.unpackbits(pattern.view(np.uint8), bitorder="little")).tolist()
