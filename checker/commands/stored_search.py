"""`explore` with a store: which search to run, and where what it finds is kept."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from checker.engines.layout import Layout
from checker.search.limits import Limits, Progress
from checker.search.question import Options
from checker.search.symmetry import Symmetry
from checker.stores.journal import StoredExplorer
from checker.stores.manifest import manifest_for
from checker.stores.store import open_store
from model.language.protocol import Model
from properties import Property

if TYPE_CHECKING:
    from checker.spark.distributed import SparkExplorer

DEFAULT_MASTER = "local[*]"


@dataclass(frozen=True)
class Keeping:
    """Where states are kept, and the cluster that finds them; no `master` means this process."""

    store: str
    resume: bool
    master: str | None = None
    partitions: int | None = None
    is_scratch: bool = False


def scratch_directory() -> str:
    """A directory for a search whose states nobody wants to keep."""
    directory = tempfile.mkdtemp(prefix="highwater-store-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return directory


def stored_search(
    keeping: Keeping,
    model: Model,
    properties: tuple[Property, ...],
    limits: Limits,
    options: Options,
    on_progress: Callable[[Progress], None],
) -> StoredExplorer | SparkExplorer:
    """The search, ready to run. Whatever can be wrong with Java or the store is said here."""
    if keeping.master is not None:
        from checker.spark.session import require_java, require_master

        require_java()
        require_master(keeping.master)
    if options.symmetry:
        Symmetry(model, properties, Layout(model))  # says so if there is none
    store = open_store(keeping.store, manifest_for(model, properties, options), keeping.resume)
    if keeping.master is None:
        return StoredExplorer(store, model, properties, limits, options, on_progress)
    from checker.spark.distributed import Cluster, SparkExplorer
    from checker.spark.session import start_session

    keeps_log = store.storage.is_local and not keeping.is_scratch
    master, log = keeping.master, Path(store.storage.root) / "spark.log" if keeps_log else None
    cluster = Cluster(lambda: start_session(master, log), keeping.partitions)
    return SparkExplorer(store, model, properties, cluster, limits, options, on_progress)
