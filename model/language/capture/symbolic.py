"""Symbolic state: the store behind views during capture, and the sets and indices it hands out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

from model.language import graph
from model.language.capture.constants import check_schema
from model.language.capture.expr import (
    MAY_BE_NONE,
    BoolExpr,
    Expr,
    IntExpr,
    as_bool,
    as_int,
    node_of,
    refuse_other_names,
    wrap,
)
from model.language.capture.recorder import Capture
from model.language.capture.rounds import Iteration
from model.language.declare.containers import SetOf
from model.language.declare.domains import IndexSet, names_of
from model.language.declare.entity import Entity
from model.language.declare.schema import Schema
from model.language.declare.store import Part, Place, Store
from model.language.declare.variables import Variable
from model.language.errors import unknown_name
from model.language.graph import Kind, Node, Op, Sort
from model.language.refusal import refuse, user_place


class SetExpr(Expr, SetOf[Any]):
    """A symbolic set of members of a family."""

    __slots__ = ("_store",)
    _kind = Kind.SET

    def __init__(self, node: Node, store: SymbolicStore) -> None:
        super().__init__(node)
        self._store = store

    def _make(self, node: Node) -> SetExpr:
        return SetExpr(node, self._store)

    def _other(self, other: Any) -> Node:
        return node_of(other, like=self._node)

    def _member(self, member: Any) -> Node:
        return node_of(member, no_member(self._node.sort.family))

    def contains(self, member: Any) -> bool:
        return as_bool(graph.contains(self._node, self._member(member)))

    def with_member(self, member: Any) -> SetExpr:
        only = graph.singleton(self._member(member))
        return self._make(graph.set_operation(Op.UNION, self._node, only))

    def without_member(self, member: Any) -> SetExpr:
        only = graph.singleton(self._member(member))
        return self._make(graph.set_operation(Op.DIFFERENCE, self._node, only))

    def union(self, other: Any) -> SetExpr:
        return self._make(graph.set_operation(Op.UNION, self._node, self._other(other)))

    def intersection(self, other: Any) -> SetExpr:
        return self._make(graph.set_operation(Op.INTERSECTION, self._node, self._other(other)))

    def minus(self, other: Any) -> SetExpr:
        return self._make(graph.set_operation(Op.DIFFERENCE, self._node, self._other(other)))

    def includes(self, other: Any) -> bool:
        return self._make(self._other(other)).minus(self).is_empty

    @property
    def is_empty(self) -> bool:
        nothing = graph.no_members(self._node.sort.family)
        return as_bool(graph.equal(self._node, nothing))

    @property
    def size(self) -> int:
        return as_int(graph.size(self._node))

    def __contains__(self, member: object) -> bool:
        refuse("`in` on a set read from the state: write group.contains(member)")

    def __len__(self) -> int:
        refuse("len() of a set read from the state: write group.size")

    def __iter__(self) -> Iterator[Any]:
        family = self._store.schema.families[self._node.sort.family]
        indices = self._store.indices(family.index_set, among=self._node)
        return map(lambda index: self._store.view(family.item, (index,)), indices)


def no_member(family: str) -> Node:
    """The reference to `family` that points to no member."""
    return graph.constant(graph.NONE, Sort(Kind.REF, family))


class Indices:
    """Iterates once, with a bound variable, in place of all indices of an index set."""

    def __init__(self, store: SymbolicStore, index_set: IndexSet, among: Node | None) -> None:
        self._store = store
        self._index_set = index_set
        self._among = among
        self._place = Iteration()
        self._close: Callable[[], None] | None = None

    def __iter__(self) -> Indices:
        return self

    def __next__(self) -> Node:
        if self._close is not None:
            self._close()
            raise StopIteration
        binder = self._store.capture.fresh(self._index_set)
        condition = graph.TRUE if self._among is None else graph.contains(self._among, binder)
        self._close = self._store.capture.bind(self._place, binder, condition)
        return binder


class SymbolicStore(Store):
    """The store behind views during capture. `frame` 1 stands for the state after a step."""

    symbolic = True

    def __init__(self, schema: Schema, settings: Any, capture: Capture, frame: int = 0) -> None:
        check_schema(schema.root)
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
        names = names_of(variable.domain)
        return self._value(value) if names is None else IntExpr(value, names)

    def write(self, variable: Variable, index: tuple[Node, ...], value: Any) -> None:
        refuse_other_names(names_of(variable.domain), value)
        node = node_of(value, like=variable.blank)
        self.capture.write(variable, index, node)

    def reset(self, variable: Variable, index: tuple[Node, ...], where: Any) -> None:
        kept = self.read(variable, index)._node
        value = graph.choose(node_of(where, graph.TRUE), variable.blank, kept)
        self.capture.write(variable, index, value)

    def erase_from(self, variable: Variable, index: tuple[Node, ...], first: Any) -> None:
        position = self.capture.fresh(variable.index[-1])
        place = (*index, position)
        kept = graph.less(position, node_of(first, graph.constant(0)))
        value = graph.choose(kept, self.read(variable, place)._node, variable.blank)
        self.capture.write(variable, place, value, (position,))

    def bound(self, name: str) -> Any:
        if name not in self.schema.bounds:
            refuse(f"{unknown_name('bound', name, self.schema.bounds)}")
        return IntExpr(graph.bound(name))

    def extent(self, index_set: IndexSet) -> Any:
        return IntExpr(index_set.size.node)

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
        view = self.view(self.schema.families[index_set.name].item, (member,))
        holds = self.capture.holds(condition, view)
        return SetExpr(graph.members_where(member, holds), self)

    def view(self, schema: Part, index: tuple[Any, ...]) -> Any:
        return schema.view_class(self, schema, index)

    def index_of(self, value: Any, index_set: IndexSet) -> Node:
        if isinstance(value, slice):
            refuse("a slice: quantify over the positions")
        if isinstance(value, int) and value < 0:
            refuse(f"{value} is before the first: write log[log.end - 1] for the last record")
        if isinstance(value, Entity):
            self._require_family(value, index_set)
            return cast(Node, value._index[-1])
        if index_set.symmetric:
            if isinstance(value, int) and not isinstance(value, bool):
                self.schema.named.setdefault((index_set.name, value), user_place())
                return graph.constant(value, Sort(Kind.REF, index_set.name))
            if isinstance(value, IntExpr):
                refuse(
                    f"`{index_set.name}[...]` of a number: members have no order, take the member "
                    "as a parameter of the action, or quantify over all"
                )
            refuse(f"`{index_set.name}[...]` {MAY_BE_NONE}")
        return node_of(value, graph.constant(0))

    def plain_index(self, index: Any) -> Any:
        return IntExpr(index)

    def same(self, left: Place, right: object) -> Any:
        if isinstance(right, Entity):
            self._require_family(right, left._schema.index[-1])
            return BoolExpr(graph.equal(left._index[-1], right._index[-1]))
        if not left._schema.index[-1].symmetric:
            refuse("a row compared with what is no row: write row.number")
        return BoolExpr(graph.equal(left._index[-1], node_of(right, left._index[-1])))

    def _require_family(self, member: Entity, index_set: IndexSet) -> None:
        """A member or row stands for itself alone, never for the one elsewhere of its number."""
        own = member._schema.index[-1]
        if own is not index_set:
            refuse(f"a member of {own.name} where one of {index_set.name} is needed")

    def differs(self, left: Place, right: object) -> Any:
        return BoolExpr(graph.negation(self.same(left, right)._node))
