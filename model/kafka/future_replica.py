"""The log of a replica in another directory of its broker, to which the replica moves (KIP-113)."""

from __future__ import annotations

from model.language import Record, sequence
from model.replicated_log import LOG_SIZE, Log, Offset


class FutureReplica(Record):
    """Blank where none `exists`. How it is filled is in `replica_alter_log_dirs.py`.

    `truncating`: its fetcher compares leader epochs with the current log before it fetches on; if
    that cannot answer, it truncates to `fetch_offset`, which is blank else. `failed`: the
    fetcher has given the partition up.
    """

    exists: bool = False
    log: Log = sequence(LOG_SIZE)
    high_watermark: Offset = 0
    truncating: bool = False
    fetch_offset: Offset = 0
    failed: bool = False
