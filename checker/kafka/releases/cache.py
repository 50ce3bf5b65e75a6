"""What is brought or compiled once and kept: directories that appear whole or not at all."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from checker.core.files import cache_directory, prepare_directory


def kept(name: str, make: Callable[[Path], None]) -> Path:
    """The directory of that name in the cache; `make` fills it if it is not there yet.

    It is filled under another name and renamed, so that no process sees half of it, and two that
    make it at the same time both get the same. Raises `UsageError` if the cache cannot be written.
    """
    directory = cache_directory() / name
    if directory.is_dir():
        return directory
    prepare_directory(directory.parent)
    beside = Path(tempfile.mkdtemp(prefix=f".{directory.name}.", dir=directory.parent))
    try:
        make(beside)
        beside.chmod(0o755)
        with suppress(OSError):  # Another process was first: its directory holds the same.
            beside.rename(directory)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return directory
