"""What commands share: choosing a model and properties, and printing results.

Bounds become options by themselves: a bound called `log_size` of any protocol is `--log-size`.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from checker.files import write_whole
from model.language.errors import UsageError
from model.language.protocol import Model, Protocol
from model.protocols import PROTOCOLS, protocol_named

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


def model_options(function: F) -> F:
    """PROTOCOL, its bounds, `--preset` and `--set`; see `chosen_model`."""
    function = sizes_options(function)
    return click.argument("protocol", required=False, metavar="[PROTOCOL]")(function)


def sizes_options(function: F) -> F:
    """Bounds, `--preset` and `--set`, of a protocol that is known."""
    for name, words in reversed(_bounds().items()):
        option = click.option(f"--{name.replace('_', '-')}", name, type=int, help=words)
        function = option(function)
    function = click.option(
        "--set", "settings", multiple=True, metavar="NAME=VALUE", help="change a setting"
    )(function)
    return click.option("--preset", metavar="NAME", help="settings of a Kafka version")(function)


def property_option(function: F) -> F:
    """`--property NAME`, repeatable."""
    return click.option(
        "--property", "properties", multiple=True, metavar="NAME",
        help="a property to check; repeatable [default: all that the model promises]",
    )(function)  # fmt: skip


def cross_check_option(function: F) -> F:
    """`--no-cross-check`."""
    return click.option(
        "--cross-check/--no-cross-check", default=True,
        help="first compare with the reference engine on a sample [default: yes]",
    )(function)  # fmt: skip


def output_options(function: F) -> F:
    """`--json` and `--quiet`."""
    function = click.option("--json", "as_json", is_flag=True, help="print one JSON object")(
        function
    )
    return click.option("--quiet", is_flag=True, help="no progress, just the result")(function)


def chosen_model(options: dict[str, Any], default: str = DEFAULT_PROTOCOL) -> Model:
    """The model that `model_options` describe; they are taken out of `options`."""
    protocol = protocol_named(options.pop("protocol") or default)
    given = {name: options.pop(name) for name in _bounds()}
    bounds = {name: value for name, value in given.items() if value is not None}
    preset = options.pop("preset")
    settings = dict(protocol.preset(preset)) if preset is not None else {}
    settings |= _parse_settings(options.pop("settings"))
    _refuse_foreign(protocol, bounds)
    return protocol.model(bounds, settings)


def chosen_choices(options: dict[str, Any]) -> tuple[dict[str, int], dict[str, str]]:
    """The bounds of the broker model and the settings that `sizes_options` chose."""
    given = {name: options[name] for name in _bounds()}
    bounds = {name: value for name, value in given.items() if value is not None}
    _refuse_foreign(protocol_named(DEFAULT_PROTOCOL), bounds)
    return bounds, _parse_settings(options["settings"])


def _refuse_foreign(protocol: Protocol, bounds: dict[str, int]) -> None:
    valid = {bound.name for bound in protocol.bounds}
    for name in bounds.keys() - valid:
        choices = ", ".join(f"--{b.name.replace('_', '-')}" for b in protocol.bounds)
        raise UsageError(
            f"{protocol.name} has no bound --{name.replace('_', '-')}: valid are {choices}"
        )


def _parse_settings(texts: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"--set {text}: write NAME=VALUE, as in --set acks=all")
        found[name.strip()] = value
    return found


_UNITS = {"B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


class Memory(click.ParamType):  # type: ignore[type-arg]
    """An amount of memory such as `200MB` or `4GiB`, in bytes."""

    name = "size"

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-z]*)\s*", str(value), re.IGNORECASE)
        if match is None or match[2].upper() not in _UNITS:
            self.fail(f"{value!r} is no amount of memory: write for example 200MB or 4GiB")
        return int(float(match[1]) * _UNITS[match[2].upper()])


class Seconds(click.ParamType):  # type: ignore[type-arg]
    """A time in seconds, such as `90` or `0.5`."""

    name = "seconds"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        try:
            seconds = float(value)
        except ValueError:
            seconds = -1.0
        if not 0 <= seconds < float("inf"):
            self.fail(f"{value!r} is no time: write a number of seconds, such as 90 or 0.5")
        return seconds


def print_json(data: dict[str, Any]) -> None:
    """One JSON object on standard output, and nothing else."""
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
