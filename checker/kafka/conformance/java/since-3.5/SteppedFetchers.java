package highwater;

import kafka.cluster.BrokerEndPoint;
import kafka.server.KafkaConfig;
import kafka.server.ReplicaFetcherThread;
import kafka.server.ReplicaManager;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.common.MetadataVersion;
import scala.Function0;

/** The fetchers of one broker, which the harness steps. */
final class SteppedFetchers extends LastingFetchers {
    private final Fetching broker;

    SteppedFetchers(Fetching broker, KafkaConfig config, ReplicaManager replicas, Metrics metrics, Time time,
            Object quota, Function0<MetadataVersion> version, Function0<Object> epoch) {
        super(config, replicas, metrics, time, quota, version, epoch);
        this.broker = broker;
    }

    @Override public ReplicaFetcherThread createFetcherThread(int number, BrokerEndPoint leader) {
        return new SteppedFetcher(broker.endPointOf(leader, leader.id()), broker.config(), failedPartitions(),
            broker.replicas(), broker.replicationQuota(), broker.version(), broker::beforeTruncating);
    }
}
