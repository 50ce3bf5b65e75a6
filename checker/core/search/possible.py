"""What can still happen from a state: found by the values that each cell can still take.

Each cell has a set of values, at first of the one that it has. An action instance can happen if its
guard is true of some values in these sets, and what it may then assign joins them, until no set
grows. Cells are looked at one by one, so more may be found than is so, but never less.

The sets of many states lie beside each other in the lanes of vectors (`value_sets.py`), so that the
same instructions, without branches, are for all of them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Collection, Sequence
from functools import partial

import numpy as np

from checker.core.engines.layout import WORD_BITS, Layout, Words
from checker.core.native.builder import WORD, WORDS, Builder, Kind, Operand
from checker.core.native.object_code import PLAIN, ObjectCode
from checker.core.search.value_sets import WIDTHS, TooWideError, Values, ValueSets
from model.language.graph import Node
from model.language.ground import GroundAction

_VECTOR = 512  # bits
_NAME = "possible"


class Possible:
    """Finds of packed states what can still happen, and which conditions can still be true.

    `actions` are all of the model; those that assign to none of `cells` are left out. `decided_by`
    is a digest of all these, by which code that was kept is found; without it, it is written.
    """

    def __init__(
        self,
        layout: Layout,
        actions: Sequence[GroundAction],
        conditions: Sequence[Node],
        cells: Collection[int],
        decided_by: str = "",
    ) -> None:
        self._words = -(-(len(actions) + len(conditions)) // WORD_BITS)
        for width in WIDTHS:
            self._lanes = _VECTOR // width
            kind = Kind(width, lanes=self._lanes)
            key = decided_by and f"{_NAME} {width} {decided_by}"
            try:
                write = partial(_text, layout, kind, cells, actions, conditions)
                self._code = ObjectCode(write, PLAIN, key)
                break
            except TooWideError:
                continue
        pointer, long = ctypes.c_void_p, ctypes.c_int64
        self._function = self._code.function(_NAME, None, pointer, long, long, pointer)

    def __call__(self, words: Words) -> Words:
        """A bit for each action and then each condition: shape (words of bits, states)."""
        states = words.shape[1]
        blocks = -(-states // self._lanes)
        padded = np.zeros((len(words), blocks * self._lanes), np.uint64)
        padded[:, :states] = words
        found = np.empty((self._words, padded.shape[1]), np.uint64)
        self._function(padded.ctypes.data, padded.shape[1], blocks, found.ctypes.data)
        return found[:, :states]


def _text(
    layout: Layout,
    kind: Kind,
    cells: Collection[int],
    actions: Sequence[GroundAction],
    conditions: Sequence[Node],
) -> str:
    """The assembly; `TooWideError` if lanes are too narrow."""
    return _Program(layout, kind, sorted(cells)).text(actions, conditions)


class _Program:
    """Writes the function that finds what is possible for blocks of states, one in each lane."""

    def __init__(self, layout: Layout, kind: Kind, cells: Sequence[int]) -> None:
        self._layout = layout
        self._kind = kind
        self._builder = Builder(_NAME, None, [WORDS, WORD, WORD, WORDS])
        widest = kind.width == WIDTHS[-1]
        self._alive = frozenset(cells)
        # Of what has more values than the widest lane has bits nothing is known.
        self._cells = [p for p in cells if layout.fields[p].mask < kind.width or not widest]
        if any(layout.fields[p].mask >= kind.width for p in self._cells):
            raise TooWideError

    def text(self, actions: Sequence[GroundAction], conditions: Sequence[Node]) -> str:
        """The assembly."""
        builder, kind = self._builder, self._kind
        source, stride, blocks, out = builder.arguments
        rows = len(actions) + len(conditions)
        places = builder.variable(kind, len(self._cells) + 1)
        found = builder.variable(kind, rows + 1)
        block = builder.variable(WORD)
        head, first, grow, done, end = (builder.label() for _ in range(5))
        builder.store(WORD(0), block)
        builder.branch(head)
        builder.begin(head)
        at = builder.load(block)
        row = builder.mul(at, WORD(kind.lanes))
        builder.cbranch(builder.less(at, blocks), first, end)
        builder.begin(first)
        self._begin_with_values(source, stride, row, places)
        for number in range(rows):
            builder.store(kind(0), builder.element(found, WORD(number)))
        builder.branch(grow)
        builder.begin(grow)
        changed = self._grow(places, found, actions, conditions)
        builder.cbranch(builder.any_lane(changed), grow, done)
        builder.begin(done)
        self._pack(found, rows, out, stride, row)
        builder.store(builder.add(at, WORD(1)), block)
        builder.branch(head)
        builder.begin(end)
        builder.ret()
        return builder.text

    def _begin_with_values(
        self, source: Operand, stride: Operand, row: Operand, places: Operand
    ) -> None:
        """The sets of the values that cells have."""
        builder, wide = self._builder, Kind(WORD.width, lanes=self._kind.lanes)
        loaded: dict[int, Operand] = {}
        for number, position in enumerate(self._cells):
            field = self._layout.fields[position]
            if field.word not in loaded:
                place = builder.add(builder.mul(stride, WORD(field.word)), row)
                loaded[field.word] = builder.load_lanes(builder.element(source, place), wide)
            raw = builder.lshr(loaded[field.word], wide(field.shift))
            value = builder.trunc(builder.and_(raw, wide(field.mask)), self._kind)
            one = builder.shl(self._kind(1), value)
            builder.store(one, builder.element(places, WORD(number)))

    def _grow(
        self,
        places: Operand,
        found: Operand,
        actions: Sequence[GroundAction],
        conditions: Sequence[Node],
    ) -> Operand:
        """Add to the sets what may be assigned next; the bits that are new."""
        builder, lows = self._builder, self._layout.fields
        sets = {
            position: builder.load(builder.element(places, WORD(number)))
            for number, position in enumerate(self._cells)
        }
        values = ValueSets(builder, self._kind, lambda node: self._set(node, sets))
        grown = dict(sets)
        for number, action in enumerate(actions):
            if self._alive & action.assignments.keys():
                happens = values.may(action.guard, True)
                builder.store(happens, builder.element(found, WORD(number)))
                for position in sorted(sets.keys() & action.assignments.keys()):
                    added = values.within(action.assignments[position], lows[position].low)
                    grown[position] = values.either(grown[position], values.both(added, happens))
        for number, condition in enumerate(conditions, len(actions)):
            happens = values.may(condition, True)
            builder.store(happens, builder.element(found, WORD(number)))
        changed = self._kind(0)
        for number, position in enumerate(self._cells):
            mask = self._kind((1 << (self._high(position) + 1)) - 1)
            whole = builder.and_(grown[position], mask)
            builder.store(whole, builder.element(places, WORD(number)))
            changed = builder.or_(changed, builder.xor(whole, sets[position]))
        return changed

    def _set(self, node: Node, sets: dict[int, Operand]) -> Values:
        position = node.data[1]
        if position not in sets:
            raise TooWideError
        return sets[position], self._layout.fields[position].low, self._high(position) + 1

    def _high(self, position: int) -> int:
        """The last bit of a cell's set."""
        cell = self._layout.model.cells[position]
        return cell.high - cell.low

    def _pack(self, found: Operand, rows: int, out: Operand, stride: Operand, row: Operand) -> None:
        """Write what was found as bits of words."""
        builder, wide = self._builder, Kind(WORD.width, lanes=self._kind.lanes)
        for word in range(-(-rows // WORD_BITS)):
            packed = wide(0)
            for bit in range(min(WORD_BITS, rows - word * WORD_BITS)):
                lanes = builder.load(builder.element(found, WORD(word * WORD_BITS + bit)))
                one = builder.zext(builder.and_(lanes, self._kind(1)), wide)
                packed = builder.or_(packed, builder.shl(one, wide(bit)))
            place = builder.add(builder.mul(stride, WORD(word)), row)
            builder.store(packed, builder.element(out, place))
