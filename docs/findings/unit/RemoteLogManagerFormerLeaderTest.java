package org.apache.kafka.server.log.remote.storage;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.MockTime;
import org.apache.kafka.storage.internals.checkpoint.LeaderEpochCheckpointFile;
import org.apache.kafka.storage.internals.epoch.LeaderEpochFileCache;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogSegment;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

/** A broker that takes itself for the leader of epoch 1. The store has 0 to 9 and 10 to 19, of epoch 0, of 100 bytes each. */
public class RemoteLogManagerFormerLeaderTest {
    private static final TopicIdPartition TP = new TopicIdPartition(Uuid.randomUuid(), new TopicPartition("t", 0));

    @TempDir
    Path directory;

    private final List<RemoteLogSegmentMetadata> segments = List.of(segment(0), segment(10));
    private final List<Long> deleted = new ArrayList<>();
    private final MockTime time = new MockTime();
    private LeaderEpochFileCache epochs;

    @Test
    void testEarlierEpochsKeptUntilRecordOfOwnEpochIsCommitted() throws Exception {
        epochs().assign(0, 0);
        epochs.assign(1, 0); // elected with an empty log
        cleanUp(0, 0, 1000);
        assertEquals(List.of(), deleted);
    }

    @Test
    void testEarlierEpochsDeletedOnceRecordOfOwnEpochIsCommitted() throws Exception {
        epochs().assign(1, 0);
        cleanUp(1, 1, 1000);
        assertEquals(List.of(0L, 10L), deleted);
    }

    @Test
    void testUncommittedRecordsDoNotCountForRetentionSize() throws Exception {
        epochs().assign(0, 0);
        epochs.assign(1, 20);
        cleanUp(50, 30, 300); // 200 bytes are in the store, and 100 of 300 are committed
        assertEquals(List.of(), deleted);
    }

    @Test
    void testCommittedRecordsCountForRetentionSize() throws Exception {
        epochs().assign(0, 0);
        epochs.assign(1, 20);
        cleanUp(50, 50, 400);
        assertEquals(List.of(0L), deleted);
    }

    private LeaderEpochFileCache epochs() throws IOException {
        LeaderEpochCheckpointFile file = new LeaderEpochCheckpointFile(directory.resolve("epochs").toFile(), new LogDirFailureChannel(1));
        epochs = new LeaderEpochFileCache(TP.topicPartition(), file, time.scheduler);
        return epochs;
    }

    private void cleanUp(long end, long highWatermark, long retentionBytes) throws Exception {
        List<LogSegment> local = new ArrayList<>();
        for (long base = 20; base < end; base += 10) {
            LogSegment segment = mock(LogSegment.class);
            when(segment.baseOffset()).thenReturn(base);
            when(segment.size()).thenReturn(100);
            local.add(segment);
        }
        UnifiedLog log = mock(UnifiedLog.class);
        when(log.leaderEpochCache()).thenReturn(epochs);
        when(log.logEndOffset()).thenReturn(end);
        when(log.highWatermark()).thenReturn(highWatermark);
        when(log.logSegments()).thenReturn(local);
        when(log.onlyLocalLogSegmentsSize()).thenReturn(100L * local.size());
        when(log.config()).thenReturn(new LogConfig(Map.of("retention.ms", "-1", "retention.bytes", "" + retentionBytes)));
        BrokerTopicStats stats = new BrokerTopicStats(true);
        AbstractConfig settings = new AbstractConfig(RemoteLogManagerConfig.configDef(), Map.of());
        try (RemoteLogManager manager = manager(new RemoteLogManagerConfig(settings), log, stats)) {
            manager.new RLMExpirationTask(TP).cleanupExpiredRemoteLogSegments();
        } finally {
            stats.close();
        }
    }

    private RemoteLogManager manager(RemoteLogManagerConfig config, UnifiedLog log, BrokerTopicStats stats) throws IOException {
        return new RemoteLogManager(config, 0, directory.toString(), "cluster", Time.SYSTEM, tp -> Optional.of(log),
                (tp, start) -> { }, stats, new Metrics(), Optional.empty()) {
            @Override
            RemoteStorageManager createRemoteStorageManager() {
                RemoteStorageManager store = mock(RemoteStorageManager.class);
                try {
                    doAnswer(call -> deleted.add(call.getArgument(0, RemoteLogSegmentMetadata.class).startOffset()))
                        .when(store).deleteLogSegmentData(any());
                } catch (RemoteStorageException error) {
                    throw new AssertionError(error);
                }
                return store;
            }

            @Override
            RemoteLogMetadataManager createRemoteLogMetadataManager() {
                RemoteLogMetadataManager metadata = mock(RemoteLogMetadataManager.class);
                try {
                    when(metadata.listRemoteLogSegments(TP)).thenAnswer(call -> segments.iterator());
                    when(metadata.listRemoteLogSegments(any(), anyInt())).thenAnswer(call ->
                        (call.getArgument(1, Integer.class) == 0 ? segments : List.of()).iterator());
                    when(metadata.updateRemoteLogSegmentMetadata(any())).thenReturn(CompletableFuture.completedFuture(null));
                } catch (RemoteStorageException error) {
                    throw new AssertionError(error);
                }
                return metadata;
            }
        };
    }

    private static RemoteLogSegmentMetadata segment(long start) {
        RemoteLogSegmentId id = new RemoteLogSegmentId(TP, Uuid.randomUuid());
        return new RemoteLogSegmentMetadata(id, start, start + 9, 0, 2, 0, 100, Map.of(0, start)).createWithUpdates(
            new RemoteLogSegmentMetadataUpdate(id, 0, Optional.empty(), RemoteLogSegmentState.COPY_SEGMENT_FINISHED, 2));
    }
}
