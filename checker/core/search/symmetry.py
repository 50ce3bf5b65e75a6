"""Symmetry: states that differ only in which member is which are explored once.

The members of a family are interchangeable when no action and no property names one of them. Then
renaming them maps runs to runs, so it is enough to keep one state of each class: the least of its
renamings, compared as packed words. Verdicts and the depths of violations are those of the full
search; the deepest state may be less deep where the initial state tells members apart. Steps are
kept as they apply to the states that stand for their classes; `Symmetry.concrete` renames them back
into a run from the initial state, which every trace must be.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from checker.core.engines.background import Background
from checker.core.engines.compiled_renaming import Lookup, Move, RenamedWord, compiled_renaming
from checker.core.engines.interchangeable import members_named
from checker.core.engines.layout import Layout, Words
from checker.core.engines.machine_code import SwitchOver
from checker.core.engines.reference import ReferenceEngine, State
from checker.core.native.kernel import kernel
from model.language.declare.domains import Domain, Reference, Subset
from model.language.errors import DisagreementError, UsageError
from model.language.naming import member_name
from model.language.protocol import Cell, Instance, Model
from properties import Property

Permutation = tuple[int, ...]
"""The new number of each member."""

_MOST_MEMBERS = 5  # 120 renamings of every state
_A_RENAMING = 0.2  # compiling one takes so much of what compiling the expansion takes
_COMPARED = 256  # states


@dataclass(frozen=True)
class _Tables:
    """What renaming does to packed words, for every permutation but the first, the identity.

    `moves[m]` holds the first two numbers of a `Move`, `masks[m]` its mask; `lookups[r]` the first
    five of a `Lookup`, `values[r]` its values. Each lies between two entries of `first_*`, by
    permutation and destination word.
    """

    moves: npt.NDArray[np.int64]
    masks: npt.NDArray[np.uint64]
    first_move: npt.NDArray[np.int64]
    lookups: npt.NDArray[np.int64]
    values: npt.NDArray[np.uint64]
    first_lookup: npt.NDArray[np.int64]


class Symmetry:
    """The renamings of a model's one family of interchangeable members.

    With `fixing` only those that leave this state as it is. Raises `UsageError` if there is no such
    family, if it has too many members, or if an action, a blank value or one of `properties` names
    a member.
    """

    def __init__(
        self,
        model: Model,
        properties: Iterable[Property],
        layout: Layout,
        background: Background | None = None,
        patience: float | None = None,
        fixing: State | None = None,
    ) -> None:
        self._model = model
        self._layout = layout
        self.family = symmetric_family(model)
        _refuse_named_members(model, self.family, properties)
        size = model.extents[self.family]
        if size > _MOST_MEMBERS:
            raise UsageError(
                f"--symmetry: {size} {self.family} have too many renamings: at most "
                f"{_MOST_MEMBERS} are possible"
            )
        self.permutations = [
            permutation
            for permutation in itertools.permutations(range(size))
            if fixing is None or self.renamed(fixing, permutation) == fixing
        ]
        self._renamings = [
            [
                RenamedWord(self._moves(permutation, word), self._lookups(permutation, word))
                for word in range(layout.words)
            ]
            for permutation in self.permutations[1:]
        ]
        self._tables = self._compile()
        self.canonical = SwitchOver(
            self._least,
            lambda: compiled_renaming(self._renamings, layout.words),
            self._require_same,
            background,
            None if patience is None else patience * len(self._renamings) * _A_RENAMING,
        )
        """For each packed state, the least of its renamings."""

    def _require_same(self, canonical: Callable[[Words], Words], called: tuple[Any, ...]) -> None:
        some = called[0][:, :_COMPARED]
        if not np.array_equal(canonical(some), self._least(some)):
            raise DisagreementError("machine code takes another renaming for the least")

    def _least(self, words: Words, /) -> Words:
        words = np.ascontiguousarray(words)
        result = words.copy()
        t = self._tables
        _least(
            words, result, np.empty(len(words), np.uint64), len(self.permutations) - 1,
            t.moves, t.masks, t.first_move, t.lookups, t.values, t.first_lookup,
        )  # fmt: skip
        return result

    def class_sizes(self, words: Words) -> npt.NDArray[np.int64]:
        """Of how many states is the class of each packed state, shape (n,)."""
        fixed = np.ones(words.shape[1], np.int64)  # by so many renamings, the identity first
        for renaming in self._renamings:
            same = np.ones(words.shape[1], np.bool_)
            for word, before in zip(renaming, words, strict=True):
                same &= word.of(words) == before
            fixed += same
        return len(self.permutations) // fixed

    def renamed(self, state: State, permutation: Permutation) -> State:
        """The state with its members renamed."""
        after = list(state)
        for cell, place in self._moved(permutation):
            after[place] = self._value(cell, state[cell.position], permutation)
        return tuple(after)

    def renamed_instances(self, permutation: Permutation) -> dict[int, int]:
        """For each action instance its number with its members renamed, by its number."""
        numbers = {(i.action.name, i.arguments): i.number for i in self._model.instances}
        return {
            step.number: numbers[step.action.name, tuple(self._arguments(step, permutation))]
            for step in self._model.instances
        }

    def _moved(self, permutation: Permutation) -> Iterator[tuple[Cell, int]]:
        """Every cell, with the position of the one that it becomes."""
        for cell in self._model.cells:
            yield cell, self._model.positions[cell.variable.name, self._index(cell, permutation)]

    def concrete(self, start: State, steps: Iterable[Instance]) -> tuple[Instance, ...]:
        """The run from `start` that the steps stand for, each given for its state's class."""
        engine = ReferenceEngine(self._model)
        by_arguments = {(i.action.name, i.arguments): i for i in self._model.instances}
        run, state = [], start
        for step in steps:
            back = _inverse(self._to_canonical(state))
            arguments = tuple(self._arguments(step, back))
            run.append(by_arguments[step.action.name, arguments])
            after = engine.step(state, run[-1])
            assert after is not None, "a renamed step is enabled where the step was"
            state = after
        return tuple(run)

    def _to_canonical(self, state: State) -> Permutation:
        """The first renaming that makes the state the least of its class."""
        packed = self._least(self._layout.pack([state]))
        wanted = self._layout.unpack(packed)[0]
        return next(p for p in self.permutations if self.renamed(state, p) == wanted)

    def _arguments(self, step: Instance, permutation: Permutation) -> Iterator[int]:
        for parameter, argument in zip(step.parameters, step.arguments, strict=True):
            ours = self._is_reference(parameter.domain)
            yield permutation[argument] if ours and argument >= 0 else argument

    def _index(self, cell: Cell, permutation: Permutation) -> tuple[int, ...]:
        return tuple(
            permutation[k] if index_set.name == self.family else k
            for k, index_set in zip(cell.index, cell.variable.index, strict=True)
        )

    def _value(self, cell: Cell, value: int, permutation: Permutation) -> int:
        match cell.variable.domain:
            case Reference(family) if family == self.family and value >= 0:
                return permutation[value]
            case Subset(family) if family == self.family:
                return sum(1 << new for old, new in enumerate(permutation) if value >> old & 1)
        return value

    # --- tables for packed words ---------------------------------------------------------------

    def _compile(self) -> _Tables:
        moves: list[Move] = []
        first_move = [0]
        lookups: list[Lookup] = []
        first_lookup = [0]
        for word in itertools.chain.from_iterable(self._renamings):
            moves += word.moves
            lookups += word.lookups
            first_move.append(len(moves))
            first_lookup.append(len(lookups))
        return _Tables(
            np.array([move[:2] for move in moves], np.int64).reshape(-1, 2),
            np.array([mask for *_, mask in moves], np.uint64),
            np.array(first_move, np.int64),
            np.array([lookup[:5] for lookup in lookups], np.int64).reshape(-1, 5),
            np.array([values for *_, values in lookups], np.uint64),
            np.array(first_lookup, np.int64),
        )

    def _moves(self, permutation: Permutation, word: int) -> list[Move]:
        """The bits that go into `word`: whole groups move as one."""
        groups: dict[tuple[int, int], int] = {}
        for cell, place in self._moved(permutation):
            here, there = self._layout.fields[cell.position], self._layout.fields[place]
            if there.word != word or self._is_reference(cell.variable.domain):
                continue
            for bit in range(here.bits):
                domain = cell.variable.domain
                ours = isinstance(domain, Subset) and domain.family == self.family
                target = permutation[bit] if ours else bit
                key = (here.word, there.shift + target - here.shift - bit)
                groups[key] = groups.get(key, 0) | 1 << (here.shift + bit)
        return [(source, shift, mask) for (source, shift), mask in groups.items()]

    def _is_reference(self, domain: Domain) -> bool:
        return isinstance(domain, Reference) and domain.family == self.family

    def _lookups(self, permutation: Permutation, word: int) -> list[Lookup]:
        lookups = []
        for cell, place in self._moved(permutation):
            here, there = self._layout.fields[cell.position], self._layout.fields[place]
            if there.word != word or not here.bits:
                continue
            if not self._is_reference(cell.variable.domain):
                continue
            values = sum(
                (self._value(cell, raw + cell.low, permutation) - cell.low) << (raw * here.bits)
                for raw in range(cell.high - cell.low + 1)
            )
            lookups.append((here.word, here.shift, there.shift, here.mask, here.bits, values))
        return lookups


