"""Random protocols: guards, effects, loops and quantifiers over a state with one of everything.

An expression is drawn as text and compiled as an ordinary function in the modelling language, so a
failing example shows the protocol as a user would write it. What is drawn is well typed; an effect
may well assign what does not fit its variable's domain, since engines must agree on that too.
"""

from __future__ import annotations

import inspect
import itertools
import linecache
import types
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any, TypeVar

from hypothesis import strategies as st

import model.language
from model.language import Action, Annotated, Protocol, SetOf, everybody, integers, nobody, setting
from model.language.protocol import Model
from properties import Property
from properties.claims import Sense
from tests.support.lab import NODES, ROWS, SIZE, Lab, Node, Row

_LANGUAGE = {name: getattr(model.language, name) for name in model.language.__all__}
_DEPTH = 3
T = TypeVar("T")
_files = count()


@dataclass(frozen=True)
class Scope:
    """The names that an expression may use, by what they are, and the root that it reads."""

    root: str = "s"
    nodes: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    own: str | None = None  # inside a loop: reads of nodes are of this one alone

    def with_node(self, name: str) -> Scope:
        return Scope(self.root, (*self.nodes, name), self.rows, self.numbers, self.own)

    def with_row(self, name: str) -> Scope:
        return Scope(self.root, self.nodes, (*self.rows, name), self.numbers, self.own)

    def with_number(self, name: str) -> Scope:
        return Scope(self.root, self.nodes, self.rows, (*self.numbers, name), self.own)

    @property
    def fresh(self) -> str:
        return f"v{len(self.nodes) + len(self.rows) + len(self.numbers)}"


@dataclass(frozen=True)
class Example:
    """A generated model with properties of its states and steps; `text` is how it reads."""

    model: Model
    properties: tuple[Property, ...]
    text: str

    def __repr__(self) -> str:
        return f"bounds {dict(self.model.bounds)}\n{self.text}"


