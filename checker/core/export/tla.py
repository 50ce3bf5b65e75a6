"""TLA+ for TLC, and others: one operator a step, properties as invariants and action properties.

A variable of the model is one of the specification, a function where it has an index. Sets of
members are sets here, and members have their names; what is a bit mask in the ground expressions
is recognised by what it is compared with or assigned to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from checker.core.export.exported import Exported, step_words
from checker.core.export.expressions import ATOM, Expressions, joint
from checker.core.export.identifiers import Identifiers
from checker.core.export.tla_layout import all_true, in_tuple, indented, next_values, one_value
from model.language import graph
from model.language.cells import Cell
from model.language.declare.domains import Domain, Reference, Subset
from model.language.declare.variables import Variable
from model.language.errors import UsageError
from model.language.graph import BOOL, Node, Op
from model.language.ground import GroundAction
from model.language.protocol import Model

_RESERVED = """
    ACTION ASSUME ASSUMPTION AXIOM BY CASE CHOOSE CONSTANT CONSTANTS COROLLARY DEF DEFINE DEFS
    DOMAIN ELSE ENABLED EXCEPT EXTENDS HAVE HIDE IF IN INSTANCE LAMBDA LEMMA LET LOCAL MODULE NEW
    OBVIOUS OMITTED ONLY OTHER PICK PROOF PROPOSITION PROVE QED RECURSIVE STATE STRONG SUBSET
    SUFFICES SYMMETRIC TAKE TEMPORAL THEN THEOREM UNCHANGED UNION USE VARIABLE VARIABLES WEAK
    WITH WITNESS TRUE FALSE BOOLEAN STRING Int Nat
    Print PrintT Assert JavaTime TLCGet TLCSet Permutations SortSeq RandomElement TLCEval Any
    ToString Init Next Spec vars None Smaller Larger
