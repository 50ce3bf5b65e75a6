"""Files that are read as they were written: no byte is handed on before its block's digest agrees.

A file is digested in blocks, because workers and traces read parts of large files. Whoever parses
one then needs no other protection: footers, headers and pages are all covered.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from typing import Any

BLOCK = 1 << 22
_KEPT = 2  # blocks: a read may begin in one and end in the next


class AlteredError(Exception):
    """Bytes are not those that were written."""


def digest_of(content: Any) -> str:
    """A digest of bytes, or of a buffer. It tells chance from truth, and stops no forger."""
    return hashlib.sha1(content, usedforsecurity=False).hexdigest()


def data_digest(data: Mapping[str, Any]) -> str:
    """A digest of data as JSON gives it back, whatever the order of names."""
    read = json.loads(json.dumps(data))
    return digest_of(json.dumps(read, sort_keys=True).encode())


def block_digests(content: Any) -> tuple[str, ...]:
    """The digest of each block of a file's content."""
    view = memoryview(content)
    return tuple(digest_of(view[at : at + BLOCK]) for at in range(0, len(view), BLOCK))


class CheckedFile(io.RawIOBase):
    """An open file of `size` bytes; reading raises `AlteredError` where a digest is another."""

    def __init__(self, stream: Any, size: int, digests: tuple[str, ...]) -> None:
        super().__init__()
        self._stream = stream
        self._size = size
        self._digests = digests
        self._at = 0
        self._blocks: dict[int, memoryview] = {}

    def seekable(self) -> bool:
        """It is."""
        return True

    def readable(self) -> bool:
        """It is."""
        return True

    def tell(self) -> int:
        """Where the next read begins."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to an offset; where that is, from the beginning."""
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def read(self, size: int = -1) -> Any:
        """As many bytes, as far as there are; they may be a view of what is kept here."""
        end = self._size if size < 0 else min(self._at + size, self._size)
        parts = []
        while self._at < end:
            number, start = divmod(self._at, BLOCK)
            parts.append(self._block(number)[start : start + end - self._at])
            self._at += len(parts[-1])
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def check(self) -> None:
        """Read all blocks."""
        for number in range(len(self._digests)):
            self._block(number)

    def _block(self, number: int) -> memoryview:
        block = self._blocks.pop(number, None)
        if block is None:
            start = number * BLOCK
            self._stream.seek(start)
            block = memoryview(self._stream.read(min(BLOCK, self._size - start)))
            if digest_of(block) != self._digests[number]:
                raise AlteredError(f"bytes {start:,} and further are not what was written")
        self._blocks[number] = block
        if len(self._blocks) > _KEPT:
            del self._blocks[next(iter(self._blocks))]
        return block
