package org.apache.kafka.server.log.remote.storage;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
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
import org.apache.kafka.storage.internals.log.LogConfig;
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

/** A new leader whose log starts at 0. The store has 10 to 19, of epoch 0: what was before has expired. */
public class RemoteLogManagerLogStartTest {
    private static final TopicIdPartition TP = new TopicIdPartition(Uuid.randomUuid(), new TopicPartition("t", 0));

    @TempDir
    Path directory;

    private final List<Long> found = new ArrayList<>();
    private Optional<RemoteLogSegmentMetadata> before = Optional.empty();
    private final MockTime time = new MockTime();

    @Test
    void testLogStartOffsetFoundIfCopyIsDisabled() throws Exception {
        cleanUpTwice(true);
        assertEquals(List.of(10L), found);
    }

    @Test
    void testLogStartOffsetLeftToCopyTaskIfCopyIsEnabled() throws Exception {
        cleanUpTwice(false);
        assertEquals(List.of(), found);
    }

    @Test
    void testLogStartOffsetNotFoundInSegmentBeingDeleted() throws Exception {
        assertEquals(10, startWith(RemoteLogSegmentState.DELETE_SEGMENT_STARTED));
    }

    @Test
    void testLogStartOffsetFoundInSegmentBeingCopied() throws Exception {
        assertEquals(0, startWith(RemoteLogSegmentState.COPY_SEGMENT_STARTED));
    }

    private long startWith(RemoteLogSegmentState state) throws Exception {
        before = Optional.of(segment(0, state));
        UnifiedLog log = log(false);
        BrokerTopicStats stats = new BrokerTopicStats(true);
        AbstractConfig settings = new AbstractConfig(RemoteLogManagerConfig.configDef(), Map.of());
        try (RemoteLogManager manager = manager(new RemoteLogManagerConfig(settings), log, stats)) {
            return manager.findLogStartOffset(TP, log);
        } finally {
            stats.close();
        }
    }

    private UnifiedLog log(boolean copyDisabled) throws IOException {
        LeaderEpochCheckpointFile file = new LeaderEpochCheckpointFile(directory.resolve("epochs").toFile(), new LogDirFailureChannel(1));
        LeaderEpochFileCache epochs = new LeaderEpochFileCache(TP.topicPartition(), file, time.scheduler);
        epochs.assign(0, 0);
        UnifiedLog log = mock(UnifiedLog.class);
        when(log.leaderEpochCache()).thenReturn(epochs);
        when(log.logEndOffset()).thenReturn(30L);
        when(log.highWatermark()).thenReturn(30L);
        when(log.localLogStartOffset()).thenReturn(20L);
        when(log.config()).thenReturn(new LogConfig(Map.of(
            "retention.ms", "-1", "retention.bytes", "-1", "remote.log.copy.disable", Boolean.toString(copyDisabled))));
        return log;
    }

    private void cleanUpTwice(boolean copyDisabled) throws Exception {
        UnifiedLog log = log(copyDisabled);
        BrokerTopicStats stats = new BrokerTopicStats(true);
        AbstractConfig settings = new AbstractConfig(RemoteLogManagerConfig.configDef(), Map.of());
        try (RemoteLogManager manager = manager(new RemoteLogManagerConfig(settings), log, stats)) {
            RemoteLogManager.RLMExpirationTask task = manager.new RLMExpirationTask(TP);
            task.cleanupExpiredRemoteLogSegments();
            task.cleanupExpiredRemoteLogSegments();
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
                    when(metadata.listRemoteLogSegments(TP)).thenAnswer(call -> segments());
                    when(metadata.listRemoteLogSegments(any(), anyInt())).thenAnswer(call -> segments());
                } catch (RemoteStorageException error) {
                    throw new AssertionError(error);
                }
                return metadata;
            }
        };
    }

    private Iterator<RemoteLogSegmentMetadata> segments() {
        List<RemoteLogSegmentMetadata> all = new ArrayList<>();
        before.ifPresent(all::add);
        all.add(segment(10, RemoteLogSegmentState.COPY_SEGMENT_FINISHED));
        return all.iterator();
    }

    private static RemoteLogSegmentMetadata segment(long start, RemoteLogSegmentState state) {
        RemoteLogSegmentId id = new RemoteLogSegmentId(TP, Uuid.randomUuid());
        RemoteLogSegmentMetadata begun = new RemoteLogSegmentMetadata(id, start, start + 9, 0, 2, 0, 100, Map.of(0, start));
        return state == RemoteLogSegmentState.COPY_SEGMENT_STARTED ? begun
            : begun.createWithUpdates(new RemoteLogSegmentMetadataUpdate(id, 0, Optional.empty(), state, 2));
    }
}
