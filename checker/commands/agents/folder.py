"""The one folder that agents read and write in: paths that leave it are refused.

Commands run with it as their working directory, so that a path means there what it means here.
What a protocol of one's own does as it runs is its own affair: it is a program.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from checker.core.files import prepare_directory, write_whole
from model.language.errors import UsageError
from model.own_protocols import file_in, is_module


class Folder:
    """A folder that exists; `root` is the place itself, whatever links lead there."""

    def __init__(self, path: Path) -> None:
        self.root = path.resolve()

    def cache(self) -> Path:
        """Where machine code is kept between calls: in the folder too, and no source to git.

        In a folder that cannot be written to it is compiled in each call.
        """
        place = self.root / self.path(".highwater")
        with suppress(OSError, UsageError):
            prepare_directory(place)
            if not (place / ".gitignore").exists():
                write_whole(place / ".gitignore", b"*\n")
        return place

    def path(self, given: str) -> str:
        """The path, if it is in the folder once links and `..` are followed; else `UsageError`."""
        try:
            place = (self.root / given).resolve()
        except (OSError, RuntimeError, ValueError):
            raise UsageError(f"{given}: no path") from None
        if not place.is_relative_to(self.root):
            raise UsageError(f"{given}: outside the folder that this server may use")
        return given

    def protocol(self, name: str) -> str:
        """A protocol's name, or its file in the folder; else `UsageError`."""
        if is_module(name):
            such = f"{name.partition(':')[0]}.py"
            raise UsageError(f"{name}: a module may be anywhere; name a file, such as {such}")
        file = file_in(name)
        if file is not None:
            self.path(file)
        return name
