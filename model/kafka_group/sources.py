"""Where the group model's actions and settings are in Kafka.

Places are methods of 4.3.1, of the coordinator, of the consumer or of an assignor. A release is the
first with the rule, in whichever class it then was: as Kafka's tags and published sources show.
"""

from __future__ import annotations

from collections.abc import Mapping

from model.sources import Source, sources_in

_ACTIONS = """
action | in Kafka | first release | about it | settings
operator_add_partition | the application | 0.8.1
partition_truncate | SubscriptionState.maybeCompleteValidation | 2.3.0 | KIP-320, KAFKA-7747
coordinator_expire_offset | OffsetMetadataManager.cleanupExpiredOffsets | 0.9.0.0 |
    KAFKA-4682, KIP-211 | offsets.expire.in.use
producer_send | the application | 0.9.0.0
consumer_poll | ClassicKafkaConsumer.pollForFetches | 0.9.0.0 | KAFKA-14196 |
    consumer.commits, revocation.stops.fetching
consumer_process | the application | 0.9.0.0
consumer_commit | OffsetMetadataManager.validateOffsetCommit | 0.9.0.0 | |
    consumer.commits, commit.checks.generation
consumer_join | GroupMetadataManager.classicGroupJoin | 0.9.0.0 | | group.protocol
consumer_commit_before_rejoin | ConsumerCoordinator.onJoinPrepare | 3.2.0 |
    KAFKA-13310, KAFKA-14196 | revocation.stops.fetching
consumer_rejoin | ConsumerCoordinator.onJoinPrepare | 0.9.0.0 | |
    commit.on.revocation, partition.assignment.strategy
consumer_rejoin_uncommitted | ConsumerCoordinator.onJoinPrepare | 0.9.0.0 | |
    commit.on.revocation
coordinator_complete_join | GroupMetadataManager.completeClassicGroupJoin | 0.9.0.0 | |
    group.protocol
leader_sync | ConsumerCoordinator.onLeaderElected | 0.9.0.0 | KAFKA-7026, KAFKA-14639 |
    partition.assignment.strategy
consumer_sync | ConsumerCoordinator.onJoinComplete | 0.9.0.0 | KIP-429 |
    partition.assignment.strategy, auto.offset.reset
leader_see_new_partitions | ConsumerCoordinator.rejoinNeededOrPending | 0.9.0.0 | |
    group.protocol
consumer_join_by_heartbeat | GroupMetadataManager.consumerGroupHeartbeat | 3.7.0 | KIP-848 |
    group.protocol
coordinator_handle_heartbeat | CurrentAssignmentBuilder.build | 3.7.0 | KIP-848 | group.protocol
coordinator_handle_full_heartbeat | CurrentAssignmentBuilder.build | 3.7.0 | KIP-848 |
    reconciling.is.named
consumer_hear_heartbeat | ConsumerMembershipManager.onHeartbeatSuccess | 3.7.0 | KIP-848 |
    group.protocol
consumer_hear_on_the_way | AbstractMembershipManager.maybeAbortReconciliation | 3.7.0 | KIP-848 |
    group.protocol
consumer_revoke | AbstractMembershipManager.maybeReconcile | 3.7.0 | KIP-848 |
    commit.on.revocation, commit.by.assignment.epoch
consumer_revoke_uncommitted | AbstractMembershipManager.maybeReconcile | 3.7.0 | KIP-848 |
    commit.on.revocation
consumer_take_assignment | AbstractMembershipManager.revokeAndAssign | 3.7.0 | KIP-848 |
    auto.offset.reset
coordinator_see_new_partitions | GroupMetadataManager.onMetadataUpdate | 3.7.0 | KIP-848 |
    group.protocol
consumer_crash | the application | 0.9.0.0
consumer_leave | GroupMetadataManager.classicGroupLeave | 0.9.0.0 | | commit.on.revocation
consumer_restart | the application | 0.9.0.0
coordinator_expire_session | GroupMetadataManager.expireClassicGroupMemberHeartbeat | 0.9.0.0
coordinator_expire_live_member | GroupMetadataManager.expireClassicGroupMemberHeartbeat | 0.9.0.0
consumer_hear_it_is_fenced | ConsumerCoordinator.onJoinPrepare | 0.9.0.0 | KIP-429
coordinator_fail_over | GroupMetadataManager.onLoaded | 0.9.0.0 | | group.protocol
"""

_SETTINGS = """
setting | in Kafka | first release | about it
group.protocol | AsyncKafkaConsumer.subscribe | 3.7.0 | KIP-848
partition.assignment.strategy | AbstractPartitionAssignor.assign | 0.9.0.0 | KIP-54, KIP-429
sticky.claims | AbstractStickyAssignor.allSubscriptionsEqual | 2.3.0 |
    KAFKA-7026, KAFKA-12984, KAFKA-14639
consumer.commits | the application | 0.9.0.0
commit.on.revocation | ConsumerCoordinator.onJoinPrepare | 0.9.0.0
revocation.stops.fetching | SubscriptionState.markPendingRevocation | 3.2.3 | KAFKA-14196
auto.offset.reset | OffsetFetcher.resetPositionsIfNeeded | 0.9.0.0
new.partitions.from.start | OffsetFetcher.resetPositionsIfNeeded | | KIP-1327
commit.names.epoch | SubscriptionState.maybeValidatePositionForCurrentLeader | 2.3.0 |
    KIP-320, KAFKA-7747, KAFKA-19902
offsets.expire.in.use | ClassicGroup.offsetExpirationCondition | 2.1.0 | KAFKA-4682, KIP-211
commit.checks.generation | ClassicGroup.validateOffsetCommit | 0.9.0.0
commit.by.assignment.epoch | ConsumerGroup.createAssignmentEpochValidator | 4.3.0 |
    KIP-1251, KAFKA-20066
reconciling.is.named | HeartbeatState.buildRequestData
"""

ACTION_SOURCES: Mapping[str, Source] = dict(sources_in(_ACTIONS))
SETTING_SOURCES: Mapping[str, Source] = dict(sources_in(_SETTINGS))
