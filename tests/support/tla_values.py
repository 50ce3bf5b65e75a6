"""Values of exported TLA+ as they are evaluated: each of one kind, and variables of two states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

State = dict[str, Any]


@dataclass
class Place:
    """Where something is evaluated: local names, the state, and the one after as far as known."""

    state: State
    after: State | None = None
    local: dict[str, Any] = field(default_factory=dict)


Value = Callable[[Place], Any]


class Fresh(dict[str, Any]):
    """Init says what variables are where there is no state yet: the first mention of each."""

    def __init__(self, after: State) -> None:
        super().__init__()
        self._after = after

    def __missing__(self, name: str) -> Any:
        return Unset(self._after, name)


@dataclass
class Unset:
    after: State
    name: str


@dataclass
class Primed:
    """A variable of the state after."""

    place: Place
    name: str

    @property
    def value(self) -> Any:
        assert self.place.after is not None, "this is no step"
        return self.place.after.get(self.name, Unset(self.place.after, self.name))

    def becomes(self, value: Any) -> bool:
        return equal(self.value, value)


def equal(a: Any, b: Any) -> bool:
    if isinstance(a, Unset):
        assert a.name not in a.after, f"{a.name} is assigned twice"
        a.after[a.name] = b
        return True
    assert type(a) is type(b), f"{a!r} = {b!r} compares what is of two kinds"
    return bool(a == b)


def truth(value: Any) -> bool:
    assert isinstance(value, bool), f"{value!r} is no condition"
    return value


def number(value: Any) -> int:
    assert type(value) is int, f"{value!r} is no number"
    return value


def combined(sign: str, left: Value, right: Value) -> Value:
    if sign == "/\\":
        return lambda place: truth(left(place)) and truth(right(place))
    if sign == "\\/":
        return lambda place: truth(left(place)) or truth(right(place))
    if sign == "=>":
        return lambda place: not truth(left(place)) or truth(right(place))
    operations: dict[str, Callable[[Any, Any], Any]] = {
        "=": equal,
        "#": lambda a, b: not equal(a, b),
        "<": lambda a, b: number(a) < number(b),
        "<=": lambda a, b: number(a) <= number(b),
        "+": lambda a, b: number(a) + number(b),
        "-": lambda a, b: number(a) - number(b),
        "\\in": lambda a, b: a in members(b),
        "\\notin": lambda a, b: a not in members(b),
        "\\union": lambda a, b: members(a) | members(b),
        "\\intersect": lambda a, b: members(a) & members(b),
        "\\": lambda a, b: members(a) - members(b),
        ":>": lambda a, b: {a: b},
        "@@": lambda a, b: b | a,
    }
    operation = operations[sign]
    return lambda place: operation(left(place), right(place))


def members(value: Any) -> frozenset[int]:
    assert isinstance(value, frozenset), f"{value!r} is no set"
    return value


def application(function: Value, index: Value) -> Value:
    return lambda place: function(place)[number(index(place))]


def replaced(function: Any, path: list[int], value: Any) -> Any:
    if not path:
        return value
    assert path[0] in function, f"{path[0]} is outside the domain"
    return function | {path[0]: replaced(function[path[0]], path[1:], value)}
