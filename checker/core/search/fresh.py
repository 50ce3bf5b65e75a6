"""Of a batch's steps those that lead to new states, in one pass and without the interpreter's lock.

NumPy takes several passes for the same and holds the lock in some, for which other threads wait.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from checker.core.engines.layout import Words
from checker.core.engines.vectorised import Successors
from checker.core.native.kernel import kernel
from checker.core.search.table_kernels import Flags, Numbers

Instances = npt.NDArray[np.uint16]
Counts = npt.NDArray[np.int64]


class Fresh(NamedTuple):
    """New states in order, with the row of the state before each in its batch, and the instance."""

    words: Words
    rows: Numbers
    instances: Instances


def fresh(steps: Successors, after: Words, new: Flags) -> Fresh:
    """The states after steps that are new."""
    count = int(np.count_nonzero(new))
    # One more, since what is not new is written, too, where the next one comes to lie.
    rows, instances = np.empty(count + 1, np.int32), np.empty(count + 1, np.uint16)
    words = np.empty((len(after), count + 1), np.uint64)
    _take(new, steps.rows, steps.instances, after, rows, instances, words)
    return Fresh(words[:, :count], rows[:count], instances[:count])


@kernel
def _take(
    new: Flags,
    rows: Numbers,
    instances: Instances,
    after: Words,
    own_rows: Numbers,
    own_instances: Instances,
    own_words: Words,
) -> None:
    count = 0
    for i in range(new.shape[0]):
        own_rows[count] = rows[i]
        own_instances[count] = instances[i]
        for w in range(after.shape[0]):
            own_words[w, count] = after[w, i]
        count += 1 if new[i] else 0


def counted(instances: Instances, of: int) -> Counts:
    """How often each of so many instances occurs."""
    counts = np.zeros(of, np.int64)
    _count(instances, counts)
    return counts


@kernel
def _count(instances: Instances, counts: Counts) -> None:
    for i in range(instances.shape[0]):
        counts[instances[i]] += 1
