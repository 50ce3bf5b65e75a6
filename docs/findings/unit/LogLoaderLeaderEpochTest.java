package org.apache.kafka.storage.internals.log;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** Which leader epochs a log has once it is loaded, where the file was not written since some were truncated. */
public class LogLoaderLeaderEpochTest {
    private static final List<EpochEntry> BOTH = List.of(new EpochEntry(0, 0), new EpochEntry(1, 1));

    @TempDir
    Path directory;

    private final KafkaScheduler scheduler = new KafkaScheduler(1); // it is not started, and ignores each task
    private UnifiedLog log;

    @BeforeEach
    void twoEpochs() throws IOException {
        log = loaded(true);
        append(0, 0);
        append(1, 1);
    }

    @Test
    void testTruncatedEpochDroppedAfterCleanShutdown() throws IOException {
        log.truncateTo(1);
        append(1, 0);
        log.close();
        assertEquals(BOTH.subList(0, 1), loaded(true).leaderEpochCache().epochEntries());
    }

    @Test
    void testTruncatedEpochDroppedAfterCrash() throws IOException {
        log.truncateTo(1);
        append(1, 0);
        assertEquals(BOTH.subList(0, 1), loaded(false).leaderEpochCache().epochEntries());
    }

    @Test
    void testTruncatedEpochDroppedIfLastSegmentIsEmpty() throws IOException {
        log.truncateTo(1);
        append(1, 0);
        log.roll(Optional.empty());
        log.close();
        assertEquals(BOTH.subList(0, 1), loaded(true).leaderEpochCache().epochEntries());
    }

    @Test
    void testEpochsWithRecordsKept() throws IOException {
        log.close();
        assertEquals(BOTH, loaded(true).leaderEpochCache().epochEntries());
    }

    @Test
    void testLastEpochKeptIfLogStartOffsetIsHigher() throws IOException {
        log.updateHighWatermark(2);
        log.maybeIncrementLogStartOffset(1, LogStartOffsetIncrementReason.ClientRecordDeletion);
        log.close();
        assertEquals(1, loaded(true).latestEpoch().get());
    }

    private void append(long offset, int epoch) {
        SimpleRecord record = new SimpleRecord(("of epoch " + epoch).getBytes());
        log.appendAsFollower(MemoryRecords.withRecords(offset, Compression.NONE, epoch, record), epoch);
    }

    private UnifiedLog loaded(boolean cleanly) throws IOException {
        return UnifiedLog.create(directory.resolve("t-0").toFile(), new LogConfig(new Properties()), 0, 0, scheduler,
            new BrokerTopicStats(false), Time.SYSTEM, 300_000, new ProducerStateManagerConfig(86_400_000, false), 600_000,
            new LogDirFailureChannel(1), cleanly, Optional.empty());
    }
}
