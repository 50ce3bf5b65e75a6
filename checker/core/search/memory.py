"""Memory for tables of states: zeros, in huge pages where they are many, that can grow in place.
And for batches: kept for the next one.

Growing in place asks the system for what is added alone. A table that is copied to a larger one
needs both at once, and all of the new one is touched for the first time, which is slow where memory
is handed out by the host of a virtual machine.
"""

from __future__ import annotations

import ctypes
import mmap
import pickle
from contextlib import suppress
from typing import Any

import numpy as np

_HUGE = 1 << 22  # bytes from which memory is asked for in huge pages
_HUGE_PAGE = 1 << 21  # the system lines up only what is a multiple of it, and moves it as it is

_KEPT = 31 << 20  # bytes; the C library learns from no more than 32 MB
_ARENA_MAX = -8  # what `mallopt` of GNU's C library calls how many threads' memory there may be

Kind = type[np.unsignedinteger[Any]]


def filling_pages(rows: int, row: int) -> int:
    """So many rows of `row` bytes, or what the last huge page has room for beside them."""
    return _in_pages(rows * row) // row


def _in_pages(size: int) -> int:
    return size if size < _HUGE else -(-size // _HUGE_PAGE) * _HUGE_PAGE


class Table:
    """Rows of so many numbers, in `array`, to which rows of zeros can be added.

    Nothing else may hold `array`, or a view of it, when it grows: it is then copied.
    """

    def __init__(self, rows: int, width: int, kind: Kind) -> None:
        self._width, self._kind = width, kind
        self._memory = self._allocated(self._size(rows))
        self.array = self._view(rows)

    def grow(self, rows: int) -> None:
        """Add rows, up to so many. `MemoryError` leaves what there is as it is."""
        before, size = len(self.array), self._size(rows)
        self.array = self._view(0)
        try:
            self._memory.resize(size)
        except (BufferError, SystemError):  # somebody looks at it, or the system cannot
            longer = self._allocated(size)
            longer[: len(self._memory)] = self._memory[:]
            self._memory = longer
        except (OSError, OverflowError) as error:
            rows = before
            raise MemoryError(f"no {size:,} bytes for the visited set") from error
        finally:
            self.array = self._view(rows)

    def _size(self, rows: int) -> int:
        return _in_pages(rows * self._width * np.dtype(self._kind).itemsize)

    def _view(self, rows: int) -> Any:
        if rows == 0:
            return np.empty((0, self._width), self._kind)
        numbers = np.frombuffer(self._memory, self._kind, rows * self._width)
        return numbers.reshape(rows, self._width)

    def _allocated(self, size: int) -> mmap.mmap:
        try:
            return in_huge_pages(mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
        except (OSError, OverflowError) as error:
            raise MemoryError(f"no {size:,} bytes for the visited set") from error

    def __reduce__(self) -> Any:
        raise pickle.PicklingError("this memory is of one process alone")


def in_huge_pages(memory: mmap.mmap) -> mmap.mmap:
    """The same memory, in huge pages where it is large and the system has them."""
    if len(memory) >= _HUGE and hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)
    return memory


def keep_for_the_next() -> None:
    """Have memory that is freed kept for what comes next: a batch needs as much as the one before.

    The C library of GNU gives it back to the system, which hands it out anew page by page and fills
    it with zeros, until something large that was never touched is freed. Of its own accord it keeps
    memory for each thread, though batches are freed by others than those that made them. Others do
    not mind.
    """
    with suppress(AttributeError, OSError, TypeError):  # another C library, or none to be asked
        ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)
    np.empty(_KEPT, np.uint8)
