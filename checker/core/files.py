"""Files of this machine: written as a whole or not at all, in directories that are known to do;
and TOML that people write, of which what is wrong is refused in a line that names the file."""

from __future__ import annotations

import contextlib
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from model.language.errors import UsageError


def write_whole(path: Path, content: Any, is_kept: bool = True) -> None:
    """Write a file: readers see all of the old or all of the new one.

    If it is kept, it is on the disk then.

    `content` is bytes, or a buffer of them. Raises `OSError`, or `ValueError` for a name that no
    file can have; what was there is then left as it was.
    """
    beside = path.with_name(f".{path.name[:100]}.{os.urandom(6).hex()}.tmp")
    try:
        with beside.open("xb") as file:
            file.write(content)
            file.flush()
            if is_kept:
                os.fsync(file.fileno())
        beside.replace(path)
    finally:
        with contextlib.suppress(OSError, ValueError):
            beside.unlink()


def read_bounded(path: Path, most: int) -> bytes:
    """A file's bytes, one more than `most` if there are more. Raises `OSError`.

    A pipe is read to its end. One that nobody writes to is empty: who opens it would wait for ever.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(descriptor, True)
    with open(descriptor, "rb") as file:
        return file.read(most + 1)


def prepare_directory(directory: Path) -> None:
    """Make a directory for results, before hours are spent on finding them."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make the directory {directory}: {error.strerror}") from None
    if not os.access(directory, os.W_OK | os.X_OK):
        raise UsageError(f"cannot write to the directory {directory}: permission denied")


def modules_below(folder: Path) -> list[Path]:
    """The Python modules in a folder and in all below it, in order.

    A limit may end this at any instant: no iterator over a directory is left open then.
    """
    found, folders = [], [folder]
    while folders:
        here = folders.pop()
        for name in os.listdir(here):
            if name.endswith(".py"):
                found.append(here / name)
            elif (here / name).is_dir():
                folders.append(here / name)
    return sorted(found)


COUNTEREXAMPLES = Path(__file__).resolve().parents[2] / "counterexamples"
"""What was found and is stored: in the repository, or where this package is installed."""


def cache_directory() -> Path:
    """$HIGHWATER_CACHE, else $XDG_CACHE_HOME/highwater, else ~/.cache/highwater."""
    if chosen := os.environ.get("HIGHWATER_CACHE"):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "highwater"


def read_toml(path: Path) -> dict[str, Any]:
    """The contents of a TOML file; `UsageError` if it cannot be read or is not TOML."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path}: {error}") from error


@contextlib.contextmanager
def parsed(path: Path) -> Iterator[Mapping[str, Any]]:
    """The contents of a TOML file, to be read inside: `UsageError`, in one line that begins with
    the path, if a key is missing there (`KeyError`) or something else is wrong (`UsageError`)."""
    data = read_toml(path)
    try:
        yield data
    except KeyError as error:
        raise UsageError(f"{path}: no {error.args[0]!r}") from error
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error


def table(
    data: Mapping[str, Any], key: str, default: Mapping[str, Any] | None = None
) -> Mapping[str, Any]:
    """The table under a key; `UsageError` if it is none. Without a default it may not be missing
    (`KeyError`)."""
    found = data[key] if default is None else data.get(key, default)
    if not isinstance(found, Mapping):
        raise UsageError(f"{key} has to be a table, such as [{key}], and not {found!r}")
    return found


def tables(data: Mapping[str, Any], key: str) -> Sequence[Mapping[str, Any]]:
    """The tables under a key; `UsageError` if they are none, `KeyError` if nothing is there."""
    found = data[key]
    if not (isinstance(found, list) and all(isinstance(each, Mapping) for each in found)):
        raise UsageError(f"{key} has to be tables, each such as [[{key}]], and not {found!r}")
    return found
