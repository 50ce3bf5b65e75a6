"""Memory of the visited set that another process of the machine can take over.

It is an anonymous file in memory, which goes with the last process that has it open: nothing is
left of it however they end. Another process of the same user opens it through this one.
"""

from __future__ import annotations

import mmap
import os
import uuid
import weakref
from typing import Any

from checker.core.search.memory import Kind, Table, in_huge_pages


class SharedTable(Table):
    """A table that is pickled as where it is, and is the same memory where it is unpickled.

    What one process adds by growing, another sees when it takes the table over anew. Pickling
    raises `PicklingError` where no such file was to be had, unpickling `OSError` where the process
    that pickled it, or its memory, is gone.
    """

    _file: int | None = None

    def _allocated(self, size: int) -> mmap.mmap:
        name = f"highwater-{uuid.uuid4().hex}"
        try:
            file = os.memfd_create(name)
        except (AttributeError, OSError):  # not this system, or too many files are open
            self._file = None
            return super()._allocated(size)
        try:
            os.ftruncate(file, size)
            return self._mapped(name, file, size)
        except (OSError, OverflowError) as error:
            os.close(file)
            raise MemoryError(f"no {size:,} bytes for the visited set") from error

    def _mapped(self, name: str, file: int, size: int) -> mmap.mmap:
        memory = in_huge_pages(mmap.mmap(file, size))
        self._name, self._file = name, file
        weakref.finalize(memory, os.close, file)
        return memory

    def __reduce__(self) -> Any:
        if self._file is None:
            return super().__reduce__()
        rows, width = self.array.shape
        return _taken_over, (os.getpid(), self._file, self._name, rows, width, self._kind)


def _taken_over(
    process: int, file: int, name: str, rows: int, width: int, kind: Kind
) -> SharedTable:
    table = SharedTable.__new__(SharedTable)
    table._width, table._kind = width, kind
    own = os.open(f"/proc/{process}/fd/{file}", os.O_RDWR)
    if not os.readlink(f"/proc/self/fd/{own}").startswith(f"/memfd:{name}"):
        os.close(own)
        raise FileNotFoundError(f"process {process} has no table {name} any more")
    table._memory = table._mapped(name, own, table._size(rows))
    table.array = table._view(rows)
    return table
