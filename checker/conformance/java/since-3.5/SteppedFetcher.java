package highwater;

import kafka.server.FailedPartitions;
import kafka.server.KafkaConfig;
import kafka.server.ReplicaFetcherThread;
import kafka.server.ReplicaManager;
import kafka.server.ReplicaQuota;
import org.apache.kafka.server.common.MetadataVersion;
import scala.Function0;

/** Kafka's own fetcher thread: made, and never started, since the harness steps it. */
final class SteppedFetcher extends ReplicaFetcherThread {
    SteppedFetcher(Object leader, KafkaConfig config, FailedPartitions failed, ReplicaManager replicas,
            ReplicaQuota quota, Function0<MetadataVersion> version) {
        super("fetcher", (kafka.server.LeaderEndPoint) leader, config, failed, replicas, quota, "", version);
    }

    @Override public synchronized void start() { }
}
