"""Atoms and clauses as people read them: expressions on one line, in the protocol's own names."""

from __future__ import annotations

from model.language.declare.domains import IndexSet
from model.language.declare.schema import Schema
from model.language.declare.settings import value_text
from model.language.graph import NONE, Kind, Node, Op

_INFIX = {
    Op.EQ: "=", Op.LT: "<", Op.LE: "<=", Op.ADD: "+", Op.SUB: "-", Op.UNION: "+",
    Op.INTERSECTION: "&", Op.DIFFERENCE: "-",
}  # fmt: skip
_BINDERS = {Op.FORALL: "every", Op.EXISTS: "some", Op.COUNT: "number of"} | {
    Op.LARGEST: "largest", Op.SMALLEST: "smallest", Op.MEMBERS_WHERE: "those",
}  # fmt: skip


def words(node: Node, schema: Schema) -> str:
    """The expression on one line."""
    return _Words(schema).of(node)


class _Words:
    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def of(self, node: Node, inside: bool = False) -> str:
        """`inside` puts what has several parts in parentheses."""
        text = self._plain(node)
        return f"({text})" if inside and " " in text else text

    def _plain(self, node: Node) -> str:
        args = node.args
        if node.op is Op.CONST:
            if node.sort.kind is Kind.REF:
                return "none" if node.data == NONE else f"{node.sort.family}[{node.data}]"
            return value_text(node.data)
        if node.op is Op.VARIABLE:
            return str(node.data[0])
        if node.op is Op.READ:
            return self._read(node)
        if node.op is Op.BOUND:
            return str(node.data)
        if node.op is Op.NOT:
            return f"not {self.of(args[0], inside=True)}"
        if node.op is Op.EQ and args[1].op is Op.EMPTY and args[0].op is Op.DIFFERENCE:
            a, b = (self.of(arg, inside=True) for arg in args[0].args)
            return f"{a} within {b}"
        if node.op in (Op.AND, Op.OR):
            parts = (self.of(arg, inside=arg.op in (Op.AND, Op.OR)) for arg in args)
            return f" {node.op} ".join(parts)
        if node.op is Op.CONTAINS:
            return f"{self.of(args[1], inside=True)} in {self.of(args[0], inside=True)}"
        if node.op in _BINDERS:
            return f"{_BINDERS[node.op]} {self.of(args[0])}: {self.of(args[1], inside=True)}"
        if node.op in _INFIX:
            return f" {_INFIX[node.op]} ".join(self.of(arg, inside=True) for arg in args)
        if node.op in (Op.EMPTY, Op.EVERYONE):
            return "nobody" if node.op is Op.EMPTY else "everybody"
        return f"{node.op}({', '.join(self.of(arg) for arg in args)})"

    def _read(self, node: Node) -> str:
        """A field: `r.log[offset].epoch`."""
        variable = self._schema.variables[node.data[0]]
        text = ""
        indices = iter(node.args)
        for part in variable.path:
            if not isinstance(part, IndexSet):
                text += f".{part}" if text else part
                continue
            index = next(indices)
            owner = part.name in self._schema.families and text == part.name
            text = (
                self.of(index)
                if owner and index.op is Op.VARIABLE
                else (f"{text}[{self.of(index)}]")
            )
        return text
