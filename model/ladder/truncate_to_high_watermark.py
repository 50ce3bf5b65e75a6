"""Before KIP-101 (Kafka up to 0.10): a new follower truncates to its own high watermark.

The follower's HW lags the leader's by a fetch, so it may cut off committed records; elected at that
moment, it makes the loss final.
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


@action("{follower} becomes follower of {leader} in epoch {request.number}")
def become_follower(
    cluster: Cluster, follower: Replica, leader: Replica, request: LeaderAndIsrRequest
) -> None:
    """Adopt a request that names another leader, and truncate to the own high watermark."""
    require_newer_request(cluster, follower, leader, request)

    become_follower_and_truncate(follower, leader, request, follower.high_watermark)


TRUNCATE_TO_HIGH_WATERMARK = ladder_protocol(
    "truncate_to_high_watermark",
    "followers truncate to their own high watermark (before KIP-101)",
    "KafkaTruncateToHighWatermark.tla",
    become_follower,
)
