package highwater;

import kafka.server.FailedPartitions;
import kafka.server.KafkaConfig;
import kafka.server.ReplicaFetcherThread;
import kafka.server.ReplicaManager;
import kafka.server.ReplicaQuota;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.message.OffsetForLeaderEpochResponseData.EpochEndOffset;
import org.apache.kafka.server.common.MetadataVersion;
import scala.Function0;
import scala.collection.Map;

/** Kafka's own fetcher thread: made, and never started, since the harness steps it. */
final class SteppedFetcher extends ReplicaFetcherThread {
    private final Runnable beforeTruncating;

    SteppedFetcher(Object leader, KafkaConfig config, FailedPartitions failed, ReplicaManager replicas,
            Object quota, Function0<MetadataVersion> version, Runnable beforeTruncating) {
        super("fetcher", (org.apache.kafka.server.LeaderEndPoint) leader, config, failed, replicas, (ReplicaQuota) quota, "");
        this.beforeTruncating = beforeTruncating;
    }

    @Override public synchronized void start() { }

    /** Called between the lock under which an answer is taken, and the one under which the log is truncated. */
    @Override public void truncateOnFetchResponse(Map<TopicPartition, EpochEndOffset> ends) {
        beforeTruncating.run();
        super.truncateOnFetchResponse(ends);
    }
}
