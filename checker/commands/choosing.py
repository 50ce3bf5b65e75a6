"""Choosing a model: its protocol, preset, settings, bounds and properties, as options of commands.

Bounds become options by themselves: a bound called `log_size` of the protocol is `--log-size`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import click

from checker.commands import completion, help_pages
from checker.commands.common import HELP
from model.language.errors import HighwaterError, UsageError, few_of
from model.language.protocol import Model, Protocol
from model.own_protocols import FORMS, is_own
from model.protocols import PROTOCOLS, protocol_named

if TYPE_CHECKING:
    from checker.lab.experiments.choices import Choice

DEFAULT_PROTOCOL = "kafka"


def _settings_params() -> list[click.Parameter]:
    return [
        click.Option(
            ["--preset"], metavar="NAME",
            help="the rules of a release, such as kafka-4.3: see `highwater list PROTOCOL`",
            shell_complete=completion.of_protocol(completion.presets, DEFAULT_PROTOCOL),
        ),
        click.Option(
            ["--set", "settings"], multiple=True, metavar="NAME=VALUE", help="change a setting",
            shell_complete=completion.of_protocol(completion.settings, DEFAULT_PROTOCOL),
        ),
    ]  # fmt: skip


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
        help="a property to check; repeatable [default: all that should hold under these settings]",
        shell_complete=completion.of_protocol(completion.properties, DEFAULT_PROTOCOL),
    )  # fmt: skip


class _ModelCommand(click.Command):
    """A command about one model: the bounds of the protocol that is named are options too.

    Which protocol that is, is read from the arguments before they are parsed, as its bounds say
    which options there are. The others are not loaded: that takes longer than many a search.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[completion.ARGUMENTS] = list(args)
        name = self.named(args)
        asks_help = not set(args).isdisjoint(ctx.help_option_names)
        if name is not None or not asks_help:
            with suppress(HighwaterError) if ctx.resilient_parsing else nullcontext():
                protocol = protocol_named(name or DEFAULT_PROTOCOL)
                ctx.meta[_PROTOCOL] = protocol, _bound_options(protocol, self.params)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            raise _no_option(ctx, error.option_name, self.params) from None

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        found = super().get_params(ctx)
        if _PROTOCOL in ctx.meta:
            place = 1 + next(k for k, param in enumerate(found) if param.name == "settings")
            found[place:place] = ctx.meta[_PROTOCOL][1].values()
        return found

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        protocol, bounds = ctx.meta.get(_PROTOCOL, (None, {}))
        help_pages.write_options(formatter, ctx, self.get_params(ctx), protocol, bounds)
        if protocol is None:
            with formatter.section("Sizes, faults and settings"):
                formatter.write_text(
                    f"`{ctx.command_path} PROTOCOL --help` shows those of PROTOCOL: one of "
                    f"{', '.join(PROTOCOLS)}, or one of your own ({FORMS})."
                )

    def named(self, args: list[str]) -> str | None:
        """What stands where the protocol goes: the first argument that is no option's value.

        After an option that is not the command's own, a bound perhaps, only a protocol is.
        """
        takes_value = {
            option: isinstance(param, click.Option) and not param.is_flag
            for param in self.params
            for option in (*param.opts, *param.secondary_opts)
        }
        for before, arg in zip(["", *args], args, strict=False):
            if arg.startswith("-") and before != "--":
                continue
            of_unknown = before.startswith("-") and before != "--" and "=" not in before
            if takes_value.get(before, of_unknown and not (arg in PROTOCOLS or is_own(arg))):
                continue
            return arg
        return None


class _FirstNamedCommand(_ModelCommand):
    """A command about the broker model, or about a protocol that its first argument names."""

    def named(self, args: list[str]) -> str:
        return args[0] if args and args[0] in PROTOCOLS else DEFAULT_PROTOCOL


