"""Arrays of numbers that are hardly ever read again, in few bytes: on disk where there are many.

What a search writes down of each state, and reads for a trace alone, need not take memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from checker.core.search.scratch import Array, Scratch

_IN_MEMORY = 1 << 20  # bytes from which arrays go to disk


class Shelf:
    """Arrays, one dimension each, put away and got again by number, in the order of putting."""

    def __init__(self) -> None:
        self._held = 0
        self._places: list[Array | tuple[int, int, np.dtype[Any]]] = []
        self._scratch = Scratch()

    def put(self, numbers: Array) -> int:
        """Keep an array of integers, each in as few bytes as the widest one needs; its number."""
        if len(numbers):
            least, most = int(numbers.min()), int(numbers.max())
            widest = most if least >= 0 else min(least, -most - 1)  # of signed numbers, if negative
            numbers = numbers.astype(np.min_scalar_type(widest))
        if self._held + numbers.nbytes > _IN_MEMORY:
            start = self._scratch.put(numbers)
            if start is not None:
                self._places.append((start, len(numbers), numbers.dtype))
                return len(self._places) - 1
        self._held += numbers.nbytes
        self._places.append(numbers)
        return len(self._places) - 1

    def get(self, number: int) -> Array:
        """The array of that number, in the bytes that it was kept in."""
        place = self._places[number]
        if isinstance(place, np.ndarray):
            return place
        return self._scratch.get(*place)
