"""Exhaustive search on Spark, level by level, with the store as its memory.

Small levels are searched in this process; the first large one is where Spark takes over. The driver
never holds a level: it reads the notes of the partitions, and commits a level when all its files
are written. Whatever dies, the last whole level is there to go on from.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from checker.core.engines.agreement import require_agreement
from checker.core.search.explore import Explorer
from checker.core.search.findings import Findings, spread
from checker.core.search.limits import INTERRUPTED, Limits, Progress, peak_memory_bytes
from checker.core.search.question import Options, Question
from checker.core.spark.parcels import LevelJob, Part, Slice
from checker.core.spark.protocol_parcel import ProtocolParcel
from checker.core.stores.answers import conclude, exploration_of, findings_of, levels_needed
from checker.core.stores.journal import StoreJournal
from checker.core.stores.level_files import ROW_GROUP
from checker.core.stores.store import Level, LevelFile, Store
from checker.core.verdict import Exploration
from model.language.errors import HighwaterError, UsageError
from model.language.protocol import Model
from properties import Property, Sense

if TYPE_CHECKING:
    from pyspark import SparkContext

DEFAULT_HAND_OVER = 20_000
NUMBERS = 1 << 62  # numbers stay below this, so that they are the same signed and unsigned
GROUPS_A_SLICE = 16


@dataclass(frozen=True)
class Cluster:
    """Where and how the work is spread. None of this changes what is found.

    `start` starts Spark; what it is given says whether that has been given up, which is a
    `KeyboardInterrupt`. `partitions` is none for as many as the cluster has cores. Levels of fewer
    states than `hand_over` are searched in the driver's process, as long as none was larger.
    `numbers` is the bound on the numbers of states; beyond it a level is renumbered.
    """

    start: Callable[[Callable[[], bool]], SparkContext]
    partitions: int | None = None
    hand_over: int = DEFAULT_HAND_OVER
    numbers: int = NUMBERS


class SparkExplorer:
    """One search on a cluster. `run` returns what it found; `request_stop` ends it soon."""

    def __init__(
        self,
        store: Store,
        model: Model,
        properties: Iterable[Property],
        cluster: Cluster,
        limits: Limits | None = None,
        options: Options | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self._protocol = ProtocolParcel.of(model.protocol)
        self.store = store
        self.model = model
        self.properties = tuple(properties)
        self.cluster = cluster
        self.limits = limits or Limits()
        self.options = options or Options()
        self.question = Question(self.properties, self.limits, self.options)
        self._on_progress = on_progress or (lambda _: None)
        self._run = uuid.uuid4().hex
        self._local: Explorer | None = None
        self._spark: SparkContext | None = None
        self._stopped = ""

    # --- stopping ----------------------------------------------------------------------------

    def request_stop(self) -> None:
        """End the search; the level that is being built is dropped."""
        self._stop(INTERRUPTED)

    def _stop(self, why: str) -> None:
        self._stopped = self._stopped or why
        if self._local is not None:
            self._local.request_stop()
        if self._spark is not None:
            # Not in this thread: a signal handler may have stopped it in the middle of a call.
            cancel = self._spark.cancelAllJobs
            threading.Thread(target=cancel, daemon=True).start()

    # --- the search --------------------------------------------------------------------------

    def run(self) -> Exploration:
        """Search until nothing new is found, a property is violated, or a limit is reached."""
        with self.store.locked():
            return self._search()

    def _search(self) -> Exploration:
        self._started = time.perf_counter()
        agreement = None
        if self.options.cross_check:
            agreement = require_agreement(self.model, self.properties)
        self._earlier = self.store.levels[-1].seconds if self.store.levels else 0.0
        self.store.clean()
        if self._is_small():
            result = self._search_here()
            if result.stopped:
                conclude(self.store, result)
                return result
        if not self._is_answered():
            self._search_there()
        result = exploration_of(self.store, self.model, self.question, "spark")
        result.stopped = "" if self._is_answered() else self._stopped
        result.agreement = agreement
        result.peak_memory_bytes = peak_memory_bytes()
        conclude(self.store, result)
        return result

    def _is_small(self) -> bool:
        return all(level.size < self.cluster.hand_over for level in self.store.levels)

    def _is_answered(self) -> bool:
        return self.question.is_answered(levels_needed(self.store.levels, self.question)[-1])

    def _search_here(self) -> Exploration:
        """Search in this process until a level is large, or the search is over."""
        self._local = Explorer(
            self.model, self.properties, self.limits, replace(self.options, cross_check=False),
            self._on_progress, journal=StoreJournal(self.store, self.model),
        )  # fmt: skip
        result = self._local.run(lambda found: found.frontier >= self.cluster.hand_over)
        self._local = None
        result.engine = "spark"
        return result

    def _search_there(self) -> None:
        timer = self._alarm()
        try:
            self._spark = self.cluster.start(lambda: bool(self._stopped))
            while not self._is_answered() and not self._is_out_of_states() and not self._stopped:
                self._build(self._spark)
                self._report()
        except KeyboardInterrupt:
            if not self._stopped:
                raise
        except HighwaterError:
            self.store.clean()
            raise
        except Exception as error:
            self.store.clean()
            if not self._stopped:
                raise self._given_up(error) from error
        finally:
            if timer is not None:
                timer.cancel()

    def _given_up(self, error: Exception) -> UsageError:
        """What Spark failed with, in one line; the rest is in its log."""
        from checker.core.spark.session import failure_reason

        depth = len(self.store.levels)
        return UsageError(
            f"Spark could not build level {depth}: {failure_reason(error)}; {self.store.location} "
            f"holds the levels before, --resume goes on from there"
        )

    def _alarm(self) -> threading.Timer | None:
        seconds, until = self.limits.seconds, self.limits.until
        if seconds is None:
            return None
        left = max(seconds - (time.perf_counter() - self._started), 0.0)
        left = left if until is None else min(left, until.left)
        timer = threading.Timer(left, self._stop, [f"the limit of {seconds:g} seconds"])
        timer.daemon = True
        timer.start()
        return timer

    def _is_out_of_states(self) -> bool:
        if self.limits.states is not None and self.store.states > self.limits.states:
            self._stopped = str(self.limits.out_of_states)
        return bool(self._stopped)

    def _report(self) -> None:
        last, before = self.store.levels[-1], self.store.levels[-2]
        self._on_progress(
            Progress(
                depth=last.depth,
                expanded=before.size,
                frontier=before.size,
                states=self.store.states,
                transitions=last.transitions,
                seconds=time.perf_counter() - self._started,
            )
        )

    # --- one level ---------------------------------------------------------------------------

    def _build(self, spark: SparkContext) -> None:
        """Build the level after the last, and commit it."""
        from checker.core.spark.jobs import build_level, renumber_level
        from checker.core.spark.renumber import choose_ranges

        before = self.store.levels[-1]
        job = self._job(spark, before)
        self.store.storage.make_directory(self.store.directory(job.depth))
        work = _slices(before, spark.defaultParallelism)
        notes = build_level(spark, job, work)
        findings = self._findings(job.depth, notes)
        files = _files(notes)
        if files and (before.numbers << (2 * job.shift)) > self.cluster.numbers:
            samples = [number for note in notes for number in note.get("sample", [])]
            ranges = choose_ranges(files, samples, job.partitions)
            replaced, files = files, _files(renumber_level(spark, job, ranges))
            for name in {file.name for file in replaced} - {file.name for file in files}:
                self.store.storage.delete(f"{self.store.directory(job.depth)}/{name}")
        seconds = self._earlier + time.perf_counter() - self._started
        findings.add_level(sum(file.rows for file in files), seconds)
        self.store.commit(Level.of(findings, files))

    def _job(self, spark: SparkContext, before: Level) -> LevelJob:
        return LevelJob(
            run=self._run,
            storage=self.store.storage.anywhere,
            protocol=self._protocol,
            identity=self.model.identity,
            properties=tuple(prop.name for prop in self.properties),
            depth=before.depth + 1,
            partitions=self.cluster.partitions or spark.defaultParallelism,
            shift=max((len(self.model.instances) - 1).bit_length(), 1),
            exact=self.options.exact,
            deadlock=self.options.deadlock and before.deadlock is None,
            symmetry=self.options.symmetry,
            settled=frozenset({*before.violated, *before.reached}),
            premises=frozenset(before.premises),
            seals=self.store.seals,
        )

    def _findings(self, depth: int, notes: list[dict[str, Any]]) -> Findings:
        """The totals up to the new level, from those before and the notes of the partitions."""
        found = findings_of(self.store.levels, len(self.model.instances))
        senses = {prop.name: prop.sense for prop in self.properties}
        least: dict[str, tuple[int, int]] = {}
        stuck: list[int] = []
        for note in notes:
            found.enabled += spread(note.get("enabled", {}), len(found.enabled))
            found.new += spread(note.get("new", {}), len(found.new))
            found.premises |= set(note.get("premises", []))
            if note.get("deadlock") is not None:
                stuck.append(note["deadlock"])
            for name, (parent, instance) in note.get("violated", {}).items():
                least[name] = _least(least.get(name), (parent, instance))
        for name, link in least.items():
            if senses[name] is Sense.SOMETIMES:
                found.reached[name] = depth
            else:
                found.violated[name] = (depth, *link)
        found.transitions = int(found.enabled.sum())
        if stuck:
            found.deadlock = (depth - 1, min(stuck))
        return found


def _least(known: tuple[int, int] | None, link: tuple[int, int]) -> tuple[int, int]:
    """The step that comes first in the order of traces."""
    return link if known is None else min(known, link)


def _files(notes: list[dict[str, Any]]) -> list[LevelFile]:
    """The files that notes name, by owner."""
    found = [note["file"] for note in notes if "file" in note]
    return sorted(map(LevelFile.from_data, found), key=lambda file: file.owner or (0, 0))


def _slices(level: Level, cores: int) -> list[Slice]:
    """The work of expanding a level, in slices of some row groups, as many for each core.

    Equal successors mostly come from states with numbers near each other, which lie in files of
    different owners: a slice has parts of several files from about the same range of numbers.
    """
    files = [(file, -(-file.rows // ROW_GROUP)) for file in level.files]
    total = sum(groups for _, groups in files)
    wanted = cores * -(-total // (cores * GROUPS_A_SLICE))
    most = max(total // wanted, 1)
    found = []
    for first in range(0, len(files), most):
        beside = files[first : first + most]
        count = -(-sum(groups for _, groups in beside) * wanted // total)
        for k in range(count):
            cuts = [
                (file, k * groups // count, (k + 1) * groups // count) for file, groups in beside
            ]
            found.append(tuple(Part(file, a, b - a) for file, a, b in cuts if b > a))
    return [work for work in found if work]
