package org.apache.kafka.server.log.remote.storage;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.AbstractMap.SimpleImmutableEntry;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.common.requests.FetchRequest;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.storage.log.FetchIsolation;
import org.apache.kafka.storage.internals.epoch.LeaderEpochFileCache;
import org.apache.kafka.storage.internals.log.FetchDataInfo;
import org.apache.kafka.storage.internals.log.RemoteStorageFetchInfo;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

/** A segment with the offsets 0 to 9 of epoch 0, which ends earlier where an unclean election has cut it off. */
public class RemoteLogManagerEpochEndTest {
    private static final TopicIdPartition TP = new TopicIdPartition(Uuid.randomUuid(), new TopicPartition("t", 0));

    @TempDir
    Path directory;

    private long later = 10; // where epoch 1 begins in the segment

    @Test
    void testReadEndsWithTheLeaderEpoch() throws Exception {
        assertEquals(List.of(0L, 1L, 2L, 3L, 4L), read(0, 5, 10_000));
        assertEquals(List.of(3L, 4L), read(3, 5, 10_000));
    }

    @Test
    void testReadEndsWithTheLeaderEpochOfTheSegment() throws Exception {
        later = 8;
        assertEquals(List.of(6L, 7L), read(6, 20, 10_000));
    }

    @Test
    void testReadOfTheWholeSegment() throws Exception {
        assertEquals(List.of(7L, 8L, 9L), read(7, 10, 10_000));
        assertEquals(List.of(7L, 8L, 9L), read(7, 20, 10_000));
    }

    @Test
    void testReadOfAsManyBytesAsAreAskedFor() throws Exception {
        assertEquals(List.of(2L), read(2, 5, batch(2).remaining() + 1));
    }

    private List<Long> read(long offset, long epochEnd, int bytes) throws Exception {
        LeaderEpochFileCache epochs = mock(LeaderEpochFileCache.class);
        when(epochs.epochForOffset(offset)).thenReturn(OptionalInt.of(0));
        when(epochs.endOffsetFor(anyInt(), anyLong())).thenReturn(new SimpleImmutableEntry<>(0, epochEnd));
        UnifiedLog log = mock(UnifiedLog.class);
        when(log.leaderEpochCache()).thenReturn(epochs);
        BrokerTopicStats stats = new BrokerTopicStats(true);
        AbstractConfig settings = new AbstractConfig(RemoteLogManagerConfig.configDef(), Map.of());
        try (RemoteLogManager manager = manager(new RemoteLogManagerConfig(settings), log, stats)) {
            FetchDataInfo found = manager.read(new RemoteStorageFetchInfo(bytes, true, TP,
                new FetchRequest.PartitionData(TP.topicId(), offset, 0, bytes, Optional.empty()), FetchIsolation.HIGH_WATERMARK));
            List<Long> offsets = new ArrayList<>();
            for (Record record : found.records.records()) offsets.add(record.offset());
            return offsets;
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
                    when(store.fetchLogSegment(org.mockito.ArgumentMatchers.any(), anyInt())).thenAnswer(asked -> segment());
                } catch (RemoteStorageException error) {
                    throw new AssertionError(error);
                }
                return store;
            }

            @Override
            RemoteLogMetadataManager createRemoteLogMetadataManager() {
                return mock(RemoteLogMetadataManager.class);
            }

            @Override
            public Optional<RemoteLogSegmentMetadata> fetchRemoteLogSegmentMetadata(TopicPartition tp, int epoch, long offset) {
                return Optional.of(new RemoteLogSegmentMetadata(
                    new RemoteLogSegmentId(TP, Uuid.randomUuid()), 0, 9, 0, 1, 0, 1, Map.of(0, 0L)));
            }

            @Override
            int lookupPositionForOffset(RemoteLogSegmentMetadata segment, long offset) {
                return 0;
            }
        };
    }

    private InputStream segment() {
        ByteBuffer all = ByteBuffer.allocate(10_000);
        for (long offset = 0; offset < 10; offset++) all.put(batch(offset));
        return new ByteArrayInputStream(all.array(), 0, all.position());
    }

    private ByteBuffer batch(long offset) {
        return MemoryRecords.withRecords(
            offset, Compression.NONE, offset < later ? 0 : 1, new SimpleRecord(0L, ("at " + offset).getBytes())).buffer();
    }
}
