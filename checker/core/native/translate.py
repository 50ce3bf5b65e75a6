"""Loops over arrays, written in Python, as LLVM assembly.

A small part of Python: numbers, truths and arrays of them; assignment, `if`, `while`, `for` over
`range`; calls of other functions of this kind. A variable keeps the type of what it is first given:
`int` (64 bits), `np.uint64`, `float` or `bool`. Signed and unsigned numbers do not mix. What is not
understood is a `TranslationError`, never another meaning. Two things are not as in Python: numbers
wrap around at 64 bits, and an index is taken as it is, neither checked nor counted from the end.
"""

from __future__ import annotations
import __future__

import ast
import linecache
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import CodeType, FunctionType, ModuleType

from checker.core.native.assembly import (
    INT,
    LLVM,
    ArrayValue,
    TranslationError,
    Tuple,
    Type,
    Value,
    result_type,
    typed,
)
from checker.core.native.expressions import Callee, Expressions

_DECLARED = "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"


@dataclass
class Translation:
    """Assembly with one function, and the functions that it calls.

    `result` has the types that it returns, `written` the parameters whose elements it changes.
    """

    assembly: str
    result: tuple[str, ...]
    written: frozenset[str]


def translate(function: FunctionType, types: Sequence[Type], symbol: str) -> Translation:
    """A function as LLVM assembly, for parameters of the given types, exported as `symbol`.

    It takes what `ArrayValue.names` says for each array, and numbers as they are.
    """
    unit = _Unit()
    inner = f"{symbol}.inner"
    done = unit.function(function, tuple(types), inner)
    texts = [_DECLARED, *unit.texts, _exported(symbol, inner, unit.signatures[inner], done.result)]
    return Translation("\n".join(texts), done.result, done.written)


def _exported(symbol: str, inner: str, signature: list[str], result: tuple[str, ...]) -> str:
    """The function as C may call it: several results go where its last parameter points to."""
    kind = result_type(result)
    call = f"call {kind} @{inner}({', '.join(signature)})"
    if not result:
        body = [call, "ret void"]
    elif len(result) == 1:
        body = [f"%r = {call}", f"ret {kind} %r"]
    else:
        signature = [*signature, "ptr %results"]
        body = [f"%r = {call}"]
        for place, type_ in enumerate(result):
            body += [
                f"%r{place} = extractvalue {kind} %r, {place}",
                f"%p{place} = getelementptr i64, ptr %results, i64 {place}",
                f"store {LLVM[type_]} %r{place}, ptr %p{place}",
            ]
        body.append("ret void")
    returned = kind if len(result) < 2 else "void"
    return "\n".join([f"define {returned} @{symbol}({', '.join(signature)}) {{", *body, "}"])


def _definition(function: FunctionType) -> ast.FunctionDef:
    """What the function's file says of it, which has to be what was imported."""
    code = function.__code__
    used = ((name, function.__globals__.get(name)) for name in code.co_names)
    imports = [f"import {name}\n" for name, known in used if isinstance(known, ModuleType)]
    tree = ast.parse("".join(imports))  # imports decide how calls are compiled
    flags = code.co_flags & __future__.annotations.compiler_flag
    definition = _said(code)
    if definition is not None:
        tree.body.append(definition)
        module = compile(tree, "<kernel>", "exec", flags, dont_inherit=True)
        inner = (each for each in module.co_consts if isinstance(each, CodeType))
        if any(_compared(each) == _compared(code) for each in inner):
            return definition
    raise TranslationError(f"{code.co_filename} was changed since it was imported: start again")


def _said(code: CodeType) -> ast.FunctionDef | None:
    """What stands where a function was when it was imported."""
    linecache.checkcache(code.co_filename)
    lines, begin = linecache.getlines(code.co_filename), code.co_firstlineno - 1
    end = max(line for _, _, line in code.co_lines() if line is not None)
    within = lines[begin][: -len(lines[begin].lstrip())] + " " if begin < len(lines) else ""
    while end < len(lines) and (lines[end].startswith(within) or not lines[end].strip()):
        end += 1  # what does nothing stands behind the last instruction
    with suppress(SyntaxError):
        found = ast.parse(textwrap.dedent("".join(lines[begin:end]))).body
        if found and isinstance(found[-1], ast.FunctionDef):
            return found[-1]
    return None


