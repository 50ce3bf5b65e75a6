"""Which values that were there before a capture may be read while it runs: those that never change,
and that mean the same beside a symbolic value as beside a plain one.

A number that a list holds may be another one tomorrow, and a class may say what `+` is: both would
be captured as what they happen to be.
"""

from __future__ import annotations

import inspect
import re
import sys
import types
import typing
import weakref
from collections.abc import Iterator
from dataclasses import fields
from enum import Enum
from functools import partial
from typing import Any

from model.language.capture.rounds import attributes, is_frozen, is_users_class
from model.language.declare.domains import Integers
from model.language.declare.entity import Field, Record
from model.language.declare.schema import IndexedSchema, RecordSchema, ScalarSchema
from model.language.declare.settings import Noted
from model.language.declare.store import Place
from model.language.errors import CaptureError
from model.language.refusal import is_users, refuse

INTERNAL = {*Place.__slots__, *("_declared", "_local_names", "_reference_node", "_node", "_names")}
INTERNAL |= {"_kind"}
"""Attributes of views and symbolic values that are not the user's."""

_FUNCTIONS = (
    *(abs, all, any, chr, divmod, format, iter, len, max, min, next, ord, pow),
    *(print, repr, round, sorted, sum),
    *(bool, bytes, dict, enumerate, filter, float, frozenset, int, list, map, range),
    *(reversed, set, slice, str, super, tuple, zip, typing.cast),
)
"""What acts on values only by what they answer, and symbolic ones refuse that."""

_WORDS = "model.language.capture.words", "model.language.declare.", "model.language.budgets"
_DECLARED = (
    *("model.language.action", "model.language.budgets", "model.language.declare."),
    "model.language.protocol",
)
"""What of the language may be mentioned; its other functions and objects tell of the capture."""


_PLAIN = {type(None), bool, int, str, bytes, float, range}
_OF_ENUMS = {"__objclass__", "_name_", "_sort_order_"}
_HARMLESS = re.compile(
    "__(init|new|str|repr|format|init_subclass|class_getitem|reduce(_ex)?|annotate.*)__"
)


def check_value(
    words: str, value: Any, place: tuple[str, int], around: tuple[int, ...] = ()
) -> None:
    """`CaptureError` if a value that was there before the capture may change, or tells too much.

    `around` are the functions that close over it.
    """
    if type(value) in _PLAIN or id(value) in around:
        return
    match value:
        case Enum():
            _check_operators(type(value), place)
            inner = tuple(v for name, v in vars(value).items() if name not in _OF_ENUMS)
        case Field() | types.MemberDescriptorType() | types.GetSetDescriptorType():
            return
        case tuple() | frozenset() if not hasattr(value, "__dict__"):
            inner = tuple(value)
        case Noted():
            inner = (value.settings,)
        case types.FunctionType():
            if not is_users(value.__code__.co_filename):
                if value.__module__.startswith(_WORDS) or value is typing.cast:
                    return
                _refuse_mention(words, place)
            if attributes(value):
                _refuse_change(f"{words}, a function with attributes,", place)
            _check_closure(value, (*around, id(value)))
            inner = (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values())
        case types.MethodType():
            inner = value.__self__, value.__func__
        case partial():
            inner = value.func, *value.args, *value.keywords.values()
        case staticmethod() | classmethod():
            inner = (value.__func__,)
        case property():
            inner = value.fget, value.fset
        case type() if _is_constant(value):
            return
        case types.ModuleType():
            _refuse_mention(words, place)
        case _:
            inner = _inside(words, value, place)
    for part in inner:
        check_value(words, part, place, around)


def _check_closure(function: types.FunctionType, around: tuple[int, ...]) -> None:
    code = function.__code__
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        if cell != _NOTHING:
            place = code.co_filename, code.co_firstlineno
            check_value(name, cell.cell_contents, place, around)


_NOTHING = types.CellType()


def _check_operators(kind: type, place: tuple[str, int]) -> None:
    """`CaptureError` if a class of the user's says what an operator means for its instances."""
    for base in filter(is_users_class, kind.__mro__):
        for name, value in vars(base).items():
            made = getattr(value, "__module__", "") == Enum.__module__
            if re.fullmatch("__.*__", name) and callable(value) and not made:
                if not _HARMLESS.fullmatch(name):
                    refuse(
                        f"`{name}` of {base.__name__}: what is read from the state knows nothing "
                        "of it, write a method with another name",
                        place,
                    )


def _inside(words: str, value: Any, place: tuple[str, int]) -> tuple[Any, ...]:
    """The fields of a frozen dataclass; nothing for functions of Python's that may be called."""
    if _is_known(value) or type(value).__module__.startswith(_DECLARED):
        return ()
    if is_frozen(value):
        return tuple(getattr(value, field.name) for field in fields(value))
    if callable(value) and not (isinstance(value, type) and is_users_class(value)):
        _refuse_mention(words, place)
    if isinstance(value, type):
        refuse(
            f"`{words}`, a class whose objects are no values here: write a Record of the state, a "
            "tuple, or the fields by themselves",
            place,
        )
    _refuse_change(f"{words}, a {type(value).__name__},", place)


def _refuse_mention(words: str, place: tuple[str, int]) -> typing.NoReturn:
    refuse(
        f"`{words}` cannot be captured: write the language's own words, a comparison, or for a "
        "choice a parameter of the action",
        place,
    )


def _refuse_change(what: str, place: tuple[str, int]) -> typing.NoReturn:
    refuse(
        f"{what} may change: write a variable of the state, a setting, or a constant such as a "
        "number, a tuple or an IntEnum",
        place,
    )


def _is_known(value: object) -> bool:
    return any(value is function for function in _FUNCTIONS)


def _is_constant(kind: type) -> bool:
    """Whether a class may be mentioned: its instances are values, views or errors."""
    if kind.__module__.startswith("model.language.") or _is_known(kind):
        return True
    return issubclass(kind, BaseException) or (
        is_users_class(kind) and issubclass(kind, Record | Enum)
    )


def check_schema(schema: RecordSchema) -> None:
    """`CaptureError` if a class of the state has attributes that may change."""
    for kind in classes_of(schema):
        _check_class(kind)


def classes_of(schema: RecordSchema) -> Iterator[type]:
    """The classes of a record and of all that it holds, those of named numbers among them."""
    yield schema.view_class
    for part in schema.fields.values():
        if isinstance(part, IndexedSchema):
            yield part.view_class
        item = getattr(part, "item", part)
        if isinstance(item, RecordSchema):
            yield from classes_of(item)
        elif isinstance(item, ScalarSchema) and isinstance(item.variable.domain, Integers):
            yield from filter(None, [item.variable.domain.names])


_sound: weakref.WeakSet[Any] = weakref.WeakSet()


def _check_class(kind: type) -> None:
    if kind in _sound:
        return
    _check_operators(kind, (_file_of(kind), _line_of(kind)))
    bases = () if issubclass(kind, Enum) else filter(is_users_class, kind.__mro__)
    for base in bases:
        for name, value in vars(base).items():
            if name in INTERNAL or re.fullmatch("__.*__", name):
                continue
            try:
                check_value(f"{base.__name__}.{name}", value, ("?", 0))
            except CaptureError:
                check_value(f"{base.__name__}.{name}", value, (_file_of(base), _line_of(base)))
    _sound.add(kind)


def _line_of(kind: type) -> int:
    try:
        return inspect.getsourcelines(kind)[1]
    except (OSError, TypeError):
        return 1


def _file_of(value: Any) -> str:
    return getattr(sys.modules.get(value.__module__ or ""), "__file__", None) or ""
