"""Kernels that Numba compiles, kept on disk where that is possible.

Where neither the package's folder nor the user's cache can be written, as in a read-only container,
Numba refuses to keep them: they are then compiled anew in each process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba as nb

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F, **options: Any) -> F:
    """The function compiled to machine code, which runs without the interpreter's lock."""
    try:
        compiled: F = nb.njit(nogil=True, cache=True, **options)(function)
    except RuntimeError:  # "cannot cache function": no locator
        compiled = nb.njit(nogil=True, **options)(function)
    return compiled