class Writer:
    """Draws expressions and statements as text."""

    def __init__(self, draw: Callable[..., Any], extra: dict[str, str]) -> None:
        self.draw = draw
        self.extra = extra  # further variables of the root: their kinds

    def pick(self, *choices: T) -> T:
        place: int = self.draw(st.integers(0, len(choices) - 1))
        return choices[place]

    def of_kind(self, kind: str, root: str) -> list[str]:
        return [f"{root}.{name}" for name, found in self.extra.items() if found == kind]

    def readable(self, scope: Scope) -> tuple[str, ...]:
        """The nodes whose variables may be read here."""
        return scope.nodes if scope.own is None else (scope.own,)

    # --- booleans ---

    def boolean(self, scope: Scope, depth: int = _DEPTH) -> str:
        if depth == 0:
            return self.pick(*self._plain_booleans(scope))
        forms = [self._compare, self._junction, self._negation, self._quantifier, self._set_test]
        forms += [self._reference_test, self._conditional_boolean, self._sequence_test]
        return self.pick(*forms)(scope, depth - 1)

    def _plain_booleans(self, scope: Scope) -> list[str]:
        r = scope.root
        found = [f"({r}.flag == True)", *self.of_kind("bool", r)]
        found += [f"{n}.flag" for n in self.readable(scope)]
        found += [f"{n}.items.is_full" for n in self.readable(scope)]
        found += [f"{w}.mark" for w in scope.rows]
        found += [f"{w}.votes[{n}]" for w in scope.rows for n in scope.nodes]
        found += [f"{r}.group.contains({n})" for n in scope.nodes]
        found += [f"is_none({r}.chosen)", f"({r}.n < {r}.desk.m)"]
        return found

    def _compare(self, scope: Scope, depth: int) -> str:
        sign = self.pick("<", "<=", "==", "!=", ">", ">=")
        return f"({self.number(scope, depth)} {sign} {self.number(scope, depth)})"

    def _junction(self, scope: Scope, depth: int) -> str:
        name = self.pick("all_of", "any_of", "implies")
        return f"{name}({self.boolean(scope, depth)}, {self.boolean(scope, depth)})"

    def _negation(self, scope: Scope, depth: int) -> str:
        return f"not_({self.boolean(scope, depth)})"

    def _conditional_boolean(self, scope: Scope, depth: int) -> str:
        parts = [self.boolean(scope, depth) for _ in range(3)]
        return f"choose({', '.join(parts)})"

    def _quantifier(self, scope: Scope, depth: int) -> str:
        name = self.pick("every", "some")
        inner, over = self._binder(scope)
        return f"{name}({self.boolean(inner, depth)} for {scope.fresh} in {over})"

    def _binder(self, scope: Scope) -> tuple[Scope, str]:
        """A scope with one more variable, and what that variable ranges over."""
        r, name = scope.root, scope.fresh
        options = [("row", f"{r}.rows")]
        if scope.own is None:
            options += [("node", f"{r}.nodes"), ("node", f"{r}.group")]
            options += [("node", f"{n}.group") for n in scope.nodes]
        options += [("number", f"{n}.items.positions") for n in self.readable(scope)]
        kind, over = self.pick(*options)
        grown = {"row": scope.with_row, "node": scope.with_node, "number": scope.with_number}
        return grown[kind](name), over

    def _set_test(self, scope: Scope, depth: int) -> str:
        group = self.group(scope, depth)
        options = [f"{group}.is_empty", f"({group} == {self.group(scope, depth)})"]
        options.append(f"{group}.includes({self.group(scope, depth)})")
        options.append(f"is_majority({group}, of={self.group(scope, depth)})")
        options += [f"{group}.contains({n})" for n in scope.nodes]
        return self.pick(*options)

    def _reference_test(self, scope: Scope, depth: int) -> str:
        a = self.reference(scope, depth)
        options = [f"is_none({a})", f"({a} == {self.reference(scope, depth)})"]
        options += [f"({a} {sign} {n})" for n in scope.nodes for sign in ("==", "!=")]
        options += [f"({m} == {n})" for m in scope.nodes for n in scope.nodes if m < n]
        return self.pick(*options)

    def _sequence_test(self, scope: Scope, depth: int) -> str:
        readable = self.readable(scope)
        if not readable:
            return self.boolean(scope, 0)
        n, k = self.pick(*readable), self.number(scope, depth)
        return self.pick(f"{n}.items.has({k})", f"{n}.items.is_empty", f"{n}.items[{k}].mark")

    # --- numbers ---

    def number(self, scope: Scope, depth: int) -> str:
        if depth == 0:
            return self.pick(*self._plain_numbers(scope))
        return self.pick(
            self._arithmetic, self._extreme, self._conditional_number, self._counted, self._indexed
        )(scope, depth - 1)

    def _plain_numbers(self, scope: Scope) -> list[str]:
        r = scope.root
        found = [f"{r}.n", f"{r}.desk.m", f"{r}.rows.count", "1", "0", "2", f'{r}.bound("size")']
        found += self.of_kind("int", r)
        found += [f"{n}.x" for n in self.readable(scope)]
        found += [f"{n}.items.end" for n in self.readable(scope)]
        found += [f"{w}.value" for w in scope.rows] + [f"{w}.number" for w in scope.rows]
        return found + list(scope.numbers) + [f"{r}.group.size"]

    def _arithmetic(self, scope: Scope, depth: int) -> str:
        return f"({self.number(scope, depth)} {self.pick('+', '-')} {self.number(scope, depth)})"

    def _extreme(self, scope: Scope, depth: int) -> str:
        name = self.pick("minimum", "maximum")
        return f"{name}({self.number(scope, depth)}, {self.number(scope, depth)})"

    def _conditional_number(self, scope: Scope, depth: int) -> str:
        condition = self.boolean(scope, depth)
        return f"choose({condition}, {self.number(scope, depth)}, {self.number(scope, depth)})"

    def _counted(self, scope: Scope, depth: int) -> str:
        r, name = scope.root, scope.fresh
        if scope.own is not None or self.draw(st.booleans()):
            inner, over = scope.with_row(name), f"{r}.rows"
        else:
            inner, over = scope.with_node(name), f"{r}.nodes"
        if self.draw(st.booleans()):
            return f"count({self.boolean(inner, depth)} for {name} in {over})"
        kind = self.pick("largest", "smallest")
        return f"{kind}({self.number(inner, depth)} for {name} in {over})"

    def _indexed(self, scope: Scope, depth: int) -> str:
        k = self.number(scope, depth)
        options = [f"{scope.root}.rows[{k}].value"]
        options += [f"{n}.items[{k}].tag" for n in self.readable(scope)]
        return self.pick(*options)

    # --- references and sets ---

    def reference(self, scope: Scope, depth: int) -> str:
        r = scope.root
        options = [f"{r}.chosen", f"{r}.desk.owner"]
        options += [f"{n}.friend" for n in self.readable(scope)]
        if depth > 0:
            other = self.pick(*options, *scope.nodes, "None")
            options.append(f"choose({self.boolean(scope, depth - 1)}, {options[0]}, {other})")
        return self.pick(*options)

    def group(self, scope: Scope, depth: int) -> str:
        r = scope.root
        plain = [f"{r}.group", f"{r}.nodes.none()", f"{r}.nodes.all()", *self.of_kind("set", r)]
        plain += [f"{r}.nodes.only({n})" for n in scope.nodes]
        plain += [f"{n}.group" for n in self.readable(scope)] + [f"{w}.isr" for w in scope.rows]
        if depth == 0:
            return self.pick(*plain)
        a, b = self.pick(*plain), self.pick(*plain)
        options = [f"{a}.{name}({b})" for name in ("union", "intersection", "minus")]
        for n in scope.nodes:
            options += [f"{a}.with_member({n})", f"{a}.without_member({n})"]
        if scope.own is None:
            inner = scope.with_node(scope.fresh)
            condition = self.boolean(inner, depth - 1)
            options.append(f"{r}.nodes.where(lambda {scope.fresh}: {condition})")
        return self.pick(*options)

    # --- statements ---

    def statement(self, scope: Scope) -> list[str]:
        r, depth = scope.root, 2
        forms: list[Callable[[], list[str]]] = [
            lambda: [f"{r}.n = {self.number(scope, depth)}"],
            lambda: [f"{r}.flag = {self.boolean(scope, depth)}"],
            lambda: [f"{r}.chosen = {self.reference(scope, depth)}"],
            lambda: [f"{r}.group = {self.group(scope, depth)}"],
            lambda: [f"{r}.desk.m = {self.number(scope, depth)}"],
            lambda: [f"{r}.rows[{self.number(scope, 1)}].value = {self.number(scope, 1)}"],
            lambda: self._loop(scope),
        ]
        for name, kind in self.extra.items():
            draw = {"int": self.number, "bool": self.boolean, "set": self.group}[kind]
            forms.append(partial(self._assigned, f"{r}.{name}", draw, scope, depth))
        for n in scope.nodes:
            forms += self._of_node(scope, n)
        for w in scope.rows:
            forms.append(partial(self._assigned, f"{w}.mark", self.boolean, scope, depth))
            forms.append(partial(self._assigned, f"{w}.isr", self.group, scope, depth))
            forms += [
                partial(self._assigned, f"{w}.votes[{n}]", self.boolean, scope, 1)
                for n in scope.nodes
            ]
        chosen: list[str] = self.pick(*forms)()
        return chosen

    def _assigned(self, place: str, draw: Callable[..., str], *at: Any) -> list[str]:
        return [f"{place} = {draw(*at)}"]

    def _of_node(self, scope: Scope, n: str) -> list[Callable[[], list[str]]]:
        return [
            lambda: [f"{n}.x = {self.number(scope, 2)}"],
            lambda: [f"{n}.flag = {self.boolean(scope, 2)}"],
            lambda: [f"{n}.friend = {self.reference(scope, 2)}"],
            lambda: [f"{n}.group = {self.group(scope, 2)}"],
            lambda: [
                f"{n}.items.append(tag={self.number(scope, 1)}, mark={self.boolean(scope, 1)})"
            ],
            lambda: [f"{n}.items.truncate_to({self.number(scope, 1)})"],
            lambda: [f"{n}.items[{self.number(scope, 1)}].tag = {self.number(scope, 1)}"],
        ]

    def _loop(self, scope: Scope) -> list[str]:
        """A loop over members; mostly each assigns its own variables from its own."""
        name = scope.fresh
        over = self.pick(f"{scope.root}.nodes", f"{scope.root}.group")
        grown = scope.with_node(name)
        own = self.pick(name, name, name, None)  # with none, capture may have to refuse the loop
        inner = Scope(scope.root, grown.nodes, grown.rows, grown.numbers, own)
        forms = self._of_node(inner, name)
        body = self.pick(*forms[:4], forms[-1])()
        return [f"for {name} in {over}:", *(f"    {line}" for line in body)]

    def _narrowing(self, scope: Scope) -> str:
        """A condition on parameters, bounds and settings alone: false of whole instances."""
        sign = self.pick("<", "<=", "==", "!=")
        options = [f'{scope.root}.bound("{name}") {sign} 2' for name in ("nodes", "rows")]
        options += [f"{scope.root}.settings.fence"]
        options += [f"{n} {sign} {self.pick('0', '1')}" for n in scope.numbers]
        options += [f"{w}.number {sign} {self.pick('0', '1')}" for w in scope.rows]
        pairs = list(itertools.combinations(scope.nodes, 2))
        apart = [f"{m} {self.pick('!=', '!=', '==')} {n}" for m, n in pairs]
        return self.pick(*options, *apart * 8)

    def function(self, name: str, parameters: dict[str, Any]) -> str:
        """An action: its guards, then its effects."""
        nodes = tuple(p for p, kind in parameters.items() if kind is Node)
        rows = tuple(p for p, kind in parameters.items() if kind is Row)
        numbers = tuple(p for p, kind in parameters.items() if kind not in (Node, Row))
        scope = Scope("s", nodes, rows, numbers)
        guards = self.draw(st.integers(0, 2))
        lines = [f"require({self.boolean(scope)})" for _ in range(guards)]
        if self.pick(False, True, True):
            lines.append(f"require({self._narrowing(scope)})")
        for _ in range(self.draw(st.integers(1, 3))):
            lines += self.statement(scope)
        head = f"def {name}({', '.join(['s', *parameters])}):"
        return "\n".join([head, *(f"    {line}" for line in lines)])


