"""Which search the options of `explore` ask for, and where what it finds is kept."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from checker.core.search.explore import Explorer
from checker.core.search.limits import Limits, Progress
from checker.core.search.question import Options
from checker.core.verdict import Exploration
from model.language.errors import UsageError
from model.language.fairness import changed
from model.language.protocol import Model
from properties import Liveness, Property, liveness_of, promised_properties, split_names

if TYPE_CHECKING:
    from checker.core.stores.store import Store

DEFAULT_MASTER = "local[*]"


class Search(Protocol):
    """What `explore` needs of an engine's search."""

    def request_stop(self) -> None: ...

    def run(self) -> Exploration: ...


def chosen_search(
    options: dict[str, Any],
    model: Model,
    on_progress: Callable[[Progress], None],
    since: float | None = None,
) -> Search:
    """The search, ready to run; `UsageError` for options that do not go together.

    Whatever can be wrong with Java or the store is said here too.
    """
    _refuse_misfits(options)
    properties, promises = chosen_properties(model, options["properties"], options["liveness"])
    depth, states = options["depth"], options["max_states"]
    limits = Limits(depth, states, options["max_seconds"], options["max_memory"], since)
    chosen = ("workers", "exact", "keep_going", "deadlock", "symmetry", "cross_check")
    how = Options(**{name: options[name] for name in chosen})
    if promises or options["fair"]:
        return _liveness_search(options, model, properties, promises, limits, how, on_progress)
    asked = model, properties, limits, how, on_progress
    if options["engine"] == "reference":
        from checker.core.search.textbook import TextbookExplorer

        return TextbookExplorer(*asked)
    if options["engine"] == "local" and not options["store"]:
        return Explorer(*asked)
    if options["engine"] == "local":
        from checker.core.stores.journal import StoredExplorer

        return StoredExplorer(_store(options, model, properties, how), *asked)
    from checker.core.spark.distributed import Cluster, SparkExplorer
    from checker.core.spark.session import require_java, require_master, start_session

    master = options["master"] or DEFAULT_MASTER
    require_java()
    require_master(master)
    store = _store(options, model, properties, how)
    keeps_log = store.storage.is_local and options["store"]
    log = Path(store.storage.root) / "spark.log" if keeps_log else None
    cluster = Cluster(
        lambda given_up: start_session(master, log, given_up=given_up), options["partitions"]
    )
    return SparkExplorer(store, model, properties, cluster, limits, how, on_progress)


def chosen_properties(
    model: Model, names: Sequence[str], liveness: bool
) -> tuple[tuple[Property, ...], tuple[Liveness, ...]]:
    """What is asked of states and steps, and of runs for ever.

    Without names, all that the model promises, of runs only with `liveness`.
    """
    of_states, promises = split_names(model.protocol, names)
    properties = () if names and not of_states else promised_properties(model, of_states)
    if liveness and not promises:
        promises = tuple(p for p in liveness_of(model.protocol) if p.promised(model))
        if not promises:
            raise UsageError(f"{model.protocol.name} has no liveness properties")
    return properties, promises


def _liveness_search(
    options: dict[str, Any],
    model: Model,
    properties: tuple[Property, ...],
    promises: tuple[Liveness, ...],
    limits: Limits,
    how: Options,
    on_progress: Callable[[Progress], None],
) -> Search:
    if not promises:
        raise UsageError("--fair goes with --liveness, or with a liveness property by name")
    if options["engine"] != "local" or options["store"]:
        raise UsageError(
            "liveness is checked by --engine local alone, which keeps the state graph in memory: "
            "leave out --store, and any other engine"
        )
    from checker.core.liveness.search import LivenessSearch

    fairness = changed(model.protocol.fairness, options["fair"])
    return LivenessSearch(model, properties, promises, fairness, limits, how, on_progress)


def _refuse_misfits(options: dict[str, Any]) -> None:
    engine = options["engine"]
    for name in ("master", "partitions"):
        if options[name] is not None and engine != "spark":
            raise UsageError(f"--{name} goes with --engine spark")
    if options["resume"] and not options["store"]:
        raise UsageError("--resume goes with --store DIR, which names what to go on from")
    if options["store"] and engine == "reference":
        raise UsageError("--engine reference keeps no store: valid are local, spark")
    if options["max_memory"] is not None and engine == "spark":
        raise UsageError(
            "--max-memory does not limit Spark's workers: set spark.executor.memory and "
            "spark.driver.memory, or use --engine local"
        )
    if options["symmetry"] and engine == "reference":
        raise UsageError("--symmetry works with the engines local and spark")


def _store(
    options: dict[str, Any], model: Model, properties: tuple[Property, ...], how: Options
) -> Store:
    """The store that is named, or one for a search whose states nobody wants to keep."""
    import shutil
    import tempfile

    from checker.core.engines.layout import Layout
    from checker.core.search.symmetry import Symmetry
    from checker.core.stores.manifest import manifest_for
    from checker.core.stores.store import open_store

    if how.symmetry:
        Symmetry(model, properties, Layout(model))  # says so if there is none
    place = options["store"]
    if options["resume"] and "://" not in place and not Path(place).exists():
        raise UsageError(f"--resume: there is no store {place} to go on from: leave out --resume")
    if not place:
        place = tempfile.mkdtemp(prefix="highwater-store-")
        atexit.register(shutil.rmtree, place, ignore_errors=True)
    return open_store(place, manifest_for(model, properties, how), options["resume"])