def _compared(code: CodeType) -> tuple[object, ...]:
    constants = tuple(c for c in code.co_consts if not isinstance(c, CodeType))
    return code.co_code, constants, code.co_names, code.co_varnames


@dataclass
class _Unit:
    """The functions of one translation, each once for each choice of types."""

    texts: list[str] = field(default_factory=list)
    signatures: dict[str, list[str]] = field(default_factory=dict)
    done: dict[tuple[FunctionType, tuple[Type, ...]], Callee] = field(default_factory=dict)

    def function(self, function: FunctionType, types: tuple[Type, ...], symbol: str = "") -> Callee:
        known = self.done.get((function, types))
        if known is None:
            body = _Body(self, function, types)
            name = symbol or f"{function.__name__}.{len(self.done)}"
            self.texts.append(body.text(name))
            self.signatures[name] = body.signature
            known = Callee(name, body.result or (), frozenset(body.written), body.parameters)
            self.done[function, types] = known
        return known


class _Body(Expressions):
    """The translation of one function's statements, in order."""

    def __init__(self, unit: _Unit, function: FunctionType, types: tuple[Type, ...]) -> None:
        super().__init__(function, unit.function)
        definition = _definition(function)
        self.parameters = tuple(argument.arg for argument in definition.args.args)
        if len(self.parameters) != len(types):
            raise TranslationError(f"{function.__name__} takes {len(self.parameters)} arguments")
        self.result: tuple[str, ...] | None = None
        self.signature: list[str] = []
        self._loops: list[tuple[str, str]] = []
        for name, type_ in zip(self.parameters, types, strict=True):
            self._parameter(name, type_)
        self._block(definition.body)
        if not self._ended:
            if self.result:
                raise TranslationError(f"{function.__name__} may end without a result")
            self.result = ()
            self._line("ret void")

    def text(self, symbol: str) -> str:
        """The function under its symbol."""
        head = f"define internal {result_type(self.result or ())} @{symbol}"
        parts = [f"{head}({', '.join(self.signature)}) alwaysinline {{", "entry:", *self._allocated]
        return "\n".join([*parts, *self._lines, "}"])

    # --- statements --------------------------------------------------------------------------

    def _parameter(self, name: str, type_: Type) -> None:
        if isinstance(type_, str):
            self.signature.append(f"{LLVM[type_]} %{name}")
            self._set(name, Value(type_, f"%{name}"))
            return
        shape = tuple(f"%{name}.n{k}" for k in range(type_.dimensions))
        strides = [f"%{name}.s{k}" for k in range(type_.dimensions)]
        if type_.dense:
            strides[-1] = "1"
        array = self._arrays[name] = ArrayValue(type_, f"%{name}.a", shape, tuple(strides))
        self.signature += array.names

    def _block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            if self._ended:
                raise self._error(statement, "nothing comes here")
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Expr(ast.Constant(str())) | ast.Pass():
                pass
            case ast.Expr(ast.Call() as call):
                self._call(call)
            case ast.Assign(targets, value):
                values = self._values(value)
                for target in targets:
                    self._assign(target, values)
            case ast.AugAssign(target, operator, value):
                self._change(target, operator, value)
            case ast.If(test, body, otherwise):
                self._if(test, body, otherwise)
            case ast.While(test, body, []):
                self._while(test, body)
            case ast.For(ast.Name(name), ast.Call(ast.Name("range"), bounds), body, []):
                self._for(name, bounds, body)
            case ast.Return(value):
                self._return(node, () if value is None else self._values(value))
            case ast.Break() | ast.Continue():
                self._jump(self._loops[-1][isinstance(node, ast.Continue)])
                self._ended = True
            case _:
                raise self._error(node, "this statement is not translated")

    def _return(self, node: ast.stmt, values: Tuple) -> None:
        values = tuple(self._as(value.type, value, node) for value in values)
        types = tuple(value.type for value in values)
        if self.result is None:
            self.result = types
        if types != self.result:
            raise self._error(node, f"returns {types} here and {self.result} before")
        if len(values) < 2:
            self._line("ret " + (" ".join(typed(value) for value in values) or "void"))
        else:
            whole, kind = "undef", result_type(types)
            for place, value in enumerate(values):
                whole = self._new(f"insertvalue {kind} {whole}, {typed(value)}, {place}")
            self._line(f"ret {kind} {whole}")
        self._ended = True

    def _assign(self, target: ast.expr, values: Tuple) -> None:
        if isinstance(target, ast.Tuple):
            if len(target.elts) != len(values):
                raise self._error(target, f"{len(values)} values for {len(target.elts)} names")
            for part, value in zip(target.elts, values, strict=True):
                self._assign(part, (value,))
            return
        (value,) = values
        if isinstance(target, ast.Name):
            self._set(target.id, value, target)
        elif isinstance(target, ast.Subscript):
            array, address = self._element(target)
            self._store(array, address, value, target)
        else:
            raise self._error(target, "nothing can be assigned to this")

    def _change(self, target: ast.expr, operator: ast.operator, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            before = self._value(target)
            self._set(
                target.id, self._combine(target, operator, before, self._value(value)), target
            )
        elif isinstance(target, ast.Subscript):
            array, address = self._element(target)
            before = self._load(array, address)
            after = self._combine(target, operator, before, self._value(value))
            self._store(array, address, after, target)
        else:
            raise self._error(target, "this cannot be changed")

    def _if(self, test: ast.expr, body: list[ast.stmt], otherwise: list[ast.stmt]) -> None:
        then, other, end = self._labels("then", "else", "end")
        self._branch(self._truth(test), then, other if otherwise else end)
        ended = self._arm(then, body, end)
        if otherwise:
            ended = self._arm(other, otherwise, end) and ended
            if ended:
                self._ended = True
                return
        self._begin(end)

    def _arm(self, label: str, body: list[ast.stmt], end: str) -> bool:
        self._begin(label)
        self._block(body)
        ended = self._ended
        if not ended:
            self._jump(end)
        self._ended = False
        return ended

    def _while(self, test: ast.expr, body: list[ast.stmt]) -> None:
        head, inside, end = self._labels("head", "body", "end")
        self._jump(head)
        self._begin(head)
        self._branch(self._truth(test), inside, end)
        with self._loop(end, head):
            self._arm(inside, body, head)
        self._begin(end)

    def _for(self, name: str, bounds: list[ast.expr], body: list[ast.stmt]) -> None:
        ends = [self._as(INT, self._value(bound), bound) for bound in bounds]
        if len(ends) > 2:
            raise self._error(bounds[0], "range has no step here")
        start, stop = ends if len(ends) == 2 else (Value(INT, "0"), ends[0])
        counter = self._slot("i64")
        self._line(f"store i64 {start.name}, ptr {counter}")
        head, inside, on, end = self._labels("head", "body", "next", "end")
        self._jump(head)
        self._begin(head)
        now = self._new(f"load i64, ptr {counter}")
        more = self._new(f"icmp slt i64 {now}, {stop.name}")
        self._branch(more, inside, end)
        self._begin(inside)
        self._set(name, Value(INT, now))
        with self._loop(end, on):
            self._block(body)
            if not self._ended:
                self._jump(on)
            self._ended = False
        self._begin(on)
        after = self._new(f"add nsw i64 {now}, 1")
        self._line(f"store i64 {after}, ptr {counter}")
        self._jump(head)
        self._begin(end)

    @contextmanager
    def _loop(self, end: str, on: str) -> Iterator[None]:
        self._loops.append((end, on))
        yield
        self._loops.pop()
