"""Machine code that is kept between runs, in a directory of the user's own.

What is loaded is run, so a file counts only if it and its directory belong to this user and nobody
else may write there, if it was written for the very key that is asked for, and if its content is
whole. Everything else is as if it were not there: code is then compiled. Nothing here ever fails.
"""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import suppress
from pathlib import Path

from checker.core.files import cache_directory

_MOST = 256 << 20  # bytes in all; what was not used for longest goes first
_room: dict[Path, int] = {}  # bytes that fit into a directory still, as far as this process knows
_OF_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_HEAD = b"highwater code\n"


def load(key: str) -> bytes | None:
    """The code that was kept under a key, if it can be trusted."""
    with suppress(OSError, RuntimeError, ValueError):
        directory = _directory()
        _require_own(directory.lstat(), stat.S_ISDIR)
        opened = os.open(directory / key, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(opened, "rb") as file:
            _require_own(os.fstat(file.fileno()), stat.S_ISREG)
            content = file.read()
            with suppress(OSError):
                os.utime(file.fileno())
        code = content[len(_HEAD) + hashlib.sha256().digest_size :]
        if content == _sealed(key, code):
            return code
    return None


def store(key: str, code: bytes) -> None:
    """Keep code under a key, if that is possible: whole, or not at all."""
    with suppress(OSError, RuntimeError, ValueError):
        directory = _directory()
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        _require_own(directory.lstat(), stat.S_ISDIR)
        content = _sealed(key, code)
        beside = directory / f".{os.urandom(8).hex()}"
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            with os.fdopen(os.open(beside, flags, 0o600), "wb") as file:
                file.write(content)
            beside.replace(directory / key)
        finally:
            with suppress(OSError):
                beside.unlink()
        _make_room(directory, len(content))


def _directory() -> Path:
    return cache_directory() / "code"


def _require_own(found: os.stat_result, is_kind: object) -> None:
    """`ValueError` unless it is of the kind, and nobody but this user can have written it."""
    assert callable(is_kind)
    if not is_kind(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & _OF_OTHERS:
        raise ValueError


def _sealed(key: str, code: bytes) -> bytes:
    """A file's content: the code after a digest of it and of the key that it was made for."""
    return _HEAD + hashlib.sha256(key.encode() + b"\n" + code).digest() + code


def _make_room(directory: Path, added: int) -> None:
    """Lists the directory only if it may be full, and then leaves room for an eighth."""
    _room[directory] = _room.get(directory, 0) - added
    if _room[directory] >= 0:
        return
    files = sorted((found.st_mtime, found.st_size, each) for each, found in _files(directory))
    total = sum(size for _, size, _ in files)
    wanted = _MOST if total <= _MOST else _MOST - _MOST // 8
    for _, size, each in files:
        if total <= wanted:
            break
        with suppress(OSError):
            each.unlink()
        total -= size
    _room[directory] = _MOST - total


def _files(directory: Path) -> list[tuple[Path, os.stat_result]]:
    found = []
    for each in directory.iterdir():
        with suppress(OSError):
            found.append((each, each.lstat()))
    return found
