"""What expressions may be, where cells have sets of the values that they can take.

A set is a number with a bit for each value, in the lanes of vectors: of one state in each lane.
Cells are taken to be independent of each other, so an expression may have a value in its set that
it never has, but has no other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from checker.core.native.builder import Builder, Kind, Operand
from model.language.graph import BOOL, Node, Op

WIDTHS = 8, 16, 32, 64
"""How many bits a lane may have."""

Values = tuple[Operand, int, int]
"""A set of numbers: bit k for k more than the second; the third is how many bits may be set."""


class TooWideError(Exception):
    """A set has more values than a lane has bits."""


class ValueSets:
    """Computes, where its builder stands, what expressions may be, given the sets of cells."""

    def __init__(self, builder: Builder, kind: Kind, cell: Callable[[Node], Values]) -> None:
        self._builder = builder
        self._kind = kind
        self._cell = cell
        self._none, self._all = kind(0), kind((1 << kind.width) - 1)
        self._may: dict[tuple[Node, bool], Operand] = {}
        self._values: dict[Node, Values] = {}

    def may(self, node: Node, truth: bool) -> Operand:
        """All bits of the lanes where a condition may be true, or may be false."""
        key = node, truth
        if key not in self._may:
            try:
                self._may[key] = self._find_may(node, truth)
            except TooWideError:
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
        except TooWideError:
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
        if self._kind.width < WIDTHS[-1]:
            raise TooWideError
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

    def values(self, node: Node) -> Values:
        """The set of a number."""
        if node not in self._values:
            self._values[node] = self._find_values(node)
        return self._values[node]

    def _find_values(self, node: Node) -> Values:
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
            raise TooWideError
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

    def _sum(self, a: Node, b: Node, negative: bool) -> Values:
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
