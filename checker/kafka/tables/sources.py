"""Where an action is in Kafka, in one line of `list`."""

from __future__ import annotations

from model.language.declare.source import Source


def source_in_words(source: Source) -> str:
    """One line: place, release, issues, settings; what is not known is left out."""
    since = f"since {source.since}" if source.since else ""
    settings = f"see {', '.join(source.settings)}" if source.settings else ""
    return "; ".join(part for part in (source.place, since, source.issues, settings) if part)
