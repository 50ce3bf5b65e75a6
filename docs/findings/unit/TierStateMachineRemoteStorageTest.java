package kafka.server;

import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import kafka.cluster.Partition;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.OffsetForLeaderEpochResponseData.EpochEndOffset;
import org.apache.kafka.server.LeaderEndPoint;
import org.apache.kafka.server.PartitionFetchState;
import org.apache.kafka.server.common.OffsetAndEpoch;
import org.apache.kafka.server.log.remote.storage.RemoteLogManager;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentId;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageManager;
import org.apache.kafka.server.log.remote.storage.RemoteStorageManager.IndexType;
import org.apache.kafka.storage.internals.epoch.LeaderEpochFileCache;
import org.apache.kafka.storage.internals.log.EpochEntry;
import org.apache.kafka.storage.internals.log.ProducerStateManager;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mockito.InOrder;
import scala.Option;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyBoolean;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.inOrder;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

/** A follower that is to begin at offset 6, where the leader's local log starts. */
public class TierStateMachineRemoteStorageTest {
    private static final TopicPartition TP = new TopicPartition("t", 0);
    private static final String EPOCHS = "0\n2\n0 0\n1 3\n"; // version, entries, then epoch and start offset

    @TempDir
    Path directory;

    private final BrokerTopicStats stats = new BrokerTopicStats(true);
    private final LeaderEndPoint leader = mock(LeaderEndPoint.class);
    private final ReplicaManager replicas = mock(ReplicaManager.class);
    private final RemoteStorageManager store = mock(RemoteStorageManager.class);
    private final Partition partition = mock(Partition.class);
    private final LeaderEpochFileCache epochs = mock(LeaderEpochFileCache.class);
    private TierStateMachine machine;

    @BeforeEach
    void aSegmentUpToOffset5() throws Exception {
        RemoteLogManager manager = mock(RemoteLogManager.class);
        UnifiedLog log = mock(UnifiedLog.class);
        when(replicas.brokerTopicStats()).thenReturn(stats);
        when(replicas.localLogOrException(TP)).thenReturn(log);
        when(replicas.getPartitionOrException(TP)).thenReturn(partition);
        when(replicas.remoteLogManager()).thenReturn(Option.apply(manager));
        when(log.remoteLogEnabled()).thenReturn(true);
        when(log.dir()).thenReturn(new File(directory.toString()));
        when(log.leaderEpochCache()).thenReturn(epochs);
        when(log.producerStateManager()).thenReturn(mock(ProducerStateManager.class));
        when(manager.isPartitionReady(TP)).thenReturn(true);
        when(manager.storageManager()).thenReturn(store);
        RemoteLogSegmentId id = new RemoteLogSegmentId(new TopicIdPartition(Uuid.randomUuid(), TP), Uuid.randomUuid());
        when(manager.fetchRemoteLogSegmentMetadata(any(TopicPartition.class), anyInt(), anyLong())).thenReturn(Optional.of(
            new RemoteLogSegmentMetadata(id, 3, 5, 0, 1, 0, 1, Map.of(1, 3L))));
        when(leader.fetchEpochEndOffsets(any())).thenReturn(
            Map.of(TP, new EpochEndOffset().setPartition(0).setLeaderEpoch(1).setEndOffset(6)));
        when(leader.fetchLatestOffset(TP, 2)).thenReturn(new OffsetAndEpoch(9, 2));
        when(store.fetchIndex(any(), any())).thenAnswer(asked ->
            stream(asked.getArgument(1) == IndexType.LEADER_EPOCH ? EPOCHS : ""));
        machine = new TierStateMachine(leader, replicas, false);
    }

    @AfterEach
    void close() {
        stats.close();
    }

    @Test
    void testLogNotTruncatedIfLeaderEpochIndexFetchFails() throws Exception {
        isNotEmptiedWithout(IndexType.LEADER_EPOCH);
    }

    @Test
    void testLogNotTruncatedIfProducerSnapshotFetchFails() throws Exception {
        isNotEmptiedWithout(IndexType.PRODUCER_SNAPSHOT);
    }

    @Test
    void testLogTruncatedAndLeaderEpochsRestored() throws Exception {
        PartitionFetchState next = start();
        assertEquals(6, next.fetchOffset());
        InOrder order = inOrder(partition, epochs);
        order.verify(partition).truncateFullyAndStartAt(6, false, Optional.of(0L));
        order.verify(epochs).assign(List.of(new EpochEntry(0, 0), new EpochEntry(1, 3)));
    }

    private void isNotEmptiedWithout(IndexType refused) throws Exception {
        when(store.fetchIndex(any(), any())).thenAnswer(asked -> {
            if (asked.getArgument(1) == refused) throw new RemoteStorageException("throttled");
            return stream(EPOCHS);
        });
        assertThrows(RemoteStorageException.class, this::start);
        verify(partition, never()).truncateFullyAndStartAt(anyLong(), anyBoolean(), any());
    }

    private PartitionFetchState start() throws Exception {
        return machine.start(TP, Optional.empty(), 2, new OffsetAndEpoch(6, 2), 0);
    }

    private static InputStream stream(String text) {
        return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
    }
}
