"""`report`: a stored trace in a form to read or to pass on."""

from __future__ import annotations

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
from checker.commands.replay_command import accepted_trace

if TYPE_CHECKING:
    from checker.traces.trace import Trace


@click.command(context_settings=HELP)
@click.argument("file", metavar="TRACE", type=click.Path(path_type=Path))
@click.option(
    "--format", "kind", type=click.Choice(["text", "markdown", "mermaid", "html"]),
    default="text", show_default=True, help="what to write",
)  # fmt: skip
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE",
    help="write here, not to standard output",
)  # fmt: skip
@protocol_option("what the trace is of")
@output_options
def command(
    file: Path, kind: str, output: Path | None, protocol: str | None, as_json: bool, quiet: bool
) -> int:
    """TRACE as text, Markdown, a Mermaid diagram, or one self-contained HTML page.

    TRACE is a file, or one of the stored counterexamples: its folder, or its name. It is replayed
    first: exit status 23 if it is rejected, 2 if it cannot be read.
    """
    refuse_replacing(file, output)
    trace = accepted_trace(file, protocol)
    text = _rendered(trace, kind, plain=as_json or output is not None)
    if output is not None:
        write_file(output, text)
    if as_json:
        data = {"command": "report", "trace": str(file), "format": kind}
        print_json(data | ({"output": str(output)} if output else {"text": text}))
    elif output is None:
        write_output(text)
    elif not quiet:
        click.echo(f"wrote {output}", err=True)
    return 0


def _rendered(trace: Trace, kind: str, plain: bool) -> str:
    from checker.report.html import render_html
    from checker.report.markdown import render_markdown
    from checker.report.mermaid import render_mermaid
    from checker.report.text import render_text

    if kind == "text":
        here = console()
        return render_text(trace, here.width, None if plain else here)
    renderers = {"markdown": render_markdown, "mermaid": render_mermaid, "html": render_html}
    return renderers[kind](trace)
