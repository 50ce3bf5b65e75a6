"""What commands share: options, amounts and times, and printing results."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeVar, cast

import click

from checker.commands import completion
from checker.core.files import write_whole
from model.language.errors import UsageError
from model.language.protocol import Model
from model.own_protocols import FORMS

if TYPE_CHECKING:
    from rich.console import Console

F = TypeVar("F", bound=Callable[..., Any])

HELP = {"help_option_names": ["-h", "--help"]}
SYMMETRY = "take states that differ only in which replica (node, member) is which as one"
"""What `--symmetry` does."""
PLAIN_WIDTH = 80
"""Columns of text that is not for a terminal."""


def protocol_option(words: str) -> Callable[[F], F]:
    """`--protocol`: a protocol by name, where a file says which it is."""
    return click.option(
        "--protocol", metavar="NAME", help=f"{words}; or {FORMS} of your own",
        shell_complete=completion.protocols,
    )  # fmt: skip


def output_options(function: F) -> F:
    """`--quiet` and `--json`."""
    as_json = click.option("--json", "as_json", is_flag=True, help="print one JSON object")
    return click.option("--quiet", is_flag=True, help="no progress, just the result")(
        as_json(function)
    )


def checked_output_options(function: F) -> F:
    """`--no-cross-check`, `--quiet` and `--json`."""
    return click.option(
        "--cross-check/--no-cross-check", default=True,
        help="first compare the steps of some states with the reference engine [default: yes]",
    )(output_options(function))  # fmt: skip


def workers_option(words: str) -> Callable[[F], F]:
    """`--workers`: how many of what the words say."""
    return click.option(
        "--workers", type=click.IntRange(1, 64), default=2, show_default=True, help=words
    )


def stats_option(function: F) -> F:
    """`--stats`: how often what was done, and how fast."""
    return click.option(
        "--stats", is_flag=True, help="also tell how often each action was enabled, and how fast"
    )(function)


def limited(default: float | None = None) -> Callable[[F], F]:
    """`--max-seconds` of a whole command, which gets a `Ceiling` first, made as it starts.

    Whoever has `--max-memory` too stands above `memory_option`.
    """

    def decorate(function: F) -> F:
        @wraps(function)
        def begun(*, max_seconds: float | None, **options: Any) -> Any:
            from checker.commands.ceiling import Ceiling

            return function(Ceiling(max_seconds, options.get("max_memory")), **options)

        told = click.option(
            "--max-seconds", type=seconds, default=default, show_default=default is not None,
            help="end after this time, and say what is known",
        )  # fmt: skip
        return cast(F, told(begun))

    return decorate


def memory_option(function: F) -> F:
    """`--max-memory`, which the command's `Ceiling` sees to."""
    return click.option("--max-memory", type=size, help="stop at this much memory, such as 4GB")(
        function
    )


def results_option(function: F) -> F:
    """`--store FILE`: results of many searches."""
    return click.option(
        "--store", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
        help="keep results here, and do not compute again what it holds",
    )(function)  # fmt: skip


_UNITS = {"B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


def size(text: str) -> int:
    """An amount of memory such as `200MB` or `4GiB`, in bytes."""
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-z]*)\s*", text, re.IGNORECASE)
    if match is None or match[2].upper() not in _UNITS:
        raise click.BadParameter(
            f"{text!r} is no amount of memory: write for example 200MB or 4GiB"
        )
    return int(float(match[1]) * _UNITS[match[2].upper()])


def seconds(text: str) -> float:
    """A time in seconds, such as `90` or `0.5`."""
    with suppress(ValueError):
        if 0 <= (found := float(text)) < float("inf"):
            return found
    raise click.BadParameter(f"{text!r} is no time: write a number of seconds, such as 90 or 0.5")


def result_data(command: str, model: Model, **found: Any) -> dict[str, Any]:
    """What a command found of a model, as plain data; `found` may replace parts of its identity."""
    from checker.distribution import highwater_version

    return {"command": command, **model.identity, **found, "version": highwater_version()}


def write_result(
    as_json: bool, data: Callable[[], dict[str, Any]], text: Callable[[Console], str]
) -> None:
    """Write what a command found, as one JSON object or for people."""
    write_told(as_json, data, lambda: text(console()))


def write_told(
    as_json: bool, data: Callable[[], Mapping[str, Any]], text: Callable[[], str]
) -> None:
    """As `write_result`, for a text that needs no console."""
    if as_json:
        write_words(text)
        print_json(data())
    else:
        write_output(text())


def write_words(text: Callable[[], str]) -> None:
    """Write the text of a result before its JSON, where `WITH_WORDS` asks for both."""
    if WITH_WORDS.get():
        write_output(text())


def console() -> Console:
    """A console that renders for standard output: in colour on a terminal, else plain.

    It only captures: what it has rendered is for the caller to write.
    """
    from rich.console import Console

    if sys.stdout.isatty():
        return Console(highlight=False, markup=False, emoji=False)
    return Console(
        file=io.StringIO(), width=PLAIN_WIDTH, color_system=None, force_terminal=False,
        highlight=False, markup=False, emoji=False,
    )  # fmt: skip


OUTPUT: ContextVar[TextIO | None] = ContextVar("output", default=None)
"""Where results are written, if not to what `sys.stdout` is now."""

JSON_IS_WRITTEN: ContextVar[bool] = ContextVar("json_is_written", default=False)
"""Whether this run of a command has printed its one JSON object already."""


WITH_WORDS: ContextVar[bool] = ContextVar("with_words", default=False)
"""Whether what is printed as JSON is told before it as text too: an agent is given both."""


def print_json(data: Mapping[str, Any]) -> None:
    """One JSON object on standard output, and nothing else: `output.schema.json` says which."""
    JSON_IS_WRITTEN.set(True)
    write_output(json.dumps(data) + "\n")


def write_output(text: str) -> None:
    """Write to standard output. A reader that has had enough, such as `head`, is no error."""
    stream = OUTPUT.get() or sys.stdout
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        discard_output()


def discard_output() -> None:
    """Send the rest of standard output nowhere, so that closing it does not fail again."""
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), (OUTPUT.get() or sys.stdout).fileno())


def write_file(path: Path, text: str) -> None:
    """Write a file as a whole: readers see all of the old or all of the new one.

    What is not a regular file, such as a pipe, is written to as it is. Raises `UsageError`.
    """
    try:
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8")
            return
        write_whole(path, text.encode())
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


def refuse_replacing(trace: Path, output: Path | None) -> None:
    """`UsageError` if what is written would replace the trace that it is made of."""
    if output is not None and output.exists() and trace.exists() and output.samefile(trace):
        raise UsageError(f"-o {output} would replace the trace itself: name another file")
