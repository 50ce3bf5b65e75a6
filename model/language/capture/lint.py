"""Which Python may run during capture: every code object that does is checked once.

Symbolic values refuse what Python asks of them. What is refused here asks nothing of them, and yet
means something else: `is`, `match`, `try`, `type(...)`, and whatever changes between two runs.
"""

from __future__ import annotations

import builtins
import dis
import gc
import itertools
import linecache
import re
import signal
import sys
import traceback
import types
import typing
import weakref
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any

from model.language import refusal
from model.language.capture.constants import INTERNAL, check_value
from model.language.capture.rounds import Held, contents_of, instructions_of, is_users_class
from model.language.declare.entity import Record
from model.language.declare.settings import NoSettings
from model.language.errors import CaptureError, LimitError, ProtocolError, unknown_name
from model.language.refusal import is_users, is_users_frame, refuse, user_frame

_INSTRUCTIONS = (
    ("MATCH_", "`match`: write choose(condition, a, b)"),
    (
        "IS_OP|.*_IF(_NOT)?_NONE",
        "`is` on what may be a value read from the state: write is_none(x) or ==",
    ),
    (
        "BEFORE_WITH|PUSH_EXC_INFO|LOAD_SPECIAL",
        "`try` or `with`: a condition that does not hold ends an action, write require(...)",
    ),
    ("STORE_GLOBAL|DELETE_GLOBAL", "assigning a global: write a variable of the state"),
    ("DELETE_(ATTR|SUBSCR|DEREF)", "`del` of what is not a local name: assign None or 0"),
    ("IMPORT_NAME", "an import in a function: import at the top of the module"),
    ("LOAD_BUILD_CLASS", "a class in a function: declare it at the top of the module"),
    ("GET_YIELD_FROM_ITER|GET_A|SEND", "`yield from` and `await`: write a quantifier"),
)
_INSTRUCTION = re.compile("|".join(f"(?P<at{k}>{p})" for k, (p, _) in enumerate(_INSTRUCTIONS)))
_SUSPECT = {name for name in dis.opmap if _INSTRUCTION.match(name)}
_SUSPECT |= {name for name in dis.opmap if re.search("STORE_DEREF|_ATTR|_METHOD", name)}


def check_code(code: CodeType, names: dict[str, Any]) -> tuple[Any, ...]:
    """`CaptureError` if running the code with the global `names` could not be seen.

    Returns the user's classes and functions that it mentions.
    """
    known = _checked.get(id(code))  # equal code objects may have different globals
    if known is None or known[0]() is not code:
        key = id(code)
        forget = _checked.pop  # a name of the module may be gone when Python ends
        gone = weakref.ref(code, lambda _: forget(key, None))
        known = _checked[key] = gone, _check_code(code, names)
    return known[1]


_checked: dict[int, tuple[weakref.ref[CodeType], tuple[Any, ...]]] = {}


def _check_code(code: CodeType, names: dict[str, Any]) -> tuple[Any, ...]:
    place = code.co_filename, code.co_firstlineno
    if code.co_filename == "<string>" and "__class__" in code.co_names:  # made up by `dataclass`
        frame = user_frame()
        while frame.f_back and (frame.f_code is code or not is_users_frame(frame)):
            frame = frame.f_back
        words = f"`{code.co_name}` of a dataclass, which is Python's own: use its fields"
        refuse(words, (frame.f_code.co_filename, frame.f_lineno))
    for instruction in instructions_of(code):
        if instruction.opname not in _SUSPECT:
            continue
        line = instruction.positions and instruction.positions.lineno
        place = code.co_filename, line or place[1]
        if found := _INSTRUCTION.match(instruction.opname):
            case = re.match("case |match ", linecache.getline(*place).strip())
            refuse(_INSTRUCTIONS[0 if case else int(str(found.lastgroup)[2:])][1], place)
        name = instruction.argval
        if instruction.opname == "STORE_DEREF" and name in code.co_freevars:
            refuse(f"assigning {name!r} of the function around: return the value instead", place)
        if "_ATTR" in instruction.opname or "_METHOD" in instruction.opname:
            if name in INTERNAL or re.fullmatch("__.*__|format(_map)?", str(name)):
                refuse(f"`.{name}`, which is Python's own: compare or assign variables", place)
    mentioned = list(_mentions(code, names))
    for words, value, place in mentioned:
        check_value(words, value, place)
    owners = (type(value) if isinstance(value, Enum) else value for _, value, _ in mentioned)
    return tuple(
        value
        for value in owners
        if (isinstance(value, type) and is_users_class(value))
        or (isinstance(value, types.FunctionType) and is_users(value.__code__.co_filename))
    )


def meaning(code: CodeType, names: dict[str, Any]) -> tuple[Any, ...]:
    """What the globals that code reads are now, and attributes of modules and classes."""
    return tuple(value for _, value, _ in _mentions(code, names))


def _mentions(code: CodeType, names: dict[str, Any]) -> Iterator[tuple[str, Any, tuple[str, int]]]:
    """The globals that code reads, and attributes of modules and classes among them."""
    for name, asked, line in _chains(code):
        if name not in names and not hasattr(builtins, name):
            continue
        words, value = name, names[name] if name in names else getattr(builtins, name)
        for attribute in asked:
            if not _is_owner(value) or not hasattr(value, attribute):
                break
            value = getattr(value, attribute)
            words = f"{words}.{attribute}"
        yield words, value, (code.co_filename, line)


def _is_owner(value: Any) -> bool:
    """Whether it is a module or class of whose attributes each counts for itself."""
    if isinstance(value, types.ModuleType):
        return not value.__name__.startswith("model.language.")
    return isinstance(value, type) and is_users_class(value)


