"""Choosing a model: its protocol, preset, settings, bounds and properties, as options of commands.

Bounds become options by themselves: a bound called `log_size` of any protocol is `--log-size`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from functools import cache
from typing import TYPE_CHECKING, Any

import click

from checker.commands import completion
from checker.commands.common import HELP
from model.language.errors import HighwaterError, UsageError
from model.language.protocol import Model, Protocol
from model.own_protocols import is_own
from model.protocols import PROTOCOLS, protocol_named

if TYPE_CHECKING:
    from checker.lab.experiments.choices import Choice

DEFAULT_PROTOCOL = "kafka"


@cache
def _all_bound_params() -> tuple[click.Option, ...]:
    return tuple(_bound_option(name, words) for name, words in _bounds().items())


@cache
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
    """`--preset`, `--set` and the bounds of all protocols; see `chosen_sizes`."""
    return [*_settings_params(), *_all_bound_params()]


def _settings_params() -> list[click.Parameter]:
    return [
        click.Option(
            ["--preset"], metavar="NAME", help="settings of a Kafka version",
            shell_complete=completion.of_protocol(completion.presets, DEFAULT_PROTOCOL),
        ),
        click.Option(
            ["--set", "settings"], multiple=True, metavar="NAME=VALUE", help="change a setting",
            shell_complete=completion.of_protocol(completion.settings, DEFAULT_PROTOCOL),
        ),
    ]  # fmt: skip


def _bound_option(name: str, words: str) -> click.Option:
    return click.Option([f"--{name.replace('_', '-')}", f"{_BOUND}{name}"], type=int, help=words)


_BOUND = "bound_"
"""What the names of parameters for bounds begin with."""


def _model_params() -> list[click.Parameter]:
    """PROTOCOL, `--preset` and `--set`; a `_ModelCommand` adds the bounds. See `chosen_model`."""
    protocol = click.Argument(
        ["protocol"], required=False, metavar="[PROTOCOL]", shell_complete=completion.protocols
    )
    return [protocol, *_settings_params()]


def _property_param() -> click.Parameter:
    return click.Option(
        ["--property", "properties"], multiple=True, metavar="NAME",
        help="a property to check; repeatable [default: all that the model promises]",
        shell_complete=completion.of_protocol(completion.properties, DEFAULT_PROTOCOL),
    )  # fmt: skip


class _ModelCommand(click.Command):
    """A command about one model, with the bounds of every protocol as options.

    To know all of them takes longer than many a search. So arguments are first read with the bounds
    of the protocol that they name alone; only if that is not enough for them, with all.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[completion.ARGUMENTS] = list(args)
        if not ctx.resilient_parsing and not set(args) & {"--", *ctx.help_option_names}:
            name = self._named(args) or DEFAULT_PROTOCOL
            if name in PROTOCOLS:
                ctx.meta[_ALONE] = PROTOCOLS[name]
                with suppress(click.ClickException):
                    rest = super().parse_args(ctx, list(args))
                    if ctx.params["protocol"] in (name, None):
                        return rest
                del ctx.meta[_ALONE]
                ctx.params.clear()
                ctx.args.clear()
        own = self._named(args)
        if own is not None and own not in PROTOCOLS:
            with suppress(HighwaterError) if ctx.resilient_parsing else nullcontext():
                ctx.meta[_OWN] = protocol_named(own)
        return super().parse_args(ctx, args)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        found = super().get_params(ctx)
        alone = ctx.meta.get(_ALONE)
        place = 1 + next(k for k, param in enumerate(found) if param.name == "settings")
        if alone is not None:
            found[place:place] = [_bound_option(bound.name, bound.words) for bound in alone.bounds]
            return found
        found[place:place] = _all_bound_params()
        if _OWN in ctx.meta:
            taken = {option for param in found for option in param.opts}
            for bound in ctx.meta[_OWN].bounds:
                if bound.name in _bounds():
                    continue
                option = f"--{bound.name.replace('_', '-')}"
                if option in taken:
                    option = f"--bound-{bound.name.replace('_', '-')}"
                words = f"{bound.words} [default: {bound.default}]"
                key = f"{_BOUND}{bound.name}"
                found.insert(-1, click.Option([option, key], type=int, help=words))
        return found

    def _named(self, args: list[str]) -> str | None:
        """The first argument that names a protocol, and is no option's value."""
        takes_value = {
            option
            for param in self.params
            if isinstance(param, click.Option) and not param.is_flag
            for option in param.opts
        }
        for before, arg in zip(["", *args], args, strict=False):
            if arg == "--":
                break
            if arg.startswith("-") or before in takes_value:
                continue
            if arg in PROTOCOLS or is_own(arg):
                return arg
        return None


