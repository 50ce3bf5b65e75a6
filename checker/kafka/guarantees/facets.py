"""What an application is judged by: a model of clients, its promises, its faults, what may change.

A facet is one of the models with the promises that people ask about, in their words. Its settings
are those of two releases: some rules are the brokers', the others the clients'.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from checker.kafka.guarantees.tiers import Change, Tier
from checker.lab.experiments.choices import Choice
from checker.lab.experiments.matrix import Column
from checker.lab.explanations.remedies import fix_words
from model.kafka_group.bounds import BOUNDS as GROUP_BOUNDS
from model.kafka_producer.bounds import BOUNDS as PRODUCER_BOUNDS
from model.kafka_streams.bounds import BOUNDS as STREAMS_BOUNDS
from model.kafka_transactions.bounds import BOUNDS as TRANSACTION_BOUNDS
from model.kafka_transactions.settings import TransactionSettings
from model.language import Bound
from model.language.budgets import Budget
from model.language.declare.history import version_of
from model.language.declare.settings import as_text, describe, of_release
from model.protocols import protocol_named


@dataclass(frozen=True)
class Facet:
    """A model, what is promised in it, and the faults that may break that, by name.

    `sizes` are the bounds that are no faults, `others` settings to try, the cheapest first, each
    with what it takes. `brokers_rules` are settings that the brokers' release decides, `chosen`
    those that the application or an operator does.
    """

    title: str
    choice: Choice
    columns: tuple[Column, ...]
    faults: tuple[str, ...]
    sizes: Mapping[str, int]
    brokers_rules: frozenset[str]
    others: tuple[tuple[Tier, Mapping[str, str]], ...] = ()
    chosen: Mapping[str, str] = field(default_factory=dict)

    def with_faults(self, faults: Mapping[str, int], choice: Choice | None = None) -> Choice:
        """What is searched with these faults, and none of the others."""
        chosen = choice or self.choice
        quiet = dict.fromkeys(self.faults, 0)
        return replace(chosen, bounds={**quiet, **self.sizes, **faults})

    @cached_property
    def possible(self) -> tuple[str, ...]:
        """The faults that some action spends under these settings; the others never happen."""
        never = self.with_faults(dict.fromkeys(self.faults, 1)).model.unchanging
        return tuple(name for name in self.faults if f"spent.{name}" not in never)

    @property
    def changes(self) -> Iterator[Change]:
        """All that there is to try; of releases, brokers and clients together."""
        had = as_text(self.choice.model.settings)
        for tier, settings in self.others:
            if new := {name: value for name, value in settings.items() if had[name] != value}:
                words = ", ".join(f"{name}={value}" for name, value in new.items())
                yield Change(words, tier, self.choice.with_settings(settings))
        for preset in _later(self.choice):
            version = protocol_named(self.choice.protocol).presets[preset].get(_VERSION)
            level = (
                f" with {_VERSION}={version}" if version not in (None, had.get(_VERSION)) else ""
            )
            words = f"brokers and clients of {preset.partition('-')[2]}{level}"
            yield Change(words, Tier.UPGRADE, _on_a_later(self, preset))
        infos = describe(protocol_named(self.choice.protocol).settings)
        missing = {n: info.fix for n, info in infos.items() if info.fix and had[n] != info.fix}
        for rules in [{n: v} for n, v in missing.items()] + ([missing] if len(missing) > 1 else []):
            about = ", ".join(f"{name}={value}" for name, value in rules.items())
            words = fix_words([infos[name] for name in rules])
            named = words if words != "the fix of " else "a fix"
            told = f"in the model {about}"
            yield Change(named, Tier.UNRELEASED, self.choice.with_settings(rules), told)


_VERSION = "transaction.version"


def _on_a_later(facet: Facet, preset: str) -> Choice:
    """The same application on a later release, with the transaction version of new clusters."""
    kept = {name: value for name, value in facet.chosen.items() if name != _VERSION}
    return replace(facet.choice, preset=preset, settings=kept)


def _presets(protocol: str) -> dict[str, tuple[int, ...]]:
    """The presets that are releases, oldest first, with their versions."""
    found = (re.fullmatch(r"kafka-([\d.]+)", name) for name in protocol_named(protocol).presets)
    return {match[0]: version_of(match[1]) for match in found if match}


def _preset_of(protocol: str, release: str) -> str:
    """The preset with the rules of a release: the newest that is not later."""
    known = _presets(protocol)
    return [name for name, since in known.items() if since <= version_of(release)][-1]


def _later(choice: Choice) -> list[str]:
    known = list(_presets(choice.protocol))
    return known[known.index(choice.preset) + 1 :]


def at_brokers(
    kind: Facet, brokers: str, clients: str, chosen: Mapping[str, str], *, features: bool = False
) -> Facet:
    """The facet with the rules of two releases and what was chosen; a `UsageError` for no setting.

    With `features` they may be raised: each is tried.
    """
    protocol = kind.choice.protocol
    mine = _preset_of(protocol, clients)
    known = protocol_named(protocol)
    had = as_text(known.model({}, None, mine).settings)
    asked, has = (
        as_text(known.model({}, of_release(known.settings, version_of(release)), None).settings)
        for release in (clients, brokers)
    )
    rules = {name: (has if name in kind.brokers_rules else asked)[name] for name in had}
    own = {name: value for name, value in rules.items() if value != had[name]}
    choice = Choice(protocol, mine, {**own, **chosen}, kind.sizes)
    assert choice.model  # refuses a value that there is not
    others = tuple(each for each in kind.others if features or each[0] is not Tier.FEATURE)
    return replace(kind, choice=choice, others=others, chosen=chosen)


def _faults(bounds: Sequence[Bound], *but: str) -> tuple[str, ...]:
    found = [bound.name for bound in bounds if isinstance(bound, Budget)]
    return tuple(name for name in found if name not in but)


def _column(name: str, *properties: str) -> Column:
    return Column(name, properties, "broken", {}, {})


TRANSACTIONS = Facet(
    "what is written in transactions, to readers with read_committed",
    Choice("kafka_transactions"),
    (
        _column("aborted records are not read", "commits_were_requested"),
        _column("all of a transaction or nothing", "partitions_decide_alike"),
        _column("what was committed stays", "committed_stays"),
        _column("no transaction is left open", "no_hanging_transaction"),
        _column("a fenced producer writes nothing", "fenced_producers_append_nothing"),
        _column(
            "a producer goes on unless fenced",
            "fenced_only_after_a_timeout", "a_refused_record_is_abortable",
        ),
        _column("the coordinator goes on", "the_coordinator_can_go_on"),
    ),
    _faults(TRANSACTION_BOUNDS),
    {"topic_partitions": 2, "transactions": 2},
    frozenset(describe(TransactionSettings)) - {"after.a.failed.record"},
    (
        (Tier.SETTING, {"transaction.partition.verification.enable": "true"}),
        (Tier.FEATURE, {_VERSION: "2"}),
    ),
)  # fmt: skip

_WRITTEN = (
    _column("acknowledged records are in a log", "acknowledged_records_are_in_a_log"),
    _column("no record is written twice", "no_record_is_appended_twice"),
    _column("a key keeps its order", "a_key_keeps_its_order"),
)
_RULES_OF_BROKERS = frozenset({
    "producer.batches.kept", "producer.state.outlives.records", "first.sequence",
    "batch.is.one.entry",
})  # fmt: skip
_SENT = {"topic_partitions": 1, "max_records": 3, "log_size": 4, "keyless_records": 0}

PRODUCER = Facet(
    "what the producer sends",
    Choice("kafka_producer"),
    _WRITTEN,
    _faults(PRODUCER_BOUNDS, "keyless_records", "epoch_bumps"),
    {**_SENT, "epoch_bumps": 1},
    _RULES_OF_BROKERS,
    (
        (Tier.SETTING, {"acks": "all"}),
        (Tier.SETTING, {"enable.idempotence": "true", "acks": "all"}),
        (Tier.SETTING, {"max.in.flight.requests.per.connection": "1"}),
        (Tier.SETTING, {"retries": "0"}),
    ),
)
TRANSACTIONAL_PRODUCER = replace(
    PRODUCER,
    title="what the producer sends within a transaction",
    faults=_faults(PRODUCER_BOUNDS, "keyless_records", "epoch_bumps", "producer_restarts"),
    sizes={**_SENT, "epoch_bumps": 0},
    others=((Tier.SETTING, {"max.in.flight.requests.per.connection": "1"}),),
)
"""It starts no new epoch by itself, it aborts; what it wrote before it died is aborted, too."""

STREAMS = Facet(
    "what a task of Streams reads, and writes with its offsets in one transaction",
    Choice("kafka_streams"),
    (
        _column("each input is processed once", "nothing_is_processed_twice"),
        _column("no input is skipped", "nothing_is_lost"),
    ),
    _faults(STREAMS_BOUNDS, "deaths"),  # a dead owner is one that does nothing
    {"inputs": 2},
    frozenset({"group.checks.generation", "require.stable", "completion.is.awaited"}),
)

GROUP = Facet(
    "what is read in a group, offsets committed after processing",
    Choice("kafka_group"),
    (
        _column("no record is skipped", "no_record_skipped"),
        _column("no record is processed twice", "no_record_processed_twice"),
    ),
    _faults(GROUP_BOUNDS),
    {"members": 2, "topic_partitions": 2, "records": 1, "generations": 3},
    frozenset({
        "offsets.expire.in.use", "commit.checks.generation", "commit.by.assignment.epoch",
    }),
    (
        (Tier.SETTING, {"auto.offset.reset": "earliest"}),
        (Tier.SETTING, {"partition.assignment.strategy": "cooperative-sticky"}),
        (Tier.SETTING, {"consumer.commits": "before_processing"}),
    ),
)  # fmt: skip
