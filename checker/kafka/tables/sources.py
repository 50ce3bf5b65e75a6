"""Tables of where actions and settings come from, as text for `list` and Markdown for a page."""

from __future__ import annotations

from collections.abc import Mapping

from model.language import Protocol
from model.language.declare.source import Source
from model.protocols import action_sources, setting_sources

PAGE = "SOURCES.md"
"""The page in the folder of a protocol's counterexamples that has its tables."""
OF_KAFKA = ("kafka", "kafka_producer", "kafka_group")
"""The protocols that have such a page."""


def source_in_words(source: Source) -> str:
    """One line: place, release, issues, settings; what is not known is left out."""
    since = f"since {source.since}" if source.since else ""
    settings = f"see {', '.join(source.settings)}" if source.settings else ""
    return "; ".join(part for part in (source.place, since, source.issues, settings) if part)


def _table(title: str, sources: Mapping[str, Source]) -> list[str]:
    rows = [[title, "in Kafka", "first release", "about it", "settings"], ["---"] * 5]
    for name, source in sources.items():
        settings = ", ".join(f"`{setting}`" for setting in source.settings)
        since = source.since or "none"
        rows.append([f"`{name}`", f"`{source.place}`", since, source.issues, settings])
    columns = 5 if any(source.settings for source in sources.values()) else 4
    return [f"| {' | '.join(row[:columns])} |" for row in rows]


def source_tables(protocol: Protocol) -> str:
    """Markdown: a table of the protocol's actions, and one of its settings."""
    actions = _table("action", action_sources(protocol))
    settings = _table("setting", setting_sources(protocol))
    return "\n".join((*actions, "", *settings))


def source_page(protocol: Protocol) -> str:
    """The page with the tables of a protocol; `highwater list` prints the same."""
    return f"""# Where each rule of `{protocol.name}` is in Kafka

Made by `highwater cases --pages`. Methods are those of commit 1eb7644 (trunk, 2024-10-25); the
release is the first with the rule, in whichever class it then was. `none` is in no release, or not
Kafka's.

{source_tables(protocol)}
"""
