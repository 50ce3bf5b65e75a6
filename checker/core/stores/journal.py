"""The journal of a search in a store: each whole level is written, and a later run begins there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import numpy.typing as npt

from checker.core.engines.layout import Layout, Words
from checker.core.search.explore import Explorer, Journal
from checker.core.search.findings import Findings, Numbers
from checker.core.search.frontier import in_batches
from checker.core.search.limits import Limits, Progress
from checker.core.search.lineage import Lineage, StateRows
from checker.core.search.question import Options, Question
from checker.core.stores.answers import conclude, findings_of, levels_needed
from checker.core.stores.level_files import ROWS_A_FILE, read_level, write_rows
from checker.core.stores.store import Level, Store
from checker.core.verdict import Exploration
from model.language.protocol import Model
from properties import Property


class StoreJournal(Journal):
    """Keeps the levels of a search of `model` in a store. The store must be locked meanwhile."""

    def __init__(self, store: Store, model: Model) -> None:
        self.store = store
        self._instances = len(model.instances)
        self._words = Layout(model).words

    def earlier(self, question: Question) -> tuple[Findings, Iterable[StateRows]] | None:
        """What the store holds, as far as it is needed."""
        self.store.clean()
        levels = levels_needed(self.store.levels, question)
        if not levels:
            return None
        rows = (read_level(self.store, lv.depth, self._words) for lv in levels if lv.size)
        return findings_of(levels, self._instances), rows

    def level(self, findings: Findings, pieces: list[Words], lineage: Lineage) -> None:
        """Write a level, and make it whole."""
        depth = findings.last_level
        self.store.storage.make_directory(self.store.directory(depth))
        slices = _row_slices(pieces, *lineage.last_links())
        files = [write_rows(self.store.storage, depth, rows) for rows in slices]
        self.store.commit(Level.of(findings, files))


class StoredExplorer:
    """A local search that keeps its levels in a store, and starts with those that are there."""

    def __init__(
        self,
        store: Store,
        model: Model,
        properties: Iterable[Property],
        limits: Limits | None = None,
        options: Options | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self.store = store
        self._search = Explorer(
            model, properties, limits, options, on_progress, journal=StoreJournal(store, model)
        )
        self.request_stop = self._search.request_stop

    def run(self) -> Exploration:
        """As `Explorer.run`; a stopped search loses no more than the level that it was in."""
        with self.store.locked():
            result = self._search.run()
            conclude(self.store, result)
        return result


def _row_slices(
    pieces: list[Words], parents: Numbers, instances: npt.NDArray[np.int32]
) -> Iterator[StateRows]:
    """The states of a level, numbered in order, in parts small enough for a file each."""
    numbers, done = np.arange(len(parents)), 0
    for words in in_batches(pieces, ROWS_A_FILE):
        chosen = slice(done, done + words.shape[1])
        yield StateRows(words, numbers[chosen], parents[chosen], instances[chosen])
        done = chosen.stop
