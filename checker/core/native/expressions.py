"""Expressions of translated functions: their values, and the assembly that computes them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType

import numpy as np

from checker.core.native.assembly import (
    ARITHMETIC,
    COMPARISONS,
    ELEMENTS,
    FLOAT,
    INT,
    LLVM,
    PLACE,
    TRUTH,
    UINT,
    Array,
    ArrayValue,
    Lines,
    Tuple,
    Type,
    Value,
    double,
    result_type,
    typed,
)


@dataclass(frozen=True)
class Callee:
    """A function that is translated: its symbol, the types of its results, its parameters.

    `written` has the parameters whose elements it changes.
    """

    symbol: str
    result: tuple[str, ...]
    written: frozenset[str]
    parameters: tuple[str, ...]


Callees = Callable[[FunctionType, tuple[Type, ...]], Callee]
"""Translates a function for some types of its parameters, unless that was done before."""


def prefetch(address: int | np.uint64) -> None:
    """In a translated function, ask for the memory at an address to be near; in Python nothing."""


class Expressions(Lines):
    """Translates the expressions of one function, where its lines end."""

    def __init__(self, function: FunctionType, callee: Callees) -> None:
        super().__init__(function)
        self._callee = callee
        self.written: set[str] = set()
        self._arrays: dict[str, ArrayValue] = {}
        self._variables: dict[str, str] = {}

    # --- expressions -------------------------------------------------------------------------

    def _values(self, node: ast.expr) -> Tuple:
        """One value or, of a tuple, a shape or a call, several."""
        if isinstance(node, ast.Tuple):
            return tuple(self._value(part) for part in node.elts)
        if isinstance(node, ast.Attribute) and node.attr == "shape":
            return tuple(Value(INT, size) for size in self._array(node.value).shape)
        if isinstance(node, ast.Call):
            return self._call(node)
        return (self._value(node),)

    def _value(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant(bool(value)):
                return Value(TRUTH, str(value).lower())
            case ast.Constant(int(value)):
                return Value(INT, str(value), weak=True)
            case ast.Constant(float(value)):
                return Value(FLOAT, double(value))
            case ast.Name(name):
                return self._named(name, node)
            case ast.Subscript(ast.Attribute(array, "shape"), ast.Constant(int(place))):
                return Value(INT, self._array(array).shape[place])
            case ast.Attribute(ast.Attribute(array, "ctypes"), "data"):
                return Value(INT, self._new(f"ptrtoint ptr {self._array(array).address} to i64"))
            case ast.Subscript():
                return self._load(*self._element(node))
            case ast.BinOp(left, operator, right):
                return self._combine(node, operator, self._value(left), self._value(right))
            case ast.UnaryOp(ast.Not(), operand):
                return Value(TRUTH, self._new(f"xor i1 {self._truth(operand)}, true"))
            case ast.UnaryOp(ast.USub(), operand):
                negated = self._value(operand)
                zero = double(0.0) if negated.type == FLOAT else "0"
                none = Value(negated.type, zero, negated.weak)
                return self._combine(node, ast.Sub(), none, negated)
            case ast.Compare(left, [operator], [right]):
                return self._compare(node, operator, self._value(left), self._value(right))
            case ast.IfExp(test, then, otherwise):
                return self._either(node, test, then, otherwise)
            case ast.BoolOp():
                return self._some_or_all(node)
            case ast.Call():
                values = self._call(node)
                if len(values) == 1:
                    return values[0]
        raise self._error(node, "this expression is not translated")

    def _truth(self, node: ast.expr) -> str:
        value = self._value(node)
        if value.type == TRUTH:
            return value.name
        return self._compare(node, ast.NotEq(), value, Value(INT, "0", weak=True)).name

    def _some_or_all(self, node: ast.BoolOp) -> Value:
        """`and` and `or`, which stop at the first part that decides."""
        slot, (end,) = self._slot("i1"), self._labels("end")
        for place, part in enumerate(node.values):
            truth = self._truth(part)
            self._line(f"store i1 {truth}, ptr {slot}")
            if place == len(node.values) - 1:
                self._jump(end)
                break
            (on,) = self._labels("next")
            ends = (on, end) if isinstance(node.op, ast.And) else (end, on)
            self._branch(truth, *ends)
            self._begin(on)
        self._begin(end)
        return Value(TRUTH, self._new(f"load i1, ptr {slot}"))

    def _either(self, node: ast.expr, test: ast.expr, then: ast.expr, otherwise: ast.expr) -> Value:
        """`then if test else otherwise`."""
        first, second, end = self._labels("then", "else", "end")
        self._branch(self._truth(test), first, second)
        self._begin(first)
        one = self._value(then)
        slot = self._slot(LLVM[one.type])
        self._line(f"store {typed(one)}, ptr {slot}")
        self._jump(end)
        self._begin(second)
        other = self._as(one.type, self._value(otherwise), node)
        self._line(f"store {typed(other)}, ptr {slot}")
        self._jump(end)
        self._begin(end)
        return Value(one.type, self._new(f"load {LLVM[one.type]}, ptr {slot}"))

    def _combine(self, node: ast.AST, operator: ast.operator, left: Value, right: Value) -> Value:
        left, right = self._alike(node, left, right)
        names = ARITHMETIC.get(type(operator))
        logical = isinstance(operator, ast.BitAnd | ast.BitOr | ast.BitXor)
        if names is None or not names[PLACE[left.type]] or (left.type == TRUTH and not logical):
            raise self._error(node, f"this is not done with {left.type}")
        if left.weak and right.weak:  # known already: by Python's own rules
            return self._constant(operator, left, right)
        name = self._new(f"{names[PLACE[left.type]]} {typed(left)}, {right.name}")
        return Value(left.type, name)

    def _constant(self, operator: ast.operator, left: Value, right: Value) -> Value:
        written = ast.Expression(
            ast.BinOp(ast.Constant(int(left.name)), operator, ast.Constant(int(right.name)))
        )
        value = eval(compile(ast.fix_missing_locations(written), "<constant>", "eval"))
        return Value(INT, str(value), weak=True)

    def _compare(self, node: ast.AST, operator: ast.cmpop, left: Value, right: Value) -> Value:
        left, right = self._alike(node, left, right)
        if type(operator) not in COMPARISONS:
            raise self._error(node, "this is not compared")
        name = COMPARISONS[type(operator)][PLACE[left.type]]
        return Value(TRUTH, self._new(f"{name} {typed(left)}, {right.name}"))

    def _alike(self, node: ast.AST, left: Value, right: Value) -> tuple[Value, Value]:
        """Two numbers as one type; what is written out follows the other."""
        if left.weak or (right.type == FLOAT and left.type == INT):
            return self._as(right.type, left, node), right
        if right.weak or (left.type == FLOAT and right.type == INT) or left.type == right.type:
            return left, self._as(left.type, right, node)
        raise self._error(node, f"{left.type} and {right.type} do not mix: convert one")

    def _as(self, type_: str, value: Value, node: ast.AST) -> Value:
        """A value where one of this type belongs: what is written out, or a number as a float."""
        if value.type == type_:
            if value.weak and not -(2**63) <= int(value.name) < 2**63:
                raise self._error(node, f"{value.name} is no number of 64 bits")
            return value
        if type_ == FLOAT and value.weak:
            return Value(FLOAT, double(float(value.name)))
        if type_ == FLOAT and value.type == INT:
            return Value(FLOAT, self._new(f"sitofp {typed(value)} to double"))
        if value.weak and type_ == UINT and int(value.name) >= 0:
            return Value(UINT, value.name)
        raise self._error(node, f"{value.type} where {type_} belongs: convert it")

    def _converted(self, type_: str, value: Value, node: ast.AST) -> Value:
        """`int(...)` and `np.uint64(...)`."""
        if value.weak and not 0 <= int(value.name) + 2**63 * (type_ == INT) < 2**64:
            raise self._error(node, f"no {type_} of 64 bits is made of {value.name}")
        if value.type == FLOAT and type_ == INT:
            return Value(INT, self._new(f"fptosi double {value.name} to i64"))
        if value.type == TRUTH:
            return Value(type_, self._new(f"zext i1 {value.name} to i64"))
        if value.type in (INT, UINT):
            return Value(type_, value.name)
        raise self._error(node, f"no {type_} is made of {value.type}")

    def _call(self, node: ast.Call) -> Tuple:
        if node.keywords:
            raise self._error(node, "arguments have no names here")
        called = ast.unparse(node.func)
        if called in (INT, UINT):
            return (self._converted(called, self._value(node.args[0]), node),)
        if called == "np.uint32":
            number = self._converted(UINT, self._value(node.args[0]), node)
            return (Value(UINT, self._new(f"and {typed(number)}, {0xFFFFFFFF}")),)
        if called == "max":
            one, other = self._alike(node, *map(self._value, node.args))
            more = self._compare(node, ast.Gt(), one, other)
            return (self._as_is(one, f"select {typed(more)}, {typed(one)}, {typed(other)}"),)
        if called == "len":
            return (Value(INT, self._array(node.args[0]).shape[0]),)
        known = self._function.__globals__.get(called)
        if known is prefetch:
            address = self._new(f"inttoptr {typed(self._value(node.args[0]))} to ptr")
            self._line(f"call void @llvm.prefetch.p0(ptr {address}, i32 1, i32 3, i32 1)")
            return ()
        function = getattr(known, "function", None)
        if not isinstance(function, FunctionType):
            raise self._error(node, f"{called} is not known here")
        return self._call_of(function, node.args)

    def _call_of(self, function: FunctionType, nodes: list[ast.expr]) -> Tuple:
        given = [self._given(node) for node in nodes]
        done = self._callee(function, tuple(each.type for each in given))
        for name, each, node in zip(done.parameters, given, nodes, strict=True):
            if name in done.written and isinstance(each, ArrayValue):
                self.written.add(ast.unparse(node))
        names = [n for e in given for n in (e.names if isinstance(e, ArrayValue) else [typed(e)])]
        call = f"call {result_type(done.result)} @{done.symbol}({', '.join(names)})"
        if not done.result:
            self._line(call)
            return ()
        whole = self._new(call)
        if len(done.result) == 1:
            return (Value(done.result[0], whole),)
        kind = result_type(done.result)
        return tuple(
            Value(type_, self._new(f"extractvalue {kind} {whole}, {place}"))
            for place, type_ in enumerate(done.result)
        )

    def _given(self, node: ast.expr) -> Value | ArrayValue:
        """An argument: an array that was passed in, an empty one of the module's, or a number."""
        if isinstance(node, ast.Name) and node.id in self._arrays:
            return self._arrays[node.id]
        known = self._function.__globals__.get(ast.unparse(node))
        if isinstance(known, np.ndarray):
            if known.size:
                raise self._error(node, f"{ast.unparse(node)} is an array, and not empty")
            kind = Array(known.dtype.str[1:], known.ndim, True)
            return ArrayValue(kind, "null", ("0",) * known.ndim, ("0",) * known.ndim)
        return self._value(node)

    def _as_is(self, like: Value, text: str) -> Value:
        return Value(like.type, self._new(text))

    # --- variables and elements --------------------------------------------------------------

    def _named(self, name: str, node: ast.expr) -> Value:
        if name in self._variables:
            type_ = self._variables[name]
            return Value(type_, self._new(f"load {LLVM[type_]}, ptr %{name}.v"))
        value = self._function.__globals__.get(name)
        if type(value) is int:
            return Value(INT, str(value), weak=True)
        raise self._error(node, f"{name} is not known here")

    def _set(self, name: str, value: Value, node: ast.AST | None = None) -> None:
        if name in self._arrays:
            raise self._error(node, f"{name} is an array")
        if name not in self._variables:
            self._variables[name] = value.type
            self._allocated.append(f"  %{name}.v = alloca {LLVM[value.type]}")
        value = self._as(self._variables[name], value, node or ast.Pass())
        self._line(f"store {typed(value)}, ptr %{name}.v")

    def _array(self, node: ast.expr) -> ArrayValue:
        if isinstance(node, ast.Name) and node.id in self._arrays:
            return self._arrays[node.id]
        raise self._error(node, "this is no array that is passed in")

    def _element(self, node: ast.Subscript) -> tuple[ArrayValue, str]:
        array = self._array(node.value)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if len(parts) != array.type.dimensions:
            raise self._error(node, f"the array has {array.type.dimensions} dimensions")
        place = ""
        for part, stride in zip(parts, array.strides, strict=True):
            index = self._value(part)
            if index.type not in (INT, UINT):
                raise self._error(part, f"an index is no {index.type}")
            far = index.name if stride == "1" else self._new(f"mul i64 {index.name}, {stride}")
            place = self._new(f"add i64 {place}, {far}") if place else far
        kind, _ = ELEMENTS[array.type.element]
        return array, self._new(f"getelementptr {kind}, ptr {array.address}, i64 {place}")

    def _load(self, array: ArrayValue, address: str) -> Value:
        kind, type_ = ELEMENTS[array.type.element]
        name = self._new(f"load {kind}, ptr {address}")
        if type_ == TRUTH:
            name = self._new(f"icmp ne i8 {name}, 0")
        elif kind != LLVM[type_]:
            name = self._new(f"{'sext' if type_ == INT else 'zext'} {kind} {name} to i64")
        return Value(type_, name)

    def _store(self, array: ArrayValue, address: str, value: Value, node: ast.Subscript) -> None:
        kind, type_ = ELEMENTS[array.type.element]
        value = self._as(type_, value, node)
        name = value.name
        if type_ == TRUTH:
            name = self._new(f"zext i1 {name} to i8")
        elif kind != LLVM[type_]:
            name = self._new(f"trunc i64 {name} to {kind}")
        self._line(f"store {kind} {name}, ptr {address}")
        self.written.add(ast.unparse(node.value))