def _bound_options(
    protocol: Protocol, params: Sequence[click.Parameter]
) -> dict[str, click.Option]:
    """An option for each bound: `--log-size`, or `--bound-log-size` where a command has that."""
    return {
        bound.name: click.Option(
            [option_of_bound(bound.name, params), f"{_BOUND}{bound.name}"],
            type=int, metavar="N", help=bound.words,
        )
        for bound in protocol.bounds
    }  # fmt: skip


def option_of_bound(bound: str, params: Iterable[click.Parameter]) -> str:
    """What the option for a bound is called in a command with these parameters."""
    option = _as_option(bound)
    taken = {each for param in params for each in param.opts}
    return f"--bound{option.removeprefix('-')}" if option in taken else option


def takes_bounds(command: click.Command) -> bool:
    """Whether bounds of a protocol are options of a command."""
    return isinstance(command, _ModelCommand)


def _as_option(bound: str) -> str:
    return f"--{bound.replace('_', '-')}"


def _no_option(ctx: click.Context, option: str, params: Sequence[click.Parameter]) -> UsageError:
    """What is wrong with an option, and which there are for the protocol."""
    protocol, bounds = ctx.meta[_PROTOCOL]
    names = [name for each in bounds.values() for name in each.opts]
    of_any = {_as_option(bound.name) for each in PROTOCOLS.values() for bound in each.bounds}
    if option in of_any:
        return _no_bound(protocol, option, names)
    own = [name for param in params for name in (*param.opts, *param.secondary_opts)]
    # Without the dashes, which make any two short options alike.
    bare = {name.lstrip("-"): name for name in [*own, *names]}
    close = get_close_matches(option.lstrip("-"), bare, n=1)
    hint = f"did you mean {bare[close[0]]}? " if close else ""
    return UsageError(
        f"no option is called {option}: {hint}{_valid(protocol, names)}; "
        f"`{ctx.command_path} --help` shows the others"
    )


def _no_bound(protocol: Protocol, option: str, valid: Iterable[str]) -> UsageError:
    return UsageError(f"{protocol.name} has no bound {option}: {_valid(protocol, valid)}")


def _valid(protocol: Protocol, bounds: Iterable[str]) -> str:
    return f"bounds of {protocol.name} are {few_of(bounds, f'highwater list {protocol.name}')}"


_PROTOCOL = "checker.protocol"


def model_command(function: Callable[..., int]) -> click.Command:
    """A command about a model and its properties; it has options that choose both first."""
    return _command_with([*_model_params(), _property_param()], function)


def sizes_command(function: Callable[..., int]) -> click.Command:
    """A command about one model's states, whatever its properties."""
    return _command_with(_model_params(), function)


def first_named_command(function: Callable[..., int]) -> click.Command:
    """A command whose first argument may be a protocol; see `first_named`, `chosen_sizes`."""
    return _command_with(_settings_params(), function, _FirstNamedCommand)


def first_named(arguments: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """The name of the protocol that stands before the other arguments, and those."""
    if arguments and str(arguments[0]) in PROTOCOLS:
        return str(arguments[0]), arguments[1:]
    return DEFAULT_PROTOCOL, arguments


def _command_with(
    params: list[click.Parameter],
    function: Callable[..., int],
    kind: type[_ModelCommand] = _ModelCommand,
) -> click.Command:
    made = click.command(context_settings=HELP, params=params, cls=kind)
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


def chosen_sizes(options: dict[str, Any], protocol: str) -> tuple[dict[str, int], dict[str, str]]:
    """The bounds of a protocol and the settings that are given, taken out of `options`."""
    bounds = _chosen_bounds(options, protocol_named(protocol))
    return bounds, parse_settings(options.pop("settings"))


def _chosen_bounds(options: dict[str, Any], protocol: Protocol) -> dict[str, int]:
    valid = {bound.name for bound in protocol.bounds}
    keys = [key for key in options if key.startswith(_BOUND)]
    given = {key.removeprefix(_BOUND): options.pop(key) for key in keys}
    bounds = {name: value for name, value in given.items() if value is not None}
    for name in bounds.keys() - valid:
        raise _no_bound(
            protocol, _as_option(name), (_as_option(each.name) for each in protocol.bounds)
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
