package org.apache.kafka.storage.internals.log;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.ScheduledFuture;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.server.util.Scheduler;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** Which leader epochs a log has once it is loaded, where it has no records any more. */
public class LogLoaderEmptyLogTest {
    @TempDir
    Path directory;

    private final Scheduler scheduler = writesAtOnce();
    private UnifiedLog log;

    @BeforeEach
    void twoEpochs() throws IOException {
        log = loaded(0, true);
        append(0, 0);
        append(1, 1);
        log.updateHighWatermark(2);
    }

    @Test
    void testLastEpochKeptIfAllRecordsAreDeleted() throws IOException {
        delete(2);
        log.close();
        assertEquals(List.of(new EpochEntry(1, 2)), loaded(2, true).leaderEpochCache().epochEntries());
    }

    @Test
    void testLastEpochKeptIfAllRecordsHaveExpired() throws IOException {
        assertEquals(1, log.deleteOldSegments());
        log.close();
        assertEquals(List.of(new EpochEntry(1, 2)), loaded(2, true).leaderEpochCache().epochEntries());
    }

    @Test
    void testLastEpochKeptIfAllRecordsHaveExpiredBeforeACrash() throws IOException {
        assertEquals(1, log.deleteOldSegments());
        assertEquals(List.of(new EpochEntry(1, 2)), loaded(0, false).leaderEpochCache().epochEntries());
    }

    @Test
    void testEpochWithoutRecordsDroppedBehindRecords() throws IOException {
        log.assignEpochStartOffset(2, 2);
        log.close();
        assertEquals(List.of(new EpochEntry(0, 0), new EpochEntry(1, 1)), loaded(0, true).leaderEpochCache().epochEntries());
    }

    @Test
    void testEpochOfTheLastRecordKept() throws IOException {
        delete(1);
        log.close();
        assertEquals(List.of(new EpochEntry(1, 1)), loaded(1, true).leaderEpochCache().epochEntries());
    }

    private void delete(long offset) {
        log.maybeIncrementLogStartOffset(offset, LogStartOffsetIncrementReason.ClientRecordDeletion);
    }

    private void append(long offset, int epoch) {
        SimpleRecord old = new SimpleRecord(0, ("of epoch " + epoch).getBytes());
        log.appendAsFollower(MemoryRecords.withRecords(offset, Compression.NONE, epoch, old), epoch);
    }

    private UnifiedLog loaded(long logStartOffset, boolean cleanly) throws IOException {
        return UnifiedLog.create(directory.resolve("t-0").toFile(), new LogConfig(new Properties()), logStartOffset, 0, scheduler,
            new BrokerTopicStats(false), Time.SYSTEM, 300_000, new ProducerStateManagerConfig(86_400_000, false), 600_000,
            new LogDirFailureChannel(1), cleanly, Optional.empty());
    }

    /** It is not started: what is for later is ignored, and what is for now is done. */
    private static Scheduler writesAtOnce() {
        return new KafkaScheduler(1) {
            @Override
            public ScheduledFuture<?> schedule(String name, Runnable task, long delayMs, long periodMs) {
                if (delayMs == 0) task.run();
                return super.schedule(name, task, delayMs, periodMs);
            }
        };
    }
}
