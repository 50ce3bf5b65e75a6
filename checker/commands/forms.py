"""Forms of output: each declared once, with its name, its words, and the function that writes it.

`--format`, its help, and the refusal of what is no form follow from a command's tuple of forms. A
new form of a result is one more `Form` there, and the function that it names.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import click

from checker.commands.common import JSON_IS_WRITTEN, write_output, write_words
from model.language.errors import UsageError, unknown_name

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

JSON = "json"
"""The form that `--json` asks for too."""


class Named(Protocol):
    """What is chosen by name, and said in help."""

    @property
    def name(self) -> str: ...

    @property
    def words(self) -> str: ...


N = TypeVar("N", bound=Named)


@dataclass(frozen=True)
class Form(Generic[T]):
    """One form of what a command found: `text` writes it. `suffix` is that of its files."""

    name: str
    words: str
    text: Callable[[T], str]
    suffix: str = ""


@dataclass(frozen=True)
class FolderForm(Generic[T]):
    """A form that is files in a directory: `prepare` makes it, and says early if that cannot be."""

    name: str
    words: str
    prepare: Callable[[Path], None]
    write: Callable[[T, Path], None]


def names_of(forms: Iterable[Named]) -> list[str]:
    """How users ask for them."""
    return [form.name for form in forms]


def words_of(forms: Iterable[Named]) -> str:
    """What they are, in one line of help."""
    return "; ".join(f"{form.name}: {form.words}" for form in forms)


def form_option(forms: Sequence[Form[Any]]) -> Callable[[F], F]:
    """`--format` of what is printed, of which `--json` is one; the first is the default."""
    return click.option(
        "--format", "form", type=click.Choice(names_of(forms)),
        help=f"{words_of(forms)} [default: {forms[0].name}]",
    )  # fmt: skip


def chosen_form(forms: Sequence[Form[T]], options: dict[str, Any]) -> Form[T]:
    """The form that is asked for; what is not for people goes without progress."""
    name = options.pop("form") or (JSON if options["as_json"] else forms[0].name)
    if options["as_json"] and name != JSON:
        raise UsageError(f"--json and --format {name} are two formats: choose one")
    options["as_json"] = name == JSON
    options["quiet"] = options["quiet"] or name != forms[0].name
    return form_named(forms, name)


def form_named(forms: Iterable[N], name: str) -> N:
    """The form of that name."""
    return next(form for form in forms if form.name == name)


def also_option(forms: Sequence[Form[Any]]) -> Callable[[F], F]:
    """`--also FORM=FILE`: what is found in more forms than the one that is printed."""
    return click.option(
        "--also", multiple=True, metavar="FORM=FILE",
        help=f"write this to a file, too: {', '.join(names_of(forms))}",
    )  # fmt: skip


def chosen_files(forms: Sequence[Form[T]], options: dict[str, Any]) -> list[tuple[Form[T], Path]]:
    """The forms that are asked for as files, whose directories are made. Raises `UsageError`."""
    from checker.core.files import prepare_directory

    chosen = []
    for asked in options.pop("also"):
        name, _, file = asked.partition("=")
        if name not in names_of(forms):
            raise unknown_name("form of --also", name, names_of(forms))
        if not file:
            raise UsageError(f"--also {asked} names no file: write --also {name}=FILE")
        chosen.append((form_named(forms, name), Path(file)))
        prepare_directory(Path(file).absolute().parent)
    return chosen


def form_as_file(form: Form[T], found: T) -> str:
    """What a command found, as a file has it: without colours, whatever the terminal."""
    with contextlib.redirect_stdout(io.StringIO()):
        return form.text(found)


def print_form(forms: Sequence[Form[T]], form: Form[T], found: T) -> None:
    """Write what a command found to standard output, in one of its forms."""
    text = form.text(found)
    if form.name == JSON:
        write_words(lambda: forms[0].text(found))
        JSON_IS_WRITTEN.set(True)
    write_output(text)
