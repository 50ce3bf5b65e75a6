"""What commands share: choosing a model and properties, and printing results.

Bounds become options by themselves: a bound called `log_size` of any protocol is `--log-size`.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Callable
from contextlib import nullcontext, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from checker.commands import completion
from checker.files import write_whole
from model.language.errors import HighwaterError, UsageError
from model.language.protocol import Model, Protocol
from model.own_protocols import FORMS, is_own
from model.protocols import PROTOCOLS, protocol_named

if TYPE_CHECKING:
    from rich.console import Console

F = TypeVar("F", bound=Callable[..., Any])

DEFAULT_PROTOCOL = "kafka"
HELP = {"help_option_names": ["-h", "--help"]}
PLAIN_WIDTH = 80
"""Columns of text that is not for a terminal."""


def _bounds() -> dict[str, str]:
    """Every bound of any protocol, with its words and defaults."""
    found: dict[str, tuple[str, dict[int, list[str]]]] = {}
    for protocol in PROTOCOLS.values():
        for bound in protocol.bounds:
            _, defaults = found.setdefault(bound.name, (bound.words, {}))
            defaults.setdefault(bound.default, []).append(protocol.name)
    return {name: f"{words} [default: {_default(by)}]" for name, (words, by) in found.items()}


def _default(protocols: dict[int, list[str]]) -> str:
    """The first protocol's default, then those of protocols that have another one."""
    first, *others = protocols.items()
    parts = [str(first[0])]
    parts += [f"{value} for {', '.join(names)}" for value, names in others]
    return "; ".join(parts)


def size_params() -> list[click.Parameter]:
    """`--preset`, `--set` and the bounds; see `chosen_sizes`."""
    return [
        click.Option(
            ["--preset"], metavar="NAME", help="settings of a Kafka version",
            shell_complete=completion.of_protocol(completion.presets, DEFAULT_PROTOCOL),
        ),
        click.Option(
            ["--set", "settings"], multiple=True, metavar="NAME=VALUE", help="change a setting",
            shell_complete=completion.of_protocol(completion.settings, DEFAULT_PROTOCOL),
        ),
        *(
            click.Option([f"--{name.replace('_', '-')}", name], type=int, help=words)
            for name, words in _bounds().items()
        ),
    ]  # fmt: skip


def _model_params() -> list[click.Parameter]:
    """PROTOCOL, `--preset`, `--set` and its bounds; see `chosen_model`."""
    protocol = click.Argument(
        ["protocol"], required=False, metavar="[PROTOCOL]", shell_complete=completion.protocols
    )
    return [protocol, *size_params()]


def _property_param() -> click.Parameter:
    return click.Option(
        ["--property", "properties"], multiple=True, metavar="NAME",
        help="a property to check; repeatable [default: all that the model promises]",
        shell_complete=completion.of_protocol(completion.properties, DEFAULT_PROTOCOL),
    )  # fmt: skip


class _ModelCommand(click.Command):
    """A command about one model. The bounds of a protocol of one's own are options of it too."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[completion.ARGUMENTS] = list(args)
        name = self._own_protocol(args)
        if name is not None:
            with suppress(HighwaterError) if ctx.resilient_parsing else nullcontext():
                ctx.meta[_OWN] = protocol_named(name)
        return super().parse_args(ctx, args)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        found = super().get_params(ctx)
        if _OWN in ctx.meta:
            taken = {option for param in found for option in param.opts}
            known = {param.name for param in found}
            own = [bound for bound in ctx.meta[_OWN].bounds if bound.name not in _bounds()]
            for bound in own:
                option = f"--{bound.name.replace('_', '-')}"
                if option in taken:
                    option = f"--bound-{bound.name.replace('_', '-')}"
                words = f"{bound.words} [default: {bound.default}]"
                key = bound.name if bound.name not in known else f"bound_{bound.name}"
                found.insert(-1, click.Option([option, key], type=int, help=words))
        return found

    def _own_protocol(self, args: list[str]) -> str | None:
        """The first argument that names a protocol of one's own, and is no option's value."""
        takes_value = {
            option
            for param in self.params
            if isinstance(param, click.Option) and not param.is_flag
            for option in param.opts
        }
        for before, arg in zip(["", *args], args, strict=False):
            if arg == "--":
                break
            if not arg.startswith("-") and before not in takes_value and is_own(arg):
                return None if arg in PROTOCOLS else arg
        return None


_OWN = "checker.own_protocol"


def model_command(function: Callable[..., int]) -> click.Command:
    """A command about a model and its properties; it has options that choose both first."""
    return _command_with([*_model_params(), _property_param()], function)


def sizes_command(function: Callable[..., int]) -> click.Command:
    """A command about one model's states, whatever its properties."""
    return _command_with(_model_params(), function)


