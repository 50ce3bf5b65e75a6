package org.apache.kafka.raft.internals;

import java.io.File;
import java.io.IOException;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.raft.MetadataLogConfig;
import org.apache.kafka.server.common.OffsetAndEpoch;
import org.apache.kafka.server.util.MockTime;
import org.apache.kafka.snapshot.RawSnapshotWriter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Which snapshot takes the place of a log whose last record, at 2, is of epoch 3. */
public class KafkaRaftLogTruncationTest {
    private static final TopicPartition PARTITION = new TopicPartition("__cluster_metadata", 0);

    @TempDir File directory;
    private KafkaRaftLog log;

    @BeforeEach
    void setUp() throws IOException {
        log = open();
        for (int epoch : new int[] {1, 1, 3}) {
            var record = MemoryRecords.withRecords(log.endOffset().offset(), Compression.NONE, epoch, new SimpleRecord(new byte[] {1}));
            log.appendAsLeader(record, epoch);
        }
    }

    @AfterEach
    void tearDown() { log.close(); }

    @Test
    void testTruncateToSnapshotOfEarlierEpochBeyondLogEnd() {
        store(7, 2);
        assertTrue(log.truncateToLatestSnapshot());
        assertIs(7, 7, 2);
    }

    @Test
    void testTruncateToSnapshotOfEarlierEpochAtLogEnd() {
        store(3, 2);
        assertTrue(log.truncateToLatestSnapshot());
        assertIs(3, 3, 2);
    }

    @Test
    void testTruncateToSnapshotOfEarlierEpochOnStartup() throws IOException {
        store(7, 2);
        log.close();
        log = open();
        assertIs(7, 7, 2);
    }

    @Test
    void testTruncateToSnapshotOfLaterEpoch() {
        store(2, 4);
        assertTrue(log.truncateToLatestSnapshot());
        assertIs(2, 2, 4);
    }

    @Test
    void testNoTruncationToSnapshotOfSameLog() throws IOException {
        store(2, 1);
        assertFalse(log.truncateToLatestSnapshot());
        store(3, 3);
        assertFalse(log.truncateToLatestSnapshot());
        log.close();
        log = open();
        assertIs(0, 3, 3);
    }

    private void assertIs(long start, long end, int epoch) {
        assertEquals(start, log.startOffset());
        assertEquals(end, log.endOffset().offset());
        assertEquals(epoch, log.lastFetchedEpoch());
    }

    private void store(long end, int epoch) {
        try (RawSnapshotWriter writer = log.createNewSnapshotUnchecked(new OffsetAndEpoch(end, epoch)).orElseThrow()) {
            writer.freeze();
        }
    }

    private KafkaRaftLog open() throws IOException {
        MockTime time = new MockTime();
        MetadataLogConfig config = new MetadataLogConfig(new AbstractConfig(MetadataLogConfig.CONFIG_DEF, Map.of(), false));
        return KafkaRaftLog.createLog(PARTITION, Uuid.METADATA_TOPIC_ID, new File(directory, PARTITION.toString()), time, time.scheduler, config, 1);
    }
}
