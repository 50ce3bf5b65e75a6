"""The Parquet files of a store's levels: packed states with their links, written and read.

Unsigned words are stored with the same bits as signed 64-bit integers, which every SQL engine has.
Pages carry checksums, which are compared whenever they are read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from checker.core.search.lineage import StateRows
from checker.core.stores.storage import Storage, explained
from checker.core.stores.store import LevelFile, Store
from model.language.errors import UsageError

ROW_GROUP = 1 << 17
ROWS_A_FILE = 1 << 22
_BESIDE_PAGES = 1 << 16  # bytes: more than all that is written of a row group but its values


def write_rows(
    storage: Storage, depth: int, rows: StateRows, owner: tuple[int, int] | None = None
) -> LevelFile:
    """Write states into a file of a level; the level's marker has to name it to count.

    The file is named by its content, so to write the same again changes nothing.
    """
    content = _encode(rows)
    part = "mixed" if owner is None else f"{owner[0]:05d}"
    digest = hashlib.sha1(content, usedforsecurity=False).hexdigest()[:12]
    name = f"part-{part}-{digest}.parquet"
    storage.write(f"{Store.directory(depth)}/{name}", content)
    return LevelFile(
        name, rows.count, content.size, int(rows.numbers[0]), int(rows.numbers[-1]), owner
    )


def _encode(rows: StateRows) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns: dict[str, npt.NDArray[Any]] = {"fingerprint": rows.fingerprints.view(np.int64)}
    names = [f"word_{w}" for w in range(rows.words.shape[0])]
    for name, word in zip(names, rows.words, strict=True):
        columns[name] = np.ascontiguousarray(word).view(np.int64)
    columns |= {"number": rows.numbers, "parent": rows.parents, "instance": rows.instances}
    # A buffer that grows is copied, and its memory is touched for the first time, which is slow.
    groups = -(-rows.count // ROW_GROUP)
    room = pa.allocate_buffer(10 * len(columns) * rows.count + _BESIDE_PAGES * (1 + groups))
    sink = pa.FixedSizeBufferWriter(room)
    pq.write_table(
        pa.table(columns),
        sink,
        row_group_size=ROW_GROUP,
        compression=dict.fromkeys(columns, "none") | dict.fromkeys(names, "lz4"),
        use_dictionary=False,
        column_encoding=dict.fromkeys(columns, "DELTA_BINARY_PACKED")
        | dict.fromkeys(["fingerprint", *names], "PLAIN"),
        write_statistics=["number"],
        write_page_checksum=True,
    )
    return room.slice(0, sink.tell())


@contextmanager
def _opened(storage: Storage, name: str) -> Iterator[Any]:
    """A file of a level as a `ParquetFile`; `UsageError` if it is damaged."""
    import pyarrow.parquet as pq

    damaged = f"the store {storage.location} is damaged: {name}"
    try:
        with (
            explained(damaged),
            storage.filesystem.open_input_file(storage.path(name)) as stream,
            pq.ParquetFile(stream, page_checksum_verification=True) as file,
        ):
            yield file
    except (KeyError, UnicodeDecodeError) as error:
        raise UsageError(f"{damaged}: its columns have other names") from error


def check_pages(storage: Storage, name: str) -> None:
    """Read every page of a file and compare its checksum: `UsageError` if one is damaged."""
    with _opened(storage, name) as file:
        for group in range(file.num_row_groups):
            file.read_row_group(group, use_threads=True)


def read_columns(
    storage: Storage, name: str, columns: list[str], groups: range | None = None
) -> list[npt.NDArray[Any]]:
    """Some columns of a file, of the given row groups or of all; `UsageError` if it is damaged."""
    with _opened(storage, name) as file:
        wanted = range(file.num_row_groups) if groups is None else groups
        table = file.read_row_groups(list(wanted), columns, use_threads=False)
        return [table.column(column).to_numpy() for column in columns]


def read_rows(storage: Storage, name: str, words: int, groups: range | None = None) -> StateRows:
    """The states of a file, or of some of its row groups. All columns are read, to be checked."""
    packed = [f"word_{w}" for w in range(words)]
    wanted = [*packed, "number", "parent", "instance", "fingerprint"]
    *columns, _ = read_columns(storage, name, wanted, groups)
    stacked = np.stack([column.view(np.uint64) for column in columns[:words]])
    return StateRows(stacked, *columns[words:])


def read_level(store: Store, depth: int, words: int) -> StateRows:
    """A whole level in memory, in the order of its numbers."""
    parts = [read_rows(store.storage, name, words) for name, _ in store.files([depth])]
    if not parts:
        empty = np.empty(0, np.int64)
        return StateRows(np.empty((words, 0), np.uint64), empty, empty, empty.astype(np.int32))
    return in_order(parts)


def in_order(parts: list[StateRows]) -> StateRows:
    """The states of all parts, of which there is one at least, in the order of their numbers."""
    if len(parts) == 1:
        return parts[0]
    rows = StateRows(
        np.concatenate([p.words for p in parts], axis=1),
        np.concatenate([p.numbers for p in parts]),
        np.concatenate([p.parents for p in parts]),
        np.concatenate([p.instances for p in parts]),
    )
    return rows[np.argsort(rows.numbers, kind="stable")]


def find_link(store: Store, depth: int, number: int) -> tuple[int, int]:
    """The (parent, instance) of the state of a level that has the given number.

    Reads no more than the row groups whose range holds the number.
    """
    wanted = ["number", "parent", "instance"]
    for name, file in store.files([depth]):
        if not file.first <= number <= file.last:
            continue
        with _opened(store.storage, name) as parquet:
            place = parquet.schema_arrow.get_field_index("number")
            for group in range(parquet.num_row_groups):
                seen = parquet.metadata.row_group(group).column(place).statistics
                if not seen.min <= number <= seen.max:
                    continue
                table = parquet.read_row_group(group, wanted)
                numbers, *link = (table.column(column).to_numpy() for column in wanted)
                row = int(np.searchsorted(numbers, number))
                if row < len(numbers) and numbers[row] == number:
                    return int(link[0][row]), int(link[1][row])
    raise ValueError(f"level {depth} of {store.location} has no state {number}")


def find_path(store: Store, depth: int, number: int) -> list[int]:
    """The action instances of the least trace to a state, found level by level from its end."""
    steps = []
    for level in range(depth, 0, -1):
        number, instance = find_link(store, level, number)
        steps.append(instance)
    return steps[::-1]