_ALONE, _OWN = "checker.protocol_alone", "checker.own_protocol"


def model_command(function: Callable[..., int]) -> click.Command:
    """A command about a model and its properties; it has options that choose both first."""
    return _command_with([*_model_params(), _property_param()], function)


def sizes_command(function: Callable[..., int]) -> click.Command:
    """A command about one model's states, whatever its properties."""
    return _command_with(_model_params(), function)


def _command_with(params: list[click.Parameter], function: Callable[..., int]) -> click.Command:
    made = click.command(context_settings=HELP, params=params, cls=_ModelCommand)
    return made(function)


def chosen_model(options: dict[str, Any], *watchers: Callable[[int, int], None]) -> Model:
    """The model that `model_command`'s options describe; they are taken out of `options`.

    The watchers are told how far its grounding is, which takes long where bounds are large.
    """
    _, model, _, _ = _given(options)
    model.watchers.extend(watchers)
    return model


def chosen(options: dict[str, Any]) -> Choice:
    """What `model_command`'s options give, with what they leave open left open; taken out."""
    from checker.lab.experiments.choices import Choice

    name, model, settings, bounds = _given(options)
    return Choice(name, model.preset, settings, bounds)


def _given(options: dict[str, Any]) -> tuple[str, Model, dict[str, str], dict[str, int]]:
    """The protocol's name, its model, and the settings and bounds that were given for it."""
    given = options.pop("protocol")
    name = DEFAULT_PROTOCOL if given is None else given
    protocol = protocol_named(name)
    bounds, settings = _chosen_bounds(options, protocol), parse_settings(options.pop("settings"))
    return name, protocol.model(bounds, settings, options.pop("preset")), settings, bounds


def set_bounds(options: dict[str, Any], bounds: Mapping[str, int]) -> None:
    """Bounds that a file brings, among `model_command`'s options: they go where none is given."""
    for name, value in bounds.items():
        if options.get(f"{_BOUND}{name}") is None:
            options[f"{_BOUND}{name}"] = value


def chosen_sizes(options: dict[str, Any]) -> tuple[dict[str, int], dict[str, str]]:
    """The bounds of the broker model and the settings that are given, taken out of `options`."""
    bounds = _chosen_bounds(options, protocol_named(DEFAULT_PROTOCOL))
    return bounds, parse_settings(options.pop("settings"))


def _chosen_bounds(options: dict[str, Any], protocol: Protocol) -> dict[str, int]:
    valid = {bound.name for bound in protocol.bounds}
    keys = [key for key in options if key.startswith(_BOUND)]
    given = {key.removeprefix(_BOUND): options.pop(key) for key in keys}
    bounds = {name: value for name, value in given.items() if value is not None}
    for name in bounds.keys() - valid:
        choices = ", ".join(f"--{b.name.replace('_', '-')}" for b in protocol.bounds) or "none"
        raise UsageError(
            f"{protocol.name} has no bound --{name.replace('_', '-')}: valid are {choices}"
        )
    return bounds


def parse_settings(texts: tuple[str, ...]) -> dict[str, str]:
    """Settings as `--set` gives them, `NAME=VALUE`."""
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"--set {text}: write NAME=VALUE, as in --set acks=all")
        found[name.strip()] = value
    return found
