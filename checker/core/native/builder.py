"""Writes one LLVM function, instruction after instruction, as text.

It says what it is told, but for what needs no instruction: adding nothing, shifting by nothing, all
or none of a number's bits. Half of what packed states need is of that kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager


class Kind:
    """A type: whole numbers of some width or, with `element`, pointers to such numbers.

    With `lanes` above 1, vectors of so many numbers, on which each operation works lane by lane.
    """

    __slots__ = ("element", "lanes", "text", "width")

    def __init__(self, width: int, element: Kind | None = None, lanes: int = 1) -> None:
        self.width = width
        self.element = element
        self.lanes = lanes
        number = f"i{width}" if lanes == 1 else f"<{lanes} x i{width}>"
        self.text = "ptr" if element is not None else number

    def __call__(self, number: int) -> Operand:
        """A constant of this type, the same in each lane."""
        if self.lanes == 1:
            return Operand(self, str(number), number)
        signed = number - (number >> (self.width - 1) << self.width)
        return Operand(self, f"splat (i{self.width} {signed})", number)


class Operand:
    """A value by its name in LLVM; `number` is what a constant is."""

    __slots__ = ("kind", "name", "number")

    def __init__(self, kind: Kind, name: str, number: int | None = None) -> None:
        self.kind = kind
        self.name = name
        self.number = number

    def __str__(self) -> str:
        return f"{self.kind.text} {self.name}"


BIT, SHORT, NUMBER, WORD = Kind(1), Kind(16), Kind(32), Kind(64)
SHORTS, NUMBERS, WORDS = (Kind(64, element) for element in (SHORT, NUMBER, WORD))

_SIGNED = {"==": "eq", "<": "slt", "<=": "sle"}
_UNSIGNED = {"==": "eq", "<": "ult"}


class Builder:
    """A function of `parameters` that returns a `result`, or nothing; `text` is its assembly.

    Where it writes through one of its parameters, it neither reads nor writes through another.
    """

    def __init__(self, name: str, result: Kind | None, parameters: Sequence[Kind]) -> None:
        self.arguments = [Operand(kind, f"%a{k}") for k, kind in enumerate(parameters)]
        said = ", ".join(
            f"ptr noalias {each.name}" if each.kind.element else str(each)
            for each in self.arguments
        )
        self._lines = [f"define {result.text if result else 'void'} @{name}({said}) {{", "entry:"]
        self._count = 0
        self.block = "entry"

    @property
    def text(self) -> str:
        """The function as it is so far, closed."""
        return "\n".join([*self._lines, "}"])

    def _new(self, kind: Kind, text: str) -> Operand:
        self._count += 1
        name = f"%v{self._count}"
        self._lines.append(f"{name} = {text}")
        return Operand(kind, name)

    # --- blocks ------------------------------------------------------------------------------

    def label(self) -> str:
        """A label for a block that begins later."""
        self._count += 1
        return f"b{self._count}"

    def begin(self, label: str) -> None:
        """From here on in the block of that label; the last one has ended."""
        self._lines.append(f"{label}:")
        self.block = label

    def branch(self, label: str) -> None:
        """Go on at a label."""
        self._lines.append(f"br label %{label}")

    def cbranch(self, condition: Operand, then: str, otherwise: str) -> None:
        """Go on at one of two labels."""
        self._lines.append(f"br {condition}, label %{then}, label %{otherwise}")

    @contextmanager
    def unlikely(self, condition: Operand) -> Iterator[None]:
        """What is done only where the condition holds."""
        then, after = self.label(), self.label()
        self.cbranch(condition, then, after)
        self.begin(then)
        yield
        self.branch(after)
        self.begin(after)

    @contextmanager
    def counting(self, count: Operand) -> Iterator[Operand]:
        """A loop over the numbers below `count`, whose body has no branches; yields the number."""
        before, head, body, end = self.block, self.label(), self.label(), self.label()
        row, following = f"%row.{head}", f"%next.{head}"
        self.branch(head)
        self.begin(head)
        self._lines.append(f"{row} = phi i64 [0, %{before}], [{following}, %{body}]")
        at = Operand(WORD, row)
        self.cbranch(self.less(at, count), body, end)
        self.begin(body)
        yield at
        self._lines.append(f"{following} = add i64 {row}, 1")
        self.branch(head)
        self.begin(end)

    def ret(self, value: Operand | None = None) -> None:
        """Return."""
        self._lines.append("ret void" if value is None else f"ret {value}")

    # --- memory ------------------------------------------------------------------------------

    def variable(self, kind: Kind, count: int = 1) -> Operand:
        """A place for so many values, to load from and to store to."""
        return self._new(Kind(64, kind), f"alloca {kind.text}, i64 {count}")

    def load(self, pointer: Operand) -> Operand:
        """What a pointer points to."""
        assert pointer.kind.element is not None
        return self._new(pointer.kind.element, f"load {pointer.kind.element.text}, {pointer}")

    def load_lanes(self, pointer: Operand, kind: Kind) -> Operand:
        """The numbers from where a pointer to one points to, as many as `kind` has lanes."""
        return self._new(kind, f"load {kind.text}, {pointer}, align {kind.width // 8}")

    def store(self, value: Operand, pointer: Operand) -> None:
        """Write to where a pointer points to; of several lanes, from there on."""
        align = f", align {value.kind.width // 8}" if value.kind.lanes > 1 else ""
        self._lines.append(f"store {value}, {pointer}{align}")

    def element(self, pointer: Operand, place: Operand) -> Operand:
        """A pointer to the element at a place."""
        if place.number == 0:
            return pointer
        assert pointer.kind.element is not None
        text = f"getelementptr {pointer.kind.element.text}, {pointer}, {place}"
        return self._new(pointer.kind, text)

    # --- numbers -----------------------------------------------------------------------------

    def add(self, a: Operand, b: Operand) -> Operand:
        """a + b."""
        if b.number == 0:
            return a
        return b if a.number == 0 else self._new(a.kind, f"add {a}, {b.name}")

    def sub(self, a: Operand, b: Operand) -> Operand:
        """a - b."""
        return a if b.number == 0 else self._new(a.kind, f"sub {a}, {b.name}")

    def mul(self, a: Operand, b: Operand) -> Operand:
        """a * b."""
        if b.number in (0, 1):
            return a if b.number else b
        return self._new(a.kind, f"mul {a}, {b.name}")

    def and_(self, a: Operand, b: Operand) -> Operand:
        """The bits of both."""
        if b.number == (1 << b.kind.width) - 1:
            return a
        return self._new(a.kind, f"and {a}, {b.name}")

    def or_(self, a: Operand, b: Operand) -> Operand:
        """The bits of either."""
        if b.number == 0:
            return a
        return b if a.number == 0 else self._new(a.kind, f"or {a}, {b.name}")

    def not_(self, a: Operand) -> Operand:
        """The other bits."""
        return self._new(a.kind, f"xor {a}, {a.kind(-1).name}")

    def xor(self, a: Operand, b: Operand) -> Operand:
        """The bits of one alone."""
        return self._new(a.kind, f"xor {a}, {b.name}")

    def filled(self, a: Operand) -> Operand:
        """All bits of each lane that has any."""
        some = self._new(Kind(1, lanes=a.kind.lanes), f"icmp ne {a}, {a.kind(0).name}")
        return self._new(a.kind, f"sext {some} to {a.kind.text}")

    def any_lane(self, a: Operand) -> Operand:
        """Whether some lane has any bits."""
        whole = Kind(a.kind.width * a.kind.lanes)
        number = self._new(whole, f"bitcast {a} to {whole.text}")
        return self._new(BIT, f"icmp ne {number}, 0")

    def shl(self, a: Operand, b: Operand) -> Operand:
        """Shifted to the left."""
        return a if b.number == 0 else self._new(a.kind, f"shl {a}, {b.name}")

    def lshr(self, a: Operand, b: Operand) -> Operand:
        """Shifted to the right, zeros after it."""
        return a if b.number == 0 else self._new(a.kind, f"lshr {a}, {b.name}")

    def signed(self, sign: str, a: Operand, b: Operand) -> Operand:
        """Whether `==`, `<` or `<=` holds of signed numbers."""
        return self._new(BIT, f"icmp {_SIGNED[sign]} {a}, {b.name}")

    def unsigned(self, sign: str, a: Operand, b: Operand) -> Operand:
        """Whether `==` or `<` holds of unsigned numbers."""
        return self._new(BIT, f"icmp {_UNSIGNED[sign]} {a}, {b.name}")

    def less(self, a: Operand, b: Operand) -> Operand:
        """Whether a < b, as signed numbers."""
        return self.signed("<", a, b)

    def select(self, condition: Operand, then: Operand, otherwise: Operand) -> Operand:
        """One of two values."""
        return self._new(then.kind, f"select {condition}, {then}, {otherwise}")

    def zext(self, a: Operand, kind: Kind) -> Operand:
        """The same number, wider, zeros before it."""
        return a if a.kind.text == kind.text else self._new(kind, f"zext {a} to {kind.text}")

    def trunc(self, a: Operand, kind: Kind) -> Operand:
        """The lower bits alone."""
        return a if a.kind.text == kind.text else self._new(kind, f"trunc {a} to {kind.text}")
