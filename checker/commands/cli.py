"""The command line: `highwater` and its commands, and `explore` under its own name.

Commands live in `checker.commands`, one module each, and are imported only when they run, so that
help answers at once. Errors that the user can mend become one line and an exit status here.
"""

from __future__ import annotations

import contextlib
import gc
import io
import json
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from importlib import import_module
from itertools import pairwise
from typing import Any, NoReturn

import click

from checker.commands.interrupt import not_raised, raise_interrupt
from checker.core.exits import Exit
from checker.distribution import NAME, remedy

GROUPS = {
    "Find out what there is": {
        "list": "show protocols, presets, settings, bounds, properties, engines, findings",
        "browse": "walk through the states on a local web page",
        "mcp": "answer agents and editors, by the Model Context Protocol",
    },
    "Ask about a cluster": {
        "ask": "say what a cluster can lose under the faults you name, and what prevents it",
        "affected": "say which known bugs concern a cluster, and what to do about them today",
        "audit": "compare the replicas of each partition on the disks of stopped brokers",
    },
    "Check a protocol": {
        "explore": "search every reachable state, up to a depth or to the end",
        "certify": "check the result of an exhausted search, without the search's code",
        "liveness": "check what must eventually happen, and which steps have to be fair for it",
        "simulate": "walk at random, at sizes too large to search",
        "prove": "prove by induction, or check short runs, with Z3",
        "infer": "find the lemmas that a proof needs, from reachable states",
        "export": "write a model for another checker: Promela for Spin, TLA+ for TLC",
    },
    "Understand a result": {
        "replay": "run a stored trace on the reference engine, show it, check it",
        "explain": "say why a stored trace ends as it does, and what would have prevented it",
        "report": "write a stored trace as text, Markdown, Mermaid or one HTML page",
        "graph": "find when a loss becomes certain; export the state graph",
        "query": "ask a stored state space in SQL",
    },
    "Check many models": {
        "matrix": "search settings x faults x properties, and keep a trace for each failing cell",
        "mutate": "break a protocol in one place at a time, and see which properties notice",
        "growth": "count states by depth, for several bounds or settings side by side",
        "hunt": "search randomly drawn models for new bugs, for hours",
    },
    "Compare with Kafka itself": {
        "conform": "run the model's steps on Kafka's own classes, and compare every state",
        "reproduce": "run a finding on a cluster of a published release",
        "upstream": "write what a ticket for Apache Kafka needs: text, patch and tests",
        "scenario": "play a stored series of events, and check what it expects",
        "cases": "check the stored counterexamples, or write them again",
    },
}
"""The commands by what one wants, each in one line."""

COMMANDS = {name: words for group in GROUPS.values() for name, words in group.items()}

_WIDTH = max(map(len, COMMANDS))

DEBUG = "HIGHWATER_DEBUG"


class _Commands(click.Group):
    """The commands by name, each imported when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        from model.language.errors import unknown_name

        if cmd_name not in COMMANDS:
            raise unknown_name("command", cmd_name, COMMANDS)
        command: click.Command = import_module(_module(cmd_name)).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:{_WIDTH}}", commands[name]) for name in commands])


def _module(name: str) -> str:
    return f"{__package__}.{name}_command"


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name=NAME, prog_name="highwater")
def highwater() -> None:
    """Highwater checks Apache Kafka's replication protocol.

    Begin with `highwater explore kip101`, which finds within seconds how a follower truncates a
    committed record, or, about a cluster, with `highwater ask --kafka 4.3 --crashes 1`.
    `highwater list` has the protocols and the findings, `highwater COMMAND --help` the options.

    Completion in bash: eval "$(_HIGHWATER_COMPLETE=bash_source highwater)"; zsh and fish likewise.
    """


def run(command: click.Command, arguments: Sequence[str] | None = None, name: str = "") -> int:
    """Run a command and return its exit status, with one line on standard error if it fails."""
    from model.language.errors import (
        DisagreementError,
        HighwaterError,
        LimitError,
        RejectedError,
    )

    asked = list(sys.argv[1:] if arguments is None else arguments)
    written = json_written()
    if written is not None:
        written.set(False)

    def _complain(message: str, status: int) -> int:
        known = name if name in COMMANDS else next((a for a in asked if a in COMMANDS), "")
        if _asks_for("github", asked):
            _annotate(message, known)
        return _said(message, status, _asks_for_json(asked), known)

    try:
        with _alone(_asks_for_data(asked)):
            status: Any = command.main(arguments, prog_name=name or None, standalone_mode=False)
        sys.stdout.flush()
        return status if isinstance(status, int) else Exit.OK
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help() if error.ctx else "")
        return Exit.OK
    except click.ClickException as error:
        return _complain(_usage(error), Exit.USAGE)
    except RejectedError as error:
        return _complain(str(error), Exit.REJECTED)
    except LimitError as error:
        return _complain(str(error), Exit.LIMIT)
    except DisagreementError as error:
        return _complain(str(error), Exit.INTERNAL)
    except HighwaterError as error:
        return _complain(str(error), Exit.USAGE)
    except (click.Abort, KeyboardInterrupt):
        return _complain("interrupted", Exit.INTERRUPTED)
    except (BrokenPipeError, SystemExit):
        # The reader has had enough, which is no error. Of its own output, click says so by exiting.
        return Exit.OK
    except RecursionError:
        if os.environ.get(DEBUG):
            raise
        return _complain("an expression has too many parts: choose smaller bounds", Exit.USAGE)
    except MemoryError:
        return _complain("memory ran out: choose smaller bounds, or --max-memory", Exit.INTERNAL)
    except OSError as error:
        return _complain(_of_system(error), Exit.USAGE)
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and (missing := remedy(error)):
            return _complain(missing, Exit.USAGE)
        return _complain(_internal(error), Exit.INTERNAL)


@contextlib.contextmanager
def _alone(data: bool) -> Iterator[None]:
    """Standard output is for data alone: what a protocol of one's own prints goes to the errors."""
    if not data:
        yield
        return
    from checker.commands.common import OUTPUT

    token = OUTPUT.set(sys.stdout)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        OUTPUT.reset(token)


