package kafka.server.share;

import kafka.server.ReplicaManager;
import kafka.server.share.SharePartitionManager.SharePartitionListener;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.internal.FileRecords;
import org.apache.kafka.coordinator.group.GroupConfigManager;
import org.apache.kafka.server.share.persister.PartitionFactory;
import org.apache.kafka.server.share.persister.PartitionStateBatchData;
import org.apache.kafka.server.share.persister.Persister;
import org.apache.kafka.server.share.persister.ReadShareGroupStateResult;
import org.apache.kafka.server.share.persister.TopicData;
import org.apache.kafka.server.share.persister.WriteShareGroupStateParameters;
import org.apache.kafka.server.share.persister.WriteShareGroupStateResult;
import org.apache.kafka.server.util.MockTime;
import org.apache.kafka.server.util.timer.MockTimer;
import org.apache.kafka.storage.internals.log.OffsetResultHolder;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyBoolean;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

/** A share group of which nothing but -1 is persisted, at a partition whose log goes on; one leader after the other. */
public class SharePartitionStartOffsetTest {
    private static final TopicIdPartition TP = new TopicIdPartition(Uuid.randomUuid(), new TopicPartition("t", 0));

    private final Persister persister = mock(Persister.class);
    private final ReplicaManager replicaManager = mock(ReplicaManager.class);
    private final List<Long> written = new ArrayList<>();
    private final MockTime time = new MockTime();
    private long persisted = PartitionFactory.UNINITIALIZED_START_OFFSET;
    private long logEndOffset = 5;

    @BeforeEach
    void persisterAndLog() {
        when(persister.readState(any())).thenAnswer(call -> CompletableFuture.completedFuture(
            new ReadShareGroupStateResult.Builder().setTopicsData(List.of(new TopicData<>(TP.topicId(), List.of(
                PartitionFactory.newPartitionAllData(0, 0, persisted, Errors.NONE.code(), Errors.NONE.message(), List.of())
            )))).build()));
        when(persister.writeState(any())).thenAnswer(call -> {
            WriteShareGroupStateParameters asked = call.getArgument(0);
            PartitionStateBatchData partition = asked.groupTopicPartitionData().topicsData().get(0).partitions().get(0);
            persisted = partition.startOffset();
            written.add(persisted);
            return CompletableFuture.completedFuture(
                new WriteShareGroupStateResult.Builder().setTopicsData(List.of(new TopicData<>(TP.topicId(), List.of(
                    PartitionFactory.newPartitionErrorData(0, Errors.NONE.code(), Errors.NONE.message())
                )))).build());
        });
        when(replicaManager.fetchOffsetForTimestamp(any(), anyLong(), any(), any(), anyBoolean())).thenAnswer(call ->
            new OffsetResultHolder(Optional.of(new FileRecords.TimestampAndOffset(-1, logEndOffset, Optional.of(0)))));
    }

    @Test
    void testStartOffsetIsPersistedWhenResolved() {
        assertEquals(5, leader(0).startOffset());
        assertEquals(List.of(5L), written);
    }

    @Test
    void testNextLeaderBeginsWhereTheFirstDid() {
        leader(0);
        logEndOffset = 100;
        assertEquals(5, leader(1).startOffset());
    }

    @Test
    void testPersistedStartOffsetIsNotWrittenAgain() {
        persisted = 3;
        assertEquals(3, leader(0).startOffset());
        assertEquals(List.of(), written);
    }

    private SharePartition leader(int epoch) {
        SharePartition partition = new SharePartition("group", TP, epoch, 200, 5, 30000, new MockTimer(time), time, persister,
            replicaManager, mock(GroupConfigManager.class), mock(SharePartitionListener.class));
        partition.maybeInitialize().join();
        return partition;
    }
}