# --- examples -----------------------------------------------------------------------------------

_PARAMETERS = (Node, Node, Row, Annotated[int, integers(-1, 2)])


@dataclass(frozen=True)
class Choice:
    """The settings of generated protocols."""

    fence: bool = setting(True, "for tests")


@st.composite
def examples(draw: Callable[..., Any]) -> Example:
    """Models of one to three actions over `Lab` with further variables, and some properties."""
    extra, state = draw(_states())
    writer = Writer(draw, extra)
    texts, actions = [], []
    for number in range(draw(st.integers(1, 3))):
        kinds = draw(st.lists(st.sampled_from(_PARAMETERS), max_size=3))
        parameters = {f"p{k}": kind for k, kind in enumerate(kinds)}
        text = writer.function(f"act{number}", parameters)
        actions.append(action_of(text, f"act{number}", parameters))
        texts.append(text)
    properties = []
    for number in range(2):
        text = f"def claim{number}(s):\n    return {writer.boolean(Scope(), 3)}"
        properties.append(Property(f"claim{number}", "", compiled(text, f"claim{number}")))
        texts.append(text)
    before, after = writer.boolean(Scope("s"), 2), writer.boolean(Scope("t"), 2)
    text = f"def of_step(s, t):\n    return implies({before}, {after})"
    properties.append(
        Property("of_step", "", compiled(text, "of_step"), Sense.ALWAYS, of_steps=True)
    )
    texts.append(text)
    protocol = Protocol(
        "generated", "for tests", state, tuple(actions), (NODES, ROWS, SIZE), settings=Choice
    )
    sizes = {"nodes": draw(st.integers(1, 3)), "rows": draw(st.integers(1, 2)), "size": 1}
    model = protocol.model(sizes, {"fence": draw(st.booleans())})
    model = model.wide if draw(st.booleans()) else model
    return Example(model, tuple(properties), "\n\n".join(texts))