"""
"""Words of the language, of the modules that are extended, and of what is always defined."""

_INLINE = 8  # operators: what is no longer than that may be written twice
_AND, _NOT, _EQUAL, _UNION, _SUM, _MINUS = range(1, 7)
_OPEN = -1  # where whatever stands there ends by itself
_MEMBER = "\\in"


@dataclass(frozen=True)
class Specification:
    """A module and its configuration; `name` is that of the module, and of both files."""

    name: str
    module: str
    configuration: str


class _Text(Expressions):
    """Expressions of TLA+. They are over the variables, primed for the state after a step."""

    def __init__(self, names: _Names, roots: Iterable[Node]) -> None:
        super().__init__(names.model, roots, _INLINE)
        self._names = names

    def write(self, node: Node, domain: Domain | None) -> tuple[str, int]:
        """The text of an expression, and how tightly what holds it together binds."""
        if node.op is Op.CONST:
            number = int(node.data)
            if node.sort is BOOL:
                return str(node.data).upper(), ATOM
            return self._names.value(domain, number), ATOM if number >= 0 or domain else _MINUS
        if node.op is Op.CELL:
            return self._names.cell(self.model.cells[node.data[1]], bool(node.data[0])), ATOM
        if node.op is Op.NOT:
            return self._negation(node.args[0])
        args = self.arguments(node)
        if node.op is Op.ITE:
            condition = self.text(args[0])
            then, otherwise = (self.text(arg, 0, domain) for arg in args[1:])
            return f"IF {condition} THEN {then} ELSE {otherwise}", 0
        if node.op in (Op.MIN, Op.MAX):
            name = "Smaller" if node.op is Op.MIN else "Larger"
            return f"{name}({self.text(args[0])}, {self.text(args[1])})", ATOM
        if node.op is Op.EQ:
            return self._equality(args, "=", _MEMBER.replace("in", "notin"))
        if node.op in (Op.LT, Op.LE):
            sign = "<" if node.op is Op.LT else "<="
            return self._joined(sign, args, _EQUAL, _EQUAL), _EQUAL
        if node.op is Op.OR and any(self._is_negated(arg) for arg in args):
            return self._implication(args), 0
        if node.op in (Op.AND, Op.OR):
            return self._joined("/\\" if node.op is Op.AND else "\\/", args, _AND, _AND), _AND
        if isinstance(domain, Subset):
            return self._of_sets(node, args, domain), _UNION
        if node.op in (Op.ADD, Op.SUB):
            sign = "+" if node.op is Op.ADD else "-"
            return self._joined(sign, args, _SUM - 1, _SUM), _SUM
        raise AssertionError(f"{node.op} where no set is expected")

    def _joined(
        self, sign: str, args: Sequence[Node], first: int, rest: int, of: Domain | None = None
    ) -> str:
        parts = [self.text(arg, rest if k else first, of) for k, arg in enumerate(args)]
        return f" {sign} ".join(parts)

    def _is_negated(self, node: Node) -> bool:
        return node.op is Op.NOT and node not in self.named

    def _premises(self, args: Sequence[Node]) -> tuple[list[Node], list[Node]]:
        """An alternative as an implication: what must be true, and what is one of these then."""
        premises = [arg.args[0] for arg in args if self._is_negated(arg)]
        rest = [arg for arg in args if not self._is_negated(arg)]
        return premises, rest or [graph.negation(premises.pop())]

    def splits(self, node: Node) -> bool:
        """As a part of a step TLC would take its alternatives apart, and take the step for each."""
        if node.op is Op.OR:
            _, conclusion = self._premises(node.args)
            return len(conclusion) > 1 or self.splits(conclusion[0])
        parts = {Op.AND: node.args, Op.ITE: node.args[1:]}.get(node.op, ())
        return any(self.splits(part) for part in parts)

    def _implication(self, args: Sequence[Node]) -> str:
        """An alternative with negations, said as people do."""
        premises, conclusion = self._premises(args)
        before = " /\\ ".join(self.text(premise, _AND) for premise in premises)
        after = " \\/ ".join(self.text(part, _AND) for part in conclusion)
        return f"{before} => {after}"

    def _of_sets(self, node: Node, args: Sequence[Node], domain: Subset) -> str:
        signs = {Op.BITAND: "\\intersect", Op.BITOR: "\\union", Op.SUB: "\\"}
        return self._joined(signs[node.op], args, _UNION, _UNION, domain)

    def _negation(self, node: Node) -> tuple[str, int]:
        if node not in self.named:
            if node.op is Op.EQ:
                return self._equality(self.arguments(node), "#", _MEMBER)
            if node.op in (Op.LT, Op.LE):
                sign = "<=" if node.op is Op.LT else "<"
                return self._joined(sign, node.args[::-1], _EQUAL, _EQUAL), _EQUAL
        return f"~{self.text(node, ATOM - 1)}", _NOT

    def _equality(self, args: Sequence[Node], sign: str, member: str) -> tuple[str, int]:
        """`a = b`; where it says whether a set has a member, that."""
        of = joint(self.domain(arg) for arg in args)
        found = self._membership(args, of) if isinstance(of, Subset) else None
        if found is not None:
            return f"{found[0]} {member} {found[1]}", _EQUAL
        return self._joined(sign, args, _EQUAL, _EQUAL, of), _EQUAL

    def _membership(self, args: Sequence[Node], of: Subset) -> tuple[str, str] | None:
        both, nothing = args
        if both in self.named or both.op is not Op.BITAND or nothing is not graph.constant(0):
            return None
        group, bit = self.arguments(both)
        if bit.op is not Op.CONST or bit.data.bit_count() != 1:
            return None
        return self._names.index(of.family, bit.data.bit_length() - 1), self.text(group, _EQUAL, of)


class _Names:
    """What everything is called."""

    def __init__(self, exported: Exported, module: str) -> None:
        self.model: Model = exported.model
        self.identifiers = Identifiers((*_RESERVED.split(), module))
        self.members = self.identifiers.of_members(self.model)
        used = {cell.variable.name: cell.variable for cell in exported.cells}
        self.variables = {name: self.identifiers.fresh(name) for name in used}
        self.of_states = {p.name: self.identifiers.fresh(p.name) for p in exported.of_states}
        self.of_steps = {p.name: self.identifiers.fresh(p.name) for p in exported.of_steps}
        self.everyone: dict[str, str] = {
            family: self.identifiers.fresh(f"All_{family}")
            for family in dict.fromkeys(
                v.domain.family for v in used.values() if isinstance(v.domain, Subset)
            )
        }

    def index(self, family: str, number: int) -> str:
        """How a member of a family, or a row or a position, is written."""
        return self.members[family][number] if family in self.members else str(number)

    def place(self, cell: Cell) -> str:
        """Where in its variable a cell is: `[r2][0]`."""
        pairs = zip(cell.variable.index, cell.index, strict=True)
        return "".join(f"[{self.index(each.name, number)}]" for each, number in pairs)

    def cell(self, cell: Cell, primed: bool) -> str:
        """A cell of the state before a step, or of the one after."""
        return self.variables[cell.variable.name] + ("'" if primed else "") + self.place(cell)

    def value(self, domain: Domain | None, number: int) -> str:
        """A number as what it stands for."""
        match domain:
            case Reference(family):
                known = 0 <= number < self.model.extents[family]
                return self.index(family, number) if known else self._plain(number)
            case Subset(family):
                if family in self.everyone and number == (1 << self.model.extents[family]) - 1:
                    return self.everyone[family]
                bits = [k for k in range(number.bit_length()) if number >> k & 1]
                return "{" + ", ".join(self.index(family, k) for k in bits) + "}"
        return str(number)

    def _plain(self, number: int) -> str:
        return "None" if number == graph.NONE else str(number)


class _Writer:
    def __init__(self, exported: Exported, name: str) -> None:
        self.exported = exported
        self.name = name
        self.names = _Names(exported, name)
        self.variables: dict[str, Variable] = {c.variable.name: c.variable for c in exported.cells}

    def module(self) -> str:
        steps = [self._step(step) for step in self.exported.model.ground_actions]
        claims = [
            *(self._claim(prop.name, self.exported.claim(prop), self.names.of_states, prop.words)
              for prop in self.exported.of_states),
            *(self._claim(prop.name, self.exported.claim(prop), self.names.of_steps, prop.words)
              for prop in self.exported.of_steps),
        ]  # fmt: skip
        ruler = "-" * max((76 - len(self.name)) // 2 - 4, 4)
        head = f"{ruler} MODULE {self.name} {ruler}"
        following = "".join(f"\n    \\/ {name}" for name, _ in steps) or " FALSE"
        temporal = [f"{name}_always == [][{name}]_vars" for name in self.names.of_steps.values()]
        everything = [
            head + "\n" + self._introduction(),
            "EXTENDS Integers, TLC",
            self._constants(),
            "VARIABLES\n    " + ",\n    ".join(self.names.variables.values()),
            f"vars == {in_tuple(self.names.variables.values())}",
            self._initial(),
            *(text for _, text in steps),
            f"Next =={following}",
            "Spec == Init /\\ [][Next]_vars",
            *claims,
            *temporal,
        ]
        return "\n\n".join(everything) + "\n\n" + "=" * len(head) + "\n"

    def configuration(self) -> str:
        invariants = [f"INVARIANT {name}" for name in self.names.of_states.values()]
        actions = [f"PROPERTY {name}_always" for name in self.names.of_steps.values()]
        deadlock = str(self.exported.deadlock).upper()
        lines = ["SPECIFICATION Spec", *invariants, *actions, f"CHECK_DEADLOCK {deadlock}"]
        return "\n".join(lines) + "\n"

    def _introduction(self) -> str:
        lines = [
            *self.exported.introduction,
            f"To check: java -cp tla2tools.jar tlc2.TLC {self.name}",
        ]
        return "\n".join(f"\\* {line}" for line in lines)

    def _constants(self) -> str:
        lines = ["None == -1"]
        for members in self.names.members.values():
            lines += [f"{member} == {number}" for number, member in enumerate(members)]
        for family, name in self.names.everyone.items():
            numbers = range(self.exported.model.extents[family])
            inner = ", ".join(self.names.index(family, k) for k in numbers)
            lines.append(f"{name} == {{{inner}}}")
        lines.append("Smaller(a, b) == IF a < b THEN a ELSE b")
        lines.append("Larger(a, b) == IF a < b THEN b ELSE a")
        return "\n".join(lines)

    def _initial(self) -> str:
        lines = [
            f"    /\\ {self.names.variables[name]} = {self._whole(variable, ())}"
            for name, variable in self.variables.items()
        ]
        return "Init ==\n" + "\n".join(lines)

    def _whole(self, variable: Variable, index: tuple[int, ...]) -> str:
        """The initial value of a variable below an index: a function, unless that is all of it."""
        model = self.exported.model
        if len(index) == len(variable.index):
            cell = model.cells[model.positions[variable.name, index]]
            number = model.initial_state[cell.position]
            if variable.sort is BOOL:
                return str(bool(number)).upper()
            return self.names.value(variable.domain, number)
        over = variable.index[len(index)]
        size = model.extents[over.name]
        values = [self._whole(variable, (*index, k)) for k in range(size)]
        if len(set(values)) == 1:
            return f"[i{len(index)} \\in 0..{size - 1} |-> {values[0]}]"
        pairs = (f"{self.names.index(over.name, k)} :> {v}" for k, v in enumerate(values))
        return f"({' @@ '.join(pairs)})"

    def _step(self, step: GroundAction) -> tuple[str, str]:
        words = step_words(self.exported, step)
        name = self.names.identifiers.fresh(re.sub(r"\w+=", "", words))
        guard = _Text(self.names, [step.guard])
        lines = one_value(guard, self._conjuncts(guard, step.guard, in_step=True))
        if step.misfit is not graph.FALSE:
            misfit = _Text(self.names, [step.misfit])
            told = f"{words}: a value does not fit its variable".replace("\\", "/")
            wrong = misfit.text(step.misfit, ATOM - 1)
            lines += one_value(misfit, [f'Assert(~{wrong},\n    "{told}")'])
        lines += self._effect(step)
        return name, f"\\* {words}\n{name} ==\n" + indented(lines)

    def _effect(self, step: GroundAction) -> list[str]:
        model = self.exported.model
        assignments = self.exported.assignments(step)
        text = _Text(self.names, assignments.values())
        changes: dict[str, list[str]] = {}
        for position, node in assignments.items():
            cell = model.cells[position]
            within = _OPEN if node.op is Op.ITE and node not in text.named else _EQUAL
            value = text.text(node, within, cell.variable.domain)
            place = self.names.place(cell)
            changes.setdefault(cell.variable.name, []).append(
                f"!{place} = {value}" if place else value
            )
        lines = []
        for variable, parts in changes.items():
            name = self.names.variables[variable]
            if self.variables[variable].index:
                inner = ",\n    ".join(parts)
                between = " " if len(parts) == 1 else "\n    "
                lines.append(f"{name}' = [{name} EXCEPT{between}{inner}]")
            else:
                lines.append(f"{name}' = {parts[0]}")
        kept = [name for variable, name in self.names.variables.items() if variable not in changes]
        if kept:
            lines.append(f"UNCHANGED {in_tuple(kept)}")
        return next_values(text, lines)

    def _claim(self, key: str, node: Node, names: Mapping[str, str], words: str) -> str:
        text = _Text(self.names, [node])
        lines = all_true(text, self._conjuncts(text, node))
        return f"\\* {words}\n{names[key]} ==\n" + indented(lines)

    def _conjuncts(self, text: _Text, node: Node, in_step: bool = False) -> list[str]:
        """What a condition says, part by part."""
        parts = node.args if node.op is Op.AND else (node,)
        if not in_step or text.named:
            return [text.text(part, _OPEN) for part in parts]
        return [
            f"TRUE = {text.text(part, _EQUAL)}" if text.splits(part) else text.text(part, _OPEN)
            for part in parts
        ]


def as_tla(exported: Exported, name: str) -> Specification:
    """The model as a module called `name`. `UsageError` where nothing can change, or for its name.

    TLA+ has no module without variables, and takes letters, digits and underscores for names.
    """
    if not re.fullmatch(r"[A-Za-z0-9_]*[A-Za-z][A-Za-z0-9_]*", name, re.ASCII):
        raise UsageError(
            f"{name!r} names no module of TLA+: letters, digits and underscores are valid"
        )
    if not exported.cells:
        raise UsageError(
            f"nothing of {exported.model.protocol.name} can change with these bounds: TLA+ has no "
            "module without variables"
        )
    writer = _Writer(exported, name)
    module = writer.module()
    return Specification(name, module, writer.configuration())


__all__ = ["Specification", "as_tla"]
