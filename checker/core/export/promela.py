"""Promela for Spin: one process that takes one step of the model at a time, each a `d_step`.

Cells are global variables, and nothing else is: what Spin stores is what a search here stores.
Spin searches breadth first only without `hidden` variables, so a part of an expression that needs a
name is a local constant of embedded C. What needs none, which is most, is plain Promela.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from checker.core.export.exported import Exported, is_always, step_words
from checker.core.export.expressions import ATOM, Expressions, joint
from checker.core.export.identifiers import Identifiers
from model.language import graph
from model.language.cells import Cell
from model.language.declare.domains import Domain, Reference
from model.language.errors import UsageError
from model.language.graph import BOOL, Node, Op
from model.language.ground import GroundAction
from properties import Property

_RESERVED = """
    active assert atomic bit bool break byte c_code c_decl c_expr c_state c_track chan d_step do
    else empty enabled end eval false fi for full get_priority goto hidden if in init inline int
    len local ltl mtype nempty never nfull np_ od of pc_value pid printf printm priority proctype
    progress accept provided run select set_priority short show skip timeout trace notrace true
    typedef unless unsigned xr xs always eventually until weakuntil stronguntil implies equivalent
    release next U V W X
    auto case char const continue default double enum extern float long register restrict return
    signed sizeof static struct switch union void volatile while main now none State depth uchar
    ushort uint ulong max min NULL stdin stdout stderr errno unix linux
