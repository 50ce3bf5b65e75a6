"""What can still happen from a state: found by the values that each cell can still take.

Each cell has a set of values, at first of the one that it has. An action instance can happen if its
guard is true of some values in these sets, and what it may then assign joins them, until no set
grows. Cells are looked at one by one, so more may be found than is so, but never less.

A set is a number with a bit for each value. The sets of many states lie beside each other in the
lanes of vectors, so that the same few instructions, without branches, are for all of them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Collection, Sequence
from functools import reduce

import numpy as np

from checker.core.engines.layout import WORD_BITS, Layout, Words
from checker.core.native.builder import WORD, WORDS, Builder, Kind, Operand
from checker.core.native.object_code import PLAIN, ObjectCode
from model.language.graph import BOOL, Node, Op
from model.language.ground import GroundAction

_VECTOR = 512  # bits
_WIDTHS = 8, 16, 32, 64  # bits of a lane
_NAME = "possible"

_Values = tuple[Operand, int, int]
"""A set of numbers: bit k for k more than the second; the third is how many bits may be set."""


class Possible:
    """Finds of packed states what can still happen, and which conditions can still be true.

    `actions` are all of the model; those that assign to none of `cells` are left out.
    """

    def __init__(
        self,
        layout: Layout,
        actions: Sequence[GroundAction],
        conditions: Sequence[Node],
        cells: Collection[int],
    ) -> None:
        self._words = -(-(len(actions) + len(conditions)) // WORD_BITS)
        for width in _WIDTHS:
            self._lanes = _VECTOR // width
            kind = Kind(width, lanes=self._lanes)
            try:
                text = _Program(layout, kind, sorted(cells)).text(actions, conditions)
                break
            except _TooWideError:
                continue
        self._code = ObjectCode(text, PLAIN)
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


class _TooWideError(Exception):
    """A set has more values than a lane has bits."""


class _Program:
    """Writes the function that finds what is possible for blocks of states, one in each lane."""

    def __init__(self, layout: Layout, kind: Kind, cells: Sequence[int]) -> None:
        self._layout = layout
        self._kind = kind
        self._builder = Builder(_NAME, None, [WORDS, WORD, WORD, WORDS])
        widest = kind.width == _WIDTHS[-1]
        self._alive = frozenset(cells)
        # Of what has more values than the widest lane has bits nothing is known.
        self._cells = [p for p in cells if layout.fields[p].mask < kind.width or not widest]
        if any(layout.fields[p].mask >= kind.width for p in self._cells):
            raise _TooWideError

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
        values = _Sets(builder, self._kind, lambda node: self._set(node, sets))
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

    def _set(self, node: Node, sets: dict[int, Operand]) -> _Values:
        position = node.data[1]
        if position not in sets:
            raise _TooWideError
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


class _Sets:
    """Computes, where its builder stands, what expressions may be, given the sets of cells."""

    def __init__(self, builder: Builder, kind: Kind, cell: Callable[[Node], _Values]) -> None:
        self._builder = builder
        self._kind = kind
        self._cell = cell
        self._none, self._all = kind(0), kind((1 << kind.width) - 1)
        self._may: dict[tuple[Node, bool], Operand] = {}
        self._values: dict[Node, _Values] = {}

    def may(self, node: Node, truth: bool) -> Operand:
        """All bits of the lanes where a condition may be true, or may be false."""
        key = node, truth
        if key not in self._may:
            try:
                self._may[key] = self._find_may(node, truth)
            except _TooWideError:
                self._may[key] = self._anything()
        return self._may[key]

    def within(self, node: Node, low: int) -> Operand:
        """The set of a number or truth from a cell's lowest value on."""
        try:
            if node.sort is BOOL:
                yes = self.both(self.may(node, True), self._kind(2))
                return self.either(yes, self.both(self.may(node, False), self._kind(1)))
            bits, own, _ = self.values(node)
            return self._moved(bits, own - low)
        except _TooWideError:
            return self._anything()

    def both(self, a: Operand, b: Operand) -> Operand:
        """The bits of both; as neither writes what is known, fewer instructions are needed."""
        if a.number == 0 or b.number == 0:
            return self._none
        return b if a.number == self._all.number else self._builder.and_(a, b)

    def either(self, a: Operand, b: Operand) -> Operand:
        """The bits of either."""
        return self._all if self._all.number in (a.number, b.number) else self._builder.or_(a, b)

    def _anything(self) -> Operand:
        if self._kind.width < _WIDTHS[-1]:
            raise _TooWideError
        return self._all

    def _chosen(self, condition: Node, then: Operand, otherwise: Operand) -> Operand:
        """What either value may be, where the condition may choose it."""
        first = self.both(then, self.may(condition, True))
        return self.either(first, self.both(otherwise, self.may(condition, False)))

    # --- conditions --------------------------------------------------------------------------

    def _find_may(self, node: Node, truth: bool) -> Operand:
        args = node.args
        match node.op:
            case Op.CONST:
                return self._all if bool(node.data) is truth else self._none
            case Op.CELL:
                return self._filled(self.both(self._cell(node)[0], self._kind(1 << truth)))
            case Op.NOT:
                return self.may(args[0], not truth)
            case Op.AND | Op.OR:
                join = self.both if (node.op is Op.AND) is truth else self.either
                return reduce(join, [self.may(arg, truth) for arg in args])
            case Op.ITE:
                return self._chosen(args[0], self.may(args[1], truth), self.may(args[2], truth))
            case Op.EQ if args[0].sort is BOOL:
                same, other = self.may(args[1], truth), self.may(args[1], not truth)
                return self._chosen(args[0], same, other)
            case Op.EQ:
                return self._equal(*args) if truth else self._unequal(*args)
            case Op.LT:
                return self._less(*args) if truth else self._at_most(*reversed(args))
        assert node.op is Op.LE
        return self._at_most(*args) if truth else self._less(*reversed(args))

    def _filled(self, bits: Operand) -> Operand:
        if bits.number is not None:
            return self._all if bits.number else self._none
        return self._builder.filled(bits)

    def _equal(self, a: Node, b: Node) -> Operand:
        x, y, *_ = self._aligned(a, b)
        return self._filled(self.both(x, y))

    def _unequal(self, a: Node, b: Node) -> Operand:
        """Unless both are the same value alone."""
        x, y, *_ = self._aligned(a, b)
        builder = self._builder
        several = builder.and_(x, builder.sub(x, self._kind(1)))
        return self._filled(builder.or_(builder.xor(x, y), several))

    def _less(self, a: Node, b: Node) -> Operand:
        """Some of b is above the least of a."""
        x, y, *_ = self._aligned(a, b)
        above = self._builder.xor(x, self._negated(x))
        return self._filled(self._builder.and_(y, above))

    def _at_most(self, a: Node, b: Node) -> Operand:
        x, y, *_ = self._aligned(a, b)
        return self._filled(self._builder.and_(y, self._from_least(x)))

    def _negated(self, bits: Operand) -> Operand:
        return self._builder.sub(self._none, bits)

    def _from_least(self, bits: Operand) -> Operand:
        """All bits from the lowest one on."""
        return self._builder.or_(bits, self._negated(bits))

    def _up_to_greatest(self, bits: Operand) -> Operand:
        """All bits up to the highest one."""
        shift = 1
        while shift < self._kind.width:
            bits = self._builder.or_(bits, self._builder.lshr(bits, self._kind(shift)))
            shift *= 2
        return bits

    # --- numbers -----------------------------------------------------------------------------

    def values(self, node: Node) -> _Values:
        """The set of a number."""
        if node not in self._values:
            self._values[node] = self._find_values(node)
        return self._values[node]

    def _find_values(self, node: Node) -> _Values:
        args = node.args
        match node.op:
            case Op.CONST:
                return self._kind(1), int(node.data), 1
            case Op.CELL:
                return self._cell(node)
            case Op.ITE:
                x, y, low, width = self._aligned(*args[1:])
                return self._chosen(args[0], x, y), low, width
            case Op.ADD | Op.SUB:
                return self._sum(args[0], args[1], node.op is Op.SUB)
            case Op.MIN | Op.MAX:
                reach = self._up_to_greatest if node.op is Op.MIN else self._from_least
                x, y, low, width = self._aligned(*args)
                of_x, of_y = self.both(x, reach(y)), self.both(y, reach(x))
                return self.either(of_x, of_y), low, width
        assert node.op in (Op.BITAND, Op.BITOR)
        members = max(arg.high or 0 for arg in args).bit_length()
        bits = self._bitwise(node.op, self._from_zero(args[0], members), args[1], members)
        return bits, 0, 1 << members

    def _checked(self, width: int) -> int:
        if width > self._kind.width:
            raise _TooWideError
        return width

    def _moved(self, bits: Operand, places: int) -> Operand:
        """Shifted to the left, or to the right."""
        if abs(places) >= self._kind.width:
            return self._none
        if bits.number is not None:
            number = bits.number << places if places > 0 else bits.number >> -places
            return self._kind(number & ((1 << self._kind.width) - 1))
        shift = self._builder.shl if places > 0 else self._builder.lshr
        return shift(bits, self._kind(abs(places)))

    def _aligned(self, a: Node, b: Node) -> tuple[Operand, Operand, int, int]:
        """The sets of two numbers from the same lowest value on; that, and how many bits."""
        (x, low, width), (y, other, more) = self.values(a), self.values(b)
        least = min(low, other)
        bits = self._checked(max(low + width, other + more) - least)
        return self._moved(x, low - least), self._moved(y, other - least), least, bits

    def _sum(self, a: Node, b: Node, negative: bool) -> _Values:
        """The one added to, or less, each value that the other may have."""
        (x, low, width), (y, other, more) = self.values(a), self.values(b)
        if more > width and not negative:
            (x, low, width), (y, other, more) = (y, other, more), (x, low, width)
        bits, result = self._checked(width + more - 1), self._none
        for k in range(more):
            has = self._all if more == 1 else self._filled(self.both(y, self._kind(1 << k)))
            moved = self._moved(x, more - 1 - k if negative else k)
            result = self.either(result, self.both(moved, has))
        return result, low - (other + more - 1) if negative else low + other, bits

    def _from_zero(self, node: Node, members: int) -> Operand:
        bits, low, _ = self.values(node)
        self._checked(1 << members)
        return self._moved(bits, low)

    def _bitwise(self, op: Op, bits: Operand, other: Node, members: int) -> Operand:
        """What the values of a set may be, bit by bit, together with another number."""
        if other.op is Op.ITE:
            then, otherwise = (self._bitwise(op, bits, arg, members) for arg in other.args[1:])
            return self._chosen(other.args[0], then, otherwise)
        if other.op is not Op.CONST:
            return self._by_members(op, bits, self._from_zero(other, members), members)
        builder = self._builder
        for member in range(members):
            inside, outside = self._inside(member)
            if op is Op.BITAND and not other.data >> member & 1:
                down = builder.lshr(builder.and_(bits, inside), self._kind(1 << member))
                bits = builder.or_(builder.and_(bits, outside), down)
            if op is Op.BITOR and other.data >> member & 1:
                up = builder.shl(builder.and_(bits, outside), self._kind(1 << member))
                bits = builder.or_(builder.and_(bits, inside), up)
        return bits

    def _by_members(self, op: Op, x: Operand, y: Operand, members: int) -> Operand:
        """All values that each member may be in or not, whatever the others are."""
        result = self._all
        for member in range(members):
            has, lacks = (
                [self._filled(self.both(bits, mask)) for bits in (x, y)]
                for mask in self._inside(member)
            )
            joins = (self.both, self.either)[:: 1 if op is Op.BITAND else -1]
            inside, outside = self._inside(member)
            first, second = self.both(inside, joins[0](*has)), self.both(outside, joins[1](*lacks))
            result = self.both(result, self.either(first, second))
        return result

    def _inside(self, member: int) -> tuple[Operand, Operand]:
        """The bits of the sets of members that have a member, and of those that lack it."""
        inside = sum(1 << k for k in range(self._kind.width) if k >> member & 1)
        return self._kind(inside), self._kind((1 << self._kind.width) - 1 - inside)
