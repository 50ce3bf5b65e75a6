"""`report`: a stored trace in a form to read or to pass on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from checker.commands.common import (
    HELP,
    console,
    output_options,
    print_json,
    protocol_option,
    refuse_replacing,
    write_file,
    write_output,
)
from checker.commands.forms import Form, form_named, names_of, words_of
from checker.core.files import prepare_directory
from model.language.errors import UsageError

if TYPE_CHECKING:
    from checker.core.traces.trace import Trace


@dataclass(frozen=True)
class Shown:
    """A trace to write; `plain` where that is for a file or a program, not for a terminal."""

    trace: Trace
    plain: bool


def _text(shown: Shown) -> str:
    from checker.telling.report.text import render_text

    here = console()
    return render_text(shown.trace, here.width, None if shown.plain else here)


def _markdown(shown: Shown) -> str:
    from checker.telling.report.markdown import render_markdown

    return render_markdown(shown.trace)


def _mermaid(shown: Shown) -> str:
    from checker.telling.report.mermaid import render_mermaid

    return render_mermaid(shown.trace)


def _html(shown: Shown) -> str:
    from checker.lab.explanations.explanation import recognised_words
    from checker.telling.report.html import render_html

    return render_html(shown.trace, recognised_words(shown.trace))


FORMS = (
    Form("text", "the story, step by step", _text, ".txt"),
    Form("markdown", "a table of steps", _markdown, ".md"),
    Form("mermaid", "a sequence diagram", _mermaid, ".mmd"),
    Form("html", "one self-contained page", _html, ".html"),
)


@click.command(context_settings=HELP)
@click.argument(
    "files", metavar="TRACE...", type=click.Path(path_type=Path), nargs=-1, required=True
)
@click.option(
    "--format", "kind", type=click.Choice(names_of(FORMS)),
    default=FORMS[0].name, show_default=True, help=words_of(FORMS),
)  # fmt: skip
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE",
    help="write here, not to standard output; of several traces, into this folder",
)  # fmt: skip
@protocol_option("the protocol of the trace")
@output_options
def command(
    files: tuple[Path, ...], kind: str, output: Path | None, protocol: str | None, as_json: bool,
    quiet: bool,
) -> int:  # fmt: skip
    """Write TRACE as text, Markdown, a Mermaid diagram, or one self-contained HTML page.

    TRACE is a file, or the folder or name of a stored counterexample; there may be several. It is
    replayed first: exit status 23 if it is rejected, 2 if it cannot be read.
    """
    from checker.lab.experiments.cases import accepted_trace

    form = form_named(FORMS, kind)
    places = _places(files, output, form.suffix)
    traces = [accepted_trace(file, protocol) for file in files]
    if output is not None and len(files) > 1:
        prepare_directory(output)
    reports: list[dict[str, str]] = []
    for file, trace, place in zip(files, traces, places, strict=True):
        text = form.text(Shown(trace, plain=as_json or place is not None))
        if place is not None:
            write_file(place, text)
        reports.append({"trace": str(file)} | ({"output": str(place)} if place else {"text": text}))
    if as_json:
        told = reports[0] if len(files) == 1 else {"reports": reports}
        print_json({"command": "report", **told, "format": kind})
    elif output is None:
        write_output("\n".join(report["text"] for report in reports))
    elif not quiet:
        for report in reports:
            click.echo(f"wrote {report['output']}", err=True)
    return 0


def _places(files: tuple[Path, ...], output: Path | None, suffix: str) -> tuple[Path | None, ...]:
    """Where each report goes: nowhere, to the file, or to files in a folder; none is a trace."""
    if output is None:
        return (None,) * len(files)
    if len(files) == 1:
        refuse_replacing(files[0], output)
        return (output,)
    found = tuple(
        output / f"{file.name.removesuffix('.json').removesuffix('.itf')}{suffix}" for file in files
    )
    again = next((place for place in found if found.count(place) > 1), None)
    if again is not None:
        raise UsageError(f"two of the traces would be written to {again}: take them one at a time")
    return found
