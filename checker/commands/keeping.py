"""Storing what was found. What cannot be stored, on a full disk say, is said after the result.

A result that took minutes, or a loss that was found, is never hidden behind the file that it was
also meant for.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from checker.core.exits import Exit
from model.language.errors import UsageError

if TYPE_CHECKING:
    from checker.core.traces.trace import Trace

T = TypeVar("T")


class Keeping:
    """While entered, what could not be stored is collected; it is told at the end, a line each."""

    def __init__(self) -> None:
        self._errors: list[UsageError] = []

    def store(self, save: Callable[..., T], *arguments: object) -> T | None:
        """What `save` gives for the arguments, or nothing if it raises `UsageError`."""
        try:
            return save(*arguments)
        except UsageError as error:
            self._errors.append(error)
            return None

    def trace(self, trace: Trace, directory: Path | None, name: str) -> Path | None:
        """Where the trace of what `name` says is stored: nowhere without a directory."""
        from checker.core.files import prepare_directory
        from checker.core.traces.itf import save_trace

        def save(directory: Path) -> Path:
            prepare_directory(directory)
            return save_trace(trace, directory, name)

        return None if directory is None else self.store(save, directory)

    def status(self, found: Exit) -> Exit:
        """The exit status for what was found: that something is not stored counts where it is 0."""
        return Exit.USAGE if self._errors and found is Exit.OK else found

    def __enter__(self) -> Keeping:
        return self

    def __exit__(self, *_: object) -> None:
        for unsaved in self._errors:
            click.echo(f"error: {unsaved}", err=True)
