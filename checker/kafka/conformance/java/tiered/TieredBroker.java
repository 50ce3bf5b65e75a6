package highwater;

import java.io.File;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Supplier;
import kafka.cluster.Partition;
import kafka.server.KafkaConfig;
import kafka.server.ReplicaFetcherThread;
import kafka.server.ReplicaManager;
import org.apache.kafka.clients.FetchSessionHandler;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.controller.DirectController;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import scala.Function0;
import scala.Function1;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/** One incarnation of a broker with remote storage: its logs, fetchers and RemoteLogManager, whose tasks the harness runs. */
final class TieredBroker implements Fetching {
    private static final Map<File, KafkaConfig> CONFIGS = new HashMap<>();
    private static final Map<String, String> REMOTE = Map.of(
        "remote.log.storage.system.enable", "true",
        "remote.log.storage.manager.class.name", RemoteStore.class.getName(),
        "remote.log.metadata.manager.class.name", RemoteMetadata.class.getName());

    final int id;
    final Object remote;

    private final TieredWorld world;
    private final KafkaConfig config;
    private final ReplicaManager replicas;
    private final Object logs, cache, topicStats, replicationQuota;
    private final Object topicConfigs;
    private final Metrics metrics;
    private final Function0<MetadataVersion> version;
    private final Function0<Object> epochSupplier;
    private MetadataImage image = MetadataImage.EMPTY;
    private int read;

    /** Starts a broker, which loads its logs and has read of no partition yet. */
    TieredBroker(TieredWorld world, int id) {
        this.world = world;
        this.id = id;
        File directory = world.disks[id].directories.get(0);
        config = CONFIGS.computeIfAbsent(directory, d -> BrokerParts.configuration(id, List.of(d), REMOTE));
        version = () -> BrokerParts.versionOf(image.features().metadataVersion());
        cache = BrokerParts.metadataCache(id);
        topicStats = BrokerParts.topicStats(true);
        metrics = new Metrics(world.clock);
        LogDirFailureChannel failures = new LogDirFailureChannel(5);
        logs = Parts.of(config, CollectionConverters.asScala(List.of()).toSeq(), Set.of(), cache, world.scheduler, world.clock,
            topicStats, failures, true).call(Parts.type("kafka.log.LogManager"), "apply");
        long epoch = epoch(id);
        epochSupplier = () -> epoch;
        Supplier<Long> sameEpoch = () -> epoch;
        Object changes = Parts.of(channel(), world.scheduler, world.clock, id, epochSupplier, sameEpoch, version)
            .make(Parts.type("org.apache.kafka.server.partition.DefaultAlterPartitionManager", "kafka.server.DefaultAlterPartitionManager"));
        BrokerParts.Quotas quotas = BrokerParts.Quotas.of(metrics, world.clock);
        replicationQuota = quotas.replication();
        remote = remoteLogManager(directory);
        replicas = Parts.of(config, metrics, world.clock, world.scheduler, logs, quotas.all(), cache, failures, changes, topicStats,
            new AtomicBoolean(false), epochSupplier, BrokerParts.noDirectoryEvents(), BrokerParts.actionQueue()).madeBy(this::part).make(ReplicaManager.class);
        Parts.set(replicas, "replicaFetcherManager",
            new SteppedFetchers(this, config, replicas, metrics, world.clock, replicationQuota, version, epochSupplier));
        topicConfigs = Parts.of(replicas, config, quotas.all(), Option.empty()).make(Parts.type("kafka.server.TopicConfigHandler"));
        loadLogs();
    }

    static long epoch(int id) { return id + 1L; }

    private Object part(java.lang.reflect.Type parameter) {
        String name = parameter.getTypeName();
        if (name.contains("RemoteLogManager>")) return Option.apply(remote);
        if (name.contains("DelayedRemoteFetch") || name.contains("DelayedRemoteList")) return Option.empty();
        return BrokerParts.purgatory(parameter, id, () -> { });
    }

    /** As BrokerServer.createRemoteLogManager; its tasks are kept, and run by nobody else. */
    private Object remoteLogManager(File directory) {
        Function<TopicPartition, Optional<Object>> find = asked -> Optional.ofNullable(log());
        BiConsumer<TopicPartition, Long> update = (asked, start) -> Parts.ask(log(), "updateLogStartOffsetFromRemoteTier", start);
        Object made = Parts.of(config.remoteLogManagerConfig(), id, directory.getPath(), "highwater", world.clock, find, update, topicStats, metrics, Optional.empty())
            .make(Parts.type("org.apache.kafka.server.log.remote.storage.RemoteLogManager", "kafka.log.remote.RemoteLogManager"));
        for (String pool : List.of("rlmCopyThreadPool", "rlmExpirationThreadPool", "followerThreadPool"))
            Parts.set(Parts.get(made, pool), "scheduledThreadPool", new Idle());
        if (Parts.has(made, "startup")) Parts.ask(made, "startup");
        return made;
    }

    /** Takes what is to be run, and runs nothing. */
    private static final class Idle extends ScheduledThreadPoolExecutor {
        Idle() { super(1); }

        @Override public ScheduledFuture<?> scheduleWithFixedDelay(Runnable task, long initial, long delay, TimeUnit unit) { return ManualScheduler.NEVER; }
    }

    /** The way to the controller: nothing that is sent there is answered. */
    private static Object channel() {
        Class<?> kind = Parts.type("org.apache.kafka.server.common.NodeToControllerChannelManager",
            "org.apache.kafka.server.NodeToControllerChannelManager", "kafka.server.BrokerToControllerChannelManager");
        return Proxy.newProxyInstance(kind.getClassLoader(), new Class<?>[] {kind}, (proxy, method, arguments) -> null);
    }

