"""Capture: run an action or property once on symbolic values and keep what it does as a graph.

A capture is made once for each action, not once for each choice of parameters or bounds: parameters,
quantified variables, indices and bounds stay symbolic, so that proofs may leave sizes open.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from model.language import graph
from model.language.containers import SetOf
from model.language.domains import IndexSet, Integers, Reference
from model.language.entity import Entity, Record, Store
from model.language.errors import CaptureError
from model.language.expr import _LANGUAGE, BoolExpr, Expr, IntExpr, node_of, refuse, wrap
from model.language.graph import INT, Kind, Node, Op, Sort
from model.language.schema import RecordSchema, Schema, Variable


@dataclass(frozen=True)
class Write:
    """One captured assignment: `variable[index] = value`, for every value of `binders`.

    A binder stands alone at one place of `index`. `value` reads only the state before the step.
    Later writes win over earlier ones.
    """

    variable: Variable
    index: tuple[Node, ...]
    value: Node
    binders: tuple[Node, ...] = ()


@dataclass(frozen=True)
class CapturedAction:
    """What an action does: it is enabled where all `guards` hold, and then does all `writes`."""

    name: str
    parameters: tuple[Node, ...]
    guards: tuple[Node, ...]
    writes: tuple[Write, ...]


class SetExpr(Expr, SetOf[Any]):
    """A symbolic set of members of a family."""

    __slots__ = ("store",)
    kind = Kind.SET

    def __init__(self, node: Node, store: SymbolicStore) -> None:
        super().__init__(node)
        self.store = store

    def _make(self, node: Node) -> SetExpr:
        return SetExpr(node, self.store)

    def _other(self, other: Any) -> Node:
        return node_of(other, like=self.node)

    def _member(self, member: Any) -> Node:
        return node_of(member, no_member(self.node.sort.family))

    def contains(self, member: Any) -> bool:
        return BoolExpr(graph.contains(self.node, self._member(member)))  # type: ignore[return-value]

    def with_member(self, member: Any) -> SetExpr:
        only = graph.singleton(self._member(member))
        return self._make(graph.set_operation(Op.UNION, self.node, only))

    def without_member(self, member: Any) -> SetExpr:
        only = graph.singleton(self._member(member))
        return self._make(graph.set_operation(Op.DIFFERENCE, self.node, only))

    def union(self, other: Any) -> SetExpr:
        return self._make(graph.set_operation(Op.UNION, self.node, self._other(other)))

    def intersection(self, other: Any) -> SetExpr:
        return self._make(graph.set_operation(Op.INTERSECTION, self.node, self._other(other)))

    def minus(self, other: Any) -> SetExpr:
        return self._make(graph.set_operation(Op.DIFFERENCE, self.node, self._other(other)))

    def includes(self, other: Any) -> bool:
        return self._make(self._other(other)).minus(self).is_empty

    @property
    def is_empty(self) -> bool:
        nothing = graph.no_members(self.node.sort.family)
        return BoolExpr(graph.equal(self.node, nothing))  # type: ignore[return-value]

    @property
    def size(self) -> int:
        return IntExpr(graph.size(self.node))  # type: ignore[return-value]

    def __contains__(self, member: object) -> bool:
        refuse("`in` on a set read from the state: write group.contains(member)")

    def __len__(self) -> int:
        refuse("len() of a set read from the state: write group.size")

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        family = self.store.schema.families[self.node.sort.family]
        for index in self.store.indices(family.index_set, among=self.node):
            yield self.store.view(family.record, (index,))

    __hash__ = Expr.__hash__


def no_member(family: str) -> Node:
    """The reference to `family` that points to no member."""
    return graph.constant(graph.NONE, Sort(Kind.REF, family))


def blank(variable: Variable) -> Node:
    """The value that `variable` has at first, and where nothing is."""
    initial, sort = variable.initial, variable.sort
    if sort.kind is Kind.SET:
        return (graph.all_members if initial == "all" else graph.no_members)(sort.family)
    if sort.kind is Kind.REF:
        return graph.constant(graph.NONE if initial is None else initial, sort)
    return graph.constant(initial)


def index_variable(name: str, index_set: IndexSet) -> Node:
    """A variable that ranges over `index_set`: a reference where its members have no order."""
    sort = Sort(Kind.REF, index_set.name) if index_set.symmetric else INT
    return graph.variable(name, sort, index_set.name)


@dataclass
class _Loop:
    """A `for` statement over a family or a set, while its body is being captured."""

    binder: Node
    condition: Node
    first_write: int
    frame: FrameType
    before: dict[str, Any]


class Indices:
    """Iterates once, with a bound variable, in place of all indices of an index set."""

    def __init__(self, store: SymbolicStore, index_set: IndexSet, among: Node | None) -> None:
        self._store = store
        self._index_set = index_set
        self._among = among
        self._loop: _Loop | None = None
        self._done = False

    def __iter__(self) -> Indices:
        return self

    def __next__(self) -> Node:
        if self._done:
            if self._loop is not None:
                self._store.capture.close_loop(self._loop)
            raise StopIteration
        self._done = True
        binder = self._store.capture.fresh(self._index_set)
        condition = graph.TRUE if self._among is None else graph.contains(self._among, binder)
        self._loop = self._store.capture.bind(binder, condition)
        return binder


class SymbolicStore(Store):
    """The store behind views during capture. `frame` 1 stands for the state after a step."""

    def __init__(self, schema: Schema, settings: Any, capture: Capture, frame: int = 0) -> None:
        self.schema = schema
        self.settings = settings
        self.capture = capture
        self.frame = frame

    def _value(self, node: Node) -> Any:
        return SetExpr(node, self) if node.sort.kind is Kind.SET else wrap(node)

    def read(self, variable: Variable, index: tuple[Node, ...]) -> Any:
        value = graph.read(variable.name, index, variable.sort, self.frame)
        if self.frame == 0:
            value = self.capture.overlay(variable, index, value)
        return self._value(value)

    def write(self, variable: Variable, index: tuple[Node, ...], value: Any) -> None:
        node = node_of(value, like=blank(variable))
        self.capture.write(Write(variable, index, node))

    def erase_from(self, variable: Variable, index: tuple[Node, ...], first: Any) -> None:
        position = self.capture.fresh(variable.index[-1])
        place = (*index, position)
        kept = graph.less(position, node_of(first, graph.constant(0)))
        value = graph.choose(kept, self.read(variable, place).node, blank(variable))
        self.capture.write(Write(variable, place, value, (position,)))

    def bound(self, name: str) -> Any:
        return IntExpr(graph.bound(name))

    def extent(self, index_set: IndexSet) -> Any:
        limit = index_set.size
        if limit.bound is None:
            return IntExpr(graph.constant(limit.offset))
        return IntExpr(graph.add(graph.bound(limit.bound), graph.constant(limit.offset)))

    def indices(self, index_set: IndexSet, among: Node | None = None) -> Iterator[Any]:
        return Indices(self, index_set, among)

    def subset(self, index_set: IndexSet, members: tuple[Any, ...] | None) -> SetExpr:
        if members is None:
            return SetExpr(graph.all_members(index_set.name), self)
        node = graph.no_members(index_set.name)
        for member in members:
            only = graph.singleton(member)
            node = graph.set_operation(Op.UNION, node, only) if node.args else only
        return SetExpr(node, self)

    def subset_where(self, index_set: IndexSet, condition: Any) -> SetExpr:
        member = self.capture.fresh(index_set)
        view = self.view(self.schema.families[index_set.name].record, (member,))
        holds = node_of(condition(view), graph.TRUE)
        return SetExpr(graph.members_where(member, holds), self)

    def view(self, schema: RecordSchema, index: tuple[Any, ...]) -> Any:
        return schema.record_class(self, schema, index)

    def index_of(self, value: Any, index_set: IndexSet) -> Node:
        if isinstance(value, Entity):
            return value._index[-1]  # type: ignore[no-any-return]
        if index_set.symmetric:
            if isinstance(value, int) and not isinstance(value, bool):
                return graph.constant(value, Sort(Kind.REF, index_set.name))
            refuse("indexing with a reference that may be none: quantify over the members instead")
        return node_of(value, graph.constant(0))

    def plain_index(self, index: Any) -> Any:
        return IntExpr(index)

    def same(self, left: Record, right: object) -> Any:
        return BoolExpr(graph.equal(left._index[-1], node_of(right, left._index[-1])))

    def differs(self, left: Record, right: object) -> Any:
        return BoolExpr(graph.negation(self.same(left, right).node))


class Capture:
    """One capture in progress: the guards and writes so far, open loops and quantifiers."""

    def __init__(self) -> None:
        self.guards: list[Node] = []
        self.writes: list[Write] = []
        self._loops: list[_Loop] = []
        self._quantifiers: list[tuple[Any, list[tuple[Node, Node]]]] = []
        self._fresh = 0
        self._scope: set[Node] = set()

    def __enter__(self) -> Capture:
        global active
        if active is not None:
            raise CaptureError("a capture is already under way")
        active = self
        return self

    def __exit__(self, *_: object) -> None:
        global active
        active = None

    def parameter(self, name: str, sort: Sort, over: str) -> Node:
        """A parameter of the action."""
        node = graph.variable(name, sort, over)
        self._scope.add(node)
        return node

    def fresh(self, index_set: IndexSet) -> Node:
        """A new variable over `index_set`; numbered by its order in this capture alone."""
        self._fresh += 1
        return index_variable(f"{index_set.name}%{self._fresh}", index_set)

    # --- quantifiers and loops ---------------------------------------------------------------

    def bind(self, binder: Node, condition: Node) -> _Loop | None:
        """Begin to iterate: as a quantifier if a generator inside one does, else as a loop."""
        frame = _iterating_frame()
        if self._quantifiers:
            generator, binders = self._quantifiers[-1]
            if getattr(generator, "gi_frame", None) is not frame:
                refuse("a `for` statement inside a quantifier: use every, some, count or largest")
            binders.append((binder, condition))
            return None
        loop = _Loop(binder, condition, len(self.writes), frame, dict(frame.f_locals))
        self._loops.append(loop)
        self._scope.add(binder)
        return loop

    def close_loop(self, loop: _Loop) -> None:
        """End of a `for` statement: what its body assigned, it assigned for every member."""
        if self._loops.pop() is not loop:
            refuse("a loop that did not run to its end: `break` cannot be captured")
        self._scope.discard(loop.binder)
        _refuse_accumulation(loop)
        for place in range(loop.first_write, len(self.writes)):
            write = self.writes[place]
            if write.index.count(loop.binder) != 1:
                refuse(
                    f"a loop that assigns the same {write.variable.name} in every round: "
                    "assign the loop's own member, or use count, largest or choose"
                )
            self.writes[place] = Write(
                write.variable, write.index, write.value, (*write.binders, loop.binder)
            )

    def quantify(self, op: Op, items: Iterable[Any]) -> Any:
        """The quantifier `op` over what a generator yields for one bound variable."""
        binders: list[tuple[Node, Node]] = []
        self._quantifiers.append((items, binders))
        try:
            bodies = list(items)
        finally:
            self._quantifiers.pop()
        plain = graph.TRUE if op in (Op.FORALL, Op.EXISTS, Op.COUNT) else graph.constant(0)
        nodes = [node_of(body, plain) for body in bodies]
        if not binders:
            return self._quantify_plain(op, nodes)
        if len(nodes) != 1:
            refuse("a quantifier over a family and a plain range at once: nest two quantifiers")
        return _quantified(op, binders, nodes[0])

    def _quantify_plain(self, op: Op, nodes: list[Node]) -> Any:
        if op is Op.FORALL:
            return BoolExpr(graph.conjunction(*nodes))
        if op is Op.EXISTS:
            return BoolExpr(graph.disjunction(*nodes))
        refuse(f"{op} over plain values: it takes a generator over a family, table or positions")

    # --- guards, reads and writes ------------------------------------------------------------

    def require(self, conditions: list[Node]) -> None:
        """Note guards."""
        if self.writes:
            refuse("require(...) after an assignment: all conditions come first")
        for node in conditions:
            for loop in reversed(self._loops):
                premise = graph.negation(loop.condition)
                node = graph.quantified(
                    Op.FORALL, loop.binder, graph.disjunction(premise, node)
                )
            self._check_scope(node)
            self.guards.append(node)

    def write(self, write: Write) -> None:
        """Note an assignment; inside a loop over a set, one that only its members make."""
        if self._quantifiers:
            refuse("an assignment inside a quantifier")
        value = write.value
        for loop in self._loops:
            if loop.condition is not graph.TRUE:
                old = graph.read(write.variable.name, write.index, write.variable.sort)
                old = self.overlay(write.variable, write.index, old)
                value = graph.choose(loop.condition, value, old)
        for node in (value, *write.index):
            self._check_scope(node, write.binders)
        self.writes.append(Write(write.variable, write.index, value, write.binders))

    def overlay(self, variable: Variable, index: tuple[Node, ...], before: Node) -> Node:
        """The value of `variable` at `index` after the writes so far; `before` without them."""
        value = before
        binders = {loop.binder: loop for loop in self._loops}
        for place, write in enumerate(self.writes):
            if write.variable is not variable:
                continue
            replacement: dict[Node, Node] = {}
            conditions = []
            for written, asked in zip(write.index, index, strict=True):
                if written in write.binders:
                    replacement[written] = asked
                else:
                    loop = binders.get(written)
                    if loop is not None and place >= loop.first_write and written is not asked:
                        refuse(f"a loop that reads another member's {variable.name} and assigns it")
                    conditions.append(graph.equal(written, asked))
            written_value = graph.substitute(write.value, replacement)
            value = graph.choose(graph.conjunction(*conditions), written_value, value)
        return value

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
            store = next(v.store for v in (then, otherwise) if isinstance(v, SetExpr))
            return SetExpr(node, store)
        return wrap(node)

    def _check_scope(self, node: Node, also: tuple[Node, ...] = ()) -> None:
        for variable in node.free - self._scope:
            if variable not in also:
                refuse(
                    f"a value of the loop variable over {variable.data[1]} is used outside its "
                    "loop: use every, some, count, largest or smallest"
                )

    def finish(self) -> None:
        """Check that nothing is left open."""
        if self._loops:
            refuse("a loop that did not run to its end: `break` cannot be captured")


active: Capture | None = None


def _quantified(op: Op, binders: list[tuple[Node, Node]], body: Node) -> Any:
    if op in (Op.FORALL, Op.EXISTS):
        for binder, condition in reversed(binders):
            body = (
                graph.disjunction(graph.negation(condition), body)
                if op is Op.FORALL
                else graph.conjunction(condition, body)
            )
            body = graph.quantified(op, binder, body)
        return BoolExpr(body)
    (binder, condition), *others = binders
    if others:
        refuse(f"{op} over two families at once")
    if op is Op.COUNT:
        body = graph.conjunction(condition, body)
    elif condition is not graph.TRUE:
        refuse(f"{op} over a set: range over the whole family and use choose(...)")
    return IntExpr(graph.quantified(op, binder, body))


def _iterating_frame() -> FrameType:
    frame: FrameType = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_LANGUAGE):
        frame = frame.f_back
    return frame


def _refuse_accumulation(loop: _Loop) -> None:
    """A local that the body rebinds would keep just one round's value: refuse it."""
    for name, value in loop.frame.f_locals.items():
        if name in loop.before and loop.before[name] is not value and not _is_target(loop, value):
            refuse(
                f"the loop changes {name!r} in every round: use every, some, count, largest or "
                "smallest"
            )


