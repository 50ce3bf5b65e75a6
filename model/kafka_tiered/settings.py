"""The rules of the tiered model: one for each fix, with what is known of it.

The defaults are those of Kafka 4.3. A fix that no release has is off by default.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from model.language import setting


class ReadEnds(StrEnum):
    """Where a read from a remote segment ends, at the latest."""

    WITH_SEGMENT = "with_segment"
    WITH_CACHED_EPOCH = "with_cached_epoch"  # where the epoch ends in the leader's epoch cache
    WITH_EITHER_EPOCH = "with_either_epoch"  # and where it ends in the segment


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
    build_is_resumed: bool = setting(
        False,
        "a follower whose log was emptied to be built, and is without epochs, is built anew",
        "tier.build.is.resumed",
        at="ReplicaManager.initialFetchOffset",
        about="finding 0042",
        history="false 3.6.0",
        evidence="`ReplicaManager` of 4.3.1",
        fix=True,
    )
    build_moves_local_start: bool = setting(
        True,
        "a replica that is built from the remote store notes where its local log starts then",
        "tier.build.moves.local.start",
        at="UnifiedLog.truncateFullyAndStartAt",
        about="KAFKA-15695",
        history="false 3.6.0, true 3.7.0",
        evidence="PR 14649: sources of 3.6.0, 3.6.1, 3.6.2, 3.7.0",
    )
    restart_keeps_log_start: bool = setting(
        True,
        "a log that is loaded starts where the checkpoint says, not at its first local record",
        "restart.keeps.log.start",
        at="LogLoader.load",
        about="KAFKA-15351",
        history="true 3.6.0",
        evidence="PR 14301, before the first release with tiered storage",
    )
    restart_keeps_last_epoch: bool = setting(
        False,
        "a log without records keeps the last entry of its leader epoch cache as it is loaded",
        "restart.keeps.last.epoch",
        at="LogLoader.load",
        about="finding 0044",
        history="false 3.6.0",
        evidence="`LogLoader` of 4.3.1 drops entries that begin at the log's end",
        fix=True,
    )
    log_start_is_looked_up: bool = setting(
        True,
        "a new leader moves its log start up to the first remote segment that is left",
        "remote.start.is.looked.up",
        at="RemoteLogManager.findLogStartOffset",
        about="KAFKA-15351",
        history="true 3.6.0",
        evidence="PR 14340, before the first release with tiered storage",
    )
    local_deletion_moves_log_start: bool = setting(
        False,
        "a leader that deletes local records, of which nothing is remote any more, moves its log "
        "start",
        "local.deletion.moves.log.start",
        at="UnifiedLog.deleteSegments",
        history="false 3.6.0",
        evidence="`UnifiedLog` of 4.3.1",
    )
    expiry_takes_furthest: bool = setting(
        True,
        "retention that deletes segments that overlap raises the log start past the longest",
        "remote.expiry.takes.furthest",
        at="RemoteLogRetentionHandler.deleteRetentionTimeBreachedSegments",
        about="KAFKA-16890",
        history="false 3.6.0, true 3.8.0",
        evidence="PR 16237: sources of 3.6.2, 3.7.1, 3.8.0",
    )
    remote_end_by_lineage: bool = setting(
        True,
        "what is copied of an epoch counts as far as the epoch goes in the leader's own log",
        "remote.end.by.lineage",
        at="RemoteLogManager.findHighestRemoteOffset",
        about="KAFKA-15241",
        history="false 3.6.0, true 3.7.0",
        evidence="PR 14787",
    )
    remote_end_is_there: bool = setting(
        False,
        "what was copied of an epoch counts only if its last segment is still in the remote store",
        "remote.end.is.there",
        at="RemoteLogManager.findHighestRemoteOffset",
        about="finding 0039",
        history="false 3.6.0",
        evidence="`RemoteLogManager` of 4.3.1; finding 0039 has the clusters",
        fix=True,
    )
    remote_start_by_lineage: bool = setting(
        False,
        "a new leader looks for its log start among segments that its own epochs have",
        "remote.start.by.lineage",
        at="RemoteLogManager.findLogStartOffset",
        history="false 3.6.0",
        evidence="`RemoteLogManager` of 4.3.1",
        fix=True,
    )
    map_drops_covered: bool = setting(
        True,
        "a copy that goes as far as any of its epoch replaces what is listed behind its start",
        "remote.map.drops.covered",
        at="RemoteLogLeaderEpochState.handleSegmentWithCopySegmentFinishedState",
        about="KAFKA-15168",
        history="true 3.6.0",
        evidence="PR 14004, before the first release with tiered storage",
    )
    map_keeps_longer: bool = setting(
        False,
        "a copy that finishes late does not hide a longer one that is listed",
        "remote.map.keeps.longer",
        at="RemoteLogLeaderEpochState.handleSegmentWithCopySegmentFinishedState",
        about="finding 0030",
        history="false 3.6.0",
        evidence="`RemoteLogLeaderEpochState` of 4.3.1",
        fix=True,
    )
    truncation_keeps_start: bool = setting(
        False,
        "a follower truncated below its first local segment keeps its log start and its epochs",
        "truncation.below.local.keeps.start",
        at="UnifiedLog.truncateTo",
        about="finding 0031",
        history="false 3.6.0",
        evidence="`UnifiedLog` of 4.3.1",
        fix=True,
    )
    read_ends: ReadEnds = setting(
        ReadEnds.WITH_SEGMENT,
        "where a read from the remote store ends, at the latest",
        "remote.read.ends",
        at="RemoteLogManager.read",
        about="finding 0032",
        history="with_segment 3.6.0",
        evidence="`RemoteLogManager` of 4.3.1",
        fix=ReadEnds.WITH_EITHER_EPOCH,
    )
    deletion_is_fenced: bool = setting(
        False,
        "a broker that leads no more deletes no remote segment, though it has not heard of it",
        "remote.deletion.is.fenced",
        at="RemoteLogManager.deleteRemoteLogSegment",
        about="finding 0033",
        history="false 3.6.0",
        evidence="`RemoteLogManager` of 4.3.1: a deletion asks whether its task is cancelled",
        fix=True,
    )
    untiered_log_is_local: bool = setting(
        False,
        "where tiering is switched off, the log of a follower too starts at its first local record",
        "untiered.log.is.local",
        at="TopicConfigHandler.maybeUpdateRemoteLogComponents",
        about="finding 0043",
        history="false 3.6.0",
        evidence="`TopicConfigHandler` of 4.3.1: it moves the log start of leaders alone",
        fix=True,
    )
