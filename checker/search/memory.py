"""Memory for tables of states: zeros, in huge pages where they are many, that can grow in place.

Growing in place asks the system for what is added alone. A table that is copied to a larger one
needs both at once, and all of the new one is touched for the first time, which is slow where memory
is handed out by the host of a virtual machine.
"""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np

_HUGE = 1 << 22  # bytes from which memory is asked for in huge pages

Kind = type[np.unsignedinteger[Any]]


def zeros(shape: tuple[int, int], kind: Kind) -> Any:
    """An array of zeros, in huge pages where it is large and the system has them."""
    size = shape[0] * shape[1] * np.dtype(kind).itemsize
    if size < _HUGE or not hasattr(mmap, "MADV_HUGEPAGE"):
        return np.zeros(shape, kind)
    return np.frombuffer(_memory(size), kind).reshape(shape)


class GrowingTable:
    """Rows of so many numbers, in `array`, to which rows of zeros can be added.

    Nothing else may hold `array`, or a view of it, when it grows: it is then copied.
    """

    def __init__(self, rows: int, width: int, kind: Kind) -> None:
        self._width, self._kind = width, kind
        self._memory = _memory(self._size(rows))
        self.array = self._view()

    def grow(self, rows: int) -> None:
        """Add rows, up to so many. `MemoryError` leaves what there is as it is."""
        size = self._size(rows)
        self.array = np.empty((0, self._width), self._kind)
        try:
            self._memory.resize(size)
        except (BufferError, SystemError):  # somebody looks at it, or the system cannot
            longer = _memory(size)
            longer[: len(self._memory)] = self._memory[:]
            self._memory = longer
        except (OSError, OverflowError) as error:
            raise MemoryError(f"no {size:,} bytes for the visited set") from error
        finally:
            self.array = self._view()

    def _size(self, rows: int) -> int:
        return rows * self._width * np.dtype(self._kind).itemsize

    def _view(self) -> Any:
        return np.frombuffer(self._memory, self._kind).reshape(-1, self._width)


def _memory(size: int) -> mmap.mmap:
    try:
        memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except (OSError, OverflowError) as error:
        raise MemoryError(f"no {size:,} bytes for the visited set") from error
    if size >= _HUGE and hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)
    return memory
