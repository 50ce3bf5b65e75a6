"""`export`: a model as Promela for Spin, or as TLA+ for TLC."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from checker.commands import completion
from checker.commands.choosing import chosen_model, model_command
from checker.commands.common import (
    checked_output_options,
    print_json,
    write_file,
    write_output,
)
from checker.commands.forms import form_named, names_of, words_of
from checker.core.amounts import counted
from checker.core.exits import Exit
from model.language.errors import UsageError

if TYPE_CHECKING:
    from checker.core.export.exported import Exported
    from model.language.protocol import Model


@dataclass(frozen=True)
class Language:
    """A language of another checker: `texts` gives what is written, by the file that it is for.

    `refuse` raises `UsageError` for a file whose name cannot be.
    """

    name: str
    words: str
    texts: Callable[[Exported, Path | None], dict[Path, str]]
    refuse: Callable[[Path], None] = lambda _: None


def _promela(exported: Exported, output: Path | None) -> dict[Path, str]:
    from checker.core.export.promela import as_promela

    return {output or Path("model.pml"): as_promela(exported)}


def _tla(exported: Exported, output: Path | None) -> dict[Path, str]:
    from checker.core.export.tla import as_tla

    protocol = re.sub(r"[^A-Za-z0-9_]+", "_", exported.model.protocol.name)
    written = as_tla(exported, output.stem if output is not None else protocol)
    path = output or Path(f"{written.name}.tla")
    return {path: written.module, path.with_suffix(".cfg"): written.configuration}


def _refuse_other_names(output: Path) -> None:
    if output.suffix != ".tla":
        raise UsageError(f"-o {output}: a module of TLA+ is in a file of its name: write NAME.tla")


LANGUAGES = (
    Language("promela", "for Spin", _promela),
    Language("tla", "for TLC", _tla, _refuse_other_names),
)


@model_command
@click.option(
    "--to", "language", type=click.Choice(names_of(LANGUAGES)), required=True,
    help=words_of(LANGUAGES),
)  # fmt: skip
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="write it here, not to standard output; for tla FILE.tla, and FILE.cfg beside it",
)  # fmt: skip
@click.option("--deadlock", is_flag=True, help="a state that enables nothing is an error there")
@click.option(
    "--count", is_flag=True, help="search first, and write down how many states to expect"
)
@checked_output_options
def command(**options: Any) -> int:
    """Write PROTOCOL for another model checker: the steps and properties that are checked here.

    Each action with each choice of parameters is one step there, and each property that must
    always hold one that is checked; both find the same states. What must happen in the end is not
    exported.

    \b
    highwater export kip320 --to promela -o kip320.pml
    highwater export kip101 --property weak_isr --to tla -o Kip101.tla

    Exit status: 0 it is written, 2 wrong usage.
    """
    from checker.core.engines.agreement import require_agreement
    from checker.core.export.exported import Exported, exportable
    from checker.core.files import prepare_directory
    from properties import promised_properties

    language, output = form_named(LANGUAGES, options["language"]), options["output"]
    if output is not None:
        language.refuse(output)
        prepare_directory(output.absolute().parent)
    model = chosen_model(options)
    chosen = promised_properties(model, options["properties"])
    properties = exportable(chosen, bool(options["properties"]))
    if options["cross_check"]:
        require_agreement(model, properties)
    states = _count(model) if options["count"] else None
    exported = Exported(model, properties, _command_line(), states, options["deadlock"])
    texts = language.texts(exported, output)
    if output is not None:
        _refuse_replacing(texts, output)
    for path, text in texts.items() if output is not None else ():
        write_file(path, text)
    if options["as_json"]:
        written = {"output": [str(path) for path in texts]} if output is not None else {
            "text": list(texts.values())
        }  # fmt: skip
        print_json({
            "command": "export", **model.identity, "to": language.name, "states": states,
            "steps": len(model.ground_actions), "properties": [p.name for p in properties],
            **written,
        })  # fmt: skip
    elif output is None:
        write_output("\n".join(texts.values()))
    elif not options["quiet"]:
        claims = counted(len(properties), "property", "properties")
        told = f"{counted(len(model.ground_actions), 'step')}, {claims}"
        click.echo(f"wrote {' and '.join(map(str, texts))}: {told}", err=True)
    return Exit.OK


def _refuse_replacing(texts: dict[Path, str], output: Path) -> None:
    """A file beside the one that was named is only replaced if it is an export too."""
    for path in texts:
        if path != output and path.is_file() and not _is_exported(path):
            raise UsageError(f"-o {output} would replace {path} beside it: name another file")


def _is_exported(path: Path) -> bool:
    with path.open("rb") as file:
        return file.readline().rstrip() == b"SPECIFICATION Spec"


def _count(model: Model) -> int:
    from checker.core.search.explore import Explorer

    return Explorer(model, ()).run().distinct_states


def _command_line() -> str:
    """What was run, but for where it is written to."""
    given = list(click.get_current_context().meta[completion.ARGUMENTS])
    kept = []
    while given:
        word = given.pop(0)
        if word in ("-o", "--output"):
            given = given[1:]
        elif not re.match(r"--output=|-o|--quiet|--json", word):
            kept.append(word)
    return shlex.join(["highwater", "export", *kept])