def _command_with(params: list[click.Parameter], function: Callable[..., int]) -> click.Command:
    made = click.command(context_settings=HELP, params=params, cls=_ModelCommand)
    return made(function)


def protocol_option(words: str) -> Callable[[F], F]:
    """`--protocol`: a protocol by name, where a file says which it is."""
    return click.option(
        "--protocol", metavar="NAME", help=f"{words}; or {FORMS} of one's own",
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
        help="first compare with the reference engine on a sample [default: yes]",
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


def ceiling_options(function: F) -> F:
    """`--max-seconds` and `--max-memory`, for what has no place to stop at by itself."""
    most = click.option("--max-seconds", type=seconds, help="end after this time")
    return most(
        click.option("--max-memory", type=size, help="end at this much memory, such as 4GB")(
            function
        )
    )


def results_option(function: F) -> F:
    """`--store FILE`: results of many searches."""
    return click.option(
        "--store", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
        help="keep results here, and do not compute again what it holds",
    )(function)  # fmt: skip


def chosen_model(options: dict[str, Any], *watchers: Callable[[int, int], None]) -> Model:
    """The model that `model_command`'s options describe; they are taken out of `options`.

    The watchers are told how far its grounding is, which takes long where bounds are large.
    """
    name = options.pop("protocol")
    protocol = protocol_named(DEFAULT_PROTOCOL if name is None else name)
    bounds = _chosen_bounds(options, protocol)
    settings = _parse_settings(options.pop("settings"))
    model = protocol.model(bounds, settings, options.pop("preset"))
    model.watchers.extend(watchers)
    return model


def chosen_sizes(options: dict[str, Any]) -> tuple[dict[str, int], dict[str, str]]:
    """The bounds of the broker model and the settings that are given, taken out of `options`."""
    bounds = _chosen_bounds(options, protocol_named(DEFAULT_PROTOCOL))
    return bounds, _parse_settings(options.pop("settings"))


def _chosen_bounds(options: dict[str, Any], protocol: Protocol) -> dict[str, int]:
    valid = {bound.name for bound in protocol.bounds}
    given = {name: options.pop(name) for name in _bounds()}
    for name in valid - given.keys():
        key = f"bound_{name}" if f"bound_{name}" in options else name
        given[name] = options.pop(key)
    bounds = {name: value for name, value in given.items() if value is not None}
    for name in bounds.keys() - valid:
        choices = ", ".join(f"--{b.name.replace('_', '-')}" for b in protocol.bounds) or "none"
        raise UsageError(
            f"{protocol.name} has no bound --{name.replace('_', '-')}: valid are {choices}"
        )
    return bounds


def _parse_settings(texts: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"--set {text}: write NAME=VALUE, as in --set acks=all")
        found[name.strip()] = value
    return found


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
    from checker.traces.trace import highwater_version

    return {"command": command, **model.identity, **found, "version": highwater_version()}


FORMATS = ("text", "json", "sarif", "junit")


def format_option(function: F) -> F:
    """`--format`, of which `--json` is one."""
    return click.option(
        "--format", "form", type=click.Choice(FORMATS),
        help="how to print the result [default: text]; sarif and junit are for CI",
    )(function)  # fmt: skip


def chosen_format(options: dict[str, Any]) -> str:
    """One of `FORMATS`; what is not text goes without progress."""
    form = options.pop("form") or ("json" if options["as_json"] else "text")
    if options["as_json"] and form != "json":
        raise UsageError(f"--json and --format {form} are two formats: choose one")
    options["as_json"] = form == "json"
    options["quiet"] = options["quiet"] or form != "text"
    return str(form)


def write_result(
    as_json: bool, data: Callable[[], dict[str, Any]], text: Callable[[Console], str]
) -> None:
    """Write what a command found, as one JSON object or for people."""
    if as_json:
        print_json(data())
    else:
        write_output(text(console()))


def console() -> Console:
    """A console that renders for standard output: in colour on a terminal, else plain.

    It only captures: what it has rendered is for the caller to write.
    """
    from rich.console import Console

    if sys.stdout.isatty():
        return Console(highlight=False, markup=False)
    return Console(
        file=io.StringIO(), width=PLAIN_WIDTH, color_system=None, force_terminal=False,
        highlight=False, markup=False,
    )  # fmt: skip


JSON_IS_WRITTEN: ContextVar[bool] = ContextVar("json_is_written", default=False)
"""Whether this run of a command has printed its one JSON object already."""


def print_json(data: dict[str, Any]) -> None:
    """One JSON object on standard output, and nothing else: `output.schema.json` says which."""
    JSON_IS_WRITTEN.set(True)
    write_output(json.dumps(data) + "\n")


def write_output(text: str) -> None:
    """Write to standard output. A reader that has had enough, such as `head`, is no error."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        discard_output()


def discard_output() -> None:
    """Send the rest of standard output nowhere, so that closing it does not fail again."""
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


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
