package highwater;

import kafka.server.KafkaConfig;
import kafka.server.ReplicaFetcherManager;
import kafka.server.ReplicaManager;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.server.quota.ReplicationQuotaManager;
import scala.Function0;

/** Kafka's manager of fetcher threads; none of them ends because no partition is left to it. */
abstract class LastingFetchers extends ReplicaFetcherManager {
    LastingFetchers(KafkaConfig config, ReplicaManager replicas, Metrics metrics, Time time,
            Object quota, Function0<MetadataVersion> version, Function0<Object> epoch) {
        super(config, replicas, metrics, time, (ReplicationQuotaManager) quota, version, epoch);
    }

    @Override public void shutdownIdleFetcherThreads() { }  // as if they served other partitions too
}
