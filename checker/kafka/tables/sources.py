"""Tables of where actions and settings come from, as text for `list` and Markdown for a page."""

from __future__ import annotations

from collections.abc import Mapping

from checker.telling.report.pages import with_part
from model.language import Protocol
from model.language.declare.source import Source
from model.protocols import action_sources, setting_sources

BEGIN, END = "<!-- sources: made by `highwater cases --write` -->", "<!-- end of sources -->"
CLIENTS = "clients.md"
PAGES: Mapping[str, str] = {
    "kafka": "broker-model.md",
    "kafka_producer": CLIENTS,
    "kafka_group": CLIENTS,
}
"""The page below `docs` that has a protocol's tables."""


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


def with_source_tables(page: str, protocol: Protocol) -> str:
    """The page with its tables between `BEGIN` and `END` made anew; `UsageError` without those.

    On a page of several protocols each has its own marks, which name it.
    """
    marks = (BEGIN, END)
    if PAGES[protocol.name] == CLIENTS:
        begin = BEGIN.replace("sources:", f"sources {protocol.name}:")
        marks = begin, END.replace("sources", f"sources {protocol.name}")
    return with_part(page, *marks, f"\n{source_tables(protocol)}\n\n")
