package highwater;

import java.io.File;
import java.lang.reflect.Proxy;
import java.lang.reflect.Type;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Collectors;
import kafka.server.KafkaConfig;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.common.MetadataVersion;
import scala.Option;

/** What a broker is put together of, whatever it is compared with. */
final class BrokerParts {
    static final Object NOTHING = new Object();

    private BrokerParts() { }

    /** The configuration of a broker with logs in these directories; `more` is of what it is compared with. */
    static KafkaConfig configuration(int id, List<File> directories, Map<String, String> more) {
        Properties chosen = new Properties();
        chosen.put("process.roles", "broker");
        chosen.put("node.id", Integer.toString(id));
        chosen.put("controller.quorum.voters", "100@localhost:9090");
        chosen.put("controller.listener.names", "CONTROLLER");
        chosen.put("listeners", "PLAINTEXT://localhost:" + (9092 + id));
        chosen.put("log.dirs", directories.stream().map(File::getPath).collect(Collectors.joining(",")));
        chosen.put("num.replica.alter.log.dirs.threads", "1");
        chosen.put("log.cleaner.enable", "false");
        chosen.put("log.index.size.max.bytes", "4096");
        chosen.put("num.recovery.threads.per.data.dir", "1");
        chosen.put("replica.fetch.backoff.ms", "0");
        chosen.put("replica.fetch.wait.max.ms", "0");
        chosen.put("replica.fetch.max.bytes", "1");  // one record an answer
        chosen.put("replica.fetch.response.max.bytes", "1");
        chosen.put("replica.lag.time.max.ms", Long.toString(World.LAG_MS));
        chosen.putAll(more);
        return KafkaConfig.fromProps(chosen);
    }

    static MetadataVersion versionOf(Object known) { return (MetadataVersion) Scala.orNull(known); }

    /** Metadata as a broker reads them, of the newest version of KRaft. */
    static Object metadataCache(int id) {
        java.util.function.Supplier<Object> quorumVersion = () -> Parts.constant(Parts.type("org.apache.kafka.server.common.KRaftVersion"), "KRAFT_VERSION_1");
        return Parts.of(id, quorumVersion).make(Parts.type("org.apache.kafka.metadata.KRaftMetadataCache", "kafka.server.metadata.KRaftMetadataCache"));
    }

    static Object topicStats(boolean remote) {
        return Parts.of(remote).make(Parts.type("org.apache.kafka.storage.log.metrics.BrokerTopicStats", "kafka.server.BrokerTopicStats"));
    }

    /** Answers of the leader, what a follower takes, and what moves between directories: none is ever throttled. */
    record Quotas(Object replication, Object moves, Object all) {
        static Quotas of(Metrics metrics, Time time) {
            Object replication = quota(metrics, time, "FOLLOWER_REPLICATION", "FollowerReplication");
            Object moves = quota(metrics, time, "ALTER_LOG_DIRS_REPLICATION", "AlterLogDirsReplication");
            return new Quotas(replication, moves, Parts.of(quota(metrics, time, "LEADER_REPLICATION", "LeaderReplication"), replication, moves)
                .make(Parts.type("org.apache.kafka.server.quota.QuotaFactory$QuotaManagers", "kafka.server.QuotaFactory$QuotaManagers")));
        }
    }

    private static Object quota(Metrics metrics, Time time, String name, String olderName) {
        Class<?> kind = Parts.type("org.apache.kafka.server.config.QuotaType", "org.apache.kafka.server.quota.QuotaType", "kafka.server.QuotaType");
        Object type = kind.isEnum() ? Parts.constant(kind, name) : Parts.get(Parts.type("kafka.server.QuotaType$" + olderName + "$"), "MODULE$");
        Object limits = Parts.of(Long.MAX_VALUE, 11, 1).make(Parts.type("org.apache.kafka.server.config.ReplicationQuotaManagerConfig", "kafka.server.ReplicationQuotaManagerConfig"));
        return Parts.of(limits, metrics, type, time)
            .make(Parts.type("org.apache.kafka.server.quota.ReplicationQuotaManager", "kafka.server.ReplicationQuotaManager"));
    }

    /** What defers work, where ReplicaManager does not make its own. */
    static Object actionQueue() {
        String name = "org.apache.kafka.server.DelayedActionQueue";
        return Parts.hasType(name) ? Parts.of().make(Parts.type(name)) : NOTHING;
    }

    /** Who hears of directories of logs, where there may be several. */
    static Object noDirectoryEvents() {
        String name = "org.apache.kafka.server.common.DirectoryEventHandler";
        return Parts.hasType(name) ? Parts.get(Parts.type(name), "NOOP") : NOTHING;
    }

    /** From 4.3 an image is told which settings there are: here all are. */
    static Object supportedConfigs() {
        String name = "org.apache.kafka.metadata.SupportedConfigChecker";
        return Parts.hasType(name) ? Parts.get(Parts.type(name), "TRUE") : NOTHING;
    }

    /** A purgatory without threads, whose operations never expire, for a parameter that is one; `asked` is called where one asks how many deletions wait. */
    static Object purgatory(Type parameter, int id, Runnable asked) {
        if (!parameter.getTypeName().contains("DelayedOperationPurgatory")) return null;
        Class<?> kind = Parts.type("org.apache.kafka.server.util.timer.Timer", "kafka.utils.timer.Timer");
        boolean deletions = parameter.getTypeName().contains("DelayedDelete");
        Object timer = Proxy.newProxyInstance(kind.getClassLoader(), new Class<?>[] {kind}, (proxy, method, arguments) -> {
            if (deletions && method.getName().equals("size")) asked.run();
            return method.getReturnType() == boolean.class ? (Object) false : method.getReturnType() == int.class ? (Object) 0 : null;
        });
        return Option.apply(Parts.of("purgatory", timer, id, 1000, false, false).make(
            Parts.type("org.apache.kafka.server.purgatory.DelayedOperationPurgatory", "kafka.server.DelayedOperationPurgatory")));
    }
}
