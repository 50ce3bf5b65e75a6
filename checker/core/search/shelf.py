"""Arrays of numbers that are hardly ever read again, in few bytes: on disk where there are many.

What a search writes down of each state, and reads for a trace alone, need not take memory. The file
has no name, so that nothing is left of it however the process ends. Where the disk takes
no more, memory does.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from contextlib import suppress
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_IN_MEMORY = 1 << 26  # bytes from which arrays go to disk


class Shelf:
    """Arrays, one dimension each, put away and got again by number, in the order of putting."""

    def __init__(self) -> None:
        self._held = 0
        self._places: list[Array | tuple[int, int, np.dtype[Any]]] = []
        self._file: BinaryIO | None = None
        self._end = 0
        self._disk_is_full = False

    def put(self, numbers: Array) -> int:
        """Keep an array of integers, each in as few bytes as the widest one needs; its number."""
        if len(numbers):
            least, most = int(numbers.min()), int(numbers.max())
            widest = most if least >= 0 else min(least, -most - 1)  # of signed numbers, if negative
            numbers = numbers.astype(np.min_scalar_type(widest))
        on_disk = self._held + numbers.nbytes > _IN_MEMORY and self._write(numbers)
        if not on_disk:
            self._held += numbers.nbytes
            self._places.append(numbers)
        return len(self._places) - 1

    def get(self, number: int) -> Array:
        """The array of that number, in the bytes that it was kept in."""
        place = self._places[number]
        if isinstance(place, np.ndarray):
            return place
        assert self._file is not None
        start, size, kind = place
        return np.frombuffer(os.pread(self._file.fileno(), size, start), kind)

    def _write(self, numbers: Array) -> bool:
        if self._disk_is_full:
            return False
        with suppress(OSError):
            if self._file is None:
                self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  # as long as this
                weakref.finalize(self, self._file.close)
            data, start = numbers.tobytes(), self._end
            while self._end < start + len(data):
                rest = memoryview(data)[self._end - start :]
                self._end += os.pwrite(self._file.fileno(), rest, self._end)
            self._places.append((start, len(data), numbers.dtype))
            return True
        self._disk_is_full = True
        return False
