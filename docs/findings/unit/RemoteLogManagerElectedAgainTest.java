package org.apache.kafka.server.log.remote.storage;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.MockTime;
import org.apache.kafka.storage.internals.checkpoint.LeaderEpochCheckpointFile;
import org.apache.kafka.storage.internals.epoch.LeaderEpochFileCache;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

/** A leader whose log starts at 0, and which is elected again. The store has 10 to 19, of epoch 0: what was before has expired. */
public class RemoteLogManagerElectedAgainTest {
    private static final TopicIdPartition TP = new TopicIdPartition(Uuid.randomUuid(), new TopicPartition("t", 0));
    private static final RemoteLogSegmentMetadata SEGMENT = new RemoteLogSegmentMetadata(
        new RemoteLogSegmentId(TP, Uuid.randomUuid()), 10, 19, 0, 2, 0, 100, Map.of(0, 10L));

    @TempDir
    Path directory;

    private final List<Long> found = new ArrayList<>();
    private final UnifiedLog log = mock(UnifiedLog.class);

    @Test
    void testLogStartOffsetFoundInEachLeaderEpoch() throws Exception {
        leadIn(0, 2);
        assertEquals(List.of(10L, 10L), found);
    }

    @Test
    void testCopiedOffsetFoundInEachLeaderEpoch() throws Exception {
        leadIn(0, 2);
        verify(log, times(2)).updateHighestOffsetInRemoteStorage(-1);
    }

    @Test
    void testFoundOnceInALeaderEpoch() throws Exception {
        leadIn(2, 2);
        assertEquals(List.of(10L), found);
        verify(log, times(1)).updateHighestOffsetInRemoteStorage(-1);
    }

    private void leadIn(int... leaderEpochs) throws Exception {
        LeaderEpochCheckpointFile file = new LeaderEpochCheckpointFile(directory.resolve("epochs").toFile(), new LogDirFailureChannel(1));
        LeaderEpochFileCache epochs = new LeaderEpochFileCache(TP.topicPartition(), file, new MockTime().scheduler);
        epochs.assign(0, 0);
        when(log.leaderEpochCache()).thenReturn(epochs);
        BrokerTopicStats stats = new BrokerTopicStats(true);
        AbstractConfig settings = new AbstractConfig(RemoteLogManagerConfig.configDef(), Map.of());
        try (RemoteLogManager manager = manager(new RemoteLogManagerConfig(settings), log, stats)) {
            RemoteLogManager.RLMCopyTask task = manager.new RLMCopyTask(TP, 128);
            for (int epoch : leaderEpochs) {
                when(log.latestEpoch()).thenReturn(Optional.of(epoch));
                task.copyLogSegmentsToRemote(log);
            }
        } finally {
            stats.close();
        }
    }

    private RemoteLogManager manager(RemoteLogManagerConfig config, UnifiedLog log, BrokerTopicStats stats) throws IOException {
        return new RemoteLogManager(config, 0, directory.toString(), "cluster", Time.SYSTEM, tp -> Optional.of(log),
                (tp, start) -> found.add(start), stats, new Metrics(), Optional.empty()) {
            @Override
            RemoteStorageManager createRemoteStorageManager() {
                return mock(RemoteStorageManager.class);
            }

            @Override
            RemoteLogMetadataManager createRemoteLogMetadataManager() {
                RemoteLogMetadataManager metadata = mock(RemoteLogMetadataManager.class);
                try {
                    when(metadata.listRemoteLogSegments(any(), anyInt())).thenAnswer(call -> List.of(SEGMENT).iterator());
                    when(metadata.highestOffsetForEpoch(any(), anyInt())).thenReturn(Optional.empty());
                } catch (RemoteStorageException error) {
                    throw new AssertionError(error);
                }
                return metadata;
            }
        };
    }

}
