"""Tables of the rules that Kafka's releases differ in, as Markdown for a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from checker.telling.report.pages import with_part
from model.kafka.presets import PRESETS
from model.kafka.releases import RULES
from model.kafka.settings import KafkaSettings
from model.kafka.settings.modes import ZOOKEEPER
from model.kafka_transactions.presets import PRESETS as TRANSACTION_PRESETS
from model.kafka_transactions.settings import TransactionSettings
from model.kraft.settings import KRaftSettings
from model.language.declare.settings import Role, SettingInfo, describe

BEGIN, END = "<!-- releases: made by `highwater cases --write` -->", "<!-- end of releases -->"


def with_release_tables(page: str) -> str:
    """The page with its tables between `BEGIN` and `END` made anew; `UsageError` without those."""
    return with_part(page, BEGIN, END, "\n" + "\n".join([*_presets(), "", *_rules()]) + "\n\n")


def _presets() -> Iterator[str]:
    yield "| preset | what is not as in the one before |"
    yield "| --- | --- |"
    before: Mapping[str, Any] = {}
    for name, rules in PRESETS.items():
        kraft = name.removesuffix(f"-{ZOOKEEPER}")
        older = before if kraft == name else PRESETS[kraft]
        new = [f"`{rule}={value}`" for rule, value in rules.items() if older.get(rule) != value]
        told = ", ".join(new) if older else "what the table below begins with"
        beside = "" if kraft == name else f"beside `{kraft}`: "
        yield f"| `{name}` | {beside}{told or 'nothing'} |"
        before = rules if kraft == name else before


def _rules() -> Iterator[str]:
    yield "| setting | in the catalogue | what it is from which release on | how that is known |"
    yield "| --- | --- | --- | --- |"
    for name, rule in RULES.items():
        info = describe(KafkaSettings)[name]
        values = "; ".join(f"`{value}` {', '.join(since)}" for value, since in rule.firsts)
        values += "".join(f"; with ZooKeeper `{h.newest}`" for h in info.variants.values())
        number = info.catalogue
        yield f"| `{name}` | {number} | {values} | {rule.evidence} |"


def with_quorum_table(page: str) -> str:
    """The page with its table of bugs of `kraft` by release made anew; `UsageError` without it."""
    return with_part(page, BEGIN, END, "\n" + "\n".join(_quorum_bugs()) + "\n\n")


def _quorum_bugs() -> Iterator[str]:
    yield "| in the catalogue | about | rule | releases with the bug | how that is known |"
    yield "| --- | --- | --- | --- | --- |"
    bugs = [(name, info) for name, info in describe(KRaftSettings).items() if info.catalogue]
    for name, info in sorted(bugs, key=lambda bug: int(bug[1].catalogue.split(",")[0])):
        about = info.source.issues if info.source else ""
        evidence = info.history.evidence if info.history else ""
        yield f"| {info.catalogue} | {about} | `{name}` | {_with_bug(info)} | {evidence} |"


def with_transaction_table(page: str) -> str:
    """The page with its table of bugs of `kafka_transactions` by preset made anew."""
    return with_part(page, BEGIN, END, "\n" + "\n".join(_transaction_bugs()) + "\n\n")


def _transaction_bugs() -> Iterator[str]:
    presets = {name: rules for name, rules in TRANSACTION_PRESETS.items() if name[-1].isdigit()}
    heads = [name.removeprefix("kafka-") for name in presets]
    yield f"| in the catalogue | about | rule | {' | '.join(heads)} |"
    yield f"| --- | --- | --- |{' :-: |' * len(heads)}"
    bugs = [(name, info) for name, info in describe(TransactionSettings).items() if info.catalogue]
    for name, info in sorted(bugs, key=lambda bug: int(bug[1].catalogue.split(",")[0])):
        about = info.source.issues if info.source else ""
        marks = ["x" if has_bug(info, rules) else "" for rules in presets.values()]
        yield f"| {info.catalogue} | {about} | `{name}` | {' | '.join(marks)} |"


def has_bug(info: SettingInfo, rules: Mapping[str, str]) -> bool:
    """Whether a preset has the bug of a rule: the rule is not mended, and makes a difference."""
    needed = dict(each.split("=") for each in info.feature.split())
    differs = all(rules[name] == value for name, value in needed.items())
    return differs and rules.get(info.name) != info.mended


def _with_bug(info: SettingInfo) -> str:
    """The releases whose value of a rule is not what mends its bug."""
    if info.history is None:
        return f"none: {info.source.since if info.source else ''} has the rule"
    values = [value for value, _ in info.history.firsts if value != info.mended]
    told = " and ".join(info.history.releases_with(value) for value in dict.fromkeys(values))
    chosen = ", or where it is chosen" if info.role is Role.OPERATOR else ""
    return told + chosen
