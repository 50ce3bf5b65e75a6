package highwater;

import kafka.server.FailedPartitions;
import kafka.server.KafkaConfig;
import kafka.server.ReplicaFetcherManager;
import kafka.server.ReplicaFetcherThread;
import kafka.server.ReplicaManager;
import kafka.server.ReplicaQuota;
import kafka.server.ReplicationQuotaManager;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.common.MetadataVersion;
import scala.Function0;
import scala.Option;

/** Kafka's own fetcher threads, which the harness steps: they are made, and never started. */
final class SteppedFetchers extends ReplicaFetcherManager {
    private final Broker broker;

    SteppedFetchers(Broker broker, KafkaConfig config, ReplicaManager replicas, Metrics metrics, Time time,
            ReplicationQuotaManager quota, Function0<MetadataVersion> version, Function0<Object> epoch) {
        super(config, replicas, metrics, time, Option.empty(), quota, version, epoch);
        this.broker = broker;
    }

    @Override public void shutdownIdleFetcherThreads() { }  // as if they served other partitions too

    @Override public ReplicaFetcherThread createFetcherThread(int number, org.apache.kafka.server.network.BrokerEndPoint leader) {
        return new Stepped(broker.endPointOf(leader, leader.id()), broker.config, failedPartitions(), broker.replicas,
            broker.replicationQuota, broker.version);
    }

    private static final class Stepped extends ReplicaFetcherThread {
        Stepped(Object leader, KafkaConfig config, FailedPartitions failed, ReplicaManager replicas, ReplicaQuota quota,
                Function0<MetadataVersion> version) {
            super("fetcher", (kafka.server.LeaderEndPoint) leader, config, failed, replicas, quota, "", version);
        }

        @Override public synchronized void start() { }
    }
}
