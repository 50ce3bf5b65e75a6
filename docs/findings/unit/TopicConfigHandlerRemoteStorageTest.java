package kafka.server;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import kafka.cluster.Partition;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogOffsetsListener;
import org.apache.kafka.storage.internals.log.LogStartOffsetIncrementReason;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

/** Remote storage is disabled for a log that starts at 0, and whose only local record is at 6. */
public class TopicConfigHandlerRemoteStorageTest {
    private static final TopicPartition TP = new TopicPartition("t", 0);

    @TempDir
    Path directory;

    private final KafkaScheduler scheduler = new KafkaScheduler(1); // it is not started, and ignores each task
    private UnifiedLog log;

    @BeforeEach
    void aTieredLog() throws IOException {
        log = UnifiedLog.create(directory.resolve("t-0").toFile(), new LogConfig(Map.of("remote.storage.enable", "true")), 0, 0,
            scheduler, new BrokerTopicStats(true), Time.SYSTEM, 300_000, new ProducerStateManagerConfig(86_400_000, false), 600_000,
            new LogDirFailureChannel(1), true, Optional.empty(), new ConcurrentHashMap<>(), true,
            LogOffsetsListener.NO_OP_OFFSETS_LISTENER);
        log.truncateFullyAndStartAt(6, Optional.of(0L));
        log.appendAsFollower(MemoryRecords.withRecords(6, Compression.NONE, 0, new SimpleRecord("at 6".getBytes())), 0);
    }

    @Test
    void testLeadersLogStartOffsetRaisedIfRemoteStorageIsDisabled() {
        disable(true);
        assertEquals(6, log.logStartOffset());
    }

    @Test
    void testFollowersLogStartOffsetRaisedIfRemoteStorageIsDisabled() {
        disable(false);
        assertEquals(6, log.logStartOffset());
    }

    @Test
    void testFollowersLogStartOffsetRaisedToHighWatermarkAtMost() throws IOException {
        log.updateHighWatermark(4);
        disable(false);
        assertEquals(4, log.logStartOffset());
    }

    @Test
    void testLeadersLogStartOffsetNotTakenBelowLocalLog() {
        log.updateConfig(new LogConfig(Map.of("remote.storage.enable", "false")));
        takeTheLeadersLogStartOffset(3);
        assertEquals(6, log.logStartOffset());
    }

    @Test
    void testLeadersLogStartOffsetTakenWithRemoteStorage() {
        takeTheLeadersLogStartOffset(3);
        assertEquals(3, log.logStartOffset());
    }

    private void takeTheLeadersLogStartOffset(long offset) {
        log.maybeIncrementLogStartOffset(offset, LogStartOffsetIncrementReason.LeaderOffsetIncremented);
    }

    private void disable(boolean leads) {
        Partition partition = mock(Partition.class);
        when(partition.topicPartition()).thenReturn(TP);
        when(partition.isLeader()).thenReturn(leads);
        ReplicaManager replicas = mock(ReplicaManager.class);
        when(replicas.onlinePartition(TP)).thenReturn(Option.apply(partition));
        when(replicas.remoteLogManager()).thenReturn(Option.empty());
        log.updateConfig(new LogConfig(Map.of("remote.storage.enable", "false", "remote.log.delete.on.disable", "true")));
        new TopicConfigHandler(replicas, null, null).maybeUpdateRemoteLogComponents(
            "t", CollectionConverters.asScala(List.of(log)).toSeq(), true, false);
    }
}
