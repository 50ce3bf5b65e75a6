"""Capture: run an action or property once on symbolic values and keep what it does as a graph.

A capture is made once for each action, not for each choice of parameters or bounds: parameters,
quantified variables, indices and bounds stay symbolic, so that proofs may leave sizes open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import GEN_CREATED, getgeneratorstate
from types import GeneratorType
from typing import Any

from model.language import graph
from model.language.capture.captured import Write, overlay
from model.language.capture.expr import Expr, node_of, wrap
from model.language.capture.lint import Watch
from model.language.capture.rounds import Held, Iteration
from model.language.declare.domains import IndexSet
from model.language.declare.variables import Variable
from model.language.errors import CaptureError
from model.language.graph import Kind, Node, Op, Sort
from model.language.refusal import refuse, user_frame


@dataclass
class Loop:
    """A `for` statement over a family or a set, while its body is being captured."""

    binder: Node
    condition: Node
    first_write: int
    first_guard: int
    place: tuple[str, int]
    reads: list[tuple[Variable, tuple[Node, ...]]] = field(default_factory=list)


@dataclass
class Quantifier:
    """A quantifier whose generator is running: its variables with their conditions.

    `open` are those whose `for` has not come to its end.
    """

    generator: object
    binders: list[tuple[Node, Node]] = field(default_factory=list)
    open: list[tuple[Node, Node]] = field(default_factory=list)


class Capture:
    """One capture in progress: the guards and writes so far, open loops and quantifiers."""

    def __init__(self) -> None:
        self.guards: list[Node] = []
        self.writes: list[Write] = []
        self._loops: list[Loop] = []
        self._quantifiers: list[Quantifier] = []
        self.watch = Watch()
        self._fresh = 0
        self._scope: set[Node] = set()

    def parameter(self, name: str, sort: Sort, over: str) -> Node:
        """A parameter of the action."""
        node = graph.variable(name, sort, over)
        self._scope.add(node)
        return node

    def fresh(self, index_set: IndexSet) -> Node:
        """A new variable over `index_set`; numbered by its order in this capture alone."""
        self._fresh += 1
        return index_set.variable(f"{index_set.name}%{self._fresh}")

    # --- quantifiers and loops ---------------------------------------------------------------

    def bind(self, place: Iteration, binder: Node, condition: Node) -> Callable[[], None]:
        """Begin to iterate: as a quantifier if a generator inside one does, else as a loop.

        Returns what ends it.
        """
        frame = user_frame()
        line = frame.f_code.co_filename, frame.f_lineno
        end: Callable[[], object]
        if self._quantifiers:
            quantifier = self._quantifiers[-1]
            place.check_quantifier(quantifier.generator)
            quantifier.binders.append((binder, condition))
            quantifier.open.append((binder, condition))
            end = quantifier.open.pop
        else:
            place.check_loop()
            loop = Loop(binder, condition, len(self.writes), len(self.guards), line)
            self._loops.append(loop)
            self._scope.add(binder)
            end = partial(self._close_loop, loop)
        held = Held.now(self.watch.outermost, self.watch.owners)

        def close() -> None:
            held.check(line)
            end()

        return close

    def _close_loop(self, loop: Loop) -> None:
        """End of a `for` statement: what its body assigned, it assigned for every member."""
        innermost = self._loops.pop()
        if innermost is not loop:
            refuse(_BROKEN, innermost.place)
        self._scope.discard(loop.binder)
        if len(self.guards) > loop.first_guard and len(self.writes) > loop.first_write:
            refuse("require(...) and an assignment in one loop: write two loops", loop.place)
        for place in range(loop.first_write, len(self.writes)):
            write = self.writes[place]
            if write.index.count(loop.binder) != 1:
                refuse(
                    f"a loop that assigns the same {write.variable.name} in every round: "
                    "assign the loop's own member, or use count, largest or choose",
                    loop.place,
                )
            _refuse_reads_of_others(loop, write)
            self.writes[place] = replace(write, binders=(*write.binders, loop.binder))

    def holds(self, condition: Callable[[Any], Any], member: Any) -> Node:
        """Whether a condition holds for a member of a family: one call stands for all members."""
        self._quantifiers.append(Quantifier(None))
        held = Held.now(self.watch.outermost, self.watch.owners)
        try:
            node = node_of(condition(member), graph.TRUE)
        finally:
            self._quantifiers.pop()
        held.check(None)
        return node

    def quantify(self, op: Op, items: Iterable[Any]) -> Node:
        """The quantifier `op` over what a generator yields for one bound variable."""
        if isinstance(items, GeneratorType) and getgeneratorstate(items) != GEN_CREATED:
            refuse("a generator that was used before: write it again")
        quantifier = Quantifier(items)
        plain = graph.TRUE if op in (Op.FORALL, Op.EXISTS, Op.COUNT) else graph.constant(0)
        nodes, around = [], quantifier.open
        self._quantifiers.append(quantifier)
        try:
            for body in items:
                nodes.append(node_of(body, plain))
                around = [*quantifier.open]
        finally:
            self._quantifiers.pop()
        if not quantifier.binders:
            return self._quantify_plain(op, nodes)
        if len(nodes) != 1 or around != quantifier.binders:
            refuse("a quantifier over a family and a plain range at once: nest two quantifiers")
        return _quantified(op, around, nodes[0])

    def _quantify_plain(self, op: Op, nodes: list[Node]) -> Node:
        if op is Op.FORALL:
            return graph.conjunction(*nodes)
        if op is Op.EXISTS:
            return graph.disjunction(*nodes)
        refuse(f"{op} over plain values: it takes a generator over a family, table or positions")

    # --- guards, reads and writes ------------------------------------------------------------

    def require(self, conditions: list[Node]) -> None:
        """Note guards."""
        if self._quantifiers:
            refuse("require(...) inside a quantifier: its claim is what the generator yields")
        if self.writes:
            refuse("require(...) after an assignment: all conditions come first")
        for node in conditions:
            guard = node
            for loop in reversed(self._loops):
                premise = graph.negation(loop.condition)
                guard = graph.quantified(Op.FORALL, loop.binder, graph.disjunction(premise, guard))
            self._check_scope(guard)
            self.guards.append(guard)

    def write(
        self,
        variable: Variable,
        index: tuple[Node, ...],
        value: Node,
        binders: tuple[Node, ...] = (),
    ) -> None:
        """Note an assignment; inside a loop over a set, one that only its members make."""
        if self._quantifiers:
            refuse("an assignment inside a quantifier")
        when = graph.conjunction(*(loop.condition for loop in self._loops))
        if when is not graph.TRUE:
            old = graph.read(variable.name, index, variable.sort)
            value = graph.choose(when, value, self.overlay(variable, index, old))
        for node in (value, *index):
            self._check_scope(node, binders)
        self.writes.append(Write(variable, index, value, binders, when))

    def overlay(self, variable: Variable, index: tuple[Node, ...], before: Node) -> Node:
        """The value of `variable` at `index` after the writes so far; `before` without them."""
        for loop in self._loops:
            loop.reads.append((variable, index))
        self._refuse_other_rounds(variable, index)
        return overlay(variable, index, self.writes, before, IndexSet.admits)

    def _refuse_other_rounds(self, variable: Variable, index: tuple[Node, ...]) -> None:
        """What the body of an open loop assigns to its own member, it may not read of another."""
        for loop in self._loops:
            for write in self.writes[loop.first_write :]:
                if write.variable is variable and any(
                    written is loop.binder is not asked
                    for written, asked in zip(write.index, index, strict=True)
                ):
                    _refuse_other(variable, None)

    def choose(self, condition: Any, then: Any, otherwise: Any) -> Any:
        """`choose` on values of which any may be symbolic."""
        nodes = [node_of(then) if then is not None else None]
        nodes.append(node_of(otherwise) if otherwise is not None else None)
        like = next((node for node in nodes if node is not None), None)
        if like is None:
            return None
        pair = [node_of(value, like) for value in (then, otherwise)]
        node = graph.choose(node_of(condition, graph.TRUE), pair[0], pair[1])
        if node.sort.kind is Kind.SET:
            return next(v for v in (then, otherwise) if isinstance(v, Expr))._make(node)
        return wrap(node)

    def _check_scope(self, node: Node, also: tuple[Node, ...] = ()) -> None:
        for variable in node.free - self._scope:
            if variable not in also:
                refuse(
                    f"a value of the loop variable over {variable.data[1]} is used outside its "
                    "loop: use every, some, count, largest or smallest"
                )

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What the function returns; `CaptureError` where it does what cannot be captured."""
        global active
        if active is not None:
            raise CaptureError("a capture is already under way")
        active = self
        try:
            result = self.watch.run(function, *arguments)
        finally:
            active = None
        if self._loops:
            refuse(_BROKEN, self._loops[-1].place)
        return result


