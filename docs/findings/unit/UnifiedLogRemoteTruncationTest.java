package org.apache.kafka.storage.internals.log;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** A log whose local part starts at offset 6 is truncated to offset 4; what is below 6 is in the remote store. */
public class UnifiedLogRemoteTruncationTest {
    private static final List<EpochEntry> BELOW = List.of(new EpochEntry(0, 0), new EpochEntry(1, 3));
    private static final EpochEntry BEHIND = new EpochEntry(2, 5);

    @TempDir
    Path directory;

    private final KafkaScheduler scheduler = new KafkaScheduler(1); // it is not started, and ignores each task

    @Test
    void testLogStartOffsetKeptIfTruncatedBelowLocalLog() throws IOException {
        UnifiedLog log = truncated(true, 0);
        assertEquals(0, log.logStartOffset());
        assertEquals(4, log.localLogStartOffset());
        assertEquals(4, log.logEndOffset());
    }

    @Test
    void testLeaderEpochsKeptIfTruncatedBelowLocalLog() throws IOException {
        assertEquals(BELOW, truncated(true, 0).leaderEpochCache().epochEntries());
    }

    @Test
    void testLogStartOffsetMovedIfTruncatedBelowIt() throws IOException {
        UnifiedLog log = truncated(true, 5);
        assertEquals(4, log.logStartOffset());
        assertEquals(List.of(), log.leaderEpochCache().epochEntries());
    }

    @Test
    void testLogStartOffsetMovedWithoutRemoteStorage() throws IOException {
        UnifiedLog log = truncated(false, 6);
        assertEquals(4, log.logStartOffset());
        assertEquals(List.of(), log.leaderEpochCache().epochEntries());
    }

    private UnifiedLog truncated(boolean tiered, long start) throws IOException {
        UnifiedLog log = UnifiedLog.create(directory.resolve("t-0").toFile(),
            new LogConfig(Map.of("remote.storage.enable", Boolean.toString(tiered))), 0, 0, scheduler,
            new BrokerTopicStats(tiered), Time.SYSTEM, 300_000, new ProducerStateManagerConfig(86_400_000, false), 600_000,
            new LogDirFailureChannel(1), true, Optional.empty(), new ConcurrentHashMap<>(), tiered,
            LogOffsetsListener.NO_OP_OFFSETS_LISTENER);
        log.truncateFullyAndStartAt(6, Optional.of(start));
        log.leaderEpochCache().assign(BELOW);
        log.leaderEpochCache().assign(BEHIND.epoch(), BEHIND.startOffset());
        SimpleRecord record = new SimpleRecord("at 6".getBytes());
        log.appendAsFollower(MemoryRecords.withRecords(6, Compression.NONE, BEHIND.epoch(), record), BEHIND.epoch());
        log.truncateTo(4);
        return log;
    }
}
