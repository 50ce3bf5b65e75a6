"""The Parquet files of a store's levels: packed states with their links, written and read.

Unsigned words are stored with the same bits as signed 64-bit integers, which every SQL engine has.
A level's marker has the digests and the number of rows of its files, and both are compared whenever
anything of a file is read.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from checker.core.search.lineage import StateRows
from checker.core.stores.checked import AlteredError, CheckedFile, block_digests, digest_of
from checker.core.stores.storage import Storage, explained
from checker.core.stores.store import LevelFile, Store, damaged

ROW_GROUP = 1 << 17
ROWS_A_FILE = 1 << 22
_BESIDE_PAGES = 1 << 16  # bytes: more than all that is written of a row group but its values


def write_rows(
    storage: Storage, depth: int, rows: StateRows, owner: tuple[int, int] | None = None
) -> LevelFile:
    """Write states into a file of a level; the level's marker has to name it to count.

    The file is named by its content, so to write the same again changes nothing. In a store that is
    not kept it has a name of its own each time, and no fingerprints, which words tell; what would
    make it small takes longer than to write more.
    """
    content = _encode(rows, storage.is_kept)
    part = "mixed" if owner is None else f"{owner[0]:05d}"
    digests = block_digests(content) if storage.is_kept else ()
    told = digest_of("".join(digests).encode()) if storage.is_kept else uuid.uuid4().hex
    name = f"part-{part}-{told[:12]}.parquet"
    first, last = int(rows.numbers[0]), int(rows.numbers[-1])
    file = LevelFile(name, rows.count, content.size, first, last, owner, digests)
    storage.write(Store.place(depth, file), content)
    return file


def _encode(rows: StateRows, is_kept: bool) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns: dict[str, npt.NDArray[Any]] = {}
    if is_kept:
        columns["fingerprint"] = rows.fingerprints.view(np.int64)
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
        compression=dict.fromkeys(columns, "none")
        | dict.fromkeys(names, "lz4" if is_kept else "none"),
        use_dictionary=False,
        column_encoding=dict.fromkeys(columns, "DELTA_BINARY_PACKED")
        | dict.fromkeys(["fingerprint", *names], "PLAIN"),
        write_statistics=["number"],
    )
    return room.slice(0, sink.tell())


@contextmanager
def _checked(storage: Storage, depth: int, file: LevelFile) -> Iterator[Any]:
    """A file of a level; `UsageError` as soon as what is read of it is not what was written.

    Nothing is compared in a store that is not kept.
    """
    name = Store.place(depth, file)
    try:
        with (
            explained(f"cannot read {storage.location}/{name}"),
            storage.filesystem.open_input_file(storage.path(name)) as stream,
        ):
            yield CheckedFile(stream, file.bytes, file.digests) if storage.is_kept else stream
    except AlteredError as error:
        raise damaged(storage, depth, f"has a file {file.name} whose {error}") from error


@contextmanager
def _opened(storage: Storage, depth: int, file: LevelFile) -> Iterator[Any]:
    """A file of a level as a `ParquetFile`."""
    import pyarrow.parquet as pq

    with _checked(storage, depth, file) as stream, pq.ParquetFile(stream) as parquet:
        if parquet.metadata.num_rows != file.rows:
            held = f"{parquet.metadata.num_rows:,} rows instead of {file.rows:,}"
            raise damaged(storage, depth, f"has a file {file.name} of {held}")
        yield parquet


def check_content(storage: Storage, depth: int, file: LevelFile) -> None:
    """Compare all of a file with its digests, for a reader that cannot: `UsageError` if damaged."""
    with _checked(storage, depth, file) as stream:
        stream.check()


def read_columns(
    storage: Storage,
    depth: int,
    file: LevelFile,
    columns: list[str],
    groups: range | None = None,
) -> list[npt.NDArray[Any]]:
    """Some columns of a file, of the given row groups or of all; `UsageError` if it is damaged."""
    import pyarrow as pa

    with _opened(storage, depth, file) as parquet:
        wanted = range(parquet.num_row_groups) if groups is None else groups
        # One group after the other, as they lie in the file: each block is then read once.
        read = [parquet.read_row_group(group, columns, use_threads=False) for group in wanted]
        table = pa.concat_tables(read)
        return [table.column(column).to_numpy() for column in columns]


def read_rows(storage: Storage, depth: int, file: LevelFile, words: int) -> StateRows:
    """The states of a file."""
    packed = [f"word_{w}" for w in range(words)]
    wanted = [*packed, "number", "parent", "instance"]
    columns = read_columns(storage, depth, file, wanted)
    stacked = np.stack([column.view(np.uint64) for column in columns[:words]])
    return StateRows(stacked, *columns[words:])


def read_level(store: Store, depth: int, words: int) -> StateRows:
    """A whole level in memory, in the order of its numbers."""
    parts = [read_rows(store.storage, depth, file, words) for file in store.levels[depth].files]
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
    for file in store.levels[depth].files:
        if not file.first <= number <= file.last:
            continue
        with _opened(store.storage, depth, file) as parquet:
            place = parquet.schema_arrow.get_field_index("number")
            for group in range(parquet.num_row_groups):
                seen = parquet.metadata.row_group(group).column(place).statistics
                if not seen.min <= number <= seen.max:
                    continue
                table = parquet.read_row_group(group, wanted, use_threads=False)
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
