"""The compiled expansion: the same ground actions as machine code, for searches that take long.

NumPy programs start at once and are quick enough for small searches; compiling takes some tenths of
a second, and then states are expanded several times as fast: a guard stops at its first false part,
and steps leave in the order of traces without being sorted. The code runs without the
interpreter lock. It must give what `VectorisedEngine.expand` gives, and a law says so.
"""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from checker.core.engines.agreement import require_same_steps
from checker.core.engines.background import Background
from checker.core.engines.layout import BitField, Layout, Words
from checker.core.engines.machine_code import (
    Expressions,
    SwitchOver,
    Written,
    packed_words,
)
from checker.core.engines.misfit import misfit
from checker.core.engines.vectorised import Successors, VectorisedEngine
from checker.core.native.builder import (
    NUMBER,
    NUMBERS,
    SHORT,
    SHORTS,
    WORD,
    WORDS,
    Builder,
    Operand,
)
from checker.core.native.object_code import PLAIN, ObjectCode
from model.language import graph
from model.language.graph import BOOL, Node, Op
from model.language.ground import GroundAction
from model.language.protocol import Model

_COMPARED = 256  # states
_SPARE = 1.25  # times the steps of a batch: room for those of the next one
_EAGER = 3  # a part of this many guards is worth computing before any of them


class Expander(SwitchOver[[Words], Successors]):
    """Every enabled step of every state, in the order of traces: by programs, then machine code."""

    def __init__(
        self, engine: VectorisedEngine, background: Background | None, patience: float | None
    ) -> None:
        def write() -> Written[[Words], Successors]:
            assembly = _assembly(engine.actions, engine.layout)
            return Written([assembly], PLAIN, expand_by)

        def expand_by(codes: Sequence[ObjectCode]) -> Callable[[Words], Successors]:
            return CompiledExpansion(engine.model, engine.actions, engine.layout, *codes).expand

        def compare(expand: Callable[[Words], Successors], called: tuple[Any, ...]) -> None:
            require_same_steps(engine, called[0][:, :_COMPARED], expand)

        super().__init__(engine.expand, write, compare, background, patience)


class CompiledExpansion:
    """Expands packed states by machine code. Building one takes a while; see `Unsupported`."""

    def __init__(
        self,
        model: Model,
        actions: Sequence[GroundAction],
        layout: Layout,
        code: ObjectCode | None = None,
    ) -> None:
        self._model = model
        self._layout = layout
        self._words = layout.words
        self._most = max(len(actions), 1)
        self._steps = 4.0  # of a state, for which there is room: as many as lately, and some more
        self._code = code or ObjectCode(_assembly(actions, layout), PLAIN)
        pointer, long = ctypes.c_void_p, ctypes.c_int64
        self._function = self._code.function(
            "expand", long, pointer, long, long, pointer, pointer, pointer, long, pointer
        )

    def expand(self, words: Words) -> Successors:
        """Every enabled step of every state, as `VectorisedEngine.expand` gives them."""
        if words.shape[1] and words.strides[1] != words.itemsize:
            words = np.ascontiguousarray(words)
        parts, done = [], 0
        room = int(self._steps * words.shape[1]) + self._most
        while done < words.shape[1]:
            part, taken = self._expand_some(words[:, done:], room)
            rows = part.rows + np.int32(done) if done else part.rows
            parts.append(Successors(rows, part.instances, part.words))
            done += taken
        most = _SPARE * sum(part.count for part in parts) / max(done, 1)
        self._steps = max(most, 0.9 * self._steps)
        if len(parts) == 1:
            return parts[0]
        return Successors(
            np.concatenate([p.rows for p in parts] or [np.empty(0, np.int32)]),
            np.concatenate([p.instances for p in parts] or [np.empty(0, np.uint16)]),
            np.concatenate([p.words for p in parts] or [words[:, :0]], axis=1),
        )

    def _expand_some(self, words: Words, room: int) -> tuple[Successors, int]:
        """The steps of as many states as surely fit `room`; how many states that were."""
        rows = np.empty(room, np.int32)
        instances = np.empty(room, np.uint16)
        out = np.empty((self._words, room), np.uint64)
        # States expanded; an instance that does not fit, and the row of the state.
        report = np.array([0, -1, 0], np.int64)
        count = self._function(
            words.ctypes.data, words.strides[0] // 8, words.shape[1],
            rows.ctypes.data, instances.ctypes.data, out.ctypes.data, room, report.ctypes.data,
        )  # fmt: skip
        taken, number, row = report.tolist()
        if number >= 0:
            (state,) = self._layout.unpack(words[:, [row]])
            raise misfit(self._model, state, self._model.instances[number])
        return Successors(rows[:count], instances[:count], out[:, :count]), taken


def _assembly(actions: Sequence[GroundAction], layout: Layout) -> str:
    return _Generator(actions, layout).text


