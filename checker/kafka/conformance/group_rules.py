"""What Kafka's classes say of a group, and do: a Java process, asked by lines."""

from __future__ import annotations

from collections.abc import Iterable

from checker.kafka.conformance.producer_rules import asked


def assignments(version: str, questions: Iterable[str]) -> list[str]:
    """The answer of a release's assignors to each question; `GroupRules.java` says what is asked.

    `UsageError` if the process ends before it has answered all.
    """
    return asked(version, "group/GroupRules.java", questions)


def coordinator_says(version: str, questions: Iterable[str]) -> list[str]:
    """The answer of the coordinator's classes of a release since 4.0; `CoordinatorRules.java` says
    what is asked. `UsageError` if the process ends before it has answered all.
    """
    return asked(version, "group/CoordinatorRules.java", questions)


def run_group(version: str, commands: Iterable[str], fix: str = "") -> list[str]:
    """What a release's own consumers and group coordinator do, command by command, as
    `GroupRun.java` has them, perhaps with a finding's fix. `UsageError` if the process ends early.
    """
    return asked(version, "group/GroupRun.java", commands, fix=fix)


def pending_offsets(version: str, runs: Iterable[str]) -> list[str]:
    """What a group of the coordinator up to 3.9 makes of offsets in transactions, a run a line, as
    `PendingOffsets.java` has them. `UsageError` if the process ends before it has answered all.
    """
    return asked(version, "group/PendingOffsets.java", runs)