    /** Loads what is on disk, by the topic's settings as they are. */
    private void loadLogs() {
        Parts.ask(cache, "setImage", imageOf(MetadataImage.EMPTY, world.metadata, 0).image());
        Function1<Object, Object> isStray = log -> false;
        Function<Object, Object> isStrayInJava = log -> false;
        Set<String> topics = Set.of(TieredWorld.TOPIC);
        Parts.of(CollectionConverters.asScala(topics), topics, isStray, isStrayInJava).call(logs, "startup");
    }

    private record Next(MetadataDelta delta, MetadataImage image) { }

    private static Next imageOf(MetadataImage before, List<ApiMessage> records, int from) {
        MetadataDelta delta = Parts.of(before, BrokerParts.supportedConfigs()).make(MetadataDelta.class);
        for (ApiMessage record : records.subList(from, records.size())) delta.replay(record);
        long end = records.size();
        return new Next(delta, delta.apply(Parts.of(end, 1, end, true).make(MetadataProvenance.class)));
    }

    /** Reads all metadata, as one image; whether there was anything new. */
    boolean readMetadata() {
        if (read == world.metadata.size()) return false;
        Next next = imageOf(image, world.metadata, read);
        image = next.image();
        read = world.metadata.size();
        Parts.ask(cache, "setImage", image);
        if (next.delta().topicsDelta() != null) replicas.applyDelta(next.delta().topicsDelta(), image);
        return true;
    }

    /** Acts on the topic's settings, as the publisher of dynamic configurations does. */
    void readSettings() {
        Properties settings = new Properties();
        settings.putAll(world.settings);
        Parts.ask(topicConfigs, "processConfigChanges", TieredWorld.TOPIC, settings);
    }

    // --- what the harness asks ---

    /** The broker's log, whether it has read of the partition or not; null if there is none. */
    Object log() { return Scala.orNull(Parts.of(world.partition, false).call(logs, "getLog")); }

    long ask(String offset) { return log() == null ? 0 : (Long) Parts.ask(log(), offset); }

    long end() { return ask("logEndOffset"); }

    Object epochs() { return Scala.orNull(Parts.ask(log(), Parts.has(log(), "leaderEpochCache") ? "leaderEpochCache" : "latestEpoch")); }

    /** The leader epoch of an offset of the log by the leader-epoch cache; -1 if it has none, and outside the log. */
    int epochAt(long offset) {
        return log() == null || offset >= end() || offset < ask("logStartOffset") ? -1 : ((OptionalInt) Parts.ask(epochs(), "epochForOffset", offset)).orElse(-1);
    }

    /** The first offset of which the cache knows the epoch; the log's end if none. */
    long epochsStart() {
        for (long offset = 0; offset < end(); offset++) if (epochAt(offset) >= 0) return offset;
        return end();
    }

    /** null before the broker has read of it. */
    Partition partition() {
        Option<Partition> found = replicas.onlinePartition(world.partition);
        return found.isEmpty() ? null : found.get();
    }

    ReplicaFetcherThread fetcher() {
        Option<ReplicaFetcherThread> found = replicas.replicaFetcherManager().getFetcher(world.partition);
        return found.isEmpty() ? null : found.get();
    }

    /** A task of the RemoteLogManager by the field that has it; null if there is none. */
    Object task(String field) {
        Object held = ((Map<?, ?>) Parts.get(remote, field)).get(world.withId);
        return held == null ? null : Parts.get(held, "rlmTask");
    }

    /** Changes settings of the log alone. */
    void configure(Map<String, String> more) {
        Map<Object, Object> settings = new HashMap<>((Map<?, ?>) Parts.ask(Parts.ask(log(), "config"), "originals"));
        settings.putAll(world.settings);
        settings.putAll(more);
        Parts.ask(log(), "updateConfig", Parts.made(Parts.type("org.apache.kafka.storage.internals.log.LogConfig"), new Class<?>[] {Map.class}, settings));
    }

    /** Each record has a segment of its own. */
    void roll() {
        if (log() != null && (Integer) Parts.ask(Parts.ask(log(), "activeSegment"), "size") > 0) Parts.of(Optional.empty()).call(log(), "roll");
    }

    // --- Fetching ---

    @Override public KafkaConfig config() { return config; }

    @Override public ReplicaManager replicas() { return replicas; }

    @Override public Object replicationQuota() { return replicationQuota; }

    @Override public Function0<MetadataVersion> version() { return version; }

    @Override public Object endPointOf(Object address, int leader) {
        return Parts.of("", world.wire.between(address, leader), Parts.of(DirectController.logContext(), leader).make(FetchSessionHandler.class), config, replicas,
            replicationQuota, version, epochSupplier).make(kafka.server.RemoteLeaderEndPoint.class);
    }

    @Override public void beforeTruncating() { }

    // --- the end ---

    /** A clean stop; or, where the run is over, as little as sets files and threads free. */
    void stop(boolean clean) {
        Parts.ask(remote, "close");
        replicas.shutdown(clean);
        if (clean) Parts.of(epoch(id)).call(logs, "shutdown");
        else {
            for (Object log : Scala.list(Parts.ask(logs, "allLogs"))) Parts.ask(log, Parts.has(log, "closeQuietly") ? "closeQuietly" : "closeHandlers");
            for (Object lock : Scala.list(Parts.get(logs, "dirLocks"))) Parts.ask(lock, "destroy");
        }
        Parts.ask(topicStats, "close");
        metrics.close();
    }
}
