"""What translated functions are made of: types, values, and the lines of LLVM assembly."""

from __future__ import annotations

import ast
import struct
from dataclasses import dataclass
from types import FunctionType
from typing import NamedTuple

INT, UINT, FLOAT, TRUTH = "int", "np.uint64", "float", "bool"
LLVM = {INT: "i64", UINT: "i64", FLOAT: "double", TRUTH: "i1"}

ELEMENTS = {
    "b1": ("i8", TRUTH), "i1": ("i8", INT), "i2": ("i16", INT), "i4": ("i32", INT),
    "i8": ("i64", INT), "u1": ("i8", UINT), "u2": ("i16", UINT), "u4": ("i32", UINT),
    "u8": ("i64", UINT), "f8": ("double", FLOAT),
}  # fmt: skip
"""By NumPy's kind and size: how an element lies in memory, and the type that it has when read."""

ARITHMETIC: dict[type[ast.operator], tuple[str, str, str]] = {  # signed, unsigned, floating
    ast.Add: ("add", "add", "fadd"),
    ast.Sub: ("sub", "sub", "fsub"),
    ast.Mult: ("mul", "mul", "fmul"),
    ast.BitAnd: ("and", "and", ""),
    ast.BitOr: ("or", "or", ""),
    ast.BitXor: ("xor", "xor", ""),
    ast.LShift: ("shl", "shl", ""),
    ast.RShift: ("ashr", "lshr", ""),
    ast.FloorDiv: ("", "udiv", ""),
}
COMPARISONS: dict[type[ast.cmpop], tuple[str, str, str]] = {
    ast.Eq: ("icmp eq", "icmp eq", "fcmp oeq"),
    ast.NotEq: ("icmp ne", "icmp ne", "fcmp une"),
    ast.Lt: ("icmp slt", "icmp ult", "fcmp olt"),
    ast.LtE: ("icmp sle", "icmp ule", "fcmp ole"),
    ast.Gt: ("icmp sgt", "icmp ugt", "fcmp ogt"),
    ast.GtE: ("icmp sge", "icmp uge", "fcmp oge"),
}
PLACE = {INT: 0, UINT: 1, FLOAT: 2, TRUTH: 1}


class TranslationError(Exception):
    """A function says what cannot be translated; a mistake of whoever wrote it."""


class Array(NamedTuple):
    """The type of an array: its elements, how many dimensions, whether the last lies densely."""

    element: str
    dimensions: int
    dense: bool


Type = str | Array


@dataclass(frozen=True)
class Value:
    """A number or truth as LLVM names it; `weak` is one written out, which fits either sign."""

    type: str
    name: str
    weak: bool = False


@dataclass(frozen=True)
class ArrayValue:
    """An array at hand: its address, its shape, and its strides in elements."""

    type: Array
    address: str
    shape: tuple[str, ...]
    strides: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """What is passed for it, in the order of `parameters_of`."""
        strides = self.strides[:-1] if self.type.dense else self.strides
        return [f"ptr {self.address}", *(f"i64 {each}" for each in (*self.shape, *strides))]


Tuple = tuple[Value, ...]


class Lines:
    """The assembly of one function as it grows: lines, names, labels and places for variables."""

    def __init__(self, function: FunctionType) -> None:
        self._function = function
        self._allocated: list[str] = []
        self._lines: list[str] = []
        self._numbered = 0
        self._ended = False

    def _line(self, text: str) -> None:
        self._lines.append(f"  {text}")

    def _new(self, text: str) -> str:
        self._numbered += 1
        self._line(f"%t{self._numbered} = {text}")
        return f"%t{self._numbered}"

    def _slot(self, kind: str) -> str:
        self._numbered += 1
        self._allocated.append(f"  %t{self._numbered} = alloca {kind}")
        return f"%t{self._numbered}"

    def _labels(self, *words: str) -> list[str]:
        self._numbered += 1
        return [f"{word}{self._numbered}" for word in words]

    def _begin(self, label: str) -> None:
        self._lines.append(f"{label}:")
        self._ended = False

    def _jump(self, label: str) -> None:
        self._line(f"br label %{label}")

    def _branch(self, truth: str, then: str, other: str) -> None:
        self._line(f"br i1 {truth}, label %{then}, label %{other}")

    def _error(self, node: ast.AST | None, words: str) -> TranslationError:
        where = f", line {line}" if (line := getattr(node, "lineno", None)) else ""
        code = self._function
        return TranslationError(f"{code.__module__}.{code.__qualname__}{where}: {words}")


def typed(value: Value) -> str:
    """A value after its type."""
    return f"{LLVM[value.type]} {value.name}"


def result_type(types: tuple[str, ...]) -> str:
    """What a function that returns values of these types returns in LLVM."""
    if len(types) > 1:
        return "{" + ", ".join(LLVM[each] for each in types) + "}"
    return LLVM[types[0]] if types else "void"


def double(value: float) -> str:
    """A number as LLVM reads it: its bits."""
    return f"0x{struct.pack('>d', value).hex().upper()}"
