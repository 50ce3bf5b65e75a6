"""Help in sections: commands by what one wants to know, options by what they choose.

What a command says of a protocol (its sizes, faults and settings) is printed of one protocol, which
the user names; without one, help says how to see it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import click

from model.language.budgets import Budget
from model.language.declare.settings import Role, SettingInfo, as_text, describe
from model.language.protocol import Protocol

COLUMN = 30
"""Columns that names get at most, beside their words."""

WHICH = "Which model"
OPTIONS = "Options"
SECTIONS = {
    WHICH: ("preset", "settings"),
    OPTIONS: (),
    "When to stop": (
        *("depth", "max_states", "max_seconds", "max_memory", "require_exhaustive", "keep_going"),
    ),
    "Output": (
        *("form", "as_json", "quiet", "stats", "trace_dir", "picture", "page", "output"),
        *("markdown", "version", "help"),
    ),
}
"""The parameters of commands that stand together in help; all others are simply options."""

CONFIGURATION = "Kafka's configuration and features"
CLUSTER = "Initial cluster, operators, clients, and how fine steps are"
RELEASED = "Model switches: rules by release"
UNRELEASED = "Model switches: fixes of findings and issues"
MODEL = "Model switches"
TRUE = "Each line says what true does."
SETTINGS = {
    CONFIGURATION: "",
    CLUSTER: "",
    RELEASED: f"Not Kafka configuration; --preset has them as a release does. {TRUE}",
    UNRELEASED: f"Not Kafka configuration; off in every release. {TRUE}",
    MODEL: TRUE,
}
"""The titles of settings that stand together in help, in this order, and what is said below."""

Rows = list[tuple[str, str]]


def write_options(
    formatter: click.HelpFormatter,
    ctx: click.Context,
    params: Iterable[click.Parameter],
    protocol: Protocol | None,
    bounds: Mapping[str, click.Option],
) -> None:
    """Write a command's options, and what may be chosen for the protocol, if one is named.

    `bounds` are the options that choose the protocol's bounds, by the names of these.
    """
    written = {id(option) for option in bounds.values()}
    others = (param for param in params if id(param) not in written)
    found = _in_sections(ctx, others, SECTIONS)
    _write(formatter, WHICH, found.pop(WHICH))
    if protocol is not None:
        _write_bounds(formatter, protocol, bounds)
    for title, rows in found.items():
        _write(formatter, title, rows)
    if protocol is not None:
        found = _settings(protocol)
        for title, more in SETTINGS.items():
            _write(formatter, f"{title} (--set NAME=VALUE)", found[title], more)


def write_sections(
    formatter: click.HelpFormatter,
    ctx: click.Context,
    params: Iterable[click.Parameter],
    sections: Mapping[str, Collection[str]],
) -> None:
    """Write a command's options below the titles of `sections`, which name them."""
    for title, rows in _in_sections(ctx, params, sections).items():
        _write(formatter, title, rows)


def _in_sections(
    ctx: click.Context, params: Iterable[click.Parameter], sections: Mapping[str, Collection[str]]
) -> dict[str, Rows]:
    found: dict[str, Rows] = {title: [] for title in sections}
    for param in params:
        if not isinstance(param, click.Option):
            continue
        names = {param.name, param.opts[-1].removeprefix("--")}
        title = next((title for title, known in sections.items() if names & {*known}), OPTIONS)
        if (record := param.get_help_record(ctx)) is not None:
            found[title].append(record)
    return found


def _write_bounds(
    formatter: click.HelpFormatter, protocol: Protocol, options: Mapping[str, click.Option]
) -> None:
    sizes: Rows = []
    often: Rows = []
    for bound in protocol.bounds:
        rows, by_itself = (often, 0) if isinstance(bound, Budget) else (sizes, None)
        default = "" if bound.default == by_itself else f" [default: {bound.default}]"
        rows.append((f"{options[bound.name].opts[0]} N", f"{bound.words}{default}"))
    _write(formatter, f"Sizes of {protocol.name}", sizes)
    _write(formatter, "Faults and changes, how often each at most [default: 0 unless shown]", often)


def _settings(protocol: Protocol) -> dict[str, Rows]:
    """Each setting with its default; its values where they are more than true and false."""
    defaults = as_text(protocol.settings())
    found: dict[str, Rows] = {title: [] for title in SETTINGS}
    for name, info in describe(protocol.settings).items():
        words = info.words if info.type in (bool, int) else f"{info.words} ({info.choices})"
        found[_sort(info)].append((f"{name}={defaults[name]}", words))
    return found


def _sort(info: SettingInfo) -> str:
    """What sort of choice a setting is: the title above it."""
    if info.role is not Role.RULE:
        return CONFIGURATION if info.role is Role.OPERATOR else CLUSTER
    if info.source is None:
        return MODEL
    return UNRELEASED if info.is_in_no_release else RELEASED


def _write(formatter: click.HelpFormatter, title: str, rows: Rows, words: str = "") -> None:
    if rows:
        with formatter.section(title):
            if words:
                formatter.write_text(words)
            formatter.write_dl(rows, col_max=COLUMN)
