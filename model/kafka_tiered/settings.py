"""The rules of the tiered model: one for each fix, with what is known of it.

The defaults are those of Kafka 4.3. A fix that no release has is off by default.
"""

from __future__ import annotations

from dataclasses import dataclass

from model.language import setting


@dataclass(frozen=True)
class TieredSettings:
    """Which fixes the Kafka version has."""

    indexes_before_truncating: bool = setting(
        False,
        "a follower reads the remote store's indexes before it truncates its log",
        "tier.indexes.before.truncating",
        at="TierStateMachine.buildRemoteLogAuxState",
        about="finding 0028",
        history="false 3.6.0",
        evidence="`TierStateMachine` of 4.3.1; finding 0028 has the clusters",
        fix=True,
    )
    map_keeps_longer: bool = setting(
        False,
        "a copy that finishes late does not hide a longer one that is listed",
        "remote.map.keeps.longer",
        at="RemoteLogLeaderEpochState.handleSegmentWithCopySegmentFinishedState",
        history="false 3.6.0",
        evidence="`RemoteLogLeaderEpochState` of 4.3.1",
        fix=True,
    )