def _is_target(loop: _Loop, value: Any) -> bool:
    return isinstance(value, Record) and loop.binder in value._index


@dataclass(frozen=True)
class Parameter:
    """A parameter of an action: its name, and the domain or family that it ranges over."""

    name: str
    domain: Integers | Reference
    entity: type[Entity] | None = field(default=None, compare=False)


def capture_action(
    name: str,
    function: Callable[..., None],
    schema: Schema,
    settings: Any,
    parameters: tuple[Parameter, ...],
) -> CapturedAction:
    """Run an action function on symbolic values; `CaptureError` where that is not possible."""
    with Capture() as capture:
        store = SymbolicStore(schema, settings, capture)
        variables, arguments = [], []
        for parameter in parameters:
            if isinstance(parameter.domain, Reference):
                family = schema.families[parameter.domain.family]
                like = index_variable(parameter.name, family.index_set)
                node = capture.parameter(parameter.name, like.sort, family.index_set.name)
                arguments.append(store.view(family.record, (node,)))
            else:
                node = capture.parameter(parameter.name, INT, str(parameter.domain))
                arguments.append(IntExpr(node))
            variables.append(node)
        result = function(store.view(schema.root, ()), *arguments)
        capture.finish()
        if result is not None:
            raise CaptureError(f"action {name} returns a value: it should assign to the state")
    return CapturedAction(name, tuple(variables), tuple(capture.guards), tuple(capture.writes))


def capture_property(
    name: str, function: Callable[..., bool], schema: Schema, settings: Any, frames: int = 1
) -> Node:
    """The captured claim of a property: of one state, or with `frames` 2 of a step."""
    with Capture() as capture:
        views = [
            SymbolicStore(schema, settings, capture, frame).view(schema.root, ())
            for frame in range(frames)
        ]
        claim = node_of(function(*views), graph.TRUE)
        capture.finish()
        if capture.guards or capture.writes:
            raise CaptureError(f"property {name} requires or assigns: it should return a claim")
        if claim.free:
            refuse("a value of a loop variable is used outside its loop")
    return claim
