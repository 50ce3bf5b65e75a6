package org.apache.kafka.storage.internals.epoch;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.storage.internals.checkpoint.LeaderEpochCheckpointFile;
import org.apache.kafka.storage.internals.log.EpochEntry;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** What a broker that starts again finds of the leader epochs that it has truncated. */
public class LeaderEpochFileCacheTruncationTest {
    private static final EpochEntry FIRST = new EpochEntry(0, 0);

    @TempDir
    Path directory;

    private final KafkaScheduler scheduler = new KafkaScheduler(1);
    private final CountDownLatch busy = new CountDownLatch(1);
    private LeaderEpochFileCache cache;

    @BeforeEach
    void twoEpochs() throws IOException {
        scheduler.startup();
        cache = loaded();
        cache.assign(0, 0);
        cache.assign(1, 1);
    }

    @AfterEach
    void end() throws InterruptedException {
        busy.countDown();
        scheduler.shutdown();
    }

    @Test
    void testTruncatedEpochNotRestoredAfterSchedulerShutdown() throws Exception {
        scheduler.shutdown();
        cache.truncateFromEndAsyncFlush(1);
        cache.assign(0, 1);
        assertEquals(List.of(FIRST), loaded().epochEntries());
    }

    @Test
    void testTruncatedEpochNotRestoredAfterCrash() throws Exception {
        scheduler.scheduleOnce("busy", this::waitForTheEnd);
        cache.truncateFromEndAsyncFlush(1);
        cache.assign(0, 1);
        assertEquals(List.of(FIRST), loaded().epochEntries());
    }

    @Test
    void testTruncatedEpochNotRestoredIfSchedulerRuns() throws Exception {
        cache.truncateFromEndAsyncFlush(1);
        scheduler.shutdown();
        assertEquals(List.of(FIRST), loaded().epochEntries());
    }

    @Test
    void testTruncatedEpochNotRestoredOnceNewEpochAssigned() throws Exception {
        scheduler.shutdown();
        cache.truncateFromEndAsyncFlush(1);
        cache.assign(2, 1);
        assertEquals(List.of(FIRST, new EpochEntry(2, 1)), loaded().epochEntries());
    }

    @Test
    void testTruncationKeepsEpochsWithRecords() throws Exception {
        cache.truncateFromEndAsyncFlush(2);
        assertEquals(List.of(FIRST, new EpochEntry(1, 1)), loaded().epochEntries());
    }

    /** From the file, as when the broker starts. */
    private LeaderEpochFileCache loaded() throws IOException {
        LeaderEpochCheckpointFile file = new LeaderEpochCheckpointFile(directory.resolve("epochs").toFile(), new LogDirFailureChannel(1));
        return new LeaderEpochFileCache(new TopicPartition("t", 0), file, scheduler);
    }

    private void waitForTheEnd() {
        try {
            busy.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
