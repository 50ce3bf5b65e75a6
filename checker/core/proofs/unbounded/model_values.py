"""Lowered expressions in a model that Z3 found: their values, and Python text that computes them.

It says of an expression what Z3's own evaluation says, many times as fast for many values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import z3

from model.language import graph
from model.language.graph import BOOL, Kind, Node, Op
from model.language.lifted import Lifted


class Table(dict[Any, Any]):
    """A function of a model; one argument is no tuple."""

    def __init__(self, found: Any, blank: Any) -> None:
        super().__init__()
        self._otherwise = blank
        if found is not None:
            *rows, otherwise = found.as_list()
            self._otherwise = _value(otherwise)
            for *args, value in rows:
                key = tuple(map(_value, args))
                self[key if len(key) > 1 else key[0]] = _value(value)

    def __missing__(self, _: Any) -> Any:
        return self._otherwise


class Meaning:
    """What a model says of constants and functions; of others nothing, so their value is blank."""

    def __init__(self, model: Any) -> None:
        self._model = {declared.name(): model[declared] for declared in model.decls()}
        self._known: dict[str, Any] = {}

    def __call__(self, name: str, node: Node) -> Any:
        """The constant or function called `name`, which `node` reads."""
        if name not in self._known:
            found = self._model.get(name)
            blank = False if node.sort is BOOL else 0
            if node.op is Op.READ and node.args:
                self._known[name] = Table(found, blank)
            else:
                self._known[name] = blank if found is None else _value(found)
        return self._known[name]


def _value(term: Any) -> Any:
    if z3.is_int_value(term):
        return term.as_long()
    return z3.is_true(term) if z3.is_bool(term) else term.decl().name()


def _symbol(lifted: Lifted, node: Node) -> str | None:
    """The constant or function that `UnboundedTerms` makes of `node` itself; `None` for others."""
    match node.op:
        case Op.VARIABLE:
            return str(node.data[0])
        case Op.BOUND:
            return f"{node.data}!bound"
        case Op.READ:
            return "{}@{}".format(*node.data)
        case Op.CONST if node.sort.kind is Kind.REF and lifted.is_symmetric(node.sort.family):
            return f"{node.sort.family}!{'none' if node.data == graph.NONE else node.data}"
    return None


class Code:
    """Python text for expressions. `values` are what the names in it stand for."""

    def __init__(self, lifted: Lifted) -> None:
        self._lifted = lifted
        self._names: dict[str, tuple[str, Node]] = {}

    def of(self, node: Node, known: Mapping[Node, str]) -> str:
        """The text for `node`, where some nodes have names."""
        if node in known:
            return known[node]
        args = [self.of(arg, known) for arg in node.args]
        symbol = _symbol(self._lifted, node)
        if symbol is None:
            return repr(node.data) if node.op is Op.CONST else _TEXT[node.op](args)
        name, _ = self._names.setdefault(symbol, (f"s{len(self._names)}", node))
        return f"{name}[{', '.join(args)}]" if args else name

    def values(self, meaning: Meaning) -> dict[str, Any]:
        """The names, for `exec`."""
        return {name: meaning(symbol, node) for symbol, (name, node) in self._names.items()}


_TEXT: dict[Op, Callable[[list[str]], str]] = {
    Op.NOT: lambda a: f"(not {a[0]})",
    Op.AND: lambda a: f"({' and '.join(a)})",
    Op.OR: lambda a: f"({' or '.join(a)})",
    Op.EQ: lambda a: f"({a[0]} == {a[1]})",
    Op.LT: lambda a: f"({a[0]} < {a[1]})",
    Op.LE: lambda a: f"({a[0]} <= {a[1]})",
    Op.ADD: lambda a: f"({a[0]} + {a[1]})",
    Op.SUB: lambda a: f"({a[0]} - {a[1]})",
    Op.MIN: lambda a: f"min({a[0]}, {a[1]})",
    Op.MAX: lambda a: f"max({a[0]}, {a[1]})",
    Op.ITE: lambda a: f"({a[1]} if {a[0]} else {a[2]})",
}


def value_of(lifted: Lifted, meaning: Meaning) -> Callable[[Node], Any]:
    """The values of closed expressions, parameters of the action being closed too."""
    done: dict[Node, Any] = {}

    def value(node: Node) -> Any:
        if node not in done:
            done[node] = _apply(lifted, meaning, node, [value(arg) for arg in node.args])
        return done[node]

    return value


def _apply(lifted: Lifted, meaning: Meaning, node: Node, args: list[Any]) -> Any:
    symbol = _symbol(lifted, node)
    if symbol is not None:
        found = meaning(symbol, node)
        return found if not args else found[tuple(args) if len(args) > 1 else args[0]]
    return node.data if node.op is Op.CONST else _VALUE[node.op](args)


_VALUE: dict[Op, Callable[[list[Any]], Any]] = {
    Op.NOT: lambda a: not a[0],
    Op.AND: all,
    Op.OR: any,
    Op.EQ: lambda a: a[0] == a[1],
    Op.LT: lambda a: a[0] < a[1],
    Op.LE: lambda a: a[0] <= a[1],
    Op.ADD: lambda a: a[0] + a[1],
    Op.SUB: lambda a: a[0] - a[1],
    Op.MIN: min,
    Op.MAX: max,
    Op.ITE: lambda a: a[1] if a[0] else a[2],
}