_BROKEN = "a loop that did not run to its end: `break` cannot be captured"

active: Capture | None = None
"""The capture under way; `logic` builds nodes only while there is one."""


def _quantified(op: Op, binders: list[tuple[Node, Node]], body: Node) -> Node:
    if op in (Op.FORALL, Op.EXISTS):
        for binder, condition in reversed(binders):
            body = (
                graph.disjunction(graph.negation(condition), body)
                if op is Op.FORALL
                else graph.conjunction(condition, body)
            )
            body = graph.quantified(op, binder, body)
        return body
    (binder, condition), *others = binders
    if others:
        refuse(f"{op} over two families at once")
    if op is Op.COUNT:
        body = graph.conjunction(condition, body)
    elif condition is not graph.TRUE:
        refuse(f"{op} over a set: range over the whole family and use choose(...)")
    return graph.quantified(op, binder, body)


def _refuse_reads_of_others(loop: Loop, write: Write) -> None:
    """What one round assigns, another must not read: rounds have no order in a capture."""
    place = write.index.index(loop.binder)
    for variable, index in loop.reads:
        if variable is write.variable and index[place] is not loop.binder:
            _refuse_other(variable, loop.place)


def _refuse_other(variable: Variable, at: tuple[str, int] | None) -> None:
    refuse(
        f"a loop that reads another member's {variable.name} and assigns it: read before the loop",
        at,
    )
