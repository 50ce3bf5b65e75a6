"""Before KIP-101 (Kafka up to 0.10): a new follower truncates to its own high watermark.

What is above its HW may never have been committed, so it seems safe to drop. But the HW of a
follower lags behind its leader's by a fetch: it may drop committed records too. Usually it fetches
them again at once. If it is elected before that, they are lost for good.
"""

from __future__ import annotations

from model.ladder.cluster import (
    Cluster,
    LeaderAndIsrRequest,
    Replica,
    become_follower_and_truncate,
    ladder_protocol,
    require_newer_request,
)
from model.language import action


@action(
    "{follower} becomes follower of {leader} in epoch {request.number}",
    at="KafkaTruncateToHighWatermark.BecomeFollowerTruncateToHighWatermark",
)
def become_follower(
    cluster: Cluster, follower: Replica, leader: Replica, request: LeaderAndIsrRequest
) -> None:
    """Adopt a request that names another leader, and truncate to its own high watermark."""
    require_newer_request(cluster, follower, leader, request)

    become_follower_and_truncate(follower, leader, request, follower.high_watermark)


TRUNCATE_TO_HIGH_WATERMARK = ladder_protocol(
    "truncate_to_high_watermark",
    "Kafka before KIP-101",
    "followers truncate to their own high watermark (before KIP-101)",
    "KafkaTruncateToHighWatermark.tla",
    become_follower,
)
