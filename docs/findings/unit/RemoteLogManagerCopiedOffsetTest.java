package org.apache.kafka.server.log.remote.storage;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogOffsetsListener;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

/** A log with offsets 0 to 9 of epoch 0. Those up to 7 have been copied. */
public class RemoteLogManagerCopiedOffsetTest {
    private static final TopicIdPartition TP = new TopicIdPartition(Uuid.randomUuid(), new TopicPartition("t", 0));

    @TempDir
    Path directory;

    private final KafkaScheduler scheduler = new KafkaScheduler(1); // it is not started, and ignores each task

    @Test
    void testDeletedSegmentsDoNotCountAsCopied() throws Exception {
        assertEquals(-1, copiedOffset(false));
    }

    @Test
    void testSegmentsThatAreThereCountAsCopied() throws Exception {
        assertEquals(7, copiedOffset(true));
    }

    @Test
    void testHighestOffsetForgottenIfRemoteStorageIsDisabled() throws IOException {
        UnifiedLog log = log();
        log.updateConfig(config(false, 1));
        log.updateConfig(config(true, 1));
        assertEquals(-1, log.highestOffsetInRemoteStorage());
    }

    @Test
    void testHighestOffsetKeptByOtherSettings() throws IOException {
        UnifiedLog log = log();
        log.updateConfig(config(true, 2));
        assertEquals(7, log.highestOffsetInRemoteStorage());
    }

    @Test
    void testHighestOffsetLoweredByTruncation() throws IOException {
        UnifiedLog log = log();
        log.truncateTo(9);
        assertEquals(7, log.highestOffsetInRemoteStorage());
        log.truncateTo(5);
        assertEquals(4, log.highestOffsetInRemoteStorage());
    }

    private long copiedOffset(boolean there) throws Exception {
        RemoteLogMetadataManager metadata = mock(RemoteLogMetadataManager.class);
        when(metadata.highestOffsetForEpoch(TP, 0)).thenReturn(Optional.of(7L));
        when(metadata.remoteLogSegmentMetadata(eq(TP), eq(0), anyLong()))
            .thenReturn(there ? Optional.of(mock(RemoteLogSegmentMetadata.class)) : Optional.empty());
        BrokerTopicStats stats = new BrokerTopicStats(true);
        AbstractConfig settings = new AbstractConfig(RemoteLogManagerConfig.configDef(), Map.of());
        try (RemoteLogManager manager = manager(new RemoteLogManagerConfig(settings), metadata, stats)) {
            return manager.findHighestRemoteOffset(TP, log()).offset();
        } finally {
            stats.close();
        }
    }

    private UnifiedLog log() throws IOException {
        UnifiedLog log = UnifiedLog.create(directory.resolve("t-0").toFile(), config(true, 1), 0, 0, scheduler,
            new BrokerTopicStats(true), Time.SYSTEM, 300_000, new ProducerStateManagerConfig(86_400_000, false), 600_000,
            new LogDirFailureChannel(1), true, Optional.empty(), new ConcurrentHashMap<>(), true,
            LogOffsetsListener.NO_OP_OFFSETS_LISTENER);
        for (long at = 0; at < 10; at++) {
            SimpleRecord record = new SimpleRecord(("at " + at).getBytes());
            log.appendAsFollower(MemoryRecords.withRecords(at, Compression.NONE, 0, record), 0);
        }
        log.updateHighestOffsetInRemoteStorage(7);
        return log;
    }

    private static LogConfig config(boolean tiered, long localRetention) {
        return new LogConfig(Map.of("remote.storage.enable", Boolean.toString(tiered), "local.retention.ms", "" + localRetention));
    }

    private RemoteLogManager manager(RemoteLogManagerConfig config, RemoteLogMetadataManager metadata, BrokerTopicStats stats)
            throws IOException {
        return new RemoteLogManager(config, 0, directory.toString(), "cluster", Time.SYSTEM, tp -> Optional.empty(),
                (tp, start) -> { }, stats, new Metrics(), Optional.empty()) {
            @Override
            RemoteStorageManager createRemoteStorageManager() {
                return mock(RemoteStorageManager.class);
            }

            @Override
            RemoteLogMetadataManager createRemoteLogMetadataManager() {
                return metadata;
            }
        };
    }
}
