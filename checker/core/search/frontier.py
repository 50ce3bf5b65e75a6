"""The states that are to be expanded, in batches, while those of the next level are being found.

A batch has states of one level. It is full, but for the last of a level, so the next level can be
begun before this one is whole.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Iterator

import numpy as np

from checker.core.engines.layout import Words


class Frontier:
    """States in order, as they are put there, to be taken in batches, by any thread.

    A batch has `most` states, or where that is less a share of its level: one of so many `shares`,
    but `least` states.
    """

    def __init__(self, most: int, shares: int = 1, least: int = 1) -> None:
        self._most, self._shares, self._least = most, shares, least
        self._size = most
        self._pieces: deque[Words] = deque()
        self._whole = 0
        self._open = 0
        self._lock = threading.Lock()

    def put(self, words: Words) -> None:
        """Add states to the last level."""
        if words.shape[1]:
            with self._lock:
                self._pieces.append(words)
                self._open += words.shape[1]

    def end_level(self) -> None:
        """The last level is whole, and a next one begins."""
        with self._lock:
            assert not self._whole, "the level before is not used up"
            self._whole, self._open = self._open, 0
            share = -(-self._whole // self._shares)
            self._size = min(self._most, max(share, self._least))

    def take(self) -> list[Words] | None:
        """The next batch in pieces, or `None` if there is none as long as nothing is put there."""
        with self._lock:
            if self._whole:
                count = min(self._size, self._whole)
                self._whole -= count
                return self._cut(count)
            if self._open >= self._size:
                self._open -= self._size
                return self._cut(self._size)
            return None

    def _cut(self, count: int) -> list[Words]:
        cut: list[Words] = []
        while count:
            piece = self._pieces.popleft()
            if piece.shape[1] > count:
                self._pieces.appendleft(piece[:, count:])
                piece = piece[:, :count]
            cut.append(piece)
            count -= piece.shape[1]
        return cut


def joined(pieces: list[Words]) -> Words:
    """The states of all pieces; a copy where they are several."""
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces, axis=1)


def in_batches(pieces: Iterable[Words], size: int) -> Iterator[Words]:
    """The states of all pieces in order, in batches of `size`."""
    frontier = Frontier(size)
    for piece in pieces:
        frontier.put(piece)
    frontier.end_level()
    while (batch := frontier.take()) is not None:
        yield joined(batch)