def symmetry_of(model: Model, properties: Iterable[Property]) -> Symmetry | None:
    """The renamings of the model's members, if nothing tells them apart."""
    try:
        return Symmetry(model, properties, Layout(model))
    except UsageError:
        return None


def _inverse(permutation: Permutation) -> Permutation:
    inverse = [0] * len(permutation)
    for old, new in enumerate(permutation):
        inverse[new] = old
    return tuple(inverse)


def symmetric_family(model: Model) -> str:
    symmetric = [name for name in model.schema.families if model.schema.index_sets[name].symmetric]
    if len(symmetric) != 1:
        raise UsageError(
            f"--symmetry: {model.protocol.name} has {len(symmetric)} families of members: it "
            "takes one"
        )
    return symmetric[0]


def _refuse_named_members(model: Model, family: str, properties: Iterable[Property]) -> None:
    """What names a member tells it apart from the others."""
    for named in members_named(model, properties):
        if named.family == family:
            raise UsageError(
                f"--symmetry: with these settings {named.what} names "
                f"{member_name(model, family, named.member)}, so the {family} are not "
                "interchangeable"
            )


@kernel
def _least(
    words: Words,
    result: Words,
    renamed: Words,
    permutations: int,
    moves: npt.NDArray[np.int64],
    masks: npt.NDArray[np.uint64],
    first_move: npt.NDArray[np.int64],
    lookups: npt.NDArray[np.int64],
    values: npt.NDArray[np.uint64],
    first_lookup: npt.NDArray[np.int64],
) -> None:
    """Put the least renaming of each column of `words` into `result`, which starts as a copy.

    `renamed` has room for the words of one state.
    """
    count, states = words.shape
    for s in range(states):
        for p in range(permutations):
            less = False
            for w in range(count):
                place = p * count + w
                value = np.uint64(0)
                for m in range(first_move[place], first_move[place + 1]):
                    bits = words[moves[m, 0], s] & masks[m]
                    shift = moves[m, 1]
                    if shift >= 0:
                        value |= bits << np.uint64(shift)
                    else:
                        value |= bits >> np.uint64(-shift)
                for r in range(first_lookup[place], first_lookup[place + 1]):
                    raw = (words[lookups[r, 0], s] >> np.uint64(lookups[r, 1])) & np.uint64(
                        lookups[r, 3]
                    )
                    new = (values[r] >> (raw * np.uint64(lookups[r, 4]))) & np.uint64(lookups[r, 3])
                    value |= new << np.uint64(lookups[r, 2])
                if not less:
                    if value > result[w, s]:
                        break
                    less = value < result[w, s]
                renamed[w] = value
            if less:
                for w in range(count):
                    result[w, s] = renamed[w]
