package org.apache.kafka.clients.consumer.internals;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.consumer.internals.events.BackgroundEvent;
import org.apache.kafka.clients.consumer.internals.events.BackgroundEventHandler;
import org.apache.kafka.clients.consumer.internals.events.PartitionsAssignedEvent;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatRequestData;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatResponseData;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.requests.ConsumerGroupHeartbeatResponse;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.MockTime;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

/** What a member names in a heartbeat after one that failed, while it is reconciling an assignment. */
public class ConsumerHeartbeatReconciliationTest {
    private static final Uuid TOPIC = Uuid.randomUuid();

    private final LogContext context = new LogContext();
    private final SubscriptionState subscriptions = new SubscriptionState(context, AutoOffsetResetStrategy.EARLIEST);
    private final ConsumerMetadata metadata = mock(ConsumerMetadata.class);
    private final BackgroundEventHandler handler = mock(BackgroundEventHandler.class);
    private final Queue<BackgroundEvent> events = new ArrayDeque<>();
    private ConsumerMembershipManager membership;
    private ConsumerHeartbeatRequestManager.HeartbeatState heartbeat;

    @BeforeEach
    public void setUp() {
        MockTime time = new MockTime();
        when(metadata.topicNames()).thenReturn(Map.of(TOPIC, "topic"));
        CommitRequestManager commits = mock(CommitRequestManager.class);
        when(commits.maybeAutoCommitSyncBeforeRebalance(anyLong())).thenReturn(CompletableFuture.completedFuture(null));
        doAnswer(call -> events.add(call.getArgument(0))).when(handler).add(any());
        membership = new ConsumerMembershipManager("group", Optional.empty(), Optional.empty(), 300_000, Optional.empty(),
            subscriptions, commits, metadata, context, handler, time, new Metrics(time), false);
        heartbeat = new ConsumerHeartbeatRequestManager.HeartbeatState(subscriptions, membership, 300_000);
        subscriptions.subscribe(Set.of("topic"), Optional.empty());
        membership.onSubscriptionUpdated();
        membership.onConsumerPoll();
        sent();
    }

    @Test
    public void testFullHeartbeatIncludesAssignmentBeingReconciled() {
        heard(1, 0, 1);
        membership.maybeReconcile(true);
        assertNull(sent());
        heartbeat.reset();
        assertEquals(Set.of(0, 1), sent());
    }

    @Test
    public void testFullHeartbeatIncludesAssignmentNotYetReconciled() {
        heard(1, 0, 1);
        heartbeat.reset();
        assertEquals(Set.of(0, 1), sent());
    }

    @Test
    public void testFullHeartbeatIncludesAssignmentBeingReconciledWithNewerTarget() {
        heard(1, 0, 1);
        membership.maybeReconcile(true);
        heard(1, 0);
        heartbeat.reset();
        assertEquals(Set.of(0, 1), sent());
    }

    @Test
    public void testHeartbeatIncludesOwnedPartitionsOnceAfterReconciliation() {
        heard(1, 0, 1);
        membership.maybeReconcile(true);
        applied();
        assertEquals(Set.of(0, 1), sent());
        assertNull(sent());
    }

    @Test
    public void testFullHeartbeatOfStableMemberIncludesOwnedPartitions() {
        heard(1, 0);
        membership.maybeReconcile(true);
        applied();
        sent();
        heartbeat.reset();
        assertEquals(Set.of(0), sent());
    }

    /** The numbers of the partitions that a heartbeat names, or null if it names none at all. */
    private SortedSet<Integer> sent() {
        ConsumerGroupHeartbeatRequestData data = heartbeat.buildRequestData();
        membership.onHeartbeatRequestGenerated();
        if (data.topicPartitions() == null)
            return null;
        SortedSet<Integer> numbers = new TreeSet<>();
        data.topicPartitions().forEach(topic -> numbers.addAll(topic.partitions()));
        return numbers;
    }

    private void heard(int epoch, Integer... numbers) {
        membership.onHeartbeatSuccess(new ConsumerGroupHeartbeatResponse(new ConsumerGroupHeartbeatResponseData()
            .setMemberId(membership.memberId()).setMemberEpoch(epoch)
            .setAssignment(new ConsumerGroupHeartbeatResponseData.Assignment().setTopicPartitions(List.of(
                new ConsumerGroupHeartbeatResponseData.TopicPartitions().setTopicId(TOPIC)
                    .setPartitions(List.of(numbers)))))));
    }

    /** The application's thread takes the partitions. */
    private void applied() {
        PartitionsAssignedEvent event = (PartitionsAssignedEvent) events.remove();
        membership.applyAssignment(event.assignedPartitions(), event.addedPartitions());
        event.future().complete(null);
    }
}
