"""Kernels: functions of arrays, written as loops in Python, that run as machine code.

    @kernel
    def _add(a: Words, b: Words, out: Words) -> None:
        for i in range(out.shape[0]):
            out[i] = a[i] + b[i]

A kernel is compiled when it is first called with arrays of some types, or loaded from the cache. It
runs without the interpreter's lock. What it may say: `checker.core.native.translate`.
"""

from __future__ import annotations

import ctypes
import inspect
import threading
from collections.abc import Callable, Sequence
from functools import update_wrapper
from types import FunctionType
from typing import Any, Generic, ParamSpec, TypeVar, cast

import numpy as np

from checker.core.native.assembly import (
    ELEMENTS,
    FLOAT,
    INT,
    TRUTH,
    UINT,
    Array,
    TranslationError,
    Type,
)
from checker.core.native.object_code import KERNEL, ObjectCode
from checker.core.native.translate import translate

P = ParamSpec("P")
R = TypeVar("R")

_C = {INT: ctypes.c_int64, UINT: ctypes.c_uint64, FLOAT: ctypes.c_double, TRUTH: ctypes.c_bool}


class Kernel(Generic[P, R]):
    """A function that is translated and compiled; `function` is the Python that it is made of."""

    def __init__(self, function: Callable[P, R]) -> None:
        self.function = cast(FunctionType, function)
        self._numbers = {
            place: str(parameter.annotation)
            for place, parameter in enumerate(inspect.signature(function).parameters.values())
            if str(parameter.annotation) in _C
        }
        self._compiled: dict[tuple[Type, ...], _Compiled] = {}
        self._lock = threading.Lock()
        update_wrapper(self, function)

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        """What the function gives."""
        assert not named
        types = tuple(
            self._numbers[place] if place in self._numbers else _type_of(argument)
            for place, argument in enumerate(arguments)
        )
        compiled = self._compiled.get(types)
        if compiled is None:
            with self._lock:
                compiled = self._compiled.get(types)
                if compiled is None:
                    compiled = self._compiled[types] = _Compiled(self.function, types)
        return cast(R, compiled(arguments))


def kernel(function: Callable[P, R]) -> Kernel[P, R]:
    """The function as machine code."""
    return Kernel(function)


class _Compiled:
    """A kernel for parameters of some types."""

    def __init__(self, function: FunctionType, types: Sequence[Type]) -> None:
        done = translate(function, types, function.__name__)
        self._types = types
        self._written = [
            place
            for place, name in enumerate(inspect.signature(function).parameters)
            if name in done.written
        ]
        parameters: list[Any] = []
        for each in types:
            if isinstance(each, str):
                parameters.append(_C[each])
            else:
                numbers = 2 * each.dimensions - each.dense
                parameters += [ctypes.c_void_p, *([ctypes.c_int64] * numbers)]
        self._several: list[Any] = []
        if len(done.result) > 1:
            self._several = [_C[each] for each in done.result]
        if self._several:
            if not {INT, UINT} >= set(done.result):
                raise TranslationError(
                    f"{function.__name__} returns what is no whole number among several values"
                )
            parameters.append(ctypes.c_void_p)
        result = _C[done.result[0]] if len(done.result) == 1 else None
        self._code = ObjectCode(done.assembly, KERNEL)
        self._function = self._code.function(function.__name__, result, *parameters)

    def __call__(self, arguments: Sequence[Any]) -> Any:
        for place in self._written:
            if not arguments[place].flags.writeable:
                raise ValueError("a kernel writes to an array that is read-only")
        passed: list[Any] = []
        for argument, each in zip(arguments, self._types, strict=True):
            if isinstance(each, str):
                passed.append(argument)
                continue
            size = argument.itemsize
            strides = argument.strides[:-1] if each.dense else argument.strides
            passed += (_address(argument), *argument.shape, *(s // size for s in strides))
        if not self._several:
            return self._function(*passed)
        results = (ctypes.c_int64 * len(self._several))()
        self._function(*passed, ctypes.addressof(results))
        return tuple(kind(each).value for kind, each in zip(self._several, results, strict=True))


_PLAIN: dict[tuple[np.dtype[Any], int], Array] = {}
"""The types of arrays that lie densely in memory and may be written to, by elements and dimensions:
nearly all are such, and to find out anew takes longer than many a kernel.
"""


def _type_of(argument: Any) -> Array:
    """The type of an array; `TypeError` for what no kernel takes."""
    if not isinstance(argument, np.ndarray):
        raise TypeError(f"a kernel takes arrays here, and no {type(argument).__name__}")
    if not argument.flags.carray:
        return _type_found(argument)
    key = (argument.dtype, argument.ndim)
    found = _PLAIN.get(key)
    if found is None:
        found = _PLAIN[key] = Array(_type_found(argument).element, argument.ndim, dense=True)
    return found


def _type_found(argument: Any) -> Array:
    element, size = argument.dtype.str[1:], argument.itemsize
    native = argument.dtype.isnative and argument.flags.aligned
    if element not in ELEMENTS or not native or any(s % size for s in argument.strides):
        raise TypeError(f"a kernel takes no array of {argument.dtype.str}")
    dense = argument.shape[-1:] <= (1,) or argument.strides[-1] == size
    return Array(element, argument.ndim, dense)


def _address(argument: Any) -> int:
    """Where an array begins; of an empty one nothing is read."""
    if not argument.size:
        return 0
    if argument.flags.carray:
        return ctypes.addressof(ctypes.c_char.from_buffer(argument))
    return int(argument.ctypes.data)
