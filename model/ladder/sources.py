"""Which operator of hachikuji/kafka-specification each action of the ladder is after."""

from __future__ import annotations

from collections.abc import Mapping

from model.ladder import cluster, kip101, kip279, kip320, kip320_first_try
from model.ladder import truncate_to_high_watermark as oldest
from model.language import Action
from model.sources import Source

_BY_MODULE: Mapping[str, Mapping[str, Action]] = {
    "KafkaReplication": {
        "ControllerElectLeader": cluster.controller_elect_leader,
        "ControllerShrinkIsr": cluster.controller_shrink_isr,
        "BecomeLeader": cluster.become_leader,
        "LeaderExpandIsr": cluster.leader_expand_isr,
        "LeaderShrinkIsr": cluster.leader_shrink_isr,
        "LeaderWrite": cluster.leader_write,
        "LeaderIncHighWatermark": cluster.leader_advance_high_watermark,
        "FollowerReplicate": cluster.follower_replicate,
    },
    "KafkaTruncateToHighWatermark": {
        "BecomeFollowerTruncateToHighWatermark": oldest.become_follower
    },
    "Kip101": {"BecomeFollowerTruncateKip101": kip101.become_follower},
    "Kip279": {"BecomeFollowerTruncateKip279": kip279.become_follower},
    "Kip320FirstTry": {
        "LeaderExpandIsrBetterFencing": kip320_first_try.leader_expand_isr,
        "LeaderShrinkIsrBetterFencing": kip320_first_try.leader_shrink_isr,
        "ImprovedLeaderIncHighWatermark": kip320_first_try.leader_advance_high_watermark,
        "BecomeFollower": kip320_first_try.become_follower,
        "FollowerFetch": kip320_first_try.follower_replicate,
        "FollowerTruncate": kip320_first_try.follower_truncate,
    },
    "Kip320": {
        "FencedLeaderExpandIsr": kip320.leader_expand_isr,
        "FencedLeaderShrinkIsr": kip320.leader_shrink_isr,
        "FencedLeaderIncHighWatermark": kip320.leader_advance_high_watermark,
        "FencedBecomeFollowerAndTruncate": kip320.become_follower,
        "FencedFollowerFetch": kip320.follower_replicate,
    },
}

LADDER_SOURCES: Mapping[Action, Source] = {
    action: Source(f"{module}.{operator}")
    for module, operators in _BY_MODULE.items()
    for operator, action in operators.items()
}
