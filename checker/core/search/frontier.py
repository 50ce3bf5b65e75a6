"""The states that are to be expanded, in batches, while those of the next level are being found.

A batch has states of one level. It is full, but for the last of a level, so the next level can be
begun before this one is whole. States are read once, in order: where they are many, they wait on
disk.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from checker.core.engines.layout import Words
from checker.core.search.scratch import Scratch

_IN_MEMORY = 1 << 23  # bytes from which states wait on disk


@dataclass(frozen=True)
class Waiting:
    """States on disk: `count` from the `first` on, of `of` that lie at `start`, word by word."""

    scratch: Scratch
    words: int
    of: int
    start: int
    first: int
    count: int

    @property
    def shape(self) -> tuple[int, int]:
        """As that of the states: words, and how many states there are."""
        return self.words, self.count

    def cut(self, count: int) -> tuple[Waiting, Waiting]:
        """The first states, so many, and the rest."""
        first, left = self.first + count, self.count - count
        return replace(self, count=count), replace(self, first=first, count=left)

    def read(self, out: Words) -> None:
        """Fill an array with the states."""
        for w in range(self.words):
            self.scratch.read(self.start + 8 * (w * self.of + self.first), out[w])


Piece = Words | Waiting


class Frontier:
    """States in order, as they are put there, to be taken in batches, by any thread.

    A batch has `most` states, or where that is less a share of its level: one of so many `shares`,
    but `least` states. So many bytes of states wait `in_memory`.
    """

    def __init__(
        self, most: int, shares: int = 1, least: int = 1, in_memory: int = _IN_MEMORY
    ) -> None:
        self._in_memory = in_memory
        self._most, self._shares, self._least = most, shares, least
        self._size = most
        self._pieces: deque[Piece] = deque()
        self._held = 0  # bytes in memory
        self._scratch = Scratch()
        self._whole = 0
        self._open = 0
        self._lock = threading.Lock()

    def put(self, words: Words) -> None:
        """Add states to the last level."""
        if not words.shape[1]:
            return
        piece: Piece = words
        if self._held + words.nbytes > self._in_memory:
            piece = self._on_disk(words)
        with self._lock:
            self._pieces.append(piece)
            self._open += piece.shape[1]
            if piece is words:
                self._held += words.nbytes

    def _on_disk(self, words: Words) -> Piece:
        """The states, on disk if that takes them."""
        start = self._scratch.put(*words)
        if start is None:
            return words
        size = words.shape[1]
        return Waiting(self._scratch, len(words), size, start, 0, size)

    def end_level(self) -> None:
        """The last level is whole, and a next one begins."""
        with self._lock:
            assert not self._whole, "the level before is not used up"
            self._whole, self._open = self._open, 0
            share = -(-self._whole // self._shares)
            self._size = min(self._most, max(share, self._least))
        self._scratch = Scratch()  # the other one is gone when its states have been read

    def take(self) -> list[Piece] | None:
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

    def _cut(self, count: int) -> list[Piece]:
        cut: list[Piece] = []
        while count:
            piece = self._pieces.popleft()
            if piece.shape[1] > count:
                piece, rest = _parted(piece, count)
                self._pieces.appendleft(rest)
            if isinstance(piece, np.ndarray):
                self._held -= piece.nbytes
            cut.append(piece)
            count -= piece.shape[1]
        return cut


def _parted(piece: Piece, count: int) -> tuple[Piece, Piece]:
    if isinstance(piece, Waiting):
        return piece.cut(count)
    return piece[:, :count], piece[:, count:]


def joined(pieces: list[Piece]) -> Words:
    """The states of all pieces; a copy where they are several."""
    if len(pieces) == 1 and isinstance(pieces[0], np.ndarray):
        return pieces[0]
    words = np.empty((pieces[0].shape[0], sum(piece.shape[1] for piece in pieces)), np.uint64)
    end = 0
    for piece in pieces:
        begin, end = end, end + piece.shape[1]
        if isinstance(piece, Waiting):
            piece.read(words[:, begin:end])
        else:
            words[:, begin:end] = piece
    return words


def in_batches(pieces: Iterable[Words], size: int) -> Iterator[Words]:
    """The states of all pieces in order, in batches of `size`."""
    frontier = Frontier(size, in_memory=sys.maxsize)
    for piece in pieces:
        frontier.put(piece)
    frontier.end_level()
    while (batch := frontier.take()) is not None:
        yield joined(batch)
