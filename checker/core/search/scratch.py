"""A file without a name, for what a search need not hold in memory until it is wanted.

Nothing is left of it however the process ends. Where the disk takes no more, it says so, and
memory has to do.
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


class Scratch:
    """Arrays of one dimension, one after the other. The file is there from the first one on, until
    nobody knows this any more. Any thread may read.
    """

    def __init__(self) -> None:
        self._file: BinaryIO | None = None
        self._end = 0
        self._is_full = False

    def put(self, *arrays: Array) -> int | None:
        """Where the arrays begin; `None` if the disk does not take them."""
        if self._is_full:
            return None
        start = self._end
        with suppress(OSError):
            if self._file is None:
                self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  # as long as this
                weakref.finalize(self, self._file.close)
            for array in arrays:
                data = np.ascontiguousarray(array).view(np.uint8).data
                while data:
                    written = os.pwrite(self._file.fileno(), data, self._end)
                    self._end += written
                    data = data[written:]
            return start
        self._is_full = True
        return None

    def get(self, start: int, count: int, kind: np.dtype[Any]) -> Array:
        """So many numbers that were put there."""
        array = np.empty(count, kind)
        self.read(start, array)
        return array

    def read(self, start: int, array: Array) -> None:
        """Fill an array, which lies densely, with what was put there."""
        assert self._file is not None
        data = array.view(np.uint8).data
        while data:
            count = os.preadv(self._file.fileno(), [data], start)
            if not count:
                raise OSError("a file without a name has lost what was written to it")
            start, data = start + count, data[count:]
