"""The faults that are asked about, as budgets and settings of the broker model.

A rolling restart is a controlled shutdown for each replica, one at a time, and where leaders are
moved back one preferred election. With ZooKeeper controlled shutdowns are not modelled: there the
brokers stop cleanly, and the controller notices.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from checker.kafka.guarantees.budgets import BUDGETS
from checker.kafka.guarantees.cluster import Cluster, min_isr_in_force
from checker.kafka.guarantees.releases import Mode, Release
from checker.lab.experiments.choices import Choice
from model.kafka.protocol import KAFKA
from model.kafka.releases import WHOSE
from model.kafka.settings.whose import Whose
from model.kafka.upgrade import changed_rules
from model.language.errors import UsageError, unknown_name

MANY = 3
"""From so many faults on, one record is enough to keep a search within a minute."""

EPOCHS = 4
"""Leader epochs that are searched at least, beside the first."""

MOST_EPOCHS = next(bound.maximum for bound in KAFKA.bounds if bound.name == "max_leader_epoch")
"""And at most: more faults than that are refused by their own bounds."""


@dataclass(frozen=True)
class Faults:
    """What happens to the cluster, and the sizes within which it is searched."""

    budgets: Mapping[str, int] = field(default_factory=dict)
    rolling_restart: bool = False
    upgrade_to: Release | None = None
    min_isr_to: int | None = None
    sizes: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.budgets:
            if name not in BUDGETS:
                raise unknown_name("fault", name, BUDGETS)
        if not self.words:
            raise UsageError(
                "name what may happen: such as --crashes 1, --power-losses 1, --rolling-restart"
            )

    @property
    def restarts_all(self) -> bool:
        """Every broker is restarted once."""
        return self.rolling_restart or self.upgrade_to is not None

    @property
    def words(self) -> str:
        """The faults, for people."""
        named = self.budgets.items()
        parts = [f"{name.replace('_', ' ')} {count}" for name, count in named if count]
        if self.upgrade_to is not None:
            parts.insert(0, f"a rolling upgrade to {self.upgrade_to.asked}")
        elif self.rolling_restart:
            parts.insert(0, "a rolling restart")
        if self.min_isr_to is not None:
            parts.append(f"min.insync.replicas changed to {self.min_isr_to}")
        return ", ".join(parts)


def choice_of(cluster: Cluster, faults: Faults) -> Choice:
    """What is searched: the cluster with these faults, within the sizes asked for or usual ones."""
    settings, bounds = dict(cluster.settings), dict(faults.budgets)
    if faults.restarts_all:
        with_zookeeper = cluster.release.mode is Mode.ZOOKEEPER
        stops = "shutdowns" if with_zookeeper else "controlled_shutdowns"
        bounds[stops] = bounds.get(stops, 0) + cluster.replicas
        bounds.setdefault("preferred_elections", int(cluster.rebalances))
        settings["shutdowns.in.turn"] = "true"
    if faults.min_isr_to is not None:
        if not 1 <= faults.min_isr_to <= cluster.replicas:
            raise UsageError(
                f"--min-isr-to {faults.min_isr_to}: valid are 1 to {cluster.replicas}, the replicas"
            )
        present = min_isr_in_force(cluster.release, cluster.settings, cluster.replicas)
        if faults.min_isr_to == present:
            raise UsageError(
                f"--min-isr-to {faults.min_isr_to}: that is min.insync.replicas already; valid is "
                f"another number of 1 to {cluster.replicas}, the replicas"
            )
        settings["min.insync.replicas.later"] = str(faults.min_isr_to)
        bounds["min_isr_changes"] = 1
    count = sum(bounds.values())
    records = 1 if count >= MANY else 2
    epochs = min(max(EPOCHS, count), MOST_EPOCHS)
    sizes = {
        "log_size": records, "max_records": records, "max_leader_epoch": epochs, **faults.sizes,
    }  # fmt: skip
    quiet = {name: 0 for name in ("crashes", "preferred_elections")}
    chosen = {**sizes, "replicas": cluster.replicas, **quiet, **bounds}
    preset = cluster.release.preset
    for name in changed_rules(KAFKA.model({}, settings, preset).settings):
        of_controller = WHOSE[name] is Whose.CONTROLLER
        chosen |= {"controller_upgrades": 1} if of_controller else {"upgrades": cluster.replicas}
    return Choice("kafka", preset, settings, chosen)


def without_rebalance(choice: Choice) -> Choice:
    """The same where nobody moves leaders back."""
    return replace(choice, bounds={**choice.bounds, "preferred_elections": 0})
