"""`list`: what there is to choose from, one line each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import Any

import click

from checker.commands import completion
from checker.commands.common import HELP, PLAIN_WIDTH, output_options, print_json, write_output
from checker.commands.engines import ENGINES
from checker.kafka.tables.sources import source_in_words
from model.language.declare.settings import as_text, choose_settings, describe
from model.language.protocol import Protocol
from model.protocols import PROTOCOLS, action_sources, protocol_named, setting_sources
from properties import liveness_of, properties_of

NAME_WIDTH = 28


@click.command(context_settings=HELP)
@click.argument(
    "protocol", required=False, metavar="[PROTOCOL]", shell_complete=completion.protocols
)
@output_options
def command(protocol: str | None, as_json: bool, quiet: bool) -> int:
    """All that there is to choose from, or what there is of one PROTOCOL.

    Protocols, bounds, settings, presets, properties, liveness and fairness, views, and engines.
    """
    chosen = [protocol_named(protocol)] if protocol else list(PROTOCOLS.values())
    if as_json:
        print_json({
            "command": "list",
            "protocols": [describe_protocol(each) for each in chosen],
            "engines": dict(_engines()),
        })  # fmt: skip
    else:
        write_output("\n\n".join(_sections(chosen)) + "\n")
    return 0


def describe_protocol(protocol: Protocol) -> dict[str, Any]:
    """All that may be chosen for a protocol, as plain data."""
    defaults = as_text(protocol.settings())
    return {
        "name": protocol.name,
        "words": protocol.words,
        "source": protocol.source,
        "actions": [action.name for action in protocol.actions],
        "sources": {
            "actions": {name: asdict(each) for name, each in action_sources(protocol).items()},
            "settings": {name: asdict(each) for name, each in setting_sources(protocol).items()},
        },
        "bounds": {
            bound.name: {
                "default": bound.default,
                "minimum": bound.minimum,
                "maximum": bound.maximum,
                "words": bound.words,
            }
            for bound in protocol.bounds
        },
        "settings": {
            name: {"default": defaults[name], "choices": info.choices, "words": info.words}
            for name, info in describe(protocol.settings).items()
        },
        "presets": {name: _preset(protocol, values) for name, values in protocol.presets.items()},
        "properties": {
            prop.name: {"sense": str(prop.sense), "words": prop.words, "broken_by": prop.broken_by}
            for prop in properties_of(protocol)
        },
        "liveness": {
            prop.name: {"kind": str(prop.kind), "words": prop.words, "broken_by": prop.broken_by}
            for prop in liveness_of(protocol)
        },
        "fairness": [
            {
                "actions": list(fair.actions),
                "strength": str(fair.strength),
                "by": None if fair.by is None else list(fair.by),
            }
            for fair in protocol.fairness
        ],
        "views": {name: list(fields) for name, fields in protocol.views.items()},
    }


def _engines() -> list[tuple[str, str]]:
    return [(engine.name, engine.words) for engine in ENGINES.values()]


def _preset(protocol: Protocol, values: Mapping[str, Any]) -> dict[str, str]:
    chosen = as_text(choose_settings(protocol.settings, values))
    return {name: chosen[name] for name in values}


# --- text ------------------------------------------------------------------------------------


def _sections(chosen: list[Protocol]) -> list[str]:
    described = [describe_protocol(protocol) for protocol in chosen]
    known = [(each["name"], each["words"]) for each in described]
    parts = [_section("Protocols", known)]
    if len(described) == 1:
        parts += [f"Source: {each['source']}" for each in described if each["source"]]
        sources = action_sources(chosen[0])
        lines = [
            (each.name, source_in_words(sources[each.name]) if each.name in sources else "")
            for each in chosen[0].actions
        ]
        parts.append(_section("Actions, and where they come from", lines))
    parts += _grouped("Bounds", described, _bounds)
    parts += _grouped("Settings (--set NAME=VALUE)", described, _settings)
    parts += _grouped("Presets (--preset NAME)", described, _presets)
    parts += _grouped("Properties (--property NAME)", described, _properties)
    parts += _grouped("Liveness properties (--liveness, or --property NAME)", described, _liveness)
    parts += _grouped("Fairness (--fair ACTION=HOW)", described, _fairness)
    parts += _grouped("Views (graph --quotient NAME)", described, _views)
    parts.append(_section("Engines (--engine NAME)", _engines()))
    return parts


Lines = tuple[tuple[str, str], ...]


def _grouped(
    title: str, described: list[dict[str, Any]], lines_of: Callable[[dict[str, Any]], Lines]
) -> list[str]:
    """A section for each group of protocols that have the same lines; none for those without."""
    groups: dict[Lines, list[str]] = {}
    for protocol in described:
        groups.setdefault(lines_of(protocol), []).append(protocol["name"])
    return [
        _section(f"{title} of {', '.join(names)}", lines)
        for lines, names in groups.items()
        if lines
    ]


def _bounds(protocol: dict[str, Any]) -> Lines:
    return tuple(
        (
            f"--{name.replace('_', '-')} {bound['default']}",
            f"{bound['words']} ({bound['minimum']} to {bound['maximum']})",
        )
        for name, bound in protocol["bounds"].items()
    )


def _settings(protocol: dict[str, Any]) -> Lines:
    return tuple(
        (f"{name}={setting['default']}", f"{setting['words']} ({setting['choices']})")
        for name, setting in protocol["settings"].items()
    )


def _presets(protocol: dict[str, Any]) -> Lines:
    """What each preset has otherwise than the defaults, or than the one before if that is less."""
    defaults = {name: str(about["default"]) for name, about in protocol["settings"].items()}
    lines, before, known = [], "", defaults
    for preset, values in protocol["presets"].items():
        chosen = defaults | values
        words = _differing(chosen, defaults) or ["all at their defaults"]
        newer = _differing(chosen, known) or ["nothing else"]
        if before and len(newer) < len(words):
            words = [f"as {before}, and {newer[0]}", *newer[1:]]
        lines.append((preset, ", ".join(words)))
        before, known = preset, chosen
    return tuple(lines)


def _differing(chosen: Mapping[str, str], from_these: Mapping[str, str]) -> list[str]:
    return [f"{name}={value}" for name, value in chosen.items() if value != from_these[name]]


def _properties(protocol: dict[str, Any]) -> Lines:
    return tuple(
        (name, ("reachable: " if prop["sense"] == "sometimes" else "") + prop["words"])
        for name, prop in protocol["properties"].items()
    )


def _liveness(protocol: dict[str, Any]) -> Lines:
    return tuple(
        (name, f"{prop['kind']}: {prop['words']}") for name, prop in protocol["liveness"].items()
    )


def _fairness(protocol: dict[str, Any]) -> Lines:
    """A line for each action, with what its steps are fair by."""
    lines = []
    for fair in protocol["fairness"]:
        for action in fair["actions"]:
            others = [name for name in fair["actions"] if name != action]
            lines.append((action, _fair_words(fair["strength"], fair["by"], others)))
    return tuple(lines)


def _fair_words(strength: str, by: list[str] | None, others: list[str]) -> str:
    if by is None:
        return f"{strength}, each choice of its parameters"
    together = f", together with {', '.join(others)}" if others else ""
    return f"{strength}, {'by ' + ', '.join(by) if by else 'as a whole'}{together}"


def _views(protocol: dict[str, Any]) -> Lines:
    return tuple((name, ", ".join(fields)) for name, fields in protocol["views"].items())


def _section(title: str, lines: Iterable[tuple[str, str]]) -> str:
    """A title, then the lines, names in a column, words folded to 80 columns."""
    formatter = click.HelpFormatter(width=PLAIN_WIDTH - 2, max_width=PLAIN_WIDTH - 2)
    formatter.write_dl(list(lines), col_max=NAME_WIDTH)
    body = "\n".join(f"  {line}".rstrip() for line in formatter.getvalue().splitlines())
    return f"{click.wrap_text(title, PLAIN_WIDTH)}\n{body}"
