"""The first code that runs in a worker: it finds the project, then runs a task of it.

It is sent by value, so it may import nothing of the project before it has found it: either where
the driver has it, on the same machine, or unpacked from the archive that Spark has fetched. An
archive is unpacked once a machine, so that compiled kernels are kept beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def run_task(place: str, archive: str, task: str, arguments: bytes, given: Any) -> Iterator[Any]:
    """Run `module:function(*arguments, given)` of the project, which is at `place` if given."""
    import importlib
    import pickle
    import sys

    root = place or unpacked(archive)
    if root not in sys.path:
        sys.path.insert(0, root)
    module, _, name = task.partition(":")
    function = getattr(importlib.import_module(module), name)
    yield from function(*pickle.loads(arguments), given)


def unpacked(archive: str) -> str:
    """The directory with the archive's content, which its name stands for."""
    import os
    import shutil
    import tempfile
    import zipfile

    from pyspark import SparkFiles

    parent = os.path.join(tempfile.gettempdir(), f"highwater-code-{os.getuid()}")
    os.makedirs(parent, mode=0o700, exist_ok=True)
    if os.stat(parent).st_uid != os.getuid():
        raise PermissionError(f"{parent} belongs to someone else")
    target = os.path.join(parent, archive.removesuffix(".zip"))
    if not os.path.isdir(target):
        partial = tempfile.mkdtemp(dir=parent)
        with zipfile.ZipFile(SparkFiles.get(archive)) as content:
            content.extractall(partial)
        try:
            os.rename(partial, target)
        except OSError:
            # Another worker was faster.
            shutil.rmtree(partial, ignore_errors=True)
    return target