class _Generator:
    """Writes one function: for each state, try each action instance, and emit its step."""

    def __init__(self, actions: Sequence[GroundAction], layout: Layout) -> None:
        self._layout = layout
        self._builder = Builder(
            "expand", WORD, [WORDS, WORD, WORD, NUMBERS, SHORTS, WORDS, WORD, WORDS]
        )
        self._build(actions)

    @property
    def text(self) -> str:
        """The function."""
        return self._builder.text

    def _build(self, actions: Sequence[GroundAction]) -> None:
        builder = self._builder
        source, stride, states, *_, room, report = builder.arguments
        self._count, state = builder.variable(WORD), builder.variable(WORD)
        builder.store(WORD(0), self._count)
        builder.store(WORD(0), state)
        head, body, end = builder.label(), builder.label(), builder.label()
        builder.branch(head)

        builder.begin(head)
        row = builder.load(state)
        fits = builder.signed(
            "<=", builder.add(builder.load(self._count), WORD(len(actions))), room
        )
        more = builder.signed("<", row, states)
        builder.cbranch(builder.and_(more, fits), body, end)

        builder.begin(body)
        self._row = row
        self._before = packed_words(builder, source, stride, row, self._layout.words)
        self._value = Expressions(self._layout, builder, [self._before]).value
        self._shared: dict[Node, Operand] = {}
        self._compute_shared(actions)
        for action in actions:
            self._action(action)
        builder.store(builder.add(row, WORD(1)), state)
        builder.branch(head)

        builder.begin(end)
        builder.store(builder.load(state), report)
        builder.ret(builder.load(self._count))

    def _compute_shared(self, actions: Sequence[GroundAction]) -> None:
        """Evaluate what several guards need where all of them can use it."""
        uses: Counter[Node] = Counter()
        for action in actions:
            uses.update(graph.in_order([action.guard]))  # in the same order in each run
        for node, times in uses.items():
            if times >= _EAGER:
                self._value(node, self._shared)

    def _action(self, action: GroundAction) -> None:
        builder = self._builder
        after = builder.label()
        known = _Scope(self._shared)
        guard = action.guard
        for part in guard.args if guard.op is Op.AND else (guard,):
            holds = builder.label()
            builder.cbranch(self._value(part, known), holds, after)
            builder.begin(holds)
        if action.misfit is not graph.FALSE:
            self._note_misfit(action, known)
        self._emit(action, known)
        builder.branch(after)
        builder.begin(after)

    def _note_misfit(self, action: GroundAction, known: _Scope) -> None:
        builder = self._builder
        report = builder.arguments[-1]
        with builder.unlikely(self._value(action.misfit, known)):
            builder.store(WORD(action.instance.number), builder.element(report, WORD(1)))
            builder.store(self._row, builder.element(report, WORD(2)))

    def _emit(self, action: GroundAction, known: _Scope) -> None:
        """Write the step: its row, its instance, and the packed state after it."""
        builder = self._builder
        _, _, _, rows, instances, out, room, _ = builder.arguments
        count = builder.load(self._count)
        for w, word in enumerate(self._after(action, known)):
            place = builder.add(builder.mul(room, WORD(w)), count)
            builder.store(word, builder.element(out, place))
        builder.store(builder.trunc(self._row, NUMBER), builder.element(rows, count))
        number = SHORT(action.instance.number)
        builder.store(number, builder.element(instances, count))
        builder.store(builder.add(count, WORD(1)), self._count)

    def _after(self, action: GroundAction, known: _Scope) -> list[Operand]:
        builder = self._builder
        clear = [0] * self._layout.words
        put = [0] * self._layout.words
        moved: list[tuple[BitField, Node]] = []
        for position, node in action.assignments.items():
            field = self._layout.fields[position]
            clear[field.word] |= field.mask << field.shift
            if node.op is Op.CONST:
                put[field.word] |= (int(node.data) - field.low) << field.shift
            elif field.bits:
                moved.append((field, node))
        words = [
            builder.or_(builder.and_(word, WORD(~c & 0xFFFFFFFFFFFFFFFF)), WORD(p))
            for word, c, p in zip(self._before, clear, put, strict=True)
        ]
        for field, node in moved:
            value = self._value(node, known)
            if node.sort is not BOOL and field.low:
                value = builder.sub(value, NUMBER(field.low))
            wide = builder.and_(builder.zext(value, WORD), WORD(field.mask))
            words[field.word] = builder.or_(words[field.word], builder.shl(wide, WORD(field.shift)))
        return words


class _Scope(dict[Node, Operand]):
    """Values known in one action's code, on top of those known before all actions."""

    def __init__(self, outer: dict[Node, Operand]) -> None:
        super().__init__()
        self._outer = outer

    def get(self, node: Node, default: Any = None) -> Any:
        return super().get(node) or self._outer.get(node, default)
