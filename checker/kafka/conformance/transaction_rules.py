"""What Kafka's classes say of markers and of EndTxn: a Java process, asked by lines."""

from __future__ import annotations

from collections.abc import Iterable

from checker.kafka.conformance.producer_rules import asked
from checker.kafka.releases.jars import mocks


def partition_says(version: str, questions: Iterable[str]) -> list[str]:
    """The answer of a partition's classes to each marker; `TransactionRules.java` says what is
    asked. `UsageError` if the process ends before it has answered all.
    """
    return asked(version, "transactions/TransactionRules.java", questions)


def coordinator_says(version: str, questions: Iterable[str]) -> list[str]:
    """The answer of a release's coordinator to each EndTxn; `EndTxnRules.java` says what is asked.

    `UsageError` if the process ends before it has answered all.
    """
    return asked(version, "transactions/EndTxnRules.java", questions)


def load_says(version: str, questions: Iterable[str]) -> list[str]:
    """What a release's coordinator has after each load; `LoadRules.java` says what is asked.

    `UsageError` if the process ends before it has answered all.
    """
    return asked(version, "transactions/LoadRules.java", questions, also=mocks())


def markers_are(version: str, questions: Iterable[str]) -> list[str]:
    """What becomes of each id's marker after each answer; `MarkerAnswers.java` says what is asked.

    `UsageError` if the process ends before it has answered all.
    """
    return asked(version, "transactions/MarkerAnswers.java", questions, also=mocks())