def _of_system(error: OSError) -> str:
    return f"{error.filename or 'cannot write the output'}: {error.strerror or error}"


def _internal(error: Exception) -> str:
    if os.environ.get(DEBUG):
        raise error
    words = f"{type(error).__name__}: {_one_line(str(error))}"
    return f"internal error, {words}; {DEBUG}=1 shows where"


def _usage(error: click.ClickException) -> str:
    """What was wrong; of an option that is missing, what it takes too."""
    words = _one_line(error.format_message())
    words = words.replace(" is not a valid integer range.", " is not a valid integer.")  # click's
    if isinstance(error, click.MissingParameter) and isinstance(error.param, click.Option):
        about = _one_line(error.param.help or "")
        return f"{words.removesuffix('.')}: {about}" if about and words.endswith("'.") else words
    return words


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _asks_for_json(arguments: list[str]) -> bool:
    """Whether `--json`, or `--format json`, is among the arguments."""
    return "--json" in _options(arguments) or _asks_for("json", arguments)


def _asks_for(form: str, arguments: list[str]) -> bool:
    options = _options(arguments)
    return f"--format={form}" in options or ("--format", form) in pairwise(options)


def _options(arguments: list[str]) -> list[str]:
    return arguments[: arguments.index("--")] if "--" in arguments else arguments


def _asks_for_data(arguments: list[str]) -> bool:
    """Whether what is printed is for programs: JSON, or another format than text."""
    chosen = [form for option, form in pairwise(arguments) if option == "--format"]
    chosen += [each.partition("=")[2] for each in arguments if each.startswith("--format=")]
    return _asks_for_json(arguments) or any(form != "text" for form in chosen)


def json_written() -> ContextVar[bool] | None:
    """Where commands say that they have printed their JSON; `None` if none was imported yet."""
    common = sys.modules.get(f"{__package__}.common")
    return common.JSON_IS_WRITTEN if common is not None else None


def _said(message: str, status: int, as_json: bool, name: str) -> int:
    """Say an error in one line on standard error, and as JSON where the user asked for that."""
    message = printable(message)
    written = json_written()
    if as_json and not (written is not None and written.get()):
        with contextlib.suppress(OSError, ValueError):
            data = {"command": name or None, "error": message, "status": int(status)}
            sys.stdout.write(json.dumps(data) + "\n")
            sys.stdout.flush()
    with contextlib.suppress(OSError):
        click.echo(f"error: {message}", err=True)
    return status


def _annotate(message: str, name: str) -> None:
    """Say an error on standard output as an annotation of the job."""
    from checker.commands.explore_forms import error_annotation

    with contextlib.suppress(OSError, ValueError):
        sys.stdout.write(error_annotation(printable(message), name))
        sys.stdout.flush()


def printable(message: str) -> str:
    """The message in one line: line ends and other control characters in a name are escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in message)


def _main(name: str, module: str = "") -> NoReturn:
    """Run the whole command line, or the command of one module, as a process."""
    try:
        if signal.getsignal(signal.SIGINT) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(signal.SIGINT, raise_interrupt)  # see `highwater.__main__`
        sys.unraisablehook = not_raised
        _prepare_streams()
        status = run(import_module(module).command if module else highwater, name=name)
    except KeyboardInterrupt:
        status = _said("interrupted", Exit.INTERRUPTED, False, name)
    try:
        sys.stdout.flush()
    except OSError:
        # What could not be written was said; or the reader left, which is no error.
        from checker.commands.common import discard_output

        discard_output()
    if "_duckdb" not in sys.modules:  # a binding, which would report as leaks what is left
        gc.freeze()  # what is left goes with the process; nobody needs to look through it
    sys.exit(status)


def _prepare_streams() -> None:
    """Closed streams write nowhere; characters that a stream cannot show are escaped."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 (it stays open)
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def main() -> None:
    """The entry point of `highwater`."""
    _main("highwater")


def explore_main() -> None:
    """The entry point of `explore`."""
    _main("explore", _module("explore"))
