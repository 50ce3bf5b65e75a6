"""What goes to workers and between them: the work of a level, and parcels of states and notes.

A parcel carries many states in one block of bytes, because moving rows one at a time would cost
more than making them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from checker.core.engines.layout import Words
from checker.core.native.kernel import kernel
from checker.core.spark.protocol_parcel import ProtocolParcel
from checker.core.stores.storage import Storage
from checker.core.stores.store import LevelFile


class Kind(IntEnum):
    """What a parcel carries."""

    STATES = 0  # numbers, then packed words, unsigned 64-bit
    NOTE = 1  # counts and findings, as JSON
    ERROR = 2  # what went wrong, in one line
    PLACE = 3  # where states are, in a file beside the shuffle


@dataclass(frozen=True)
class Parcel:
    """Bytes on their way to a partition."""

    to: int
    kind: int
    content: bytes | memoryview


@dataclass(frozen=True)
class Part:
    """Some row groups of a file of the level before."""

    file: LevelFile
    first_group: int
    groups: int


Slice = tuple[Part, ...]
"""What one task expands: parts of files of the level before."""


@dataclass(frozen=True)
class LevelJob:
    """One level to build; plain data, so that workers can build everything else from it.

    `run` tells one run from another, `settled` names the properties and premises that need no more
    looking at. A new state's number is its parent's, `shift` bits to the left, plus the instance.
    `seals` are those of the manifest and of the levels before, which workers may read.
    """

    run: str
    storage: Storage
    protocol: ProtocolParcel
    identity: dict[str, Any]
    properties: tuple[str, ...]
    depth: int
    partitions: int
    shift: int
    exact: bool = False
    deadlock: bool = False
    symmetry: bool = False
    settled: frozenset[str] = field(default_factory=frozenset)
    premises: frozenset[str] = field(default_factory=frozenset)
    seals: tuple[str, ...] = ()


def owners(found: Words, partitions: int) -> npt.NDArray[np.int64]:
    """Which partition owns the states with these fingerprints, by their upper halves."""
    to = np.empty(len(found), np.int64)
    _owners(found, partitions, to)
    return to


@kernel
def _owners(found: Words, partitions: int, to: npt.NDArray[np.int64]) -> None:
    for i in range(found.shape[0]):
        high = found[i] >> np.uint64(32)
        to[i] = int((high * np.uint64(partitions)) >> np.uint64(32))