@st.composite
def _states(draw: Callable[..., Any]) -> tuple[dict[str, str], type[Lab]]:
    """`Lab` with up to three further variables of drawn domains."""
    annotations: dict[str, Any] = {}
    values: dict[str, Any] = {}
    kinds: dict[str, str] = {}
    for number in range(draw(st.integers(0, 3))):
        name, kind = f"e{number}", draw(st.sampled_from(["int", "bool", "set"]))
        kinds[name] = kind
        if kind == "int":
            low = draw(st.sampled_from([-200, -3, -1, 0, 1, 100]))
            high = low + draw(st.sampled_from([0, 1, 2, 6, 127, 128, 300]))
            annotations[name] = Annotated[int, integers(low, high)]
            values[name] = draw(st.integers(low, high))
        elif kind == "bool":
            annotations[name], values[name] = bool, draw(st.booleans())
        else:
            annotations[name] = SetOf[Node]
            values[name] = draw(st.sampled_from([nobody, everybody]))()
    body = {"__annotations__": annotations, "__module__": __name__, **values}
    state = types.new_class("Generated", (Lab,), exec_body=lambda space: space.update(body))
    return kinds, state


def action_of(text: str, name: str, parameters: dict[str, Any]) -> Action:
    function = compiled(text, name)
    function.__annotations__ = dict(parameters)
    assert list(inspect.signature(function).parameters)[1:] == list(parameters)
    return Action(name, function, name)


def compiled(text: str, name: str) -> Any:
    """The function that the text defines; errors in it show its lines."""
    file = f"<generated {next(_files)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space: dict[str, Any] = {**_LANGUAGE, "__name__": __name__}
    exec(compile(text, file, "exec"), space)
    return space[name]
