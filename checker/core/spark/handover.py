"""How workers hand visited sets to each other, instead of each filling its own.

A worker keeps what it gives until it is taken. With a directory, other workers of the machine may
take it, too: the set lies in shared memory, and a notice in the directory says where. Whoever takes
it removes the notice, so that one worker at a time adds to a set. What a worker has taken is known
to nobody until it gives it again: if it dies, others build the set anew. Several may look at a set,
and meanwhile it is not taken.
"""

from __future__ import annotations

import fcntl
import os
import pickle
import tempfile
import uuid
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from checker.core.search.visited_set import VisitedSet

_TOKEN_BYTES = 32


@dataclass(frozen=True)
class Given:
    """A set that holds the first `depth` levels whole; no two that are given have one token."""

    token: str
    depth: int
    visited: VisitedSet


class Handover:
    """Sets by name. `directory` is of this user on this machine, or none to share with nobody."""

    def __init__(self, directory: Path | None) -> None:
        self._directory = directory
        self._given: OrderedDict[str, Given] = OrderedDict()
        self._looked_at: dict[str, Given] = {}

    def give(self, name: str, depth: int, visited: VisitedSet) -> None:
        """Have a set ready to be taken."""
        self._given[name] = given = Given(uuid.uuid4().hex, depth, visited)
        if self._directory is None:
            return
        try:
            content = pickle.dumps((depth, visited))
        except pickle.PicklingError:
            self._remove(name)
            return
        with suppress(OSError):  # on a full disk it is shared with nobody
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            file, path = tempfile.mkstemp(dir=self._directory)
            with os.fdopen(file, "wb") as stream:
                stream.write(given.token.encode() + content)
            os.rename(path, self._directory / name)

    def take(self, name: str) -> Given | None:
        """A set, which nobody else has from now on; none if there is none to be had."""
        with self._notice(name, fcntl.LOCK_EX) as notice:
            found = self._found(name, notice)
            if notice is not None:
                self._remove(name)
        if found is not None:
            for known in (self._given, self._looked_at):
                known.pop(name, None)
        return found

    @contextmanager
    def look(self, name: str) -> Iterator[Given | None]:
        """A set, which nobody takes meanwhile; none if there is none to be had."""
        with self._notice(name, fcntl.LOCK_SH) as notice:
            found = self._found(name, notice)
            if found is not None and name not in self._given:
                self._looked_at[name] = found
            yield found

    def forget(self, most: int) -> None:
        """Drop what others have by now, and of what this worker has given, what exceeds so much.

        In bytes; what was given last stays.
        """
        for known in (self._given, self._looked_at):
            for name in [n for n, given in known.items() if not self._is_there(n, given)]:
                del known[name]
        while len(self._given) > 1 and sum(g.visited.bytes for g in self._given.values()) > most:
            name, _ = self._given.popitem(last=False)
            self._remove(name)

    def _is_there(self, name: str, given: Given) -> bool:
        if self._directory is None:
            return True
        try:
            with (self._directory / name).open("rb") as notice:
                return _token(notice) == given.token
        except OSError:
            return False

    def _remove(self, name: str) -> None:
        if self._directory is not None:
            with suppress(OSError):
                os.unlink(self._directory / name)

    @contextmanager
    def _notice(self, name: str, lock: int) -> Iterator[BinaryIO | None]:
        """The notice of a set, locked; none if there is none, or another worker has locked it."""
        with ExitStack() as stack:
            notice = None
            if self._directory is not None:
                with suppress(OSError):  # another worker has locked it, or there is none
                    stream = stack.enter_context((self._directory / name).open("rb"))
                    fcntl.flock(stream, lock | fcntl.LOCK_NB)
                    notice = stream if os.fstat(stream.fileno()).st_nlink else None
            yield notice

    def _found(self, name: str, notice: BinaryIO | None) -> Given | None:
        known = self._given.get(name) or self._looked_at.get(name)
        if self._directory is None:
            return known
        if notice is None:
            return None
        token = _token(notice)
        if known is not None and known.token == token:
            return known
        try:
            return Given(token, *pickle.load(notice))
        except OSError:  # whoever gave it is gone
            return None


def _token(notice: BinaryIO) -> str:
    return notice.read(_TOKEN_BYTES).decode()
