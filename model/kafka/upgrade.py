"""A rolling upgrade: brokers of two releases at once, and whose settings hold in which action.

The cluster's settings are those of the older release; the newer one is `upgrade.to`. A broker that
is down may start again in the newer one, and the controller takes its rules at some moment. So an
action runs by the settings of whoever acts: in a fetch those of leader and follower, each for its
own rules (`settings/whose.py`). What waits until every broker has the new code, and the version of
the protocol is raised, is another upgrade, which begins where the code is the same everywhere.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

from model.kafka import leader_epoch_file_cache as file_cache
from model.kafka.bounds import CONTROLLER_UPGRADES, UPGRADES
from model.kafka.choices import EpochCache, EpochFile, Truncation, UpgradeTo
from model.kafka.presets import PRESETS
from model.kafka.racks import Racks
from model.kafka.releases import WAITS_FOR_FEATURES, WHOSE
from model.kafka.settings import KafkaSettings
from model.kafka.settings.whose import Whose
from model.kafka.state import Broker, TopicPartition
from model.language import action, count, not_, require
from model.language.cases import Case, Fact
from model.language.declare.settings import choose_settings, describe
from model.language.errors import UsageError

_FIELDS = {name: info.field for name, info in describe(KafkaSettings).items()}
_OWNERS = {_FIELDS[name]: whose for name, whose in WHOSE.items()}
_WAITING = frozenset(_FIELDS[name] for name in WAITS_FOR_FEATURES)


def changed_by_upgrade(settings: KafkaSettings) -> dict[str, Any]:
    """The rules that the newer release has otherwise, as fields: of its code, else its features.

    `UsageError` for what is no upgrade that the model knows.
    """
    if settings.upgrade_to == UpgradeTo.NONE:
        return {}
    newer = choose_settings(KafkaSettings, PRESETS[settings.upgrade_to])
    rules = {field: getattr(newer, field) for field in _OWNERS}
    differing = {f: value for f, value in rules.items() if value != getattr(settings, f)}
    code = {f: value for f, value in differing.items() if f not in _WAITING}
    found = code or differing
    _refuse(settings, replace(settings, **rules), found)
    return found


def changed_rules(settings: KafkaSettings) -> tuple[str, ...]:
    """The names of the rules in which brokers differ as long as not all are upgraded."""
    changed = changed_by_upgrade(settings)
    return tuple(name for name, field in _FIELDS.items() if field in changed)


def _refuse(older: KafkaSettings, newer: KafkaSettings, changed: dict[str, Any]) -> None:
    """`UsageError` for releases that the model cannot have side by side."""
    reason = ""
    if older.with_zookeeper != newer.with_zookeeper:
        reason = "from ZooKeeper to KRaft is a migration, which is not modelled"
    elif "truncation" in changed and Truncation.HIGH_WATERMARK in (
        older.truncation, newer.truncation,
    ):  # fmt: skip
        reason = "records that were written before 0.11 name no leader epoch, which is not modelled"
    elif older.epoch_cache == EpochCache.KEPT and (
        "leader_enters_epoch" in changed  # which a leader asks of its follower's cache too
        or ("epoch_file" in changed and older.broker_rack != Racks.SPREAD)  # of several brokers
    ):
        reason = "one step would go by the caches of two releases: leave out epoch.cache=kept"
    if reason:
        raise UsageError(f"upgrade.to={older.upgrade_to} cannot be: {reason}")


def cases(settings: KafkaSettings, names: tuple[str, ...]) -> tuple[Case, ...]:
    """The settings by which an action with parameters of these names runs, and where."""
    changed = changed_by_upgrade(settings)
    facts = {f: fact for f in changed if (fact := _fact(_OWNERS[f], names)) is not None}
    concerned = tuple(dict.fromkeys(facts.values()))
    found = []
    for upgraded in itertools.product((False, True), repeat=len(concerned)):
        is_so = dict(zip(concerned, upgraded, strict=True))
        rules = {f: changed[f] for f, fact in facts.items() if is_so[fact]}
        found.append(Case(replace(settings, **rules) if rules else settings, tuple(is_so.items())))
    return tuple(found)


_ACTING = {
    Whose.LEADER: ("leader", "broker", "follower"),
    Whose.FOLLOWER: ("follower", "broker", "leader"),
}
"""By which parameter an action names whose release it is, the first that there is."""


def _fact(whose: Whose, names: tuple[str, ...]) -> Fact | None:
    """That this one is upgraded, in an action with these parameters; none if it has no part."""
    if whose is Whose.CONTROLLER:
        return Fact(controller_is_upgraded, None)
    name = next((name for name in _ACTING[whose] if name in names), None)
    return None if name is None else Fact(is_upgraded, names.index(name))


def is_upgraded(broker: Broker) -> bool:
    """The broker has the newer release, or once it starts will have."""
    return broker.upgraded


def controller_is_upgraded(partition: TopicPartition) -> bool:
    """The controller has the newer release's rules."""
    return partition.controller.upgraded


@action(
    "{broker}, which is down, is upgraded",
    at="BrokerServer.startup",
    since="0.8.0",
)
def broker_upgrade(partition: TopicPartition, broker: Broker) -> None:
    """Have a broker start with the newer release; or with features that it had switched off.

    Where the older one leaves a file unsynced, the system has synced it by then: what a crash
    brings back with the newer one is what that has not written.
    """
    require(partition.options.upgrade_to != UpgradeTo.NONE)
    require(not_(broker.up), not_(broker.upgraded))
    require(count(b.upgraded for b in partition.brokers) < partition.bound(UPGRADES))

    broker.upgraded = True
    if file_cache.is_kept(partition) and partition.options.epoch_file == EpochFile.UNSYNCED:
        file_cache.write(partition, broker)


@action(
    "the controller is upgraded",
    at="FeatureControlManager.updateFeatures",
    since="3.3.0",
    about="KIP-778",
)
def controller_upgrade(partition: TopicPartition) -> None:
    """Another controller takes over that has the newer release; or features are switched on."""
    require(partition.options.upgrade_to != UpgradeTo.NONE)
    require(partition.bound(CONTROLLER_UPGRADES) > 0, not_(partition.controller.upgraded))

    partition.controller.upgraded = True
