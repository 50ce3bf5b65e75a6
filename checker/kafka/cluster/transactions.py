"""What transactional producers asked for and were told, against what readers of it may see.

A reader with read_committed sees all records of a transaction or none. It sees them if the producer
was told that the transaction is committed, and not if the producer did not ask for that, or was
told that it is aborted. Where a commit has failed, or nobody has heard of its end, both may be.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class End(StrEnum):
    """How a transaction ended, as its producer knows."""

    NOT_ASKED = "its producer has not asked to commit it"
    ABORTED = "its producer has aborted it"
    COMMITTED = "its producer was told that it is committed"
    UNKNOWN = "its commit has failed"


@dataclass
class Transaction:
    """The names of its records, how it ended, and the error if it could not be ended."""

    producer: int
    records: list[str] = field(default_factory=list)
    end: End = End.NOT_ASKED
    error: str = ""
    is_answered: bool = False


class Transactions:
    """Those of all producers, in the order in which they were begun."""

    def __init__(self) -> None:
        self.all: list[Transaction] = []

    def begin(self, producer: int) -> None:
        """It has begun one."""
        self.all.append(Transaction(producer))

    def last(self, producer: int) -> Transaction:
        """The one that it began last. `LookupError` if it has begun none."""
        return [each for each in self.all if each.producer == producer][-1]

    def ask(self, producer: int, commits: bool) -> None:
        """It asks for the end: from now on a commit may have happened without an answer."""
        self.last(producer).end = End.UNKNOWN if commits else End.ABORTED

    def hear(self, event: str, data: Mapping[str, Any]) -> None:
        """Take in what a producer was told of the end that it asked for."""
        told = self.last(data["producer"])
        told.is_answered, told.error = True, data.get("error", "")
        if event == "committed" and not told.error:
            told.end = End.COMMITTED


def torn(transactions: Iterable[Transaction], acknowledged: Set[str], seen: Set[str]) -> str:
    """What a reader with read_committed makes of them that cannot be; empty if nothing.

    `acknowledged`: the records that partitions have; `seen` those that the reader has read.
    """
    for each in transactions:
        records = [name for name in each.records if name in acknowledged]
        read = [name for name in records if name in seen]
        unread = [name for name in records if name not in seen]
        what = f"of the transaction of {', '.join(records)}"
        if read and unread:
            return f"{what} readers get {', '.join(read)}, and not {', '.join(unread)}: {each.end}"
        if read and each.end in {End.NOT_ASKED, End.ABORTED}:
            return f"{what} readers get {', '.join(read)}: {each.end}"
        if unread and each.end is End.COMMITTED:
            return f"{what} readers do not get {', '.join(unread)}: {each.end}"
    return ""
