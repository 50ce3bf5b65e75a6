package org.apache.kafka.server.log.remote.storage;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
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
import static org.mockito.Mockito.when;

/** A leader that has 5 to 9 of epoch 0, and 10 to 29 of epoch 2. Locally its log starts at 5. */
public class RemoteLogManagerLostSegmentTest {
    private static final TopicIdPartition TP = new TopicIdPartition(Uuid.randomUuid(), new TopicPartition("t", 0));
    private static final long LOCAL_START = 5;

    @TempDir
    Path directory;

    private final List<RemoteLogSegmentMetadata> segments = new ArrayList<>();

    @Test
    void testLogStartOffsetNotFoundBeyondTheEndOfAnEpoch() throws Exception {
        add(20, 29, Map.of(0, 20L));
        assertEquals(LOCAL_START, found());
    }

    @Test
    void testLogStartOffsetNotFoundBeyondTheEndOfTheLog() throws Exception {
        add(30, 39, Map.of(2, 30L));
        assertEquals(LOCAL_START, found());
    }

    @Test
    void testLogStartOffsetFoundInNextEpoch() throws Exception {
        add(20, 29, Map.of(0, 20L));
        add(10, 19, Map.of(2, 10L));
        assertEquals(10, found());
    }

    @Test
    void testLogStartOffsetFoundInSegmentOfTheLog() throws Exception {
        add(7, 9, Map.of(0, 7L));
        add(20, 29, Map.of(0, 20L));
        assertEquals(7, found());
    }

    @Test
    void testLogStartOffsetFoundInSegmentThatGoesOnBeyondTheEpoch() throws Exception {
        add(8, 19, Map.of(0, 8L));
        assertEquals(8, found());
    }

    private void add(long start, long end, Map<Integer, Long> epochs) {
        RemoteLogSegmentId id = new RemoteLogSegmentId(TP, Uuid.randomUuid());
        segments.add(new RemoteLogSegmentMetadata(id, start, end, 0, 2, 0, 100, new TreeMap<>(epochs))
            .createWithUpdates(new RemoteLogSegmentMetadataUpdate(id, 0, Optional.empty(), RemoteLogSegmentState.COPY_SEGMENT_FINISHED, 2)));
    }

    private long found() throws Exception {
        MockTime time = new MockTime();
        LeaderEpochCheckpointFile file = new LeaderEpochCheckpointFile(directory.resolve("epochs").toFile(), new LogDirFailureChannel(1));
        LeaderEpochFileCache epochs = new LeaderEpochFileCache(TP.topicPartition(), file, time.scheduler);
        epochs.assign(0, 5);
        epochs.assign(2, 10);
        UnifiedLog log = mock(UnifiedLog.class);
        when(log.leaderEpochCache()).thenReturn(epochs);
        when(log.logEndOffset()).thenReturn(30L);
        when(log.localLogStartOffset()).thenReturn(LOCAL_START);
        BrokerTopicStats stats = new BrokerTopicStats(true);
        AbstractConfig settings = new AbstractConfig(RemoteLogManagerConfig.configDef(), Map.of());
        try (RemoteLogManager manager = manager(new RemoteLogManagerConfig(settings), log, stats)) {
            return manager.findLogStartOffset(TP, log);
        } finally {
            stats.close();
        }
    }

    private RemoteLogManager manager(RemoteLogManagerConfig config, UnifiedLog log, BrokerTopicStats stats) throws IOException {
        return new RemoteLogManager(config, 0, directory.toString(), "cluster", Time.SYSTEM, tp -> Optional.of(log),
                (tp, start) -> { }, stats, new Metrics(), Optional.empty()) {
            @Override
            RemoteStorageManager createRemoteStorageManager() {
                return mock(RemoteStorageManager.class);
            }

            @Override
            RemoteLogMetadataManager createRemoteLogMetadataManager() {
                RemoteLogMetadataManager metadata = mock(RemoteLogMetadataManager.class);
                try {
                    when(metadata.listRemoteLogSegments(any(), anyInt())).thenAnswer(call -> listed(call.getArgument(1)));
                } catch (RemoteStorageException error) {
                    throw new AssertionError(error);
                }
                return metadata;
            }
        };
    }

    private Iterator<RemoteLogSegmentMetadata> listed(int epoch) {
        return segments.stream().filter(segment -> segment.segmentLeaderEpochs().containsKey(epoch)).iterator();
    }
}
