"""What Kafka's assignors give: one Java process a release, asked by lines."""

from __future__ import annotations

from collections.abc import Iterable

from checker.conformance.producer_rules import asked


def assignments(version: str, questions: Iterable[str]) -> list[str]:
    """The answer of a release's assignors to each question; `GroupRules.java` says what is asked.

    `UsageError` if the process ends before it has answered all.
    """
    return asked(version, "group/GroupRules.java", questions)
