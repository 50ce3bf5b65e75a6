"""`list`: what there is to choose from, one line each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from textwrap import wrap
from typing import Any

import click

from checker.commands import completion
from checker.commands.common import HELP, PLAIN_WIDTH, output_options, write_told
from checker.commands.engines import ENGINES
from checker.core.amounts import counted
from checker.kafka.tables.sources import source_in_words
from model.language.declare.settings import as_text, choose_settings, describe
from model.language.declare.source import Source
from model.language.errors import UsageError
from model.language.protocol import Protocol
from model.protocols import PROTOCOLS, action_sources, protocol_named, setting_sources
from properties import liveness_of, properties_of

NAME_WIDTH = 28
KINDS = (
    *("protocols", "actions", "bounds", "settings", "presets"),
    *("properties", "liveness", "fairness", "views"),
)
"""What `--only` may name: `protocols` are their names and words."""


@click.command(context_settings=HELP)
@click.argument(
    "protocol", required=False, metavar="[PROTOCOL|BUG]", shell_complete=completion.protocols
)
@click.option(
    "--only", "kinds", multiple=True, type=click.Choice(KINDS), metavar="KIND",
    help=f"only this kind, repeatable: {', '.join(KINDS)}",
)  # fmt: skip
@output_options
def command(protocol: str | None, kinds: tuple[str, ...], as_json: bool, quiet: bool) -> int:
    """Show the protocols and engines; or what you can choose of one PROTOCOL; or a BUG.

    Of a PROTOCOL: its actions, bounds, settings, presets, properties, liveness and fairness, and
    views. With --json, these of every protocol too. Of a BUG, by its finding (0018) or its number
    in the catalogue (92): its page, counterexamples, schedules on clusters, and fixes.
    """
    if protocol and protocol.isdecimal():
        if kinds:
            raise UsageError("--only is about protocols: leave it out for a bug")
        return _list_bugs(protocol, as_json)
    chosen = [protocol_named(protocol)] if protocol else list(PROTOCOLS.values())

    def data() -> dict[str, Any]:
        described = [_only(describe_protocol(each), kinds) for each in chosen]
        return {"command": "list", "protocols": described, "engines": dict(_engines())}

    def text() -> str:
        if kinds and set(kinds) != {"protocols"}:
            parts = [part for each in chosen for part in _sections(each, kinds)]
        else:
            parts = _sections(chosen[0], kinds) if protocol else _overview(chosen)
        return "\n\n".join(parts) + "\n"

    write_told(as_json, data, text)
    return 0


def _only(described: dict[str, Any], kinds: Sequence[str]) -> dict[str, Any]:
    """What is of these kinds, besides the protocol's name and words; all of it without kinds."""
    kept = ("name", "words", *kinds)
    return {key: value for key, value in described.items() if key in kept or not kinds}


def _list_bugs(number: str, as_json: bool) -> int:
    from checker.commands.bugs import bug_lines, bugs_as_data

    bugs = bugs_as_data(number)

    def text() -> str:
        titles = [f"Bug {bug['number']}, finding {bug['finding']}" for bug in bugs]
        titles = [title.removesuffix(", finding None") for title in titles]
        parts = [_section(t, bug_lines(bug)) for t, bug in zip(titles, bugs, strict=True)]
        return "\n\n".join(parts) + "\n"

    write_told(as_json, lambda: {"command": "list", "bugs": bugs}, text)
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


def _overview(protocols: list[Protocol]) -> list[str]:
    """Every protocol with how much there is of it, and the engines."""
    lines = [(each.name, f"{each.words}: {_counts(each)}") for each in protocols]
    return [
        _section("Protocols (highwater list PROTOCOL shows one)", lines),
        _section("Engines (--engine NAME)", _engines()),
    ]


def _counts(protocol: Protocol) -> str:
    amounts = (
        (len(protocol.bounds), "bound", ""),
        (len(describe(protocol.settings)), "setting", ""),
        (len(protocol.presets), "preset", ""),
        (len(properties_of(protocol)) + len(liveness_of(protocol)), "property", "properties"),
    )
    return ", ".join(counted(n, one, many) for n, one, many in amounts if n)


def _sections(protocol: Protocol, kinds: Sequence[str] = ()) -> list[str]:
    described = describe_protocol(protocol)
    parts = [_section("Protocol", [(protocol.name, protocol.words)])]
    if protocol.source and not kinds:
        parts.append(f"Source: {protocol.source}")
    for kind, (title, lines_of) in _SECTIONS.items():
        if not kinds or kind in kinds:
            lines = lines_of(described)
            parts += [_section(title, lines)] if lines else []
    return parts if kinds else [*parts, _section("Engines (--engine NAME)", _engines())]


Lines = tuple[tuple[str, str], ...]


def _actions(protocol: dict[str, Any]) -> Lines:
    sources = protocol["sources"]["actions"]
    return tuple(
        (name, source_in_words(Source(**sources[name])) if name in sources else "")
        for name in protocol["actions"]
    )


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
        (
            f"{name}={setting['default']}",
            f"{setting['words']} ({setting['choices']}){_place(protocol, name)}",
        )
        for name, setting in protocol["settings"].items()
    )


def _place(protocol: dict[str, Any], setting: str) -> str:
    source = protocol["sources"]["settings"].get(setting)
    return f"; {source['place']}" if source else ""


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


_SECTIONS: Mapping[str, tuple[str, Callable[[dict[str, Any]], Lines]]] = {
    "actions": ("Actions, and where they come from", _actions),
    "bounds": ("Bounds", _bounds),
    "settings": ("Settings (--set NAME=VALUE)", _settings),
    "presets": ("Presets (--preset NAME)", _presets),
    "properties": ("Properties (--property NAME)", _properties),
    "liveness": ("Liveness properties (--liveness, or --property NAME)", _liveness),
    "fairness": ("Fairness (--fair ACTION=HOW)", _fairness),
    "views": ("Views (graph --quotient NAME)", _views),
}
"""What there is of a protocol, by the kinds that `--only` names."""


def _section(title: str, lines: Iterable[tuple[str, str]]) -> str:
    """A title, then the lines, names in a column, words folded at spaces to 80 columns."""
    rows = list(lines)
    column = 4 + min(max((len(name) for name, _ in rows), default=0), NAME_WIDTH)
    found = [click.wrap_text(title, PLAIN_WIDTH)]
    for name, words in rows:
        folded = wrap(words, PLAIN_WIDTH - column, break_on_hyphens=False) or [""]
        begins = f"  {name:{column - 2}}"
        if len(name) > column - 4:
            found.append(begins.rstrip())
            begins = " " * column
        found.append(f"{begins}{folded[0]}".rstrip())
        found += [" " * column + line for line in folded[1:]]
    return "\n".join(found)
