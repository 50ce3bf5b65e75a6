"""What still matters in a state for goals, and so which states are as good as each other.

A cell is alive if a goal reads it that can still be reached, or if an instance does that can still
happen and assigns to a cell that is alive: in its guard, or for what it assigns there. Such an
instance is relevant. A way to a goal stays one without all others: they assign to no cell that is
alive, and nothing else is read. It is one as well from each state with the same cells alive, and
the same in them. So one of these states is enough, and goals stay at their depths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from checker.core.engines.layout import WORD_BITS, Words
from checker.core.engines.vectorised import Booleans, VectorisedEngine
from checker.core.native.kernel import kernel
from checker.core.search.goals import Goal
from checker.core.search.possible import Possible
from model.language import graph
from model.language.graph import Node, Op
from model.language.ground import GroundAction

_ALL = 0xFFFFFFFFFFFFFFFF
_SLOT_BITS = 10  # of the number of a slot for an answer


class Outlook(NamedTuple):
    """What matters in some states.

    Of `relevant` a state has a bit for each action instance, and then for each goal that can still
    be reached: shape (words of bits, states). `kept` are words by which states are told apart.
    """

    relevant: Words
    kept: Words


class Relevance:
    """Says what matters in packed states. `words`: how many they are told apart by.

    `decided_by` is a digest of the actions, the layout and the goals, or empty.
    """

    def __init__(
        self, engine: VectorisedEngine, goals: Sequence[Goal], decided_by: str = ""
    ) -> None:
        actions, conditions = engine.actions, [goal.condition for goal in goals]
        own_cells = cache(cells_of)
        cells = _ever_alive(actions, conditions, own_cells)
        self._possible = Possible(engine.layout, actions, conditions, cells, decided_by)
        places = {position: place for place, position in enumerate(sorted(cells))}

        def read(*nodes: Node) -> list[int]:
            return [places[p] for node in nodes for p in own_cells(node) & cells]

        writers = np.zeros((len(cells), len(actions) + len(goals)), np.bool_)
        reads = np.zeros((len(cells), writers.shape[1], len(cells)), np.bool_)
        for number, action in enumerate(actions):
            for position, node in action.assignments.items():
                if position in cells:
                    writers[places[position], number] = True
                    reads[places[position], number, read(action.guard, node)] = True
        of_goals = np.zeros((writers.shape[1], len(cells)), np.bool_)
        for number, condition in enumerate(conditions, len(actions)):
            of_goals[number, read(condition)] = True
        self._writers, self._of_goals = bits(writers), bits(of_goals)
        self._reads = bits(reads.reshape(reads.shape[0] * reads.shape[1], len(cells)))
        self._goals = bits(np.arange(writers.shape[1])[np.newaxis] >= len(actions))[0]
        layout = engine.layout
        self._masks = np.zeros((len(cells), layout.words), np.uint64)
        for position, place in places.items():
            field = layout.fields[position]
            self._masks[place, field.word] = field.mask << field.shift
        self.words = layout.words + self._of_goals.shape[1]

    def __call__(self, words: Words) -> Outlook:
        """What matters in the states."""
        possible = self._possible(words)
        relevant = np.empty(possible.shape, np.uint64)
        kept = np.empty((self.words, words.shape[1]), np.uint64)
        slots, wide, alive = 1 << _SLOT_BITS, len(possible), self._of_goals.shape[1]
        _look(
            words, possible, self._writers, self._reads, self._of_goals, self._goals, self._masks,
            relevant, kept, np.zeros((slots, wide + 1), np.uint64),
            np.empty((slots, wide), np.uint64), np.empty((slots, alive), np.uint64),
            np.empty((slots, len(words)), np.uint64), np.empty(alive, np.uint64),
        )  # fmt: skip
        return Outlook(relevant, kept)


def cells_of(*nodes: Node) -> frozenset[int]:
    """The positions of the cells that expressions read."""
    return frozenset(node.data[1] for node in graph.below(*nodes) if node.op is Op.CELL)


def bits(table: Booleans) -> Words:
    """A table with its columns as bits, 64 to a word."""
    columns = table.shape[1]
    words = max(1, -(-columns // WORD_BITS))
    padded = np.pad(table, ((0, 0), (0, words * WORD_BITS - columns)))
    packed = np.packbits(padded, axis=1, bitorder="little")
    return np.ascontiguousarray(packed).view("<u8").astype(np.uint64)


@kernel
def count(word: np.uint64) -> int:
    """How many bits are set."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel
