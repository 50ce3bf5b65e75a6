"""The engines of `explore`: each declared once, with its words, what it can do, and its search.

`--engine`, `list`, and what is told of options that an engine cannot take follow from `ENGINES`.
Nothing heavy is imported until an engine searches.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from model.language.errors import UsageError

if TYPE_CHECKING:
    from checker.core.search.limits import Limits, Progress
    from checker.core.search.question import Options
    from checker.core.stores.store import Store
    from checker.core.verdict import Exploration
    from model.language.fairness import Fairness
    from model.language.protocol import Model
    from properties import Liveness, Property

DEFAULT_MASTER = "local[*]"


class Search(Protocol):
    """What `explore` needs of an engine's search."""

    def request_stop(self) -> None: ...

    def run(self) -> Exploration: ...


@dataclass(frozen=True)
class Asked:
    """What a search is about. `options` are those of `explore`, such as `store` and `master`."""

    model: Model
    properties: tuple[Property, ...]
    limits: Limits
    how: Options
    on_progress: Callable[[Progress], None]
    promises: tuple[Liveness, ...]
    fairness: tuple[Fairness, ...]
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Engine:
    """One engine: `takes` are those options of `explore` that it takes and not every engine does.

    `instead` says of an option that it does not take what to do instead. `search` makes the search,
    ready to run, and raises `UsageError` for whatever is wrong with its surroundings.
    """

    name: str
    words: str
    takes: frozenset[str]
    search: Callable[[Asked], Search]
    instead: Mapping[str, str] = field(default_factory=dict)

    def refuse(self, given: Mapping[str, Any]) -> None:
        """`UsageError` for the first of the given options that other engines take, not this one."""
        for name, value in given.items():
            others = [each.name for each in ENGINES.values() if name in each.takes]
            if value in (None, False, ()) or not others or name in self.takes:
                continue
            hint = f": {self.instead[name]}" if name in self.instead else ""
            flag = f"--{name.replace('_', '-')}"
            raise UsageError(f"{flag} goes with --engine {' or '.join(others)}{hint}")


def _local(asked: Asked) -> Search:
    plain = asked.model, asked.properties, asked.limits, asked.how, asked.on_progress
    if asked.promises:
        from checker.core.liveness.search import LivenessSearch

        return LivenessSearch(
            asked.model, asked.properties, asked.promises, asked.fairness, asked.limits, asked.how,
            asked.on_progress,
        )  # fmt: skip
    if asked.options["reduce"]:
        from checker.core.search.reduced import ReducedExplorer

        return ReducedExplorer(*plain)
    if asked.options["spill"]:
        from checker.core.beyond.explorer import BeyondMemory

        store = _store(asked, asked.options["spill"], spill=True)
        return BeyondMemory(store, *plain, max_disk=asked.options["max_disk"])
    if asked.options["store"]:
        from checker.core.stores.journal import StoredExplorer

        return StoredExplorer(_store(asked, asked.options["store"]), *plain)
    from checker.core.search.explore import Explorer

    return Explorer(*plain)


def _spark(asked: Asked) -> Search:
    from checker.core.spark.distributed import Cluster, SparkExplorer
    from checker.core.spark.session import require_java, require_master, start_context

    master = asked.options["master"] or DEFAULT_MASTER
    require_java()
    require_master(master)
    store = _store(asked, asked.options["store"])
    keeps_log = store.storage.is_local and asked.options["store"]
    log = Path(store.storage.root) / "spark.log" if keeps_log else None
    cluster = Cluster(
        lambda given_up: start_context(master, log, given_up=given_up), asked.options["partitions"]
    )
    return SparkExplorer(
        store, asked.model, asked.properties, cluster, asked.limits, asked.how, asked.on_progress
    )


def _reference(asked: Asked) -> Search:
    from checker.core.search.textbook import TextbookExplorer

    return TextbookExplorer(
        asked.model, asked.properties, asked.limits, asked.how, asked.on_progress
    )


def _store(asked: Asked, place: str | None, spill: bool = False) -> Store:
    """The store at a place, or one for a search whose states nobody wants to keep."""
    import shutil
    import tempfile

    from checker.core.engines.layout import Layout
    from checker.core.search.symmetry import Symmetry
    from checker.core.stores.manifest import manifest_for
    from checker.core.stores.store import open_store

    if asked.how.symmetry:
        Symmetry(asked.model, asked.properties, Layout(asked.model))  # says so if there is none
    resume = asked.options["resume"]
    if place and resume and "://" not in place and not Path(place).exists():
        raise UsageError(f"--resume: there is no store {place} to go on from: leave out --resume")
    is_kept = bool(place)
    if not place:
        place = tempfile.mkdtemp(prefix="highwater-store-")
        atexit.register(shutil.rmtree, place, ignore_errors=True)
    manifest = manifest_for(asked.model, asked.properties, asked.how, spill)
    return open_store(place, manifest, resume, is_kept)


_DECLARED = (
    Engine(
        "local", "vectorised search on this machine",
        frozenset({
            *("store", "symmetry", "reduce", "max_memory", "spill", "max_disk", "liveness"),
        }), _local,
    ),
    Engine(
        "spark", "vectorised search on a Spark cluster; keeps what it finds in a store",
        frozenset({"store", "symmetry", "master", "partitions"}), _spark,
        {"max_memory": "Spark's workers have spark.executor.memory and spark.driver.memory"},
    ),
    Engine(
        "reference", "textbook search on the action functions themselves: slow, an oracle",
        frozenset({"max_memory"}), _reference,
    ),
)  # fmt: skip

ENGINES = {engine.name: engine for engine in _DECLARED}
"""Every engine by its name, the default one first."""
