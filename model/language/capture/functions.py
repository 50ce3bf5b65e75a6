"""Functions as expressions: of an action, a protocol's start or a claim, run on symbolic values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from model.language import graph
from model.language.capture.captured import CapturedAction, Write
from model.language.capture.expr import BoolExpr, IntExpr, node_of
from model.language.capture.lint import Watch
from model.language.capture.recall import recalled
from model.language.capture.recorder import Capture
from model.language.capture.symbolic import SymbolicStore
from model.language.declare.domains import Integers, Reference
from model.language.declare.schema import Schema
from model.language.declare.settings import Noted
from model.language.errors import CaptureError
from model.language.graph import INT, Node
from model.language.refusal import refuse


@dataclass(frozen=True)
class Parameter:
    """A parameter of an action: its name, and the domain or family that it ranges over."""

    name: str
    domain: Integers | Reference


def capture_action(
    name: str,
    function: Callable[..., None],
    schema: Schema,
    settings: Any,
    parameters: tuple[Parameter, ...],
) -> CapturedAction:
    """Run an action function on symbolic values; `CaptureError` where that is not possible."""

    def anew(noted: Noted) -> tuple[CapturedAction, Watch]:
        capture = Capture()
        store = SymbolicStore(schema, noted, capture)
        variables, arguments = _parameters(name, store, parameters)
        if capture.run(function, store.view(schema.root, ()), *arguments) is not None:
            raise CaptureError(f"action {name} returns a value: it should assign to the state")
        guards, writes = tuple(capture.guards), tuple(capture.writes)
        return CapturedAction(name, variables, guards, writes), capture.watch

    return recalled(schema, (name, function, parameters), settings, anew)


def _parameters(
    name: str, store: SymbolicStore, parameters: tuple[Parameter, ...]
) -> tuple[tuple[Node, ...], list[Any]]:
    """The parameters of an action as variables, and as what its function is called with."""
    variables: list[Node] = []
    arguments: list[Any] = []
    for parameter in parameters:
        if isinstance(parameter.domain, Reference):
            family = store.schema.families[parameter.domain.family]
            like = family.index_set.variable(parameter.name)
            node = store.capture.parameter(parameter.name, like.sort, family.index_set.name)
            arguments.append(store.view(family.item, (node,)))
        else:
            over = f"{name}({parameter.name})"  # no index set is called so
            node = store.capture.parameter(parameter.name, INT, over)
            arguments.append(IntExpr(node))
        variables.append(node)
    return tuple(variables), arguments


def capture_fact(
    function: Callable[[Any], bool],
    argument: int | None,
    schema: Schema,
    parameters: tuple[Parameter, ...],
) -> Node:
    """What a function says of one argument of an action, by its place, or of the state."""
    capture = Capture()
    store = SymbolicStore(schema, None, capture)
    _, arguments = _parameters("", store, parameters)
    about = store.view(schema.root, ()) if argument is None else arguments[argument]
    return node_of(capture.run(function, about), graph.TRUE)


def capture_start(
    function: Callable[[Any], None] | None, schema: Schema, settings: Any
) -> tuple[Write, ...]:
    """What a protocol's start assigns, over the blank state; nothing without one."""
    if function is None:
        return ()
    capture = Capture()
    capture.run(function, SymbolicStore(schema, settings, capture).view(schema.root, ()))
    if capture.guards:
        raise CaptureError("a protocol's start requires something: it should only assign")
    return tuple(capture.writes)


def _kind(value: object) -> str:
    return "number" if isinstance(value, int | IntExpr) else type(value).__name__


def capture_property(
    function: Callable[..., bool], schema: Schema, settings: Any, frames: int = 1
) -> Node:
    """The captured claim of a property: of one state, or with `frames` 2 of a step."""
    capture = Capture()
    views = [
        SymbolicStore(schema, settings, capture, frame).view(schema.root, ())
        for frame in range(frames)
    ]
    found = capture.run(function, *views)
    if not isinstance(found, bool | BoolExpr):
        code = function.__code__
        what = "nothing" if found is None else f"a {_kind(found)}"
        refuse(
            f"the claim {function.__name__} returns {what}: it should return whether it holds",
            (code.co_filename, code.co_firstlineno),
        )
    claim = node_of(found, graph.TRUE)
    if capture.guards or capture.writes:
        name = getattr(function, "__name__", "claim")
        raise CaptureError(f"property {name} requires or assigns: it should return a claim")
    if claim.free:
        refuse("a value of a loop variable is used outside its loop")
    return claim
