package highwater;

import kafka.server.KafkaConfig;
import kafka.server.ReplicaManager;
import org.apache.kafka.server.common.MetadataVersion;
import scala.Function0;

/** A broker whose fetchers the harness steps. */
interface Fetching {
    KafkaConfig config();

    ReplicaManager replicas();

    Object replicationQuota();

    Function0<MetadataVersion> version();

    /** The leader that a fetcher of this broker asks. */
    Object endPointOf(Object address, int leader);

    /** Called by its fetchers. */
    void beforeTruncating();
}
