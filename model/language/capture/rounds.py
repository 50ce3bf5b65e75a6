"""Loops and generators over a family run one round for all members: is that round like every other?

It is if nothing else consumes the iterator (`enumerate`, `zip`, `list`, a comprehension), if the
round leaves nothing behind for the next one, and nothing for what follows. Then every round of the
plain loop does what this one did, for its own member.
"""

from __future__ import annotations

import dis
import inspect
import operator
import re
import sys
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from enum import Enum
from functools import lru_cache, partial
from types import CodeType, FrameType
from typing import Any

from model.language.capture.expr import Expr
from model.language.declare.settings import Noted
from model.language.declare.store import Store
from model.language.declare.view import View
from model.language.refusal import is_users, is_users_frame, refuse, user_frame

_WORDS = "use every, some, count, largest or smallest"


class Iteration:
    """An iteration over a family, where the user's code asks for its iterator.

    Only a `for` may ask, of a statement or of a generator expression.
    """

    def __init__(self) -> None:
        self.frame = user_frame()
        places = _iterations(self.frame.f_code)
        if self.frame.f_lasti not in places:
            refuse(f"iterating a family other than by a plain `for`: {_WORDS}")
        self._starts = places[self.frame.f_lasti]

    def check_quantifier(self, generator: object) -> None:
        """`CaptureError` unless a quantifier's own generator takes the members."""
        frame = user_frame()
        if getattr(generator, "gi_frame", None) is not frame:
            refuse("a `for` statement inside a quantifier: use every, some, count or largest")
        if frame.f_code.co_name != "<genexpr>":
            refuse("a generator function over a family: write a generator expression")
        if frame is self.frame and frame.f_lasti != self._starts:
            refuse("a comprehension inside a quantifier: nest every, some, count or largest")

    def check_loop(self) -> None:
        """`CaptureError` unless a `for` statement takes the members, and keeps nothing of them."""
        frame = user_frame()
        generator = frame.f_code.co_flags & inspect.CO_GENERATOR
        if generator or frame is not self.frame or frame.f_lasti != self._starts:
            refuse(f"iterating a family other than by a plain `for`: {_WORDS}")
        for name in _kept(frame.f_code, frame.f_lasti):
            refuse(
                f"the loop changes {name!r} in every round, and it is used in the next one or "
                f"outside: {_WORDS}"
            )


@lru_cache(maxsize=4096)
def instructions_of(code: CodeType) -> tuple[dis.Instruction, ...]:
    """The instructions of a code object."""
    return tuple(dis.get_instructions(code))


@lru_cache(maxsize=4096)
def _iterations(code: CodeType) -> dict[int, int | None]:
    """Where `for` asks for an iterator, and where a statement's loop starts (`None` for others).

    From Python 3.13.1 on a generator expression asks twice for the iterator of an inner `for`.
    """
    found: dict[int, int | None] = {}
    asked: list[int] = []
    for instruction in instructions_of(code):
        if instruction.opname == "GET_ITER":
            asked.append(instruction.offset)
        elif instruction.opname != "EXTENDED_ARG":
            start = instruction.offset if instruction.opname == "FOR_ITER" else None
            found |= dict.fromkeys(asked, start)
            asked.clear()
    return found


# --- names --------------------------------------------------------------------------------------

_JUMPS = {*dis.hasjrel, *dis.hasjabs}
_ENDS = re.compile("RETURN_(VALUE|CONST)|RAISE_VARARGS|RERAISE|JUMP_(FORWARD|BACKWARD)(_NO.*)?$")
_NAME = re.compile("(LOAD|STORE|DELETE)_(?:FAST|DEREF|CLOSURE|CLASSDEREF|FROM_DICT_OR_DEREF)")


def _uses(instruction: dis.Instruction) -> list[tuple[str, str]]:
    """What an instruction does to local names, in order: `LOAD`, `STORE` or `DELETE`, and which."""
    names = instruction.argval
    kinds = _NAME.findall(instruction.opname)
    return list(zip(kinds, names if isinstance(names, tuple) else (names,), strict=False))


@lru_cache(maxsize=4096)
def _kept(code: CodeType, start: int) -> tuple[str, ...]:
    """Names that the body of the loop starting at `start` binds, and that are read before they are
    bound again: in the next round, or after the loop."""
    instructions = instructions_of(code)
    place = {instruction.offset: number for number, instruction in enumerate(instructions)}
    alive: list[frozenset[str]] = [frozenset()] * (len(instructions) + 1)
    changed = True
    while changed:
        changed = False
        for number in reversed(range(len(instructions))):
            instruction = instructions[number]
            after = frozenset() if _ENDS.match(instruction.opname) else alive[number + 1]
            if instruction.opcode in _JUMPS:
                after |= alive[place[instruction.argval]]
            for kind, name in reversed(_uses(instruction)):
                after = after | {name} if kind == "LOAD" else after - {name}
            changed = changed or after != alive[number]
            alive[number] = after
    head = place[start]
    body = instructions[head + 1 : place[instructions[head].argval]]
    bound = [name for i in body for kind, name in _uses(i) if kind != "LOAD"]
    for instruction in body:  # a comprehension that Python has put here binds its name, and
        if instruction.opname == "LOAD_FAST_AND_CLEAR":  # restores it
            for _ in range(bound.count(instruction.argval) and 2):
                bound.remove(instruction.argval)
    return tuple(name for name in dict.fromkeys(bound) if name in alive[head])


