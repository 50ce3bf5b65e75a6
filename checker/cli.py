"""The command line: `highwater` and its commands, and `explore` under its own name.

Commands live in `checker.commands`, one module each, and are imported only when they run, so that
help answers at once. Errors that the user can mend become one line and an exit status here.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from checker.exits import Exit
from model.language.errors import HighwaterError, RejectedError

COMMANDS = {
    "list": "what there is: protocols, presets, settings, bounds, properties, engines",
    "explore": "search every reachable state, up to a depth or to the end",
    "simulate": "random walks at sizes too large to exhaust",
    "prove": "induction and bounded checking with Z3",
    "infer": "find lemmas from templates and reachable states",
    "mutate": "the kill matrix: mutants of the protocol x properties",
    "matrix": "settings x faults x properties, with a trace behind each failing cell",
    "replay": "run a stored trace on the reference engine, show it, check it",
    "report": "a stored trace as text, Markdown, Mermaid or one HTML page",
    "query": "ask the stored state space in SQL",
}


class _Commands(click.Group):
    """The commands by name, each imported when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name in COMMANDS if _module_exists(name)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = import_module(_module(cmd_name)).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name]) for name in self.list_commands(ctx)])


def _module(name: str) -> str:
    return f"checker.commands.{name}_command"


def _module_exists(name: str) -> bool:
    from importlib.util import find_spec

    return find_spec(_module(name)) is not None


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="highwater", prog_name="highwater")
def highwater() -> None:
    """Highwater checks Apache Kafka's replication protocol."""


def run(command: click.Command, arguments: Sequence[str] | None = None, name: str = "") -> int:
    """Run a command and return its exit status, with one line on standard error if it fails."""
    try:
        status: Any = command.main(arguments, prog_name=name or None, standalone_mode=False)
        return status if isinstance(status, int) else Exit.OK
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help() if error.ctx else "")
        return Exit.OK
    except click.ClickException as error:
        return _complain(" ".join(error.format_message().split()), Exit.USAGE)
    except RejectedError as error:
        return _complain(str(error), Exit.REJECTED)
    except HighwaterError as error:
        return _complain(str(error), Exit.USAGE)
    except (click.Abort, KeyboardInterrupt):
        return _complain("interrupted", Exit.LIMIT)
    except BrokenPipeError:
        sys.stderr.close()
        return Exit.OK
    except OSError as error:
        return _complain(f"{error.filename or 'input/output'}: {error.strerror}", Exit.USAGE)


def _complain(message: str, status: int) -> int:
    click.echo(f"error: {message}", err=True)
    return status


def main() -> None:
    """The entry point of `highwater`."""
    sys.exit(run(highwater, name="highwater"))


def explore_main() -> None:
    """The entry point of `explore`."""
    sys.exit(run(import_module(_module("explore")).command, name="explore"))
