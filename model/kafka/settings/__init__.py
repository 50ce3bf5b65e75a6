"""The settings of the broker model: Kafka's own, and one for each fix of the replication protocol.

Each is declared once, with all that is said of it: `model/language/declare/settings.py` says how,
`docs/decisions/0092-a-rule-is-declared-once.md` why. "finding" is one of `docs/findings`. The
defaults are those of Kafka 4.1, and no fix that no release has is on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from model.kafka.choices import ShrinkStartsEpoch, UpgradeTo
from model.kafka.settings.disks import DiskRules
from model.kafka.settings.eligible_replicas import EligibleReplicaRules
from model.kafka.settings.fetching import FetchingRules
from model.kafka.settings.operators import OperatorSettings
from model.kafka.settings.replication import ReplicationRules
from model.language import Role, setting


@dataclass(frozen=True)
class KafkaSettings(
    DiskRules, FetchingRules, EligibleReplicaRules, ReplicationRules, OperatorSettings
):
    """What an operator chooses, and which fixes the Kafka version has.

    A dataclass has the fields of its last base first: what operators choose goes first in lists.
    """

    not_modelled: ClassVar[dict[str, str]] = {
        name: "there is no time in the model, so that a follower may be dropped, and a broker "
        "fenced, at any moment; how often is a bound, such as --false-fencings"
        for name in (
            "replica.lag.time.max.ms", "broker.session.timeout.ms", "replica.fetch.wait.max.ms",
            "zookeeper.session.timeout.ms", "broker.heartbeat.interval.ms",
        )
    } | {
        name: "the model has no remote storage: what it says of records is about the "
        "replicas' own logs; findings 0028, 0030 to 0033 and 0039 to 0043 are about remote segments"
        for name in (
            "remote.log.storage.system.enable", "remote.storage.enable",
            "local.retention.ms", "local.retention.bytes",
        )
    }  # fmt: skip

    @property
    def with_zookeeper(self) -> bool:
        """The metadata are in ZooKeeper, and not in a log that brokers read in order (KRaft).

        Only there the controller's own shrinks of the ISR alone start epochs.
        """
        return self.shrink_starts_epoch == ShrinkStartsEpoch.BY_CONTROLLER

    upgrade_to: UpgradeTo = setting(
        UpgradeTo.NONE,
        "the release that brokers are upgraded to one by one (--upgrades)",
        "upgrade.to",
        at="the operator",
        role=Role.SURROUNDING,
    )