# --- objects ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Held:
    """The objects in reach of the user's code whose contents a round could change."""

    objects: tuple[tuple[object, tuple[Any, ...]], ...]

    @staticmethod
    def now(outermost: FrameType, owners: Mapping[int, tuple[object, tuple[Any, ...]]]) -> Held:
        """What the frames within `outermost` hold, and the given classes and functions."""
        found = dict(owners)
        values: list[Any] = []
        frame: FrameType | None = user_frame()
        while frame is not None and frame is not outermost:
            if is_users_frame(frame):
                values += [v for name, v in frame.f_locals.items() if not name.startswith(".")]
            frame = frame.f_back
        while values:
            value = values.pop()
            if type(value) in _PLAIN or id(value) in found:
                continue
            if (contents := contents_of(value)) is not None:
                found[id(value)] = value, contents
                values += () if isinstance(value, type) else contents
        return Held(tuple(found.values()))

    def check(self, place: tuple[str, int] | None) -> None:
        """`CaptureError` if one of the objects has other contents by now."""
        for value in self.changed():
            kind = getattr(value, "__name__", f"a {type(value).__name__}")
            refuse(f"what runs changes {kind} outside of it: {_WORDS}", place)

    def changed(self) -> Iterator[object]:
        """The objects that have other contents by now."""
        for value, before in self.objects:
            if not are_same(contents_of(value) or (), before):
                yield value


_PLAIN = {int, str, bytes, float, bool, type(None), range, slice}


def are_same(now: tuple[Any, ...], before: tuple[Any, ...]) -> bool:
    """Whether these are the very same objects, in the same order."""
    return len(now) == len(before) and all(map(operator.is_, now, before))


def contents_of(value: Any) -> tuple[Any, ...] | None:
    """What an object holds that may change; `None` for one that never changes."""
    if type(value) is types.FunctionType:  # most of what is asked for
        simple = value.__closure__ is None and value.__defaults__ is None
        return () if simple and not vars(value) else _contents_of_function(value)
    if isinstance(value, type):
        return _contents_of_class(value) if is_users_class(value) else None
    match value:
        case Noted():
            return contents_of(value.settings)
        case Expr() | View() | Store() | types.ModuleType():
            return None
        case Enum():
            return tuple(vars(value).values())
        case int() | str() | bytes() | float() | types.CodeType():
            return None
        case list() | tuple() | set() | frozenset():
            return tuple(value)
        case dict():
            return (*value.keys(), *value.values())
        case types.MethodType() | types.BuiltinFunctionType():
            return (value.__self__, getattr(value, "__func__", None))
        case partial():
            return value.func, *value.args, *value.keywords.values()
        case types.GeneratorType() if inspect.getgeneratorstate(value) != inspect.GEN_SUSPENDED:
            return value.gi_running, value.gi_frame is None
    if type(value).__module__.startswith("model.language."):
        return None
    if is_frozen(value):
        return tuple(getattr(value, field.name) for field in fields(value))
    refuse(f"a {type(value).__name__} that a loop or quantifier could change: {_WORDS}")


def _contents_of_class(value: type) -> tuple[Any, ...]:
    named = value.__members__.values() if issubclass(value, Enum) else ()
    return (*vars(value).values(), *[v for each in named for v in vars(each).values()])


def _contents_of_function(function: types.FunctionType) -> tuple[Any, ...]:
    return (*_cells(function), *(function.__defaults__ or ()), *attributes(function))


def _cells(function: types.FunctionType) -> Iterator[object]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:
            yield None


def is_frozen(value: object) -> bool:
    """Whether a value is a frozen dataclass, such as the settings."""
    parameters = getattr(type(value), "__dataclass_params__", None)
    return parameters is not None and bool(parameters.frozen)


def attributes(function: types.FunctionType) -> list[object]:
    """Attributes that somebody gave to a function."""
    return [v for name, v in vars(function).items() if name != "__wrapped__"]


def is_users_class(kind: type) -> bool:
    """Whether a class is the user's: its attributes may change."""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return kind.__module__ != "builtins" and is_users(file or "")
