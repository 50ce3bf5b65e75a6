"""The project's own packages on their way to the workers, which need not have it installed.

They need Python, NumPy, llvmlite, psutil and pyarrow.
"""

from __future__ import annotations

import atexit
import hashlib
import pickle
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from checker.core.files import modules_below
from checker.core.spark import bootstrap

if TYPE_CHECKING:
    from pyspark import SparkContext

_ABOVE = __name__.split(".")[:-4]  # `highwater` where it is installed, nothing in the repository
PACKAGES = tuple(_ABOVE) or ("model", "properties", "checker")
ROOT = Path(__file__).resolve().parents[3 + len(_ABOVE)]


@dataclass(frozen=True)
class Shipment:
    """Where workers find the code: at `place` on the driver's machine, or in an archive."""

    place: str
    archive: str

    @property
    def is_for_one_machine(self) -> bool:
        """All workers are on the driver's machine, and belong to one executor."""
        return bool(self.place)

    def task(self, function: Callable[..., Any], *arguments: Any) -> Callable[[Any], Iterator[Any]]:
        """What `mapPartitions` takes, to run `function(*arguments, given)` in the workers."""
        name = f"{function.__module__}:{function.__qualname__}"
        return partial(bootstrap.run_task, self.place, self.archive, name, pickle.dumps(arguments))


_shipped: dict[str, Shipment] = {}


def ship(context: SparkContext) -> Shipment:
    """Send the code to the workers, once; threads of this process have it already."""
    from pyspark import cloudpickle

    if context.applicationId not in _shipped:
        register: Any = cloudpickle.register_pickle_by_value
        register(bootstrap)
        master = context.master or ""
        if master.startswith("local") and not master.startswith("local-cluster"):
            shipment = Shipment(str(ROOT), "")
        else:
            directory = Path(tempfile.mkdtemp(prefix="highwater-ship-"))
            atexit.register(shutil.rmtree, directory, ignore_errors=True)
            archive = build_archive(directory)
            context.addFile(str(archive))
            shipment = Shipment("", archive.name)
        _shipped[context.applicationId] = shipment
    return _shipped[context.applicationId]


def build_archive(directory: Path) -> Path:
    """Write an archive of the packages' modules, named by its content, into a directory."""
    modules = [m for package in PACKAGES for m in modules_below(ROOT / package)]
    digest = hashlib.sha256()
    for module in modules:
        digest.update(module.relative_to(ROOT).as_posix().encode() + b"\0" + module.read_bytes())
    target = directory / f"highwater-{digest.hexdigest()[:16]}.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for module in modules:
            archive.write(module, module.relative_to(ROOT).as_posix())
    return target
