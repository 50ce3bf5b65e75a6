// Drives Kafka's own kafka.cluster.Partition (4.1) with a real log and with controller, metadata and
// AlterPartition manager mocked. It prints what the class does; see 0001 and 0002 in this folder.
//
//   java -cp "lib/*" PartitionAcrossMetadata.java
//
// with org.apache.kafka:kafka_2.13:4.1.0 and org.mockito:mockito-core:5.14.2 and all that they need in lib.

import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.io.File;
import java.nio.file.Files;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import kafka.cluster.AlterPartitionListener;
import kafka.cluster.DelayedOperations;
import kafka.cluster.Partition;
import kafka.log.LogManager;
import kafka.server.AlterPartitionManager;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.SimpleRecord;
import org.apache.kafka.common.requests.FetchRequest;
import org.apache.kafka.common.requests.LeaderAndIsrRequest;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.LeaderAndIsr;
import org.apache.kafka.metadata.MetadataCache;
import org.apache.kafka.server.common.RequestLocal;
import org.apache.kafka.server.storage.log.FetchIsolation;
import org.apache.kafka.server.storage.log.FetchParams;
import org.apache.kafka.server.util.Scheduler;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.internals.log.VerificationGuard;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

public class PartitionAcrossMetadata {
    static final long NOW = 1_000_000L;

    record Request(LeaderAndIsr isr, CompletableFuture<LeaderAndIsr> answer) {}

    static final Deque<Request> requests = new ArrayDeque<>();

    static Partition partition(int minIsr) throws Exception {
        requests.clear();
        Time time = mock(Time.class);
        when(time.milliseconds()).thenReturn(NOW);
        when(time.hiResClockMs()).thenReturn(NOW);
        when(time.nanoseconds()).thenReturn(NOW * 1_000_000L);
        File folder = new File(Files.createTempDirectory("partition").toFile(), "t-0");
        folder.mkdirs();
        Properties properties = new Properties();
        properties.put("min.insync.replicas", "" + minIsr);
        UnifiedLog log = UnifiedLog.create(folder, new LogConfig(properties), 0L, 0L, mock(Scheduler.class),
            new BrokerTopicStats(), time, 3_600_000, new ProducerStateManagerConfig(86_400_000, false), 600_000,
            new LogDirFailureChannel(5), true, Optional.empty());
        MetadataCache cache = mock(MetadataCache.class);
        when(cache.getAliveBrokerEpoch(anyInt())).thenReturn(Optional.of(1L));
        when(cache.hasAliveBroker(anyInt())).thenReturn(true);
        AlterPartitionManager manager = mock(AlterPartitionManager.class);
        when(manager.submit(any(), any())).thenAnswer(call -> {
            Request request = new Request(call.getArgument(1), new CompletableFuture<>());
            requests.add(request);
            return request.answer();
        });
        scala.runtime.AbstractFunction0<Object> brokerEpoch = new scala.runtime.AbstractFunction0<>() {
            @Override
            public Object apply() {
                return 1L;
            }
        };
        Partition partition = new Partition(new TopicPartition("t", 0), 30_000L, 0, brokerEpoch, time,
            mock(AlterPartitionListener.class), mock(DelayedOperations.class), cache, mock(LogManager.class),
            manager, scala.Option.apply(Uuid.randomUuid()));
        partition.setLog(log, false);
        return partition;
    }

    static void image(Partition partition, int leaderEpoch, int partitionEpoch, Integer... isr) {
        partition.makeLeader(new LeaderAndIsrRequest.PartitionState().setLeader(0).setLeaderEpoch(leaderEpoch)
            .setIsr(List.of(isr)).setPartitionEpoch(partitionEpoch).setReplicas(List.of(0, 1, 2)),
            null, scala.Option.empty(), scala.Option.empty());
    }

    static void append(Partition partition, int acks) {
        partition.appendRecordsToLeader(MemoryRecords.withRecords(0L, Compression.NONE, 0,
            new SimpleRecord("x".getBytes())), AppendOrigin.CLIENT, acks, RequestLocal.noCaching(),
            VerificationGuard.SENTINEL);
    }

    static void fetch(Partition partition, int replica, long offset, int leaderEpoch, int lastEpoch) {
        Optional<Integer> last = lastEpoch < 0 ? Optional.empty() : Optional.of(lastEpoch);
        partition.fetchRecords(new FetchParams(replica, 1L, 0, 1, 100_000, FetchIsolation.LOG_END, Optional.empty()),
            new FetchRequest.PartitionData(Uuid.ZERO_UUID, offset, 0L, 100_000, Optional.of(leaderEpoch), last),
            NOW, 100_000, true, true);
    }

    static void answer(int partitionEpoch) {
        Request request = requests.poll();
        request.answer().complete(request.isr().withPartitionEpoch(partitionEpoch));
    }

    static void show(String when, Partition partition) {
        System.out.printf("  %-48s partition epoch %d, maximal ISR %s, HW %d, acks=all at 1: %s%n", when,
            partition.getPartitionEpoch(), partition.partitionState().maximalIsr(),
            partition.localLogOrException().highWatermark(), partition.checkEnoughReplicasReachOffset(1L));
    }

    static void missedEpoch() throws Exception {
        System.out.println("0001: leader of epoch 1 learns that it leads epoch 3");
        Partition partition = partition(2);
        image(partition, 1, 5, 0, 1, 2);
        append(partition, -1);
        fetch(partition, 2, 1, 1, 1);
        show("epoch 1: 2 has fetched x, 1 has not", partition);
        image(partition, 3, 8, 0, 2);
        show("epoch 3, ISR {0, 2}: no fetch since", partition);
    }

    static void knownImage(boolean read) throws Exception {
        System.out.println("0002: image of a known partition epoch " + (read ? "read" : "not read"));
        Partition partition = partition(2);
        image(partition, 1, 5, 0);
        append(partition, 1);
        fetch(partition, 1, 0, 1, -1);
        answer(6);
        show("1 has joined, says the answer", partition);
        fetch(partition, 2, 0, 1, -1);
        show("2 is asked for, at offset 0", partition);
        if (read) {
            image(partition, 1, 6, 0, 1);
            show("the image of partition epoch 6", partition);
        }
        fetch(partition, 1, 1, 1, 1);
        show("1 fetches at offset 1", partition);
    }

    public static void main(String[] arguments) throws Exception {
        missedEpoch();
        knownImage(false);
        knownImage(true);
        System.exit(0);
    }
}
