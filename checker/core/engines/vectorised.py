"""The vectorised engine: the captured graph as straight-line NumPy programs over packed states.

A batch of states is expanded at once. Guards run on all of it, with everything that actions share
evaluated once; an action's effects run only on the rows that enable it, and write bit fields.
Programs are generated as Python source, one assignment a node, in a fixed order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from types import CodeType
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from checker.core.engines.layout import Layout, Words
from checker.core.engines.misfit import misfit
from checker.core.native.kernel import kernel
from model.language import graph
from model.language.errors import DomainError
from model.language.graph import BOOL, Node, Op
from model.language.ground import GroundAction
from model.language.protocol import Model
from properties import Property

Booleans = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Successors:
    """The enabled steps of a batch, ordered by (row, instance): the order of traces.

    `rows[i]` is the state of the batch that step i starts from, `instances[i]` the number of the
    action instance in `Model.instances`, `words[:, i]` the packed state it leads to.
    """

    rows: Rows
    instances: npt.NDArray[np.uint16]
    words: Words

    @property
    def count(self) -> int:
        """How many steps there are."""
        return len(self.rows)

    def first(self, count: int) -> Successors:
        """The first `count` of the steps."""
        return Successors(self.rows[:count], self.instances[:count], self.words[:, :count])

    def only(self, kept: Booleans) -> Successors:
        """Those of the steps that are kept."""
        return Successors(self.rows[kept], self.instances[kept], self.words[:, kept])


class VectorisedEngine:
    """Runs a model on packed batches of states.

    `actions` replaces the model's own ground actions; they must be in the order of instances. Such
    an engine is meant to differ from the model: `is_of_model` is false.
    """

    def __init__(self, model: Model, actions: Sequence[GroundAction] | None = None) -> None:
        self.model = model
        self.layout = Layout(model)
        self.is_of_model = actions is None
        self.actions = model.ground_actions if actions is None else actions
        self._guards = compile_masks([action.guard for action in self.actions], self.layout)
        self._effects: list[Effect | None] = [None] * len(self.actions)

    @property
    def instances(self) -> list[int]:
        """The numbers of the action instances that some state might enable."""
        return [action.instance.number for action in self.actions]

    def expand(self, words: Words) -> Successors:
        """Every enabled step of every state. Raises `DomainError` for a value that does not fit."""
        rows, instances, parts = [], [], []
        for number, mask in enumerate(self._guards(words)):
            chosen = np.flatnonzero(mask)
            if len(chosen):
                rows.append(chosen)
                instances.append(self.actions[number].instance.number)
                parts.append(self._effect(number)(words.take(chosen, axis=1)))
        if not rows:
            nothing = np.empty(0, np.int32)
            return Successors(nothing, nothing.astype(np.uint16), words[:, :0])
        all_rows = np.concatenate(rows).astype(np.int32)
        all_instances = np.repeat(np.array(instances, np.uint16), [len(r) for r in rows])
        order = _by_row(all_rows, words.shape[1])
        return Successors(
            all_rows.take(order),
            all_instances.take(order),
            np.concatenate(parts, axis=1).take(order, axis=1),
        )

    def _effect(self, number: int) -> Effect:
        effect = self._effects[number]
        if effect is None:
            effect = self._effects[number] = Effect(self.actions[number], self.layout)
        return effect

    def follow(self, words: Words, places: npt.NDArray[np.int64]) -> Words:
        """Each state after the one step that is chosen for it.

        `places[i]`, a place in `instances`, must be enabled in state i; -1 leaves the state as it
        is. Raises `DomainError` for a value that does not fit.
        """
        result = words.copy()
        order = np.argsort(places, kind="stable")
        cuts = np.searchsorted(places[order], np.arange(len(self.actions) + 1))
        for number in np.flatnonzero(np.diff(cuts)):
            chosen = order[cuts[number] : cuts[number + 1]]
            result[:, chosen] = self._effect(int(number))(words.take(chosen, axis=1))
        return result

    def enabled(self, words: Words) -> dict[int, Booleans]:
        """For each action instance that may be enabled, which states enable it."""
        return dict(zip(self.instances, self._guards(words), strict=True))

    def claims(self, properties: Iterable[Property]) -> Claims:
        """A program that evaluates the claims of properties that take the same number of states."""
        return self.judging(self.model.ground_claim(prop.claim, prop.frames) for prop in properties)

    def judging(self, nodes: Iterable[Node]) -> Claims:
        """A program that evaluates grounded claims together."""
        return Claims(list(nodes), self.layout)


class Claims:
    """Claims compiled together; calling it gives, for each, where it is true."""

    def __init__(self, nodes: list[Node], layout: Layout) -> None:
        self.nodes = nodes
        self.layout = layout
        self._program = compile_masks(nodes, layout)

    def __call__(self, words: Words, after: Words | None = None) -> list[Booleans]:
        """One mask a claim, each of one boolean a state (or a step, given the states after)."""
        return self._program(words, after)


class Effect:
    """What an action instance does to packed states that enable it."""

    def __init__(self, action: GroundAction, layout: Layout) -> None:
        self._action = action
        self._layout = layout
        self._constant: dict[int, tuple[int, int]] = {}
        self._fields = []
        nodes: list[Node] = []
        for position, node in action.assignments.items():
            field = layout.fields[position]
            if field.bits == 0:
                continue
            clear, put = self._constant.get(field.word, (0, 0))
            clear |= field.mask << field.shift
            if node.op is Op.CONST:
                put |= (int(node.data) - field.low) << field.shift
            else:
                self._fields.append((field, node.sort is BOOL))
                nodes.append(node)
            self._constant[field.word] = (clear, put)
        wrong = [action.misfit] if action.misfit is not graph.FALSE else []
        self._program = compile_program(nodes + wrong, layout)
        self._checked = bool(wrong)

    def __call__(self, words: Words) -> Words:
        """The states after the action; `words` is left as it is."""
        values = self._program(words, None)
        if self._checked:
            wrong = np.broadcast_to(values[-1], words.shape[1:])
            if np.any(wrong):
                (state,) = self._layout.unpack(words[:, [int(wrong.argmax())]])
                raise misfit(self._layout.model, state, self._action.instance)
        result = words.copy()
        for word, (clear, put) in self._constant.items():
            result[word] &= np.uint64(~clear & 0xFFFFFFFFFFFFFFFF)
            if put:
                result[word] |= np.uint64(put)
        for (field, boolean), value in zip(self._fields, values, strict=False):
            if boolean:
                raw = value.astype(np.uint64)
            else:
                raw = (value.astype(np.int64) - field.low).astype(np.uint64)
            result[field.word] |= raw << np.uint64(field.shift)
        return result


def _by_row(rows: Rows, count: int) -> npt.NDArray[np.int64]:
    """The stable order of steps by row."""
    order = np.empty(len(rows), np.int64)
    _sort_by_row(rows, np.zeros(count + 1, np.int64), order)
    return order


@kernel
def _sort_by_row(rows: Rows, place: npt.NDArray[np.int64], order: npt.NDArray[np.int64]) -> None:
    """A counting sort; `place` begins as zeros, one for each row and one more."""
    for i in range(len(rows)):
        place[rows[i] + 1] += 1
    for row in range(len(place) - 1):
        place[row + 1] += place[row]
    for i in range(len(rows)):
        order[place[rows[i]]] = i
        place[rows[i]] += 1


# --- code generation ----------------------------------------------------------------------------

Program = Callable[[Words, Words | None], list[Any]]

_INFIX = {
    Op.EQ: "{} == {}",
    Op.LT: "{} < {}",
    Op.LE: "{} <= {}",
    Op.BITAND: "{} & {}",
    Op.BITOR: "{} | {}",
}
_CALLS = {Op.ADD: "np.add", Op.SUB: "np.subtract", Op.MIN: "np.minimum", Op.MAX: "np.maximum"}


@cache
def number_type(low: int, high: int) -> type[np.signedinteger[Any]]:
    """The smallest signed type that holds every number from `low` to `high`."""
    for candidate in (np.int8, np.int16, np.int32, np.int64):
        if np.iinfo(candidate).min <= low and high <= np.iinfo(candidate).max:
            return candidate
    raise DomainError(f"numbers from {low} to {high} do not fit 64 bits")


def _type_of(node: Node) -> str:
    if node.sort is BOOL:
        return "bool_"
    assert node.low is not None and node.high is not None
    return number_type(node.low, node.high).__name__


def _operand(node: Node, names: dict[Node, str], wide: str) -> str:
    if node.op is Op.CONST:
        return f"np.{wide}({node.data})" if node.sort is not BOOL else str(node.data)
    return names[node]


def _expression(node: Node, names: dict[Node, str]) -> str:
    """The source of one node over the names of its arguments."""
    if node.op in (Op.AND, Op.OR):
        sign = " & " if node.op is Op.AND else " | "
        return sign.join(names[arg] for arg in node.args)
    if node.op is Op.NOT:
        return f"~{names[node.args[0]]}"
    if node.op is Op.ITE:
        condition, then, otherwise = node.args
        wide = _type_of(node)
        values = f"{_operand(then, names, wide)}, {_operand(otherwise, names, wide)}"
        return f"np.where({names[condition]}, {values})"
    low = min(arg.low for arg in node.args if arg.low is not None)
    high = max(arg.high for arg in node.args if arg.high is not None)
    wide = number_type(low, high).__name__
    parts = [_operand(arg, names, wide) for arg in node.args]
    if node.op in _CALLS:
        return f"{_CALLS[node.op]}({', '.join(parts)}, dtype=np.{_widest(node, wide)})"
    return _INFIX[node.op].format(*parts)


def _widest(node: Node, operands: str) -> str:
    return max(_type_of(node), operands, key=lambda name: np.dtype(name).itemsize)


def _unpack(node: Node, layout: Layout) -> str:
    frame, position, _, _ = node.data
    field = layout.fields[position]
    source = "after" if frame else "words"
    if field.bits == 0:
        value = bool(field.low) if node.sort is BOOL else field.low
        return f"np.full({source}.shape[1], {value}, np.{_type_of(node)})"
    raw = f"({source}[{field.word}] >> u64({field.shift})) & u64({field.mask})"
    if node.sort is BOOL:
        return f"({raw}).astype(np.bool_)"
    wide = _type_of(node)
    shifted = f"({raw}).astype(np.{wide})"
    if wide == "int8" and field.mask > 127:
        shifted = f"({raw}).astype(np.int16)"
        return f"({shifted} + np.int16({field.low})).astype(np.int8)"
    return f"{shifted} + np.{wide}({field.low})" if field.low else shifted


def compile_program(roots: list[Node], layout: Layout) -> Program:
    """A function of packed states that gives one array for each root, or a scalar for constants."""
    nodes = graph.in_order(roots)
    names = {node: f"v{number}" for number, node in enumerate(nodes)}
    last_use: dict[Node, int] = {}
    for number, node in enumerate(nodes):
        for arg in node.args:
            last_use[arg] = number
    kept = set(roots)
    lines = []
    for number, node in enumerate(nodes):
        source = _unpack(node, layout) if node.op is Op.CELL else _expression(node, names)
        lines.append(f"    {names[node]} = {source}")
        dead = [a for a in set(node.args) if last_use[a] == number and a not in kept and a in names]
        if dead:
            lines.append(f"    del {', '.join(sorted(names[a] for a in dead))}")
    results = ", ".join(_result(root, names) for root in roots)
    body = "\n".join(["def program(words, after):", *lines, f"    return [{results}]"])
    scope: dict[str, Any] = {"np": np, "u64": np.uint64}
    exec(_code(body), scope)
    return cast(Program, scope["program"])


@lru_cache(maxsize=1024)
def _code(body: str) -> CodeType:
    """Many searches of one model in a process compile its programs once."""
    return compile(body, "<vectorised program>", "exec")


def _result(root: Node, names: dict[Node, str]) -> str:
    if root.op is not Op.CONST:
        return names[root]
    return f"np.{_type_of(root)}({root.data})"


def compile_masks(roots: list[Node], layout: Layout) -> Callable[..., list[Booleans]]:
    """Like `compile_program` for conditions, with constants spread over all states."""
    program = compile_program(roots, layout)
    spread = [number for number, root in enumerate(roots) if root.op is Op.CONST]

    def masks(words: Words, after: Words | None = None) -> list[Booleans]:
        results = program(words, after)
        for number in spread:
            results[number] = np.full(words.shape[1], bool(results[number]))
        return results

    return masks