@lru_cache(maxsize=4096)
def _chains(code: CodeType) -> tuple[tuple[str, tuple[str, ...], int], ...]:
    """Each global that code reads, the attributes that it then asks for, and the line."""
    found = []
    instructions = instructions_of(code)
    line = code.co_firstlineno
    for number, instruction in enumerate(instructions):
        if instruction.opname not in ("LOAD_GLOBAL", "LOAD_NAME"):
            continue
        if instruction.argval.startswith("@"):
            continue
        line = (instruction.positions and instruction.positions.lineno) or line
        following = itertools.takewhile(
            lambda each: each.opname in ("LOAD_ATTR", "LOAD_METHOD"), instructions[number + 1 :]
        )
        found.append((instruction.argval, tuple(each.argval for each in following), line))
    return tuple(found)


_ours: dict[int, CodeType] = {}
"""Code that is the language's or Python's own; kept, so that no other gets its `id`."""


class Watch:
    """Checks, while active, every code object of the user's that runs.

    `owners` are the user's classes and functions that what ran so far mentions, by their `id`, and
    what they held then.
    """

    def __init__(self) -> None:
        self.outermost = sys._getframe()
        self.owners: dict[int, tuple[object, tuple[Any, ...]]] = {}
        self._known: dict[int, CodeType] = {}
        self._inner: dict[int, CodeType] = {}
        self.ran: dict[int, tuple[CodeType, dict[str, Any]]] = {}

    @property
    def held(self) -> Held:
        """The user's classes and functions that what ran so far mentions, and their contents."""
        return Held(tuple(self.owners.values()))

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call the function and check whatever runs; other errors than our own name the line."""
        place = None
        if isinstance(function, types.FunctionType):
            place = function.__code__.co_filename, function.__code__.co_firstlineno
            check_value(function.__name__, function, place)
        self.outermost = sys._getframe()
        known, ours = self._known, _ours

        def event(frame: FrameType, kind: str, _: object) -> None:
            if kind == "call" and (key := id(frame.f_code)) not in ours and key not in known:
                self._enter(frame, frame.f_code)

        before: Any = sys.getprofile()
        collecting = gc.isenabled()
        gc.disable()  # what it closes and calls is not the action's
        refusal.watching = True
        sys.setprofile(event)
        try:
            result = function(*arguments)
        except (CaptureError, LimitError, KeyboardInterrupt):
            raise
        except ProtocolError as error:
            _refuse_error(error, str(error))
        except AttributeError as error:
            _refuse_error(error, _no_attribute(error))
        except BaseException as error:  # SystemExit too: only Ctrl-C and limits end a command
            _refuse_error(error, _raised(error))
        finally:
            refusal.watching = False
            if collecting:
                gc.enable()
            if hasattr(before, "enable"):  # cProfile's are no functions
                before.enable()
            else:
                sys.setprofile(before)
        self.held.check(place)
        return result

    def _enter(self, frame: FrameType, code: CodeType) -> None:
        if is_users_frame(frame):
            try:
                self._check(frame, code)
            except CaptureError:
                if not _is_of_a_signal(frame):
                    raise
                return
            if code.co_freevars and id(code) not in self._inner:
                return  # the next function with this code may have another closure
            self._known[id(code)] = code
        elif code.co_filename.startswith("<"):
            self._known[id(code)] = code  # what it is, its module says
        else:
            _ours[id(code)] = code

    def _check(self, frame: FrameType, code: CodeType) -> None:
        self.ran[id(code)] = code, frame.f_globals
        enums = [type(value) for value in frame.f_locals.values() if isinstance(value, Enum)]
        for owner in (*check_code(code, frame.f_globals), *enums):
            if id(owner) not in self.owners:
                self.owners[id(owner)] = owner, contents_of(owner) or ()
        for inner in code.co_consts:
            if isinstance(inner, CodeType):
                self._inner[id(inner)] = inner
        if id(code) not in self._inner:
            place = code.co_filename, code.co_firstlineno
            for name in code.co_freevars:
                check_value(name, frame.f_locals.get(name), place)


def _raised(error: BaseException) -> str:
    told = f": {error}" if str(error) else ""
    return f"{type(error).__name__} on what may be read from the state{told}"


def _no_attribute(error: AttributeError) -> str:
    """What is wrong with asking a record or settings for what they do not have."""
    owner, name = error.obj, str(error.name)
    if isinstance(owner, NoSettings):
        return f"settings.{name}: this protocol has no settings, write Protocol(..., settings=...)"
    kind = type(owner)
    if isinstance(owner, Record):
        return str(unknown_name(f"variable of {kind.__name__}", name, owner._declared))
    if is_dataclass(owner):
        return str(unknown_name(f"field of {kind.__name__}", name, (f.name for f in fields(owner))))
    return _raised(error)


def _refuse_error(error: BaseException, words: str) -> typing.NoReturn:
    """Say at which of the user's lines an error arose."""
    place = None
    for frame, line in traceback.walk_tb(error.__traceback__):
        if is_users_frame(frame):
            place = frame.f_code.co_filename, line
    try:
        refuse(words, place)
    except CaptureError as refused:
        raise refused from error


def _is_of_a_signal(frame: FrameType) -> bool:
    """Whether a frame does not belong to the action: a signal came, and its handler runs."""
    handlers = map(signal.getsignal, signal.valid_signals())
    codes = [getattr(getattr(h, "__func__", h), "__code__", None) for h in handlers]
    around: FrameType | None = frame
    while around is not None:
        if around.f_code in codes:
            return True
        around = around.f_back
    return False
