"""What a shell may complete, by click's own mechanism: protocols, presets, settings and more.

`eval "$(_HIGHWATER_COMPLETE=bash_source highwater)"` switches it on; zsh and fish likewise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress

import click
from click.shell_completion import CompletionItem

from model.language.declare.settings import describe
from model.language.errors import HighwaterError
from model.language.protocol import Protocol
from model.own_protocols import entry_points, is_own
from model.protocols import PROTOCOLS, protocol_named
from properties import lemmas_of, liveness_of, properties_of

ARGUMENTS = f"{__name__}.arguments"
"""Where a context keeps what was typed: a line that is not finished has no parameters yet."""

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]
Choices = Iterable[tuple[str, str]]


def protocols(ctx: click.Context, param: click.Parameter, begun: str) -> list[CompletionItem]:
    """The names of protocols; files, where none of them begins so."""
    known = [(name, protocol.words) for name, protocol in PROTOCOLS.items()]
    found = _items([*known, *((name, "installed") for name in entry_points())], begun)
    return found or [CompletionItem(begun, type="file")]


def of_protocol(choices: Callable[[Protocol], Choices], default: str) -> Complete:
    """Completes what the protocol that is named before offers, or the default one."""

    def complete(ctx: click.Context, param: click.Parameter, begun: str) -> list[CompletionItem]:
        given = ctx.meta.get(ARGUMENTS, ())
        name = next((arg for arg in given if arg in PROTOCOLS or is_own(arg)), default)
        with suppress(HighwaterError):
            return _items(choices(protocol_named(name)), begun)
        return []

    return complete


def presets(protocol: Protocol) -> Choices:
    """The presets of a protocol."""
    return [(name, "") for name in protocol.presets]


def settings(protocol: Protocol) -> Choices:
    """The settings of a protocol, up to their `=`; those with few values with each of them."""
    found = []
    for name, info in describe(protocol.settings).items():
        values = info.choices.split(", ") if not info.choices.startswith("whole") else [""]
        found += [(f"{name}={value}", info.words) for value in values]
    return found


def properties(protocol: Protocol) -> Choices:
    """The properties, liveness properties and lemmas of a protocol."""
    claims = {prop.name: prop.words for prop in (*properties_of(protocol), *lemmas_of(protocol))}
    return (claims | {prop.name: prop.words for prop in liveness_of(protocol)}).items()


def views(protocol: Protocol) -> Choices:
    """The views of a protocol, and the fields of its state."""
    named = {name: ", ".join(fields) for name, fields in protocol.views.items()}
    return [*named.items(), *((name, "") for name in protocol.schema.variables)]


def _items(choices: Choices, begun: str) -> list[CompletionItem]:
    return [CompletionItem(name, help=words) for name, words in choices if name.startswith(begun)]
