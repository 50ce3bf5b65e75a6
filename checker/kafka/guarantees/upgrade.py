"""A rolling upgrade by its stages: before it, in new code, with new features, and in between.

In between, brokers of two releases run at once, each by its own rules (`model/kafka/upgrade.py`):
first in their code, then, once that is new everywhere, in what waits for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from checker.kafka.guarantees.cluster import Cluster
from checker.kafka.guarantees.releases import Release, later
from model.kafka.protocol import KAFKA
from model.kafka.releases import WAITS_FOR_FEATURES, WHOSE
from model.kafka.settings.whose import Whose
from model.kafka.upgrade import changed_rules
from model.language.declare.history import version_of
from model.language.declare.settings import as_text
from model.language.errors import UsageError

UPGRADE_TO = "upgrade.to"


@dataclass(frozen=True)
class Stage:
    """A stage of an upgrade: its name, and the cluster at it.

    `changed` are the rules that brokers of two releases differ in, if they run at once in it.
    `unknown` says why it cannot be judged.
    """

    name: str
    cluster: Cluster
    changed: tuple[str, ...] = ()
    unknown: str = ""


def stages(cluster: Cluster, target: Release) -> list[Stage]:
    """The stages in order; `UsageError` for what is no rolling upgrade."""
    old, new = cluster.release.alike, target.alike
    if version_of(new) <= version_of(old):
        newer = [r.asked for r in later(cluster.release) if r.mode is cluster.release.mode]
        raise UsageError(_no_upgrade(cluster.release, target, newer))
    if target.mode is not cluster.release.mode:
        raise UsageError(
            f"from {old} with ZooKeeper to {new} with KRaft is a migration, which is not modelled: "
            "ask about each release by itself"
        )
    after = replace(cluster, release=target)
    was, now = _in_force(cluster), _in_force(after)
    differing = [name for name in WHOSE if was[name] != now[name]]
    held = {name: was[name] for name in differing if name in WAITS_FOR_FEATURES}
    found = [Stage(f"before: all brokers {old}", cluster)]
    if len(differing) > len(held):
        found.append(_mixed(f"in between: brokers of {old} and {new} at once", cluster, target))
    if held:
        waiting = replace(after, settings={**held, **after.settings})
        found.append(Stage(f"all brokers {new}, its new features off", waiting))
        found.append(_mixed("in between: its features are switched on", waiting, target))
    found.append(Stage(f"after: all brokers {new}", after))
    return found


def _no_upgrade(release: Release, target: Release, later: list[str]) -> str:
    """Why there is nothing to judge: the target is not newer, or has the same rules."""
    asked = f"from {release.asked} to {target.asked}"
    if version_of(target.asked) > version_of(release.asked):
        return (
            f"{asked} no rule of the model changes, so that an upgrade is a rolling restart: ask "
            "about --rolling-restart"
        )
    valid = f"valid are {', '.join(later)}" if later else "no later release has other rules"
    return f"{asked} is no upgrade: {valid}"


def _mixed(name: str, cluster: Cluster, target: Release) -> Stage:
    chosen = {**cluster.settings, UPGRADE_TO: target.preset}
    try:
        changed = changed_rules(KAFKA.model({}, chosen, cluster.release.preset).settings)
    except UsageError as error:
        return Stage(name, cluster, unknown=str(error).partition(": ")[2])
    return Stage(name, replace(cluster, settings=chosen), changed)


def _in_force(cluster: Cluster) -> dict[str, str]:
    return as_text(KAFKA.model({}, dict(cluster.settings), cluster.release.preset).settings)


def mixed_words(found: list[Stage]) -> str:
    """In which rules brokers of two releases differ, and whose rules these are."""
    told = [line for stage in found for line in _words_of(stage)]
    return "; ".join(told) or (
        "no rule of the model differs between the two, so brokers of both at once are nothing new"
    )


def _words_of(stage: Stage) -> Iterator[str]:
    if stage.unknown:
        yield f"{stage.name}: not judged, {stage.unknown}"
    brokers = [name for name in stage.changed if WHOSE[name] is not Whose.CONTROLLER]
    controllers = [name for name in stage.changed if WHOSE[name] is Whose.CONTROLLER]
    if brokers:
        yield f"{stage.name}: by each broker's own release go {', '.join(brokers)}"
    if controllers:
        yield f"{stage.name}: the controller changes {', '.join(controllers)} at some moment"
