"""Where a store lies: a directory on this machine, or a URI that pyarrow can reach.

Everything is written under another name first, or to storage whose writes are atomic, so that a
file that has its final name is whole. What goes wrong with a file is said in one line.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from checker.core.files import write_whole
from checker.distribution import require
from model.language.errors import UsageError

SCHEMES = "s3://, gs://, abfs://, hdfs://, file://"
_SECRET = re.compile("://[^/@]*:[^/@]*@")  # a name and a password before the host


def require_pyarrow() -> None:
    """Raise `UsageError` if the library that reads and writes Parquet is not installed."""
    require("a store needs pyarrow", "pyarrow")


@contextmanager
def explained(doing: str) -> Iterator[None]:
    """Turn what the file system or Parquet complains of into one line that starts with `doing`."""
    import pyarrow as pa

    try:
        yield
    except (OSError, pa.ArrowException) as error:
        raise UsageError(f"{doing}: {_cause(error)}") from error


def _cause(error: Exception) -> str:
    number = getattr(error, "errno", None)
    if number is not None and not isinstance(error, UnicodeError):
        return os.strerror(number)
    text = " ".join(str(error).split())
    for code in (errno.ENOSPC, errno.EACCES, errno.EROFS, errno.EDQUOT):
        if os.strerror(code) in text or f"errno {code}]" in text:
            return os.strerror(code)
    return text[:200] or type(error).__name__


@dataclass(frozen=True)
class Storage:
    """A directory, given as a path or a URI. Names inside it are relative and use `/`.

    What is not kept is there for the time of one search: it need not be on the disk, nor small.
    """

    location: str
    is_kept: bool = True

    def __post_init__(self) -> None:
        require_pyarrow()
        if _SECRET.search(self.location):
            raise UsageError(  # it would be in messages, in reports, and in the shell's history
                "a store's address holds no secrets: leave them to the environment, as in "
                "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
            )

    @property
    def is_local(self) -> bool:
        """The directory is on a file system of this machine."""
        return "://" not in self.location or self.location.startswith("file://")

    @cached_property
    def root(self) -> str:
        """The directory as `filesystem` wants it: an absolute path where it is local."""
        return self._resolved[1]

    @property
    def anywhere(self) -> Storage:
        """The same directory for another process, whichever directory that runs in."""
        return Storage(self.root if self.is_local else self.location, self.is_kept)

    @cached_property
    def filesystem(self) -> Any:
        """The `pyarrow.fs.FileSystem` that holds the directory."""
        return self._resolved[0]

    @cached_property
    def _resolved(self) -> tuple[Any, str]:
        import pyarrow as pa
        from pyarrow import fs

        if "://" not in self.location:
            return fs.LocalFileSystem(), str(Path(self.location).expanduser().absolute())
        try:
            filesystem, root = fs.FileSystem.from_uri(self.location)
        except (OSError, ValueError, pa.ArrowException) as error:
            raise UsageError(
                f"cannot reach {self.location}: {_cause(error)} (possible: {SCHEMES})"
            ) from None
        return filesystem, root

    def path(self, name: str) -> str:
        """The path of a file as `filesystem` wants it."""
        return f"{self.root}/{name}"

    def uri(self, name: str) -> str:
        """The address of a file as Spark wants it."""
        if self.is_local:
            return f"file://{self.path(name)}"  # as it is: Hadoop's paths are not quoted
        return f"{self.location.rstrip('/')}/{name}"

    # --- reading -----------------------------------------------------------------------------

    def sizes(self, directory: str = "") -> dict[str, int]:
        """The files of a directory by name, with their bytes; subdirectories have -1."""
        from pyarrow import fs

        selector = fs.FileSelector(self.path(directory).rstrip("/"), allow_not_found=True)
        with explained(f"cannot read the directory {self._shown(directory)}"):
            found = self.filesystem.get_file_info(selector)
        return {info.base_name: info.size if info.is_file else -1 for info in found}

    def read(self, name: str) -> bytes:
        """The content of a file; `UsageError` if there is none."""
        with (
            explained(f"cannot read {self._shown(name)}"),
            self.filesystem.open_input_stream(self.path(name)) as stream,
        ):
            return bytes(stream.read())

    # --- writing -----------------------------------------------------------------------------

    def make_directory(self, name: str = "") -> None:
        """Make a directory, with those above it."""
        with explained(f"cannot make the directory {self._shown(name)}"):
            self.filesystem.create_dir(self.path(name).rstrip("/"), recursive=True)

    def write(self, name: str, content: Any) -> None:
        """Write a file, whole or not at all, replacing one of that name.

        `content` is bytes or a pyarrow buffer. On a file system of this machine it is on the disk
        when this returns, if it is kept.
        """
        with explained(f"cannot write {self._shown(name)}"):
            if self.is_local:
                write_whole(Path(self.path(name)), content, self.is_kept)
            else:
                with self.filesystem.open_output_stream(self.path(name)) as stream:
                    stream.write(content)

    def delete(self, name: str) -> None:
        """Remove a file or a directory, if it can be; what is left over does no harm."""
        import pyarrow as pa
        from pyarrow import fs

        path = self.path(name)
        try:
            if self.filesystem.get_file_info(path).type == fs.FileType.Directory:
                self.filesystem.delete_dir(path)
            else:
                self.filesystem.delete_file(path)
        except (OSError, pa.ArrowException):
            return

    def _shown(self, name: str) -> str:
        return f"{self.location.rstrip('/')}/{name}".rstrip("/")