"""

_OR, _AND, _EQUAL, _LESS, _SUM, _NOT = range(1, 7)
_INLINE = 60  # operators: what is no longer than that may be written twice
_INLINE_IN_C = 8  # where parts can have names
_SIGNS = {
    Op.OR: ("||", _OR), Op.AND: ("&&", _AND), Op.EQ: ("==", _EQUAL), Op.LT: ("<", _LESS),
    Op.LE: ("<=", _LESS), Op.ADD: ("+", _SUM), Op.SUB: ("-", _SUM),
}  # fmt: skip
_INTEGERS = {"short": 2**15, "int": 2**31}


class _Text(Expressions):
    """Expressions of Promela, or with `in_c` of the C that is embedded in it."""

    def __init__(self, names: _Names, roots: Iterable[Node], in_c: bool, limit: int) -> None:
        super().__init__(names.exported.model, roots, limit)
        self._names = names
        self._in_c = in_c

    def write(self, node: Node, domain: Domain | None) -> tuple[str, int]:
        """The text of an expression, and how tightly what holds it together binds.

        `UsageError` if it may come to a number that Promela would cut.
        """
        if _type_for(node.low, node.high) is None:
            raise UsageError(
                f"an expression may come to numbers from {node.low} to {node.high}, more than 32 "
                "bits: Promela has no such type"
            )
        if node.op is Op.CONST:
            return self._constant(node, domain)
        if node.op is Op.CELL:
            name = self._names.cells[node.data[1]]
            return (f"now.{name}" if self._in_c else name), ATOM
        if node.op is Op.NOT:
            return self._negation(node.args[0])
        args = self.arguments(node)
        if node.op is Op.ITE:
            condition, then, otherwise = args
            return self._choice(self.text(condition, _NOT), then, otherwise, domain)
        if node.op in (Op.MIN, Op.MAX):
            a, b = args if node.op is Op.MIN else args[::-1]
            less = f"{self.text(args[0], _LESS)} < {self.text(args[1], _LESS)}"
            return self._choice(less, a, b, None)
        if node.op in (Op.BITAND, Op.BITOR):
            sign = " & " if node.op is Op.BITAND else " | "
            return f"({sign.join(self.text(arg, _NOT) for arg in args)})", ATOM
        sign, tightness = _SIGNS[node.op]
        return self._joined(sign, args, tightness), tightness

    def _joined(self, sign: str, args: Sequence[Node], tightness: int) -> str:
        of = joint(self.domain(arg) for arg in args) if tightness is _EQUAL else None
        first = tightness - 1 if sign == "+" or sign == "-" else tightness
        parts = [self.text(arg, tightness if k else first, of) for k, arg in enumerate(args)]
        return f" {sign} ".join(parts)

    def _negation(self, node: Node) -> tuple[str, int]:
        if node not in self.named:
            if node.op is Op.EQ:
                return self._joined("!=", self.arguments(node), _EQUAL), _EQUAL
            if node.op in (Op.LT, Op.LE):
                sign = "<=" if node.op is Op.LT else "<"
                return self._joined(sign, node.args[::-1], _LESS), _LESS
        return f"!{self.text(node, _NOT)}", _NOT

    def _choice(
        self, condition: str, then: Node, otherwise: Node, domain: Domain | None
    ) -> tuple[str, int]:
        arrow = "?" if self._in_c else "->"
        parts = self.text(then, _NOT, domain), self.text(otherwise, _NOT, domain)
        return f"({condition} {arrow} {parts[0]} : {parts[1]})", ATOM

    def _constant(self, node: Node, domain: Domain | None) -> tuple[str, int]:
        if node.sort is BOOL:
            return str(int(node.data) if self._in_c else node.data).lower(), ATOM
        if isinstance(domain, Reference) and not self._in_c:
            return self._names.reference(domain.family, node.data), ATOM
        return str(node.data), ATOM if node.data >= 0 else _SUM


class _Names:
    """What everything is called."""

    def __init__(self, exported: Exported) -> None:
        self.exported = exported
        self.identifiers = Identifiers(_RESERVED.split())
        self.process = self.identifiers.fresh(exported.model.protocol.name)
        self.members = self.identifiers.of_members(exported.model)
        self.cells = {
            cell.position: self.identifiers.of_cell(exported.model, cell) for cell in exported.cells
        }

    def reference(self, family: str, number: int) -> str:
        """How the member of a family with that number is written."""
        if number < 0:
            return "none" if number == graph.NONE else str(number)
        members = self.members.get(family, [])
        return members[number] if number < len(members) else str(number)


class _Writer:
    """Writes a whole model; what of it is C that comes first is in `functions`."""

    def __init__(self, exported: Exported) -> None:
        self.exported = exported
        self.names = _Names(exported)
        self.functions: list[str] = []

    def text(self) -> str:
        options = [self._step(step) for step in self.exported.model.ground_actions]
        options += [
            self._claim(prop, claim)
            for prop in self.exported.of_states
            if not is_always(claim := self.exported.claim(prop))
        ]
        if not options:
            options = ["\t:: false"]
        end = "" if self.exported.deadlock else "end:"
        parts = [
            self._introduction(),
            self._members(),
            self._declarations(),
            "\n".join(f"c_code {{\n{function}\n}}\n" for function in self.functions),
            f"active proctype {self.names.process}()\n{{\n{end}\tdo\n",
        ]
        head = "\n".join(part for part in parts if part)
        return head + "\n".join(options) + "\n\tod\n}\n"

    def _introduction(self) -> str:
        lines = [_comment(line) for line in self.exported.introduction]
        ended = "" if self.exported.deadlock else " A state without a step is no error."
        lines += [
            "To check:   spin -a FILE && gcc -O2 -DSAFETY -DBFS -DNOREDUCE -o pan pan.c && ./pan",
            "(without -DBFS depth first, which takes less memory)",
            f"A set of members is a number, with a bit for each.{ended}",
        ]
        return "/*\n" + "".join(f" * {line}\n" for line in lines) + " */\n"

    def _members(self) -> str:
        found = ["#define none -1"]
        for members in self.names.members.values():
            found += [f"#define {member} {number}" for number, member in enumerate(members)]
        return "\n".join(found) + "\n"

    def _declarations(self) -> str:
        initial = self.exported.model.initial_state
        lines = []
        for cell in self.exported.cells:
            kind, bits = _type_of(cell)
            lines.append(
                f"{kind} {self.names.cells[cell.position]}{bits} = {initial[cell.position]};"
            )
        return "\n".join(lines) + "\n"

    def _step(self, step: GroundAction) -> str:
        words = step_words(self.exported, step)
        name = self.names.identifiers.fresh(words)
        lines = [f"{self._condition(step.guard, f'can_{name}', _EDGE)} ->"]
        if step.misfit is not graph.FALSE:
            wrong = self._condition(step.misfit, f"misfit_of_{name}")
            lines.append(_unless(wrong, f"{words}: a value does not fit its variable"))
        for prop in self.exported.of_steps:
            claim = self.exported.claim_of(prop, step)
            if not is_always(claim):
                wrong = self._condition(graph.negation(claim), f"{name}_breaks_{prop.name}")
                lines.append(_unless(wrong, f"{prop.name} is violated"))
        lines += self._effect(step) or ["skip"]
        body = ";\n\t\t".join(lines).replace("->;", "->")
        return f"\t/* {_comment(words)} */\n\t:: d_step {{\n\t\t{body}\n\t}}"

    def _claim(self, prop: Property, claim: Node) -> str:
        """What is possible where the claim is false: to fail."""
        wrong = self._condition(graph.negation(claim), f"breaks_{prop.name}", _EDGE)
        return (
            f"\t/* {prop.name}: {_comment(prop.words)} */\n"
            f"\t:: d_step {{\n\t\t{wrong} ->\n\t\t{_fail(f'{prop.name} is violated')}\n\t}}"
        )

    def _condition(self, node: Node, name: str, split: str = " ") -> str:
        """A condition as one expression: in C, if parts of it need names."""
        plain = _Text(self.names, [node], False, _INLINE)
        if not plain.named:
            parts = node.args if node.op is Op.AND else (node,)
            return f" &&{split}".join(plain.text(p, _AND if len(parts) > 1 else 0) for p in parts)
        function = self.names.identifiers.fresh(name)
        inner = _Text(self.names, [node], True, _INLINE_IN_C)
        result = inner.text(node)
        lines = [*_constants(inner), f"return {result};"]
        body = "".join(f"\t{line}\n" for line in lines)
        self.functions.append(f"static int {function}(void)\n{{\n{body}}}")
        return f"c_expr {{ ({function})() }}"

    def _effect(self, step: GroundAction) -> list[str]:
        """Statements that assign all at once: one after the other if nothing old is read later."""
        assignments = self.exported.assignments(step)
        nodes = list(assignments.values())
        plain = _Text(self.names, nodes, False, _INLINE)
        order = _one_by_one(assignments)
        if order is not None and not plain.named:
            return [f"{self._at(p)} = {self._value(plain, p, assignments[p])}" for p in order]
        inner = _Text(self.names, nodes, True, _INLINE_IN_C)
        values = {p: self._value(inner, p, node) for p, node in assignments.items()}
        lines = _constants(inner)
        lines += [f"const int n{p} = {value};" for p, value in values.items()]
        lines += [f"now.{self._at(p)} = n{p};" for p in values]
        return ["c_code {\n" + "".join(f"\t\t\t{line}\n" for line in lines) + "\t\t}"]

    def _at(self, position: int) -> str:
        return self.names.cells[position]

    def _value(self, text: _Text, position: int, node: Node) -> str:
        return text.text(node, 0, self.exported.model.cells[position].variable.domain)


_EDGE = "\n\t\t"


def as_promela(exported: Exported) -> str:
    """The model as Promela. `UsageError` for numbers that Promela has no type for."""
    return _Writer(exported).text()


def _type_of(cell: Cell) -> tuple[str, str]:
    if cell.low >= 0 and cell.high < 2**16:
        if cell.high == 1:
            return "bit", ""
        return "unsigned", f" : {cell.high.bit_length()}"
    kind = _type_for(cell.low, cell.high)
    if kind is None:
        raise UsageError(
            f"{cell.name} holds numbers of more than 32 bits: Promela has no such type"
        )
    return kind, ""


def _type_for(low: int | None, high: int | None) -> str | None:
    """The smallest signed type of Promela that holds numbers in a range, if there is one."""
    assert low is not None and high is not None
    return next((kind for kind, most in _INTEGERS.items() if -most <= low and high < most), None)


def _constants(text: _Text) -> list[str]:
    """Named parts, once all of the text is written."""
    return [f"const int {name} = {value};" for name, value, _ in text.definitions]


def _fail(words: str) -> str:
    told = words.replace("\\", "/").replace('"', "'").replace("%", "%%")
    return f'c_code {{ printf("{told}\\n"); }}; assert(false)'


def _unless(wrong: str, words: str) -> str:
    return f"if\n\t\t:: {wrong} -> {_fail(words)}\n\t\t:: else\n\t\tfi"


def _comment(words: str) -> str:
    return words.replace("*/", "* /")


def _one_by_one(assignments: dict[int, Node]) -> list[int] | None:
    """An order in which nothing is read after it was assigned; `None` if there is none."""
    reads = {
        position: {n.data[1] for n in graph.below(node) if n.op is Op.CELL}
        for position, node in assignments.items()
    }
    left = list(assignments)
    found = []
    while left:
        free = next(
            (p for p in left if not any(p in reads[other] for other in left if other != p)), None
        )
        if free is None:
            return None
        left.remove(free)
        found.append(free)
    return found


__all__ = ["as_promela"]