def first(word: np.uint64) -> int:
    """The place of the lowest bit that is set."""
    return count((word & (np.uint64(0) - word)) - np.uint64(1))


def _ever_alive(
    actions: Iterable[GroundAction],
    goals: Iterable[Node],
    own_cells: Callable[[Node], frozenset[int]],
) -> frozenset[int]:
    """The cells that may matter in some state, and change."""
    assigned = frozenset(position for action in actions for position in action.assignments)
    alive, before = cells_of(*goals) & assigned, frozenset[int]()
    while alive != before:
        before = alive
        for action in actions:
            read = [node for place, node in action.assignments.items() if place in alive]
            if read:
                alive |= own_cells(action.guard).union(*map(own_cells, read)) & assigned
    return alive


@kernel
def _look(
    words: Words, possible: Words, writers: Words, reads: Words, of_goals: Words, goals: Words,
    masks: Words, relevant: Words, kept: Words, asked: Words, answers: Words, alive: Words,
    mask: Words, waiting: Words,
) -> None:  # fmt: skip
    """Fill `relevant` and `kept`. The last five are room: what is alive depends on nothing but what
    is possible, which is the same for many states, so answers are kept in slots.
    """
    own, wide = words.shape[0], possible.shape[0]
    for i in range(words.shape[1]):
        mixed = np.uint64(1)
        for w in range(wide):
            mixed = (mixed ^ possible[w, i]) * np.uint64(0x9E3779B97F4A7C15)
        slot = int(mixed >> np.uint64(64 - _SLOT_BITS))
        known = asked[slot, wide] != np.uint64(0)
        for w in range(wide):
            known = known and asked[slot, w] == possible[w, i]
        if not known:
            asked[slot, wide] = np.uint64(1)
            for w in range(wide):
                asked[slot, w] = possible[w, i]
            _find_relevant(
                slot, asked, writers, reads, of_goals, goals, masks, answers, alive, mask, waiting
            )
        for w in range(wide):
            relevant[w, i] = answers[slot, w]
        for w in range(own):
            kept[w, i] = words[w, i] & mask[slot, w]
        for c in range(alive.shape[1]):
            kept[own + c, i] = alive[slot, c]


@kernel
def _find_relevant(
    slot: int, possible: Words, writers: Words, reads: Words, of_goals: Words, goals: Words,
    masks: Words, relevant: Words, alive: Words, mask: Words, waiting: Words,
) -> None:  # fmt: skip
    """Fill the slot's `relevant`, `alive` and `mask` from what is possible.

    `writers` has a row for each cell, `reads` one for each cell and who may assign to it.
    """
    for c in range(alive.shape[1]):
        alive[slot, c] = np.uint64(0)
    for w in range(mask.shape[1]):
        mask[slot, w] = np.uint64(0)
    for w in range(relevant.shape[1]):
        relevant[slot, w] = possible[slot, w] & goals[w]
        rest = relevant[slot, w]
        while rest != np.uint64(0):
            goal = w * 64 + first(rest)
            rest &= rest - np.uint64(1)
            for c in range(alive.shape[1]):
                alive[slot, c] |= of_goals[goal, c]
    for c in range(alive.shape[1]):
        waiting[c] = alive[slot, c]
    more = True
    while more:
        more = False
        for c in range(alive.shape[1]):
            while waiting[c] != np.uint64(0):
                more = True
                cell = c * 64 + first(waiting[c])
                waiting[c] &= waiting[c] - np.uint64(1)
                for w in range(mask.shape[1]):
                    mask[slot, w] |= masks[cell, w]
                for w in range(relevant.shape[1]):
                    rest = writers[cell, w] & possible[slot, w]
                    relevant[slot, w] |= rest
                    while rest != np.uint64(0):
                        row = cell * of_goals.shape[0] + w * 64 + first(rest)
                        rest &= rest - np.uint64(1)
                        for k in range(alive.shape[1]):
                            new = reads[row, k] & (alive[slot, k] ^ np.uint64(_ALL))
                            alive[slot, k] |= new
                            waiting[k] |= new
